"""ATen ops taken apart so that values are eager's and derivatives follow PyTorch's conventions.

Two tables. ``COMPOSITES`` replaces ops of the marked graph before PyTorch takes them apart itself;
``decomposition_table()`` is used for every op that arrives below autograd. One entry an op; the comment
says why PyTorch's or torch-mlir's own form will not do. Half-precision inputs compute in f32 and round
once, as eager kernels do. All formulas are differentiable twice with the values eager has.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from .conventions import refuse
from .losses import LOSS_DECOMPOSITIONS
from .numerics import compute_in, normal_dims, safe_sqrt
from .ops import STOP, VALUE_OF
from .activations import ACTIVATION_DECOMPOSITIONS

aten = torch.ops.aten


# -- sums and moments ---------------------------------------------------------------------------------
def _sum(x: Tensor, dim: Sequence[int] | None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Half precision accumulates in f32 and rounds once; kept dimensions are put back by a view."""
    dims = normal_dims(x, dim)
    half = x.dtype in (torch.bfloat16, torch.float16) and dtype is None
    if not half and not (keepdim and dims):
        return NotImplemented
    total = compute_in(x).sum(dims, dtype=dtype)
    total = total.to(x.dtype) if half else total
    return total.reshape([1 if d in dims else s for d, s in enumerate(x.shape)]) if keepdim else total


