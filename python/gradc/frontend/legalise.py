"""Small rewrites of the functional graph that make it what the emitter and torch-mlir expect."""

from __future__ import annotations

import torch
from torch.fx import Graph, Node

from .ops import STOP

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
    """Drop identities, make binary maxima uniform, and fold a barrier on a barrier."""
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
    graph.eliminate_dead_code()


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


def _insert(graph: Graph, before: Node, target: object, args: tuple, value: torch.Tensor) -> Node:
    with graph.inserting_before(before):
        new = graph.call_function(target, args)
    new.meta = {**before.meta, "val": value}
    return new
