"""Powers, norms, products and scans, without a derivative that divides by zero."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .numerics import compute_in, constant_but_connected, normal_dims, safe_sqrt, shared
from .ops import STOP, VALUE_OF

aten = torch.ops.aten


def _pow_scalar(x: Tensor, exponent: float) -> Tensor:
    """Small exponents are eager's own special cases, exact and free of powf."""
    if not (x.is_floating_point() or x.is_complex()) or isinstance(exponent, complex):
        return NotImplemented
    if exponent == 0:  # connected, with derivative 0 even at 0
        return constant_but_connected(torch.ones_like(x), x)
    simple: dict[float, Callable] = {
        1.0: lambda: x.clone(),
        2.0: lambda: x * x,
        3.0: lambda: x * x * x,
        0.5: lambda: torch.sqrt(x),
        -0.5: lambda: torch.rsqrt(x),
        -1.0: lambda: torch.reciprocal(x),
        -2.0: lambda: torch.reciprocal(x * x),
    }
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
    elif ord == 0:  # connected, with derivative 0
        out = VALUE_OF((x != 0).to(x.dtype).sum(dims, keepdim), torch.floor(x).sum(dims, keepdim))
    else:
        zero = size == 0
        terms = torch.where(zero, 0.0 if ord > 0 else math.inf, torch.where(zero, 1.0, size) ** ord)
        total = terms.sum(dims, keepdim)
        none = total == 0
        out = torch.where(none, 0.0, torch.where(none, 1.0, total) ** (1.0 / ord))
    return out.to(out_dtype)


def _norm(
    x: Tensor, p: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """As ``linalg_vector_norm``."""
    return _vector_norm(x, 2 if p is None else p, dim or None, keepdim, dtype=dtype)


def _product(x: Tensor, dim: int) -> Tensor:
    """Halving: multiplications of slices, whose derivatives need no division by a factor that may
    be 0."""
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


def _cdist(a: Tensor, b: Tensor, p: float, compute_mode: Any = None) -> Tensor:
    """The norm of all differences."""
    return _lengths(a.unsqueeze(-2) - b.unsqueeze(-3), p)


def _pdist(x: Tensor, p: float = 2) -> Tensor:
    """As ``cdist``, for every pair of rows."""
    first, second = torch.triu_indices(x.shape[0], x.shape[0], 1, device=x.device)
    return _lengths(x[first] - x[second], p)


def _lengths(gaps: Tensor, p: float) -> Tensor:
    """The norm of rows, with its derivative of 0 at 0; unlike in the norm, every one of equal
    largest elements gets all of the gradient."""
    if p != math.inf or gaps.shape[-1] == 0:
        return _vector_norm(gaps, p, [-1])
    sizes = torch.abs(gaps)
    largest = STOP(torch.amax(sizes, [-1], True))
    return VALUE_OF(largest.squeeze(-1), torch.where(sizes == largest, sizes, 0.0).sum([-1]))


def _extremum(whole: Callable) -> Callable:
    def extremum(x: Tensor) -> Tensor:
        """Equal elements share the gradient evenly, NaN among NaN; amax would spread NaN."""
        if not x.is_floating_point():
            return NotImplemented
        dims = list(range(x.ndim))
        return shared(x, STOP(whole(x, dims) if dims else x))

    return extremum


def _aminmax(x: Tensor, *, dim: Any = None, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """As ``amin`` and ``amax``."""
    dims = normal_dims(x, dim)
    if not dims:
        return x.clone(), x.clone()
    return torch.amin(x, dims, keepdim), torch.amax(x, dims, keepdim)


def _position(along: Callable) -> Callable:
    def position(x: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
        """The first extremum or NaN; torch-mlir's form of argmin passes over NaN."""
        if not x.is_floating_point() or x.ndim == 0:
            return NotImplemented
        if dim is not None:
            return along(x, dim, keepdim)[1]
        index = along(x.reshape(-1), 0, False)[1]
        return index.reshape([1] * x.ndim) if keepdim else index

    return position


def _euclidean_dist(a: Tensor, b: Tensor) -> Tensor:
    """By one matrix product, as eager does for many points; derivative 0 at distance 0."""
    squares = (a * a).sum([-1], True) + (b * b).sum([-1], True).transpose(-1, -2)
    squares = squares - 2 * torch.matmul(a, b.transpose(-1, -2))
    return safe_sqrt(torch.where(squares < 0, 0.0, squares))


REDUCTION_COMPOSITES: dict[Any, Callable] = {
    aten.cosine_similarity.default: _cosine_similarity,
}

REDUCTION_DECOMPOSITIONS: dict[Any, Callable] = {
    aten.pow.Tensor_Scalar: _pow_scalar,
    aten.linalg_vector_norm.default: _vector_norm,
    aten.norm.Scalar: lambda x, p=2: _norm(x, p),
    aten.norm.ScalarOpt_dim: _norm,
    aten.norm.ScalarOpt_dim_dtype: _norm,
    aten.norm.ScalarOpt_dtype: lambda x, p, *, dtype: _norm(x, p, dtype=dtype),
    aten._cdist_forward.default: _cdist,
    aten._pdist_forward.default: _pdist,
    aten._euclidean_dist.default: _euclidean_dist,
    aten.dist.default: lambda x, y, p=2: _vector_norm(x - y, p),
    aten.prod.default: _prod,
    aten.prod.dim_int: _prod_dim,
    aten.cumsum.default: _scan(torch.add, 0),
    aten.cumprod.default: _scan(torch.mul, 1),
    aten.max.default: _extremum(torch.amax),
    aten.min.default: _extremum(torch.amin),
    aten.argmax.default: _position(torch.max),
    aten.argmin.default: _position(torch.min),
    aten.aminmax.default: _aminmax,
}
