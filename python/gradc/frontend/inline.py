"""Subgraphs of a Dynamo graph, written out where they are called."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from .ops import is_floating


def inline(
    gm: GraphModule,
    body: GraphModule,
    operands: list[Any],
    visit: Callable[[GraphModule, Node], None],
) -> Any:
    """Writes the nodes of ``body``, applied to ``operands``, at the insertion point of ``gm``;
    returns what it returns. ``visit`` is called with every new node, once all are there."""
    copied: list[Node] = []
    env: dict[Node, Any] = {}
    remaining = iter(operands)
    for inner in body.graph.nodes:
        if inner.op == "placeholder":
            env[inner] = next(remaining)
        elif inner.op == "get_attr":
            fresh = f"_inlined_{len(list(gm.named_children()))}_{inner.name}"
            setattr(gm, fresh, getattr(body, inner.target))
            env[inner] = gm.graph.get_attr(fresh)
        elif inner.op == "output":
            # What is visited may replace itself, here as in the nodes that read it.
            result = gm.graph.call_function(tuple, torch.fx.map_arg(inner.args, lambda n: env[n]))
        else:
            env[inner] = gm.graph.node_copy(inner, lambda n: env[n])
            copied.append(env[inner])
    for node in copied:
        visit(gm, node)
    returned = result.args[0]
    gm.graph.erase_node(result)
    return returned


def erase_call(gm: GraphModule, node: Node, holders: Iterable[Node]) -> None:
    """Erases ``node``, which nothing reads any more, and those of ``holders``, the nodes that stand
    for its subgraphs, that no other call has."""
    gm.graph.erase_node(node)
    for holder in set(holders):
        if not holder.users:
            gm.graph.erase_node(holder)


def is_tensor(value: Any) -> bool:
    """Whether ``value`` is a node that stands for a tensor."""
    return isinstance(value, Node) and isinstance(value.meta.get("example_value"), torch.Tensor)


def is_floating_node(value: Any) -> bool:
    """Whether ``value`` is a node that stands for a tensor that can have a gradient."""
    return is_tensor(value) and is_floating(value.meta["example_value"])


class Writer:
    """Inserts calls that carry the source line of the construct ``node`` that they replace."""

    def __init__(self, gm: GraphModule, node: Node) -> None:
        self.gm = gm
        self.node = node
        self.meta = {k: v for k, v in node.meta.items() if k != "example_value"}

    def call(self, target: Any, *args: Any) -> Node:
        """A node that calls ``target``."""
        new = self.gm.graph.call_function(target, args)
        new.meta = dict(self.meta)
        return new

    def parts(self, target: Any, values: list[Node], *more: Any) -> list[Node]:
        """The results of an op that returns one tensor an entry of ``values``."""
        if not values:
            return []
        whole = self.call(target, values, *more)
        found = [self.call(operator.getitem, whole, k) for k in range(len(values))]
        for value, node in zip(values, found, strict=True):
            node.meta["example_value"] = value.meta.get("example_value")
        return found
