"""Sums, moments and the normalisation layers built on them.

Half precision computes in f32 and rounds once. torch-mlir's own forms compute variance in f64 and
accumulate means in the input's precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from .numerics import compute_in, normal_dims, safe_sqrt
from .ops import STOP

aten = torch.ops.aten


def _sum(
    x: Tensor, dim: Sequence[int] | None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """Half precision accumulates in f32 and rounds once; kept dimensions are put back by a view."""
    dims = normal_dims(x, dim)
    half = x.dtype in (torch.bfloat16, torch.float16) and dtype is None
    if not half and not (keepdim and dims):
        return NotImplemented
    total = compute_in(x).sum(dims, dtype=dtype)
    total = total.to(x.dtype) if half else total
    return (
        total.reshape([1 if d in dims else s for d, s in enumerate(x.shape)]) if keepdim else total
    )


def _mean(
    x: Tensor, dim: Sequence[int] | None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """A sum over a count: torch-mlir's own form would accumulate in half precision."""
    if dtype is not None:
        x = x.to(dtype)
    dims = normal_dims(x, dim)
    count = math.prod(x.shape[d] for d in dims)
    wide = compute_in(x)
    total = wide.sum(dims, keepdim)
    # An empty mean is 0/0: NaN, as in eager.
    return (total / count if count else total * math.nan).to(x.dtype)


def _moments(x: Tensor, dim: Any, correction: float, keepdim: bool) -> tuple[Tensor, Tensor]:
    dims = normal_dims(x, dim)
    count = math.prod(x.shape[d] for d in dims)
    mean = x.sum(dims, True) / count if count else x.sum(dims, True) * math.nan
    centred = x - mean
    divisor = max(count - correction, 0)
    squares = (centred * centred).sum(dims, keepdim)
    # A divisor of zero gives 0/0 = NaN or x/0 = inf, as in eager.
    var = squares / divisor if divisor else squares * math.inf
    return var, (mean if keepdim else mean.squeeze(dims) if dims else mean)


