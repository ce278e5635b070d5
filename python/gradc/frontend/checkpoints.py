"""Checkpointed functions in graphs: marks on their inputs and results.

Dynamo hands over a checkpointed function as a subgraph. It is inlined like any other; what goes in
and comes out passes through ``gradc::enter_checkpoint`` and ``gradc::leave_checkpoint``, from which
the compiler makes a `grad.checkpoint` region. A mark is made where a gradient passes: inputs
without one cost nothing to keep that the caller does not keep anyway.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node

from .ops import ENTER_CHECKPOINT, LEAVE_CHECKPOINT, POLICIES, POLICY

HIGHER_ORDER = {"tag_activation_checkpoint", "wrap_activation_checkpoint"}


class Marks:
    """The marks of the subgraph ``body`` that ``call`` (a node of ``graph``) calls; none when it is
    not a checkpoint."""

    def __init__(self, graph: Graph, call: Node, body: Graph) -> None:
        self.graph = graph
        self.call = call
        self.active = getattr(call.target, "__name__", "") in HIGHER_ORDER
        self.id = 1 + max(
            (n.args[1] for n in graph.nodes if n.target is ENTER_CHECKPOINT), default=-1
        )
        chosen = [node.args[1] for node in body.nodes if is_policy(node)]
        self.policy = chosen[-1] if chosen else POLICIES[0]

    def enter(self, value: Any) -> Any:
        return self._mark(ENTER_CHECKPOINT, value, self.id, self.policy)

    def leave(self, value: Any) -> Any:
        return self._mark(LEAVE_CHECKPOINT, value, self.id)

    def _mark(self, target: Any, value: Any, *arguments: Any) -> Any:
        example = value.meta.get("example_value") if isinstance(value, Node) else None
        if not (self.active and isinstance(example, torch.Tensor) and example.requires_grad):
            return value
        marked = self.graph.call_function(target, (value, *arguments))
        marked.meta = {**self.call.meta, "example_value": example}
        return marked


def is_policy(node: Node) -> bool:
    """Whether ``node`` says the policy of the checkpoint it stands in."""
    return getattr(node.target, "overloadpacket", node.target) is POLICY.overloadpacket


def forget(gm: GraphModule) -> None:
    """Removes the marks of ``gm``: a checkpoint changes no value."""
    for node in list(gm.graph.nodes):
        if node.target in (ENTER_CHECKPOINT, LEAVE_CHECKPOINT):
            node.replace_all_uses_with(node.args[0])
            gm.graph.erase_node(node)
    gm.recompile()
