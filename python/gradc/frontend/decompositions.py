"""ATen ops taken apart so that values are eager's and derivatives follow PyTorch's conventions.

Two tables, gathered here from the modules that write the formulas. ``COMPOSITES`` replaces ops of
the marked graph before PyTorch takes them apart itself; ``decomposition_table()`` is used for every
op that arrives below autograd. One entry an op; its docstring says why PyTorch's or torch-mlir's
own form will not do. All formulas are differentiable twice with the values eager has.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from .activations import ACTIVATION_DECOMPOSITIONS
from .conventions import refuse
from .losses import LOSS_DECOMPOSITIONS
from .movement import MOVEMENT_COMPOSITES, MOVEMENT_DECOMPOSITIONS
from .normalisation import NORMALISATION_COMPOSITES, NORMALISATION_DECOMPOSITIONS
from .numerics import compute_in, normal_dims
from .ops import STOP, VALUE_OF
from .randomness import RANDOM_COMPOSITES, RANDOM_DECOMPOSITIONS
from .reductions import REDUCTION_COMPOSITES, REDUCTION_DECOMPOSITIONS
from .scatters import SCATTER_DECOMPOSITIONS
from .softmax import SOFTMAX_COMPOSITES, SOFTMAX_DECOMPOSITIONS
from .sorting import SORTING_DECOMPOSITIONS

aten = torch.ops.aten


def _addmm(bias: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """No multiplication by a beta or alpha of 1; half precision rounds once, after the bias."""
    product = torch.mm(compute_in(a), compute_in(b))
    product = product if alpha == 1 else product * alpha
    if beta != 0:
        product = product + (bias if beta == 1 else bias * beta)
    return product.to(a.dtype)


def _copy(x: Tensor, source: Tensor, non_blocking: bool = False) -> Tensor:
    """What an in-place copy leaves behind: the source in the target's shape and dtype."""
    return source.to(x.dtype).expand(x.shape).clone()


def _full_like(x: Tensor, value: Any, **options: Any) -> Tensor:
    """torch-mlir has no lowering for booleans."""
    if (options.get("dtype") or x.dtype) is not torch.bool:
        return NotImplemented
    return torch.full_like(x, int(value), dtype=torch.int64) != 0


def _embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The row of the padding index has no gradient; scaled ones are divided by their count."""
    if padding_idx < 0 and not scale_grad_by_freq:
        return NotImplemented
    rows = weight[indices]
    if scale_grad_by_freq:
        flat = indices.reshape(-1)
        ones = torch.ones(flat.shape, dtype=weight.dtype, device=weight.device)
        counts = torch.zeros([weight.shape[0]], dtype=weight.dtype, device=weight.device)
        counts = counts.index_add(0, flat, ones)[indices]
        rows = VALUE_OF(rows, rows / counts.unsqueeze(-1))
    if padding_idx < 0:
        return rows
    return torch.where((indices == padding_idx).unsqueeze(-1), STOP(rows), rows)


def _constant_pad(x: Tensor, pad: Sequence[int], value: Any = 0) -> Tensor:
    """Negative padding cuts off; torch-mlir's form shifts."""
    if all(size >= 0 for size in pad):
        return NotImplemented
    for number in range(len(pad) // 2):
        dim = x.ndim - 1 - number
        low, high = (max(-size, 0) for size in pad[2 * number : 2 * number + 2])
        x = x.narrow(dim, low, x.shape[dim] - low - high)
    return aten.constant_pad_nd(x, [max(size, 0) for size in pad], value)


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
    **NORMALISATION_COMPOSITES,
    **SOFTMAX_COMPOSITES,
    **REDUCTION_COMPOSITES,
    **RANDOM_COMPOSITES,
    **MOVEMENT_COMPOSITES,
    aten.as_strided_.default: _refusing("as_strided_"),
}

_OWN: dict[Any, Callable] = {
    aten.addmm.default: _addmm,
    aten.copy.default: _copy,
    aten.split_with_sizes.default: _split_sizes,
    aten.split.Tensor: _split,
    aten.unsafe_split_with_sizes.default: _split_sizes,
    aten.unsafe_split.Tensor: _split,
    aten.squeeze.default: _squeeze,
    aten.squeeze.dim: _squeeze,
    aten.squeeze.dims: lambda x, dim: _squeeze(x, dim) if len(dim) else x.view(x.shape),
    aten.full_like.default: _full_like,
    aten.embedding.default: _embedding,
    aten.constant_pad_nd.default: _constant_pad,
    aten.fmod.Scalar: _scalar_operand(torch.fmod),
    aten.remainder.Scalar: _scalar_operand(torch.remainder),
    **NORMALISATION_DECOMPOSITIONS,
    **SOFTMAX_DECOMPOSITIONS,
    **REDUCTION_DECOMPOSITIONS,
    **RANDOM_DECOMPOSITIONS,
    **ACTIVATION_DECOMPOSITIONS,
    **LOSS_DECOMPOSITIONS,
    **SCATTER_DECOMPOSITIONS,
    **SORTING_DECOMPOSITIONS,
    **MOVEMENT_DECOMPOSITIONS,
}

# Ops that must arrive whole: outlined with their own convention, drawn outside, or better in
# torch-mlir.
_KEEP = frozenset(
    "amax amin maximum minimum max_pool2d_with_indices bernoulli rand randn rand_like randn_like "
    "randint randint_like randperm uniform normal normal_functional exponential stack "
    "lift_fresh_copy upsample_nearest2d flip sum mean diag_embed special_entr erfc".split()
)


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
    sample = aten.grid_sampler_2d.default
    table[sample] = _zero_padded_only(table[sample])
    return table


def _zero_padded_only(decomposition: Callable) -> Callable:
    def grid_sampler(
        x: Tensor, grid: Tensor, mode: int = 0, padding: int = 0, align_corners: bool = False
    ) -> Tensor:
        """Other paddings clamp the coordinates, with a derivative of 0 at the border."""
        if padding != 0:
            return NotImplemented
        return decomposition(x, grid, mode, padding, align_corners)

    return grid_sampler
