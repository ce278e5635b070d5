"""Ops that move, look up or add up elements, made of ops whose derivative is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._decomp.decompositions import upsample_nearest2d as upstream_nearest2d

from ..errors import UnsupportedError
from .softmax import logsumexp

aten = torch.ops.aten

#: Elements of a dimension that is scanned by comparing all pairs.
LONGEST = 4096


def _roll(x: Tensor, shifts: Sequence[int], dims: Sequence[int] = ()) -> Tensor:
    """torch-mlir's form takes no shift beyond the length, and needs dimensions."""
    if not dims:
        return _roll(x.reshape(-1), shifts, [0]).reshape(x.shape)
    rolled = x
    for shift, dim in zip(shifts, dims, strict=True):
        length = x.shape[dim]
        if length and (start := -shift % length):
            parts = [rolled.narrow(dim, start, length - start), rolled.narrow(dim, 0, start)]
            rolled = torch.cat(parts, dim)
    return x.clone() if rolled is x else rolled


def _upsample_nearest2d(
    x: Tensor, output_size: Sequence[int], scales_h: Any = None, scales_w: Any = None
) -> Tensor:
    """torch-mlir's form is right for whole factors only."""
    sizes = zip(x.shape[-2:], output_size, (scales_h, scales_w), strict=True)
    if all(out % size == 0 and scale in (None, out / size) for size, out, scale in sizes):
        return NotImplemented
    return upstream_nearest2d(x, output_size, scales_h, scales_w)


def _repeat_interleave(repeats: Tensor, *, output_size: Any = None) -> Tensor:
    """The row that each row of the result repeats: as many ends of runs lie before it."""
    if output_size is None:
        return NotImplemented
    rows = torch.arange(output_size, device=repeats.device).unsqueeze(1)
    return (repeats.cumsum(0) <= rows).sum(1).to(repeats.dtype)


def _searchsorted(
    sorted_sequence: Tensor,
    values: Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: Any = None,
    sorter: Any = None,
) -> Tensor:
    """The number of elements before each value; torch-mlir has no lowering."""
    if sorter is not None:
        sorted_sequence = sorted_sequence.gather(-1, sorter)
    rows, values = sorted_sequence.unsqueeze(-2), values.unsqueeze(-1)
    before = rows <= values if right or side == "right" else rows < values
    return before.sum(-1).to(torch.int32 if out_int32 else torch.int64)


def _embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Sums of rows by bag; PyTorch has no parts for it."""
    if mode == 2 or scale_grad_by_freq:
        what = "mode='max'" if mode == 2 else "scale_grad_by_freq"
        raise UnsupportedError(f"{what} is not supported", hint="use embedding and a reduction")
    rows = torch.nn.functional.embedding(indices, weight)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(-1)
    kept = (indices != padding_idx).to(weight.dtype)
    starts = offsets[:-1] if include_last_offset else offsets
    places = torch.arange(indices.shape[0], device=indices.device).unsqueeze(1)
    bag = (starts <= places).sum(1) - 1
    shape = [starts.shape[0], weight.shape[1]]
    sums = weight.new_zeros(shape).index_add(0, bag, rows * kept.unsqueeze(-1))
    counts = weight.new_zeros(shape[:1]).index_add(0, bag, kept)
    if mode == 1:
        sums = sums / counts.clamp(min=1).unsqueeze(-1)
    sizes = counts.to(indices.dtype)
    return sums, bag, sizes, sizes


def _logcumsumexp(x: Tensor, dim: int) -> Tensor:
    """A masked ``logsumexp`` for each element: the derivative of a scan is not known."""
    if x.ndim == 0 or x.numel() == 0:
        return x.clone()
    length = x.shape[dim]
    if length > LONGEST:
        raise UnsupportedError(
            f"scans more than {LONGEST} elements", hint="split the dimension, or scan it outside"
        )
    places = torch.arange(length, device=x.device)
    before = places <= places.unsqueeze(1)
    spread = torch.where(before, x.movedim(dim, -1).unsqueeze(-2), -torch.inf)
    return logsumexp(spread, [-1]).movedim(-1, dim)


def _avg_pool2d(x: Tensor, *options: Any) -> Tensor:
    """torch-mlir lowers batches only."""
    if x.ndim == 4:
        return NotImplemented
    return aten.avg_pool2d(x.unsqueeze(0), *options).squeeze(0)


def _adaptive_max_pool2d(x: Tensor, output_size: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Pooling with one window size, where there is one."""
    sizes = list(zip(x.shape[-2:], output_size, strict=True))
    if any(out == 0 or size % out for size, out in sizes):
        return NotImplemented
    window = [size // out for size, out in sizes]
    return aten.max_pool2d_with_indices(x, window, window)


def _addmv(bias: Tensor, a: Tensor, x: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """As ``addmm``, of one column."""
    bias = bias.expand(a.shape[0]).unsqueeze(1)
    return torch.addmm(bias, a, x.unsqueeze(1), beta=beta, alpha=alpha).squeeze(1)


def _addbmm(bias: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """As ``addmm``: the sum of products is one product."""
    batch, rows, inner = a.shape
    wide = a.transpose(0, 1).reshape(rows, batch * inner)
    tall = b.reshape(batch * inner, b.shape[2])
    return torch.addmm(bias, wide, tall, beta=beta, alpha=alpha)


def _bilinear(a: Tensor, b: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Two products; PyTorch's form is one sum of everything."""
    result = torch.einsum("...i,oij,...j->...o", a, weight, b)
    return result if bias is None else result + bias


def _fill_diagonal_(x: Tensor, value: Any, wrap: bool = False) -> Tensor:
    """A write to a view, which functionalisation knows."""
    if x.ndim != 2 or (wrap and x.shape[0] > x.shape[1]):
        raise UnsupportedError(
            "fills the diagonal of other than a plain matrix", hint="write to x.diagonal()"
        )
    x.diagonal().fill_(value)
    return x


MOVEMENT_COMPOSITES: dict[Any, Callable] = {
    aten.bilinear.default: _bilinear,
    aten.fill_diagonal_.default: _fill_diagonal_,
}

MOVEMENT_DECOMPOSITIONS: dict[Any, Callable] = {
    aten.roll.default: _roll,
    aten.upsample_nearest2d.default: _upsample_nearest2d,
    aten.repeat_interleave.Tensor: _repeat_interleave,
    aten.searchsorted.Tensor: _searchsorted,
    aten._embedding_bag.default: _embedding_bag,
    aten._embedding_bag_forward_only.default: _embedding_bag,
    aten.logcumsumexp.default: _logcumsumexp,
    aten.avg_pool2d.default: _avg_pool2d,
    aten.adaptive_max_pool2d.default: _adaptive_max_pool2d,
    aten.addmv.default: _addmv,
    aten.addbmm.default: _addbmm,
}