def _var(x: Tensor, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Tensor:
    """torch-mlir computes variance in f64; this stays in the input's precision."""
    var, _ = _moments(compute_in(x), dim, 1 if correction is None else correction, keepdim)
    return var.to(x.dtype)


def _var_mean(
    x: Tensor, dim: Any = None, *, correction: Any = None, keepdim: bool = False
) -> tuple:
    """As ``var``."""
    var, mean = _moments(compute_in(x), dim, 1 if correction is None else correction, keepdim)
    return var.to(x.dtype), mean.to(x.dtype)


def _std(x: Tensor, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Tensor:
    """As ``var``; the gradient of a standard deviation of 0 is 0."""
    var, _ = _moments(compute_in(x), dim, 1 if correction is None else correction, keepdim)
    return safe_sqrt(var).to(x.dtype)


def _std_mean(
    x: Tensor, dim: Any = None, *, correction: Any = None, keepdim: bool = False
) -> tuple:
    """As ``std``."""
    var, mean = _moments(compute_in(x), dim, 1 if correction is None else correction, keepdim)
    return safe_sqrt(var).to(x.dtype), mean.to(x.dtype)


def _layer_norm(x: Tensor, shape: Sequence[int], weight: Any, bias: Any, eps: float) -> tuple:
    """torch-mlir's form computes in f64."""
    wide = compute_in(x)
    dims = list(range(x.ndim - len(shape), x.ndim))
    var, mean = _moments(wide, dims, 0, True)
    rstd = torch.rsqrt(var + eps)
    out = (wide - mean) * rstd
    if weight is not None:
        out = out * weight
    if bias is not None:
        out = out + bias
    return out.to(x.dtype), mean, rstd


def _group_norm(
    x: Tensor, weight: Any, bias: Any, n: int, c: int, hxw: int, groups: int, eps: float
) -> tuple:
    """torch-mlir's form computes in f64."""
    wide = compute_in(x).reshape(n, groups, c // groups, hxw)
    var, mean = _moments(wide, [2, 3], 0, True)
    rstd = torch.rsqrt(var + eps)
    out = ((wide - mean) * rstd).reshape(x.shape)
    per_channel = [1, c] + [1] * (x.ndim - 2)
    if weight is not None:
        out = out * weight.reshape(per_channel)
    if bias is not None:
        out = out + bias.reshape(per_channel)
    return out.to(x.dtype), mean.reshape(n, groups), rstd.reshape(n, groups)


def _batch_norm(
    x: Tensor,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = False,
) -> Tensor:
    """The schema hides the writes to the running statistics: functionalisation loses them."""
    shape = [1, x.shape[1]] + [1] * (x.ndim - 2)
    wide = compute_in(x)
    if training:
        dims = [d for d in range(x.ndim) if d != 1]
        var, mean = _moments(wide, dims, 0, True)
        if running_mean is not None:
            count = x.numel() // max(x.shape[1], 1)
            unbiased = count / (count - 1) if count > 1 else math.inf
            # Buffers never carry a gradient: what is written to them is stopped.
            new_mean = STOP(mean).reshape(-1)
            new_var = STOP(var).reshape(-1) * unbiased
            running_mean.copy_(momentum * new_mean + (1 - momentum) * running_mean)
            running_var.copy_(momentum * new_var + (1 - momentum) * running_var)
    else:
        mean, var = running_mean.reshape(shape), running_var.reshape(shape)
    scale = torch.rsqrt(var + eps)
    out = (wide - mean) * scale
    if weight is not None:
        out = out * weight.reshape(shape)
    if bias is not None:
        out = out + bias.reshape(shape)
    return out.to(x.dtype)


def _instance_norm(
    x: Tensor,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = False,
) -> Tensor:
    """Calls batch norm inside; tracked statistics would be lost the same way."""
    n, c = x.shape[:2]
    if not use_input_stats:
        return _batch_norm(x, weight, bias, running_mean, running_var, False, momentum, eps)
    wide = compute_in(x)
    dims = list(range(2, x.ndim))
    var, mean = _moments(wide, dims, 0, True)
    if running_mean is not None:
        count = math.prod(x.shape[2:])
        new_mean = STOP(mean).reshape(n, c).mean(0)
        new_var = STOP(var).reshape(n, c).mean(0) * (count / (count - 1) if count > 1 else math.inf)
        running_mean.copy_(momentum * new_mean + (1 - momentum) * running_mean)
        running_var.copy_(momentum * new_var + (1 - momentum) * running_var)
    out = (wide - mean) * torch.rsqrt(var + eps)
    shape = [1, c] + [1] * (x.ndim - 2)
    if weight is not None:
        out = out * weight.reshape(shape)
    if bias is not None:
        out = out + bias.reshape(shape)
    return out.to(x.dtype)


def _rms_norm(x: Tensor, shape: Sequence[int], weight: Any = None, eps: Any = None) -> Tensor:
    """Kept in f32 for half precision, as eager does, with eager's default epsilon."""
    wide = compute_in(x)
    dims = list(range(x.ndim - len(shape), x.ndim))
    count = math.prod(shape)
    eps = torch.finfo(wide.dtype).eps if eps is None else eps
    out = wide * torch.rsqrt((wide * wide).sum(dims, True) / count + eps)
    return (out if weight is None else out * weight).to(x.dtype)


NORMALISATION_COMPOSITES: dict[Any, Callable] = {
    aten.batch_norm.default: _batch_norm,
    aten.instance_norm.default: _instance_norm,
    aten.rms_norm.default: _rms_norm,
}

NORMALISATION_DECOMPOSITIONS: dict[Any, Callable] = {
    aten.sum.dim_IntList: _sum,
    aten.mean.default: lambda x, *, dtype=None: _mean(x, None, dtype=dtype),
    aten.mean.dim: _mean,
    aten.var.correction: _var,
    aten.var_mean.correction: _var_mean,
    aten.std.correction: _std,
    aten.std_mean.correction: _std_mean,
    aten.native_layer_norm.default: _layer_norm,
    aten.native_group_norm.default: _group_norm,
}
