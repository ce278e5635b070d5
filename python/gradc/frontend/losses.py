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
    parabola = where(edge, p * (0.5 * p - target), 0.0) * (1.0 / _BCE_EPSILON)
    loss = VALUE_OF(value, where(edge, parabola, smooth))
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


LOSS_DECOMPOSITIONS: dict[Any, Callable] = {
    aten.binary_cross_entropy.default: _binary_cross_entropy,
    aten.binary_cross_entropy_with_logits.default: _bce_with_logits,
}
