"""Tensors that hold one known number everywhere, computed by PyTorch.

torch-mlir folds operations on them itself, and not always to what they are: ``ones != 1``, ``sign``
and ``clamp`` of a constant come out wrong, comparisons of integers with numbers end its process.
"""

from __future__ import annotations

import torch
from torch.fx import Graph, Node

aten = torch.ops.aten

#: Operations that make such a tensor -> which of their arguments is the number.
_FILLS = {aten.full.default: 1, aten.full_like.default: 1, aten.scalar_tensor.default: 0}

#: Operations besides the pointwise ones whose result holds the number of the operand.
_MOVES = {
    aten.expand.default,
    aten.view.default,
    aten.reshape.default,
    aten._unsafe_view.default,
    aten.permute.default,
    aten.transpose.int,
    aten.t.default,
    aten.unsqueeze.default,
    aten.squeeze.default,
    aten.squeeze.dim,
    aten.squeeze.dims,
    aten.slice.Tensor,
    aten.select.int,
}


def fold_constants(graph: Graph) -> None:
    """Replaces what is computed from uniform constants alone by such constants."""
    known: dict[Node, torch.Tensor] = {}
    for node in list(graph.nodes):
        example = node.meta.get("val")
        if node.op != "call_function" or not isinstance(example, torch.Tensor):
            continue
        if example.is_complex() or not example.numel():
            continue
        if node.target in _FILLS:
            known[node] = _one(example).fill_(node.args[_FILLS[node.target]])
            continue
        value = _computed(node, known)
        if value is None or value.dtype != example.dtype:
            continue
        new = node if _is_boolean(node) else _constant(graph, node, value)
        known[new] = value
        if new is not node:
            node.replace_all_uses_with(new)
            graph.erase_node(node)
    graph.eliminate_dead_code()


def _one(example: torch.Tensor) -> torch.Tensor:
    """A tensor with one element in place of one like ``example``; those without dimensions have
    rules of their own for the types of results."""
    return torch.empty([1] * min(example.dim(), 1), dtype=example.dtype)


def _computed(node: Node, known: dict[Node, torch.Tensor]) -> torch.Tensor | None:
    """The element of ``node``, if all that it reads is known."""
    operands = node.all_input_nodes
    if not operands or any(operand not in known for operand in operands):
        return None
    if node.target in _MOVES:
        return _one(node.meta["val"]).fill_(known[operands[0]].item())
    if torch.Tag.pointwise not in getattr(node.target, "tags", ()):
        return None
    args, kwargs = torch.fx.map_arg((node.args, node.kwargs), known.__getitem__)
    value = node.target(*args, **kwargs)
    return value if isinstance(value, torch.Tensor) and value.numel() == 1 else None


def _is_boolean(node: Node) -> bool:
    """Whether ``node`` is how a boolean constant is written, see `_constant`."""
    return (
        node.target is aten.ne.Scalar
        and node.args[1] == 0
        and node.args[0].target in _FILLS
        and node.args[0].meta["val"].dtype is torch.int64
    )


def _constant(graph: Graph, node: Node, value: torch.Tensor) -> Node:
    number, dtype = value.item(), value.dtype
    example = node.meta["val"]
    if boolean := dtype is torch.bool:  # torch-mlir has no such constants
        number, dtype = int(number), torch.int64
    with graph.inserting_before(node):
        new = graph.call_function(
            aten.full.default, (list(example.shape), number), {"dtype": dtype}
        )
        new.meta = {**node.meta, "val": example.new_empty(example.shape, dtype=dtype)}
        if boolean:
            new = graph.call_function(aten.ne.Scalar, (new, 0))
            new.meta = dict(node.meta)
    return new
