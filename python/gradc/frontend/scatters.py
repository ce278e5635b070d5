"""Scatters: writes and additions at computed positions, from two ops that arrive whole.

``gradc::add_at(x, positions, values)`` adds row k of ``values`` to row ``positions[k]`` of ``x``.
``gradc::last_writer(positions, rows)`` says for each row which k writes it last, -1 if none does.
An overwriting scatter is a choice between the old row and the last writer's, so that the gradient
of a position written twice goes to the writer whose value survives. (Eager sends it to both, which
is not the derivative.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from .numerics import normal_dims
from .ops import define

aten = torch.ops.aten


def _add_at(x: Tensor, positions: Tensor, values: Tensor) -> Tensor:
    return x.index_put((positions,), values, accumulate=True)


def _last_writer(positions: Tensor, rows: int) -> Tensor:
    last = torch.full((rows,), -1)
    for number, position in enumerate(positions.tolist()):
        last[position] = number
    return last


ADD_AT = define(
    "add_at(Tensor x, Tensor positions, Tensor values) -> Tensor",
    _add_at,
    lambda x, positions, values: torch.empty_like(x),
)
LAST_WRITER = define(
    "last_writer(Tensor positions, int rows) -> Tensor",
    _last_writer,
    lambda positions, rows: positions.new_empty((rows,)),
)


def _checked(index: Tensor, size: int) -> Tensor:
    """``index`` counted from the beginning. Reading a table of all positions has the bounds
    checked."""
    return torch.arange(size, device=index.device)[index.to(torch.int64)]


def _write(rows: Tensor, positions: Tensor, values: Tensor, accumulate: bool) -> Tensor:
    """``rows`` ([N] or [N, R]) with ``values`` ([M] or [M, R]) at ``positions`` ([M])."""
    values = values.to(rows.dtype)
    if positions.numel() == 0 or rows.numel() == 0:
        return rows.clone()
    if accumulate:
        return ADD_AT(rows, positions, values)
    last = LAST_WRITER(positions, rows.shape[0])
    written = values[last.clamp(min=0)]
    mask = (last >= 0).reshape([-1, *[1] * (rows.ndim - 1)])
    return torch.where(mask, written, rows)


def _write_rows(
    x: Tensor, dims: Sequence[int], position: Tensor, values: Tensor, accumulate: bool
) -> Tensor:
    """``x`` with ``values`` ([M, rest...]) at flat ``position`` ([M]) of its ``dims``, the rest in
    order."""
    rest = [d for d in range(x.ndim) if d not in dims]
    order = [*dims, *rest]
    moved = x.permute(order)
    count = 1
    for dim in dims:
        count *= x.shape[dim]
    flat = [count, -1] if rest else [count]
    if x.numel() == 0:
        return x.clone()
    shape = [position.numel(), -1] if rest else [position.numel()]
    values = values.reshape(shape) if position.numel() else values
    out = _write(moved.reshape(flat), position, values, accumulate)
    back = [order.index(d) for d in range(x.ndim)]
    return out.reshape(moved.shape).permute(back)


def _under_mask(x: Tensor, mask: Tensor, values: Tensor, accumulate: bool) -> Tensor:
    """One value for every place under a mask is a choice."""
    if accumulate or values.ndim > x.ndim - mask.ndim:
        return NotImplemented
    mask = mask.reshape([*mask.shape, *[1] * (x.ndim - mask.ndim)])
    return torch.where(mask, values.to(x.dtype), x)


def _index_put(
    x: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool = False
) -> Tensor:
    """Writes or additions at index tensors; the indexed dimensions come first."""
    given = [(d, index) for d, index in enumerate(indices) if index is not None]
    if any(index.dtype in (torch.bool, torch.uint8) for _, index in given):
        mask = indices[0]
        if len(indices) != 1 or mask.dtype is not torch.bool:
            return NotImplemented
        if values.numel() == 1:
            values = values.reshape([])
        return _under_mask(x, mask, values, accumulate)
    dims = [d for d, _ in given]
    index = torch.broadcast_tensors(*[index for _, index in given])
    position: Any = 0
    for dim, one in zip(dims, index):
        position = position * x.shape[dim] + _checked(one, x.shape[dim])
    rest = [x.shape[d] for d in range(x.ndim) if d not in dims]
    before = dims[0] if dims == list(range(dims[0], dims[0] + len(dims))) else 0
    where, count = list(index[0].shape), index[0].ndim
    # The shape that indexing has: the index's dimensions where adjacent ones stood, else first.
    values = values.expand([*rest[:before], *where, *rest[before:]])
    front = [*range(before, before + count)]
    values = values.permute([*front, *[d for d in range(values.ndim) if d not in front]])
    values = values.reshape([position.numel(), *rest])
    return _write_rows(x, dims, position.reshape(-1), values, accumulate)


def _elements(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """The flat position in ``x`` of each element of ``index``, as ``scatter`` means it."""
    position: Any = 0
    for d in range(x.ndim):
        if d == dim:
            at = _checked(index, x.shape[d])
        else:
            at = torch.arange(index.shape[d], device=index.device)
            at = at.reshape([-1 if e == d else 1 for e in range(x.ndim)])
        position = position * x.shape[d] + at
    return position.reshape(-1)


def _scatter_elements(
    x: Tensor, dim: int, index: Tensor, source: Tensor, accumulate: bool
) -> Tensor:
    if index.numel() == 0:
        return x.clone()
    if x.ndim == 0:
        x, out = x.reshape(1), x
        index, source = index.reshape(-1), source.reshape(-1)
        return _scatter_elements(x, 0, index, source, accumulate).reshape(out.shape)
    dim = normal_dims(x, dim)[0]
    for d, size in enumerate(index.shape):
        source = source.narrow(d, 0, size)
    position = _elements(x, dim, index)
    flat = _write(x.reshape(-1), position, source.reshape(-1), accumulate)
    return flat.reshape(x.shape)


def _one_a_row(x: Tensor, dim: int, index: Tensor) -> Tensor | None:
    """Where the single index of each row points (one-hot), a choice instead of a scatter."""
    dim = dim % max(x.ndim, 1)
    row = [1 if d == dim else size for d, size in enumerate(x.shape)]
    if x.ndim == 0 or list(index.shape) != row:
        return None
    positions = torch.arange(x.shape[dim], device=x.device)
    return positions.reshape([-1 if d == dim else 1 for d in range(x.ndim)]) == index


def _scatter_value(x: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """The same number everywhere."""
    here = _one_a_row(x, dim, index)
    if here is not None:
        return torch.where(here, value, x).to(x.dtype)
    source = torch.full(index.shape, value, dtype=x.dtype, device=x.device)
    return _scatter_elements(x, dim, index, source, False)


def _scatter(x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Where an index repeats, the last in memory order survives."""
    here = _one_a_row(x, dim, index) if source.shape == index.shape else None
    if here is not None:
        return torch.where(here, source, x).to(x.dtype)
    return _scatter_elements(x, dim, index, source, False)


