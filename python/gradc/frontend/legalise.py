"""Small rewrites of the functional graph that make it what the emitter and torch-mlir expect."""

from __future__ import annotations

import torch
from torch.fx import Graph, Node

from .ops import ENTER_CHECKPOINT, LEAVE_CHECKPOINT, STOP

aten = torch.ops.aten

# The result is the operand; without mutation there is nothing to keep apart.
_IDENTITIES = {
    aten.alias.default,
    aten.detach.default,
    aten.lift_fresh_copy.default,
    aten.lift.default,
    aten.clone.default,
    aten.contiguous.default,
}


def legalise(graph: Graph) -> None:
    """Drop identities and repeated barriers, make binary maxima uniform, and leave nothing to
    compute of empty tensors."""
    for node in list(graph.nodes):
        if node.op != "call_function":
            continue
        if node.target in _IDENTITIES or (
            node.target is STOP and isinstance(node.args[0], Node) and node.args[0].target is STOP
        ):
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
        elif node.target in (aten.maximum.default, aten.minimum.default):
            _uniform(graph, node)
        elif node.target is aten.eq.Tensor:
            _unequal(graph, node)
        elif _is_empty(node):
            _replace_empty(graph, node)
    graph.eliminate_dead_code()


#: Sums over a dimension that may be empty while their result is not.
_CONTRACTIONS = {aten.mm.default, aten.bmm.default}


def _operands(node: Node) -> list[Node]:
    return [
        operand
        for operand in node.all_input_nodes
        if isinstance(operand.meta.get("val"), torch.Tensor)
    ]


def _is_empty(node: Node) -> bool:
    """Whether the result has no elements, or is a matrix product over none: torch-mlir divides by
    sizes."""
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor) or node.target in (
        STOP,
        ENTER_CHECKPOINT,
        LEAVE_CHECKPOINT,
    ):
        return False
    return value.numel() == 0 or (
        node.target in _CONTRACTIONS and any(x.meta["val"].numel() == 0 for x in _operands(node))
    )


def _replace_empty(graph: Graph, node: Node) -> None:
    """Zeros for ``node``, plus the sum of each operand for the gradient path, which stays: the
    gradient is zeros, not None. Where the result has elements the operands have none, so nothing is
    added."""
    result = node.meta["val"]
    new = _insert(graph, node, aten.full.default, (list(result.shape), 0), torch.empty_like(result))
    new.kwargs = {"dtype": result.dtype}
    for operand in _operands(node):
        value = operand.meta["val"]
        if not (value.is_floating_point() and result.is_floating_point()):
            continue
        total = _insert(graph, node, aten.sum.default, (operand,), value.new_empty(()))
        if value.dtype != result.dtype:
            total = _insert(
                graph,
                node,
                torch.ops.prims.convert_element_type.default,
                (total, result.dtype),
                value.new_empty((), dtype=result.dtype),
            )
        new = _insert(graph, node, aten.add.Tensor, (new, total), torch.empty_like(result))
    node.replace_all_uses_with(new)
    graph.erase_node(node)


def _uniform(graph: Graph, node: Node) -> None:
    """Bring both operands to the result's shape and dtype, which an outlined body takes for
    granted."""
    result = node.meta["val"]
    if not result.is_floating_point():
        return
    operands = []
    for operand in node.args:
        value = operand.meta["val"]
        if value.dtype != result.dtype:
            operand = _insert(
                graph,
                node,
                torch.ops.prims.convert_element_type.default,
                (operand, result.dtype),
                value.new_empty(value.shape, dtype=result.dtype),
            )
        if value.shape != result.shape:
            operand = _insert(
                graph, node, aten.expand.default, (operand, list(result.shape)), result
            )
        operands.append(operand)
    node.args = tuple(operands)


def _unequal(graph: Graph, node: Node) -> None:
    """Not unequal: torch-mlir holds that a value equals itself, which NaN does not."""
    if not any(x.meta["val"].is_floating_point() for x in _operands(node)):
        return
    result = node.meta["val"]
    unequal = _insert(graph, node, aten.ne.Tensor, tuple(node.args), result)
    node.replace_all_uses_with(_insert(graph, node, aten.logical_not.default, (unequal,), result))
    graph.erase_node(node)


def _insert(graph: Graph, before: Node, target: object, args: tuple, value: torch.Tensor) -> Node:
    with graph.inserting_before(before):
        new = graph.call_function(target, args)
    new.meta = {**before.meta, "val": value}
    return new