def _mean(x: Tensor, dim: Sequence[int] | None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
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


def _var_mean(x: Tensor, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> tuple:
    """As ``var``."""
    var, mean = _moments(compute_in(x), dim, 1 if correction is None else correction, keepdim)
    return var.to(x.dtype), mean.to(x.dtype)


def _std(x: Tensor, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Tensor:
    """As ``var``; the gradient of a standard deviation of 0 is 0."""
    var, _ = _moments(compute_in(x), dim, 1 if correction is None else correction, keepdim)
    return safe_sqrt(var).to(x.dtype)


def _std_mean(x: Tensor, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> tuple:
    """As ``std``."""
    var, mean = _moments(compute_in(x), dim, 1 if correction is None else correction, keepdim)
    return safe_sqrt(var).to(x.dtype), mean.to(x.dtype)


# -- normalisation ------------------------------------------------------------------------------------
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
    x: Tensor, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool,
    momentum: float, eps: float, cudnn_enabled: bool = False,
) -> Tensor:  # fmt: skip
    """PyTorch's schema hides the writes to the running statistics, so functionalisation loses them."""
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
    x: Tensor, weight: Any, bias: Any, running_mean: Any, running_var: Any, use_input_stats: bool,
    momentum: float, eps: float, cudnn_enabled: bool = False,
) -> Tensor:  # fmt: skip
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


# -- softmax ------------------------------------------------------------------------------------------
def _shift(x: Tensor, dim: Any) -> Tensor:
    """The maximum along ``dim`` as a constant: softmax does not depend on it, so nothing differentiates it."""
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
    """A row of -inf (fully masked) is 0 with gradient 0; both branches of the choice stay finite."""
    x = x if dtype is None else x.to(dtype)
    masked = (x == -math.inf).all(dim, keepdim=True)
    return torch.where(masked, 0.0, _softmax(torch.where(masked, 0.0, x), dim)).to(x.dtype)


def _logsumexp(x: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """As softmax; an infinite maximum is not subtracted, which gives eager's -inf and inf."""
    wide = compute_in(x if x.is_floating_point() else x.to(torch.get_default_dtype()))
    dims = normal_dims(x, dim if isinstance(dim, (list, tuple)) else [dim])
    if x.numel() == 0:
        return torch.log(torch.exp(wide).sum(dims, keepdim))
    top = _shift(wide, dims)
    top = torch.where(top.abs() == math.inf, 0.0, top)
    out = torch.log(torch.exp(wide - top).sum(dims, True)) + top
    out = out if keepdim else out.squeeze(dims) if dims else out
    return out.to(x.dtype) if x.is_floating_point() else out


def _sdpa(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Any = None, dropout_p: float = 0.0,
    is_causal: bool = False, *, scale: Any = None, enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    """PyTorch picks a fused kernel by device and alignment; this is the mathematical form for all."""
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
        weights = _dropout(weights, dropout_p, True)
    return torch.matmul(weights, value)


# -- powers, norms and products -----------------------------------------------------------------------
def _pow_scalar(x: Tensor, exponent: float) -> Tensor:
    """Small exponents are eager's own special cases, exact and free of powf."""
    if not (x.is_floating_point() or x.is_complex()) or isinstance(exponent, complex):
        return NotImplemented
    if exponent == 0:  # connected, with derivative 0 even at 0
        return VALUE_OF(torch.ones_like(x), x * 0.0)
    simple: dict[float, Callable] = {
        1.0: lambda: x.clone(), 2.0: lambda: x * x, 3.0: lambda: x * x * x, 0.5: lambda: torch.sqrt(x),
        -0.5: lambda: torch.rsqrt(x), -1.0: lambda: torch.reciprocal(x),
        -2.0: lambda: torch.reciprocal(x * x),
    }  # fmt: skip
    return simple[exponent]() if exponent in simple else NotImplemented


def _vector_norm(
    x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """powf(sum, 0.5) has no derivative at 0, where PyTorch gives 0."""
    if x.is_complex():
        return NotImplemented
    out_dtype = dtype or x.dtype
    x = compute_in(x if dtype is None else x.to(dtype))
    dims = normal_dims(x, dim)
    size = torch.abs(x)
    if ord == 2:
        out = safe_sqrt((x * x).sum(dims, keepdim))
    elif ord == 1:
        out = size.sum(dims, keepdim)
    elif ord == math.inf:
        out = torch.amax(size, dims, keepdim) if dims else size
    elif ord == -math.inf:
        out = torch.amin(size, dims, keepdim) if dims else size
    elif ord == 0:
        out = (x != 0).to(x.dtype).sum(dims, keepdim)
    else:
        zero = size == 0
        terms = torch.where(zero, 0.0 if ord > 0 else math.inf, torch.where(zero, 1.0, size) ** ord)
        total = terms.sum(dims, keepdim)
        none = total == 0
        out = torch.where(none, 0.0, torch.where(none, 1.0, total) ** (1.0 / ord))
    return out.to(out_dtype)


def _norm(x: Tensor, p: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """As ``linalg_vector_norm``."""
    return _vector_norm(x, 2 if p is None else p, dim or None, keepdim, dtype=dtype)


def _product(x: Tensor, dim: int) -> Tensor:
    """Halving: multiplications of slices, whose derivatives need no division by a factor that may be 0."""
    length = x.shape[dim]
    if length == 0:
        return torch.ones_like(x.sum([dim], True))
    while length > 1:
        half = length // 2
        pairs = x.narrow(dim, 0, half) * x.narrow(dim, half, half)
        rest = [x.narrow(dim, 2 * half, 1)] if length % 2 else []
        x = torch.cat([pairs, *rest], dim)
        length = half + length % 2
    return x


def _prod(x: Tensor, *, dtype: Any = None) -> Tensor:
    """A multiplying reduction would divide by zero factors in its derivative."""
    out = x if dtype is None else x.to(dtype)
    if not out.is_floating_point():
        return NotImplemented
    return _product(compute_in(out).reshape(-1), 0).reshape([]).to(out.dtype)


def _prod_dim(x: Tensor, dim: int, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """As ``prod``."""
    out = x if dtype is None else x.to(dtype)
    if not out.is_floating_point() or x.ndim == 0:
        return NotImplemented
    product = _product(compute_in(out), dim % x.ndim)
    return (product if keepdim else product.squeeze(dim)).to(out.dtype)


def _scan(combine: Callable, neutral: float) -> Callable:
    def scan(x: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
        """torch-mlir makes a tm_tensor.scan; log2(n) shifted combinations stay within linalg."""
        out = x if dtype is None else x.to(dtype)
        if not (out.is_floating_point() or out.is_complex()):
            out = out if dtype is not None else out.to(torch.int64)
        result_dtype = out.dtype
        if out.ndim == 0:
            return out.clone()
        out = compute_in(out)
        dim = dim % out.ndim
        length, step = out.shape[dim], 1
        while step < length:
            shape = list(out.shape)
            shape[dim] = step
            head = torch.full(shape, neutral, dtype=out.dtype, device=out.device)
            out = combine(out, torch.cat([head, out.narrow(dim, 0, length - step)], dim))
            step *= 2
        return out.to(result_dtype)

    return scan


def _cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """Eager clamps the norms off the gradient path; a traced clamp would be on it."""

    def length(x: Tensor) -> Tensor:
        norm = safe_sqrt((x * x).sum([dim], True))
        return VALUE_OF(torch.where(norm < eps, eps, norm), norm)

    shape = torch.broadcast_shapes(x1.shape, x2.shape)
    x1, x2 = x1.expand(shape), x2.expand(shape)
    return ((x1 / length(x1)) * (x2 / length(x2))).sum([dim])


def _addmm(bias: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Multiplications by a beta or alpha of 1 are left out."""
    product = torch.mm(a, b)
    product = product if alpha == 1 else product * alpha
    if beta == 0:
        return product
    return product + (bias if beta == 1 else bias * beta)


def _copy(x: Tensor, source: Tensor, non_blocking: bool = False) -> Tensor:
    """What an in-place copy leaves behind: the source in the target's shape and dtype."""
    return source.to(x.dtype).expand(x.shape).clone()


def _dropout(x: Tensor, p: float, train: bool) -> Tensor:
    """Draws in the memory order of ``x``, as eager does; PyTorch's own form loses the layout."""
    if not train or p == 0 or x.numel() == 0:
        return x
    if p == 1:
        return x * torch.zeros_like(x)
    return x * (torch.ops.aten.bernoulli.p(x, 1 - p) / (1 - p))


def _bernoulli(x: Tensor, p: float = 0.5) -> Tensor:
    """Eager's result is contiguous whatever the layout of ``x``, and drawn in that order."""
    return torch.empty(x.shape, dtype=x.dtype, device=x.device).bernoulli_(p)


def _native_dropout(x: Tensor, p: float, train: Any) -> tuple:
    """The mask is drawn outside the graph; see randomness.py."""
    if train is False or p == 0:
        return x.clone(), torch.ones_like(x, dtype=torch.bool)
    kept = torch.ops.aten.bernoulli.p(x, 1 - p)
    return _dropout(x, p, True) if p == 1 else x * (kept / (1 - p)), kept.to(torch.bool)


def _split_sizes(x: Tensor, sizes: Sequence[int], dim: int = 0) -> tuple:
    """Slices; torch-mlir has no list of tensors past this point."""
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    return tuple(x.narrow(dim, start, size) for start, size in zip(starts, sizes, strict=True))


def _split(x: Tensor, size: int, dim: int = 0) -> tuple:
    """As ``split_with_sizes``."""
    length = x.shape[dim]
    sizes = [min(size, length - at) for at in range(0, length, max(size, 1))] or [0]
    return _split_sizes(x, sizes, dim)


def _squeeze(x: Tensor, dim: Any = None) -> Tensor:
    """A view, where PyTorch's form would be a prims op."""
    dims = normal_dims(x, dim)
    return x.view([size for d, size in enumerate(x.shape) if d not in dims or size != 1])


def _scalar_operand(op: Callable) -> Callable:
    def decomposition(x: Tensor, other: Any) -> Tensor:
        """torch-mlir lowers the tensor form only."""
        if not x.is_floating_point():
            return NotImplemented
        return op(x, torch.full([], other, dtype=x.dtype, device=x.device))

    return decomposition


def _refusing(name: str) -> Callable:
    def implementation(*args: Any, **kwargs: Any) -> Any:
        refuse(name)

    return implementation


COMPOSITES: dict[Any, Callable] = {
    aten.batch_norm.default: _batch_norm,
    aten.instance_norm.default: _instance_norm,
    aten.dropout.default: _dropout,
    aten.bernoulli.p: _bernoulli,
    aten.dropout_.default: lambda x, p, train: x.copy_(_dropout(x, p, train)),
    aten.rms_norm.default: _rms_norm,
    aten.scaled_dot_product_attention.default: _sdpa,
    aten.cosine_similarity.default: _cosine_similarity,
    aten.as_strided.default: _refusing("as_strided"),
    aten.as_strided_.default: _refusing("as_strided"),
}

_OWN: dict[Any, Callable] = {
    aten.sum.dim_IntList: _sum,
    aten.mean.default: lambda x, *, dtype=None: _mean(x, None, dtype=dtype),
    aten.mean.dim: _mean,
    aten.var.correction: _var,
    aten.var_mean.correction: _var_mean,
    aten.std.correction: _std,
    aten.std_mean.correction: _std_mean,
    aten.native_layer_norm.default: _layer_norm,
    aten.native_group_norm.default: _group_norm,
    aten._softmax.default: _softmax,
    aten._log_softmax.default: _log_softmax,
    aten._safe_softmax.default: _safe_softmax,
    aten.logsumexp.default: _logsumexp,
    aten.pow.Tensor_Scalar: _pow_scalar,
    aten.linalg_vector_norm.default: _vector_norm,
    aten.norm.Scalar: lambda x, p=2: _norm(x, p),
    aten.norm.ScalarOpt_dim: _norm,
    aten.norm.ScalarOpt_dim_dtype: _norm,
    aten.norm.ScalarOpt_dtype: lambda x, p, *, dtype: _norm(x, p, dtype=dtype),
    aten.prod.default: _prod,
    aten.prod.dim_int: _prod_dim,
    aten.cumsum.default: _scan(torch.add, 0),
    aten.cumprod.default: _scan(torch.mul, 1),
    aten.addmm.default: _addmm,
    aten.copy.default: _copy,
    aten.split_with_sizes.default: _split_sizes,
    aten.split.Tensor: _split,
    aten.unsafe_split_with_sizes.default: _split_sizes,
    aten.unsafe_split.Tensor: _split,
    aten.squeeze.default: _squeeze,
    aten.squeeze.dim: _squeeze,
    aten.squeeze.dims: lambda x, dim: _squeeze(x, dim) if len(dim) else x.view(x.shape),
    aten.fmod.Scalar: _scalar_operand(torch.fmod),
    aten.remainder.Scalar: _scalar_operand(torch.remainder),
    aten.native_dropout.default: _native_dropout,
    **ACTIVATION_DECOMPOSITIONS,
    **LOSS_DECOMPOSITIONS,
}

# Ops that must arrive whole: outlined with their own convention, drawn outside, or better in torch-mlir.
_KEEP = (
    "amax", "amin", "aminmax", "maximum", "minimum", "max_pool2d_with_indices", "bernoulli", "rand",
    "randn", "rand_like", "randn_like", "randint", "randint_like", "randperm", "uniform", "normal",
    "normal_functional", "exponential", "stack", "lift_fresh_copy",
    "embedding", "upsample_nearest2d", "flip", "sum", "mean", "logaddexp2",
    "_trilinear", "rsub", "diag_embed", "index_add", "index_copy", "index_fill",
)  # fmt: skip


@functools.cache
def decomposition_table() -> dict[Any, Callable]:
    """PyTorch's core decompositions, less those that lose something, plus this module's own."""
    from torch._decomp import core_aten_decompositions, get_decompositions

    from .upstream import EXCLUDED, EXTRA

    table = {
        op: how
        for op, how in core_aten_decompositions().items()
        if op._overloadpacket.__name__ not in _KEEP and op._overloadpacket not in EXCLUDED
    }
    table.update(get_decompositions(EXTRA))
    table.update(_OWN)
    return table
