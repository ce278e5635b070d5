"""Small pieces of formulas shared by the decompositions."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from .ops import VALUE_OF


def compute_in(x: Tensor) -> Tensor:
    """``x`` in the precision that eager kernels compute in: f32 for bf16 and f16, its own
    otherwise."""
    return x.float() if x.dtype in (torch.bfloat16, torch.float16) else x


def normal_dims(x: Tensor, dim: int | Sequence[int] | None) -> list[int]:
    """Non-negative dimensions; None or an empty list means all."""
    if dim is None or (not isinstance(dim, int) and len(dim) == 0):
        return list(range(x.ndim))
    dims = [dim] if isinstance(dim, int) else dim
    return [d % x.ndim for d in dims] if x.ndim else []


def safe_sqrt(x: Tensor) -> Tensor:
    """The square root, with derivative 0 at 0 instead of infinity."""
    zero = x == 0
    return torch.where(zero, 0.0, torch.sqrt(torch.where(zero, 1.0, x)))


def constant_but_connected(value: Tensor, x: Tensor) -> Tensor:
    """``value`` with a gradient path to ``x`` whose derivative is 0, whatever arrives: that of
    ``floor``."""
    return VALUE_OF(value, torch.floor(x))


def shared(x: Tensor, value: Tensor) -> Tensor:
    """The 0-d ``value``, its gradient shared evenly by the elements of ``x`` that equal it."""
    same = (x == value) | ((x != x) & (value != value))
    count = same.to(x.dtype).sum()
    return VALUE_OF(value, torch.where(same, x, 0.0).sum() / count)
