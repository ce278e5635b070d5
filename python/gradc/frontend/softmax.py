"""Softmax and its relatives, with the shifting maximum off the gradient path.

The results do not depend on the maximum that keeps exp finite, so it is a constant for every
derivative; differentiating it would only add terms that cancel.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .numerics import compute_in, normal_dims
from .ops import STOP, VALUE_OF
from .randomness import dropout

aten = torch.ops.aten


def _shift(x: Tensor, dim: Any) -> Tensor:
    """The maximum along ``dim`` as a constant: softmax does not depend on it, so nothing
    differentiates it."""
    return STOP(torch.amax(x, dim, keepdim=True))


def _softmax(x: Tensor, dim: int, half_to_float: bool = False) -> Tensor:
    """The maximum that keeps exp finite must not be differentiated."""
    wide = compute_in(x)
    if x.numel() == 0:
        return x.clone()
    powers = torch.exp(wide - _shift(wide, dim))
    out = powers / powers.sum([dim], True)
    return out if half_to_float else out.to(x.dtype)


def _log_softmax(x: Tensor, dim: int, half_to_float: bool = False) -> Tensor:
    """As softmax."""
    wide = compute_in(x)
    if x.numel() == 0:
        return x.clone()
    shifted = wide - _shift(wide, dim)
    out = shifted - torch.log(torch.exp(shifted).sum([dim], True))
    return out if half_to_float else out.to(x.dtype)


def _safe_softmax(x: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """A fully masked row (-inf) is 0 with gradient 0; both branches of the choice are finite."""
    x = x if dtype is None else x.to(dtype)
    masked = (x == -math.inf).all(dim, keepdim=True)
    return torch.where(masked, 0.0, _softmax(torch.where(masked, 0.0, x), dim)).to(x.dtype)


def logsumexp(x: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """As softmax; an infinite maximum is not subtracted, which gives eager's -inf and inf. The
    derivative is exp(x - result): NaN for infinities that cancel, 0 for what is finite beside
    them."""
    wide = compute_in(x if x.is_floating_point() else x.to(torch.get_default_dtype()))
    dims = normal_dims(x, dim if isinstance(dim, (list, tuple)) else [dim])
    if x.numel() == 0:
        return torch.log(torch.exp(wide).sum(dims, keepdim))
    top = _shift(wide, dims)
    top = torch.where(top.abs() == math.inf, 0.0, top)
    value = torch.log(torch.exp(wide - top).sum(dims, True)) + top
    share = torch.exp(wide - STOP(value))
    total = share.sum(dims, True)
    undefined = total != total
    out = VALUE_OF(
        value, torch.where(undefined, total, torch.log(torch.where(undefined, 1.0, total)))
    )
    out = out if keepdim else out.squeeze(dims) if dims else out
    return out.to(x.dtype) if x.is_floating_point() else out


def _sdpa(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: Any = None,
    enable_gqa: bool = False,
) -> Tensor:
    """PyTorch picks a fused kernel by device and alignment; this is the form they all mean."""
    scale = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    if enable_gqa:
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
        value = value.repeat_interleave(query.shape[-3] // value.shape[-3], -3)
    scores = torch.matmul(query, key.transpose(-2, -1)) * scale
    if is_causal:
        rows = torch.arange(query.shape[-2], device=query.device).unsqueeze(1)
        columns = torch.arange(key.shape[-2], device=query.device).unsqueeze(0)
        scores = torch.where(columns <= rows, scores, -math.inf)
    if attn_mask is not None:
        if attn_mask.dtype is torch.bool:
            scores = torch.where(attn_mask, scores, -math.inf)
        else:
            scores = scores + attn_mask
        weights = _safe_softmax(scores, -1)
    else:
        weights = _softmax(scores, -1)
    if dropout_p:
        weights = dropout(weights, dropout_p, True)
    return torch.matmul(weights, value)


SOFTMAX_COMPOSITES: dict[Any, Callable] = {
    aten.scaled_dot_product_attention.default: _sdpa,
}

SOFTMAX_DECOMPOSITIONS: dict[Any, Callable] = {
    aten._softmax.default: _softmax,
    aten._log_softmax.default: _log_softmax,
    aten._safe_softmax.default: _safe_softmax,
    aten.logsumexp.default: logsumexp,
}
