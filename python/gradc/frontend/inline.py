"""Subgraphs of a Dynamo graph, written out where they are called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node


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
