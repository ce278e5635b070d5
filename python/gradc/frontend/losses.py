"""Losses whose derivative at the edges of their domain PyTorch fixes by formula."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .activations import log_sigmoid
from .numerics import compute_in
from .ops import STOP, VALUE_OF

aten = torch.ops.aten
where = torch.where

_MEAN, _SUM = 1, 2  # at::Reduction
_BCE_EPSILON = 1e-12  # of PyTorch's backward kernel


def _reduce(loss: Tensor, reduction: int) -> Tensor:
    if reduction == _MEAN:
        return loss.mean()
    return loss.sum() if reduction == _SUM else loss


def _binary_cross_entropy(
    x: Tensor, target: Tensor, weight: Any = None, reduction: int = _MEAN
) -> Tensor:
    """Logarithms are clamped at -100 in the value, and x (1 - x) at 1e-12 in the derivative."""
    p = compute_in(x)
    value_p = STOP(p)
    low = torch.log(value_p).clamp(min=-100.0)
    high = torch.log1p(-value_p).clamp(min=-100.0)
    value = (target - 1.0) * high - target * low
    # Near 0 and 1 the derivative is (x - t) / 1e-12, whose integral is this parabola.
    edge = (1.0 - p) * p < _BCE_EPSILON
    inside = where(edge, 0.5, p)
    smooth = (target - 1.0) * torch.log1p(-inside) - target * torch.log(inside)
    fixed = STOP(target)
    parabola = where(edge, p * (0.5 * p - fixed), 0.0) * (1.0 / _BCE_EPSILON)
    # In the target the derivative is that of the cross entropy itself, infinite at 0 and 1.
    slope = where(edge, torch.log1p(-value_p) - torch.log(value_p), 0.0)
    slope = where(edge, target, 0.0) * slope
    loss = VALUE_OF(value, where(edge, parabola, smooth) + slope)
    loss = loss if weight is None else loss * weight
    return _reduce(loss, reduction).to(x.dtype)


def _bce_with_logits(
    x: Tensor, target: Tensor, weight: Any = None, pos_weight: Any = None, reduction: int = _MEAN
) -> Tensor:
    """Through log_sigmoid, whose derivative at 0 is 1/2."""
    logits = compute_in(x)
    log_p = log_sigmoid(logits)
    if pos_weight is None:
        loss = (1.0 - target) * logits - log_p
    else:
        loss = (1.0 - target) * logits - ((pos_weight - 1.0) * target + 1.0) * log_p
    loss = loss if weight is None else loss * weight
    return _reduce(loss, reduction).to(x.dtype)


def _multi_margin(
    x: Tensor,
    target: Tensor,
    p: Any = 1,
    margin: Any = 1.0,
    weight: Any = None,
    reduction: int = _MEAN,
) -> Tensor:
    """0 at the margin."""
    rows, labels = (x.unsqueeze(0), target.reshape(1)) if x.ndim < 2 else (x, target)
    rows = compute_in(rows)
    gap = margin - rows.gather(1, labels.unsqueeze(1)) + rows
    classes = torch.arange(rows.shape[1], device=x.device)
    counts = (gap > 0) & (classes != labels.unsqueeze(1))
    gap = where(counts, gap, 0.0)
    gap = gap if p == 1 else gap * gap
    if weight is not None:
        gap = gap * weight[labels].unsqueeze(1)
    loss = gap.sum(1) / rows.shape[1]
    return _reduce(loss if x.ndim > 1 else loss.squeeze(0), reduction).to(x.dtype)


def _multilabel_margin(x: Tensor, target: Tensor, reduction: int = _MEAN) -> tuple[Tensor, Tensor]:
    """0 at the margin. Labels end at the first -1."""
    rows, labels = (x.unsqueeze(0), target.unsqueeze(0)) if x.ndim < 2 else (x, target)
    rows = compute_in(rows)
    size = rows.shape[1]
    valid = torch.cumsum((labels < 0).to(torch.int64), 1) == 0
    labels = labels.clamp(min=0)
    classes = torch.arange(size, device=x.device)
    named = ((labels.unsqueeze(2) == classes) & valid.unsqueeze(2)).any(1)
    gap = 1.0 - rows.gather(1, labels).unsqueeze(2) + rows.unsqueeze(1)
    counts = (gap > 0) & valid.unsqueeze(2) & ~named.unsqueeze(1)
    loss = where(counts, gap, 0.0).sum([1, 2]) / size
    loss = _reduce(loss if x.ndim > 1 else loss.squeeze(0), reduction).to(x.dtype)
    return loss, named.to(x.dtype).reshape(target.shape)


LOSS_DECOMPOSITIONS: dict[Any, Callable] = {
    aten.binary_cross_entropy.default: _binary_cross_entropy,
    aten.binary_cross_entropy_with_logits.default: _bce_with_logits,
    aten.multi_margin_loss.default: _multi_margin,
    aten.multilabel_margin_loss_forward.default: _multilabel_margin,
}
