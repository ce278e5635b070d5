"""Sorting: an integer op says the order, a gather makes the values and carries the derivative.

``gradc::order(x, descending)`` gives the stable order of the last dimension, NaN greatest. Which of
several equal elements comes first decides where the gradient goes, as the returned index says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..errors import UnsupportedError
from .numerics import shared
from .ops import STOP, define

aten = torch.ops.aten

#: Elements of a sorted dimension; the order is found by comparing all pairs.
LONGEST = 4096

ORDER = define(
    "order(Tensor x, bool descending) -> Tensor",
    lambda x, descending: torch.sort(x, stable=True, descending=descending).indices,
    lambda x, descending: x.new_empty(x.shape, dtype=torch.int64),
)


def order(x: Tensor, dim: int, descending: bool) -> Tensor:
    """The stable order along ``dim``."""
    if x.shape[dim] > LONGEST:
        raise UnsupportedError(
            f"sorts {x.shape[dim]} elements, more than the {LONGEST} that are sorted here",
            hint="sort outside the compiled function and index with the result",
        )
    last = x.movedim(dim, -1).contiguous()
    return ORDER(last, descending).movedim(-1, dim)


def _sort(x: Tensor, dim: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    """torch-mlir makes a tm_tensor.sort."""
    if x.ndim == 0:
        return x.clone(), torch.zeros((), dtype=torch.int64, device=x.device)
    indices = order(x, dim % x.ndim, descending)
    return torch.gather(x, dim, indices), indices


def _sort_stable(
    x: Tensor, *, stable: Any = None, dim: int = -1, descending: bool = False
) -> tuple[Tensor, Tensor]:
    """As ``sort``, which is stable here."""
    return _sort(x, dim, descending)


def _topk(
    x: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Tensor, Tensor]:
    """The beginning of the order."""
    if x.ndim == 0:
        return _sort(x)
    indices = order(x, dim % x.ndim, largest).narrow(dim, 0, k)
    return torch.gather(x, dim, indices), indices


def _nth(x: Tensor, position: Tensor | int, dim: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    if x.ndim == 0:
        return x.clone(), torch.zeros((), dtype=torch.int64, device=x.device)
    ranked = order(x, dim % x.ndim, False)
    if isinstance(position, int):
        indices = ranked.narrow(dim, position, 1)
    else:
        indices = torch.gather(ranked, dim, position)
    values = torch.gather(x, dim, indices)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def _kthvalue(x: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """One position of the order."""
    return _nth(x, k - 1, dim, keepdim)


def _middle(x: Tensor, dim: int, skip_nan: bool) -> Tensor | int:
    """The position of the lower median; the first NaN's, if there is one and it counts."""
    length = x.shape[dim]
    if not x.is_floating_point():
        return (length - 1) // 2
    numbers = length - (x != x).to(torch.int64).sum([dim], True)
    if skip_nan:
        return ((numbers - 1) // 2).clamp(min=0)
    return torch.where(numbers < length, numbers, (length - 1) // 2)


def _median_dim(skip_nan: bool) -> Callable:
    def median(x: Tensor, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
        """The gradient goes to the returned index."""
        if x.ndim == 0:
            return _sort(x)
        return _nth(x, _middle(x, dim, skip_nan), dim, keepdim)

    return median


def _median(skip_nan: bool) -> Callable:
    def median(x: Tensor) -> Tensor:
        """All elements that equal the median share its gradient evenly."""
        flat = x.reshape(-1)
        if flat.shape[0] == 0:
            return NotImplemented
        value, _ = _nth(STOP(flat), _middle(flat, 0, skip_nan), 0, False)
        if not x.is_floating_point():
            return value
        return shared(flat, value)

    return median


def _cumulative(largest: bool) -> Callable:
    def scan(x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
        """Of equal elements the later index is returned and gets the gradient."""
        if x.ndim == 0:
            return _sort(x)
        dim = dim % x.ndim
        length, step = x.shape[dim], 1
        shape = [-1 if d == dim else 1 for d in range(x.ndim)]
        indices = torch.arange(length, device=x.device).reshape(shape).expand(x.shape)
        values = STOP(x) if x.is_floating_point() else x
        while step < length:
            before = values.narrow(dim, 0, length - step)
            rest = values.narrow(dim, step, length - step)
            later = (rest >= before if largest else rest <= before) | (rest != rest)
            best = torch.where(
                later,
                indices.narrow(dim, step, length - step),
                indices.narrow(dim, 0, length - step),
            )
            values = torch.cat([values.narrow(dim, 0, step), torch.where(later, rest, before)], dim)
            indices = torch.cat([indices.narrow(dim, 0, step), best], dim)
            step *= 2
        return torch.gather(x, dim, indices), indices

    return scan


SORTING_DECOMPOSITIONS: dict[Any, Callable] = {
    aten.sort.default: _sort,
    aten.sort.stable: _sort_stable,
    aten.topk.default: _topk,
    aten.kthvalue.default: _kthvalue,
    aten.median.default: _median(False),
    aten.nanmedian.default: _median(True),
    aten.median.dim: _median_dim(False),
    aten.nanmedian.dim: _median_dim(True),
    aten.cummax.default: _cumulative(True),
    aten.cummin.default: _cumulative(False),
}