def _scatter_add(x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Repeated indices accumulate."""
    return _scatter_elements(x, dim, index, source, True)


def _scatter_reduce(
    x: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """Sums and means; products and extrema have derivatives of their own."""
    if reduce not in ("sum", "mean") or not x.is_floating_point():
        return NotImplemented
    ones = torch.ones(index.shape, dtype=x.dtype, device=x.device)
    count = _scatter_elements(torch.zeros_like(x), dim, index, ones, True)
    base = x if include_self else torch.where(count > 0, 0.0, x)
    total = _scatter_elements(base, dim, index, source, True)
    if reduce == "sum":
        return total
    count = count + 1 if include_self else torch.where(count > 0, count, 1.0)
    return total / count


def _along(x: Tensor, dim: int, index: Tensor, source: Tensor, accumulate: bool) -> Tensor:
    """Whole slices along ``dim``."""
    if x.ndim == 0:
        return _along(x.reshape(1), 0, index, source.reshape(1), accumulate).reshape([])
    dim = normal_dims(x, dim)[0]
    index = _checked(index.reshape(-1), x.shape[dim])
    return _write_rows(x, [dim], index, source.movedim(dim, 0), accumulate)


def _index_add(x: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """Repeated indices accumulate."""
    return _along(x, dim, index, source if alpha == 1 else source * alpha, True)


def _index_copy(x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Of repeated indices the last survives."""
    return _along(x, dim, index, source, False)


def _index_fill(x: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """The same number in whole slices."""
    if x.ndim == 0:
        return _index_fill(x.reshape(1), 0, index, value).reshape([])
    dim = normal_dims(x, dim)[0]
    hit = torch.arange(x.shape[dim], device=x.device)[:, None]
    hit = (hit == _checked(index.reshape(-1), x.shape[dim])).any(1)
    return torch.where(hit.reshape([-1, *[1] * (x.ndim - 1 - dim)]), value, x).to(x.dtype)


def _put(x: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Positions in the flattened tensor."""
    position = _checked(index.reshape(-1), x.numel())
    return _write(x.reshape(-1), position, source.reshape(-1), accumulate).reshape(x.shape)


def _masked_scatter(x: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """The k-th place under the mask reads the k-th element of the source."""
    shape = torch.broadcast_shapes(x.shape, mask.shape)
    x, mask = x.expand(shape), mask.expand(shape)
    if source.numel() == 0:
        return NotImplemented
    number = torch.cumsum(mask.reshape(-1).to(torch.int64), 0) - 1
    read = source.reshape(-1)[number.clamp(min=0, max=source.numel() - 1)]
    return torch.where(mask, read.reshape(shape).to(x.dtype), x)


def _positions(x: Tensor) -> Tensor:
    return torch.arange(x.numel(), device=x.device).reshape(x.shape)


def _diagonal_scatter(
    x: Tensor, source: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """torch-mlir's form loses what is off the diagonal."""
    position = _positions(x).diagonal(offset, dim1, dim2).reshape(-1)
    source = source.expand(x.diagonal(offset, dim1, dim2).shape).reshape(-1)
    return _write(x.reshape(-1), position, source, False).reshape(x.shape)


def _strided(x: Tensor, size: Sequence[int], stride: Sequence[int], offset: Any) -> Tensor:
    """The flat positions that a strided view of contiguous memory reads."""
    position = torch.full([1] * len(size), int(offset or 0), device=x.device)
    for d, (length, step) in enumerate(zip(size, stride)):
        steps = torch.arange(length, device=x.device) * step
        position = position + steps.reshape([-1 if e == d else 1 for e in range(len(size))])
    return position


def _as_strided(
    x: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: Any = None
) -> Tensor:
    """A gather from contiguous memory (barriers.py sees to that): overlapping cells add up."""
    position = _strided(x, size, stride, storage_offset)
    return x.reshape(-1)[position.reshape(-1)].reshape(list(size))


def _as_strided_scatter(
    x: Tensor,
    source: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: Any = None,
) -> Tensor:
    """What a write into such a view leaves behind."""
    position = _strided(x, size, stride, storage_offset).reshape(-1)
    source = source.expand(list(size)).reshape(-1)
    return _write(x.reshape(-1), position, source, False).reshape(x.shape)


SCATTER_DECOMPOSITIONS: dict[Any, Callable] = {
    aten.index_put.default: _index_put,
    aten._unsafe_index_put.default: _index_put,
    aten.scatter.value: _scatter_value,
    aten.scatter.src: _scatter,
    aten.scatter_add.default: _scatter_add,
    aten.scatter_reduce.two: _scatter_reduce,
    aten.index_add.default: _index_add,
    aten.index_copy.default: _index_copy,
    aten.index_fill.int_Scalar: _index_fill,
    aten.index_fill.int_Tensor: _index_fill,
    aten.put.default: _put,
    aten.masked_scatter.default: _masked_scatter,
    aten.diagonal_scatter.default: _diagonal_scatter,
    aten.as_strided.default: _as_strided,
    aten.as_strided_scatter.default: _as_strided_scatter,
}
