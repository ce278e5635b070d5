"""Transforms inside a captured graph become calls of functions with graphs of their own.

``gradc::pull(outputs, roots, ...)`` says: differentiate the ops between the roots, which one
``gradc::enter`` made, and the outputs. `outline_transforms` copies these ops into a graph whose
placeholders are the roots and everything else that they read, and puts a ``nested`` node in place
of the ``pull``, which the emitter writes as ``grad.vjp``, ``grad.jvp`` or ``grad.vmap`` of a
function. Inner levels come first, so a function may contain nested nodes itself.

Ops that anything outside reads stay where they are too; what both compute is merged once the
transforms are expanded.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from torch.fx import Graph, Node

from .ops import ENTER, LEAVE, PULL, PUSH

META = "gradc_nested"


def nested(*operands: Any) -> Any:
    """The target of a node that calls a function; its meaning is in the node's `Nested`."""
    raise NotImplementedError("only exists inside a graph")


@dataclass
class Nested:
    """A function with a graph of its own and what is done with it.

    * ``kind``: ``"call"``, ``"vjp"`` or ``"jvp"``.
    * ``wrt``: the placeholders that are differentiated, by number.
    * ``rows``: length of the leading dimension that the cotangents or tangents have in addition, or
      -1. With rows only the derivatives are results, each with that dimension.

    The operands of the node are one a placeholder of ``graph``, then the cotangents or tangents.
    The results are those of ``graph``, then one gradient an entry of ``wrt``, or one tangent a
    result.
    """

    kind: str
    graph: Graph
    wrt: list[int]
    rows: int = -1

    @property
    def placeholders(self) -> list[Node]:
        return [node for node in self.graph.nodes if node.op == "placeholder"]

    @property
    def results(self) -> list[Node]:
        return list(next(n for n in self.graph.nodes if n.op == "output").args[0])


def outline_transforms(graph: Graph) -> None:
    """Rewrites every transform of ``graph`` (functional ATen ops) in place."""
    while node := next((n for n in graph.nodes if n.target in (PULL, PUSH)), None):
        _outline(graph, node)
    _dissolve(graph)


def nested_of(node: Node) -> Nested | None:
    """What a nested node calls; None for any other node."""
    return node.meta[META] if node.target is nested else None


def _outline(graph: Graph, node: Node) -> None:
    outputs, roots, seeds, rows = node.args
    inside = _between(graph, roots, outputs)
    result = _function(inside, roots, outputs)
    operands = [*roots, *result.read, *seeds]
    with graph.inserting_before(node):
        call = graph.call_function(nested, tuple(operands))
    call.meta = dict(node.meta)
    kind = "vjp" if node.target is PULL else "jvp"
    call.meta[META] = Nested(kind, result.graph, list(range(len(roots))), rows)
    values = [] if rows >= 0 else [output.meta["val"] for output in outputs]
    call.meta["val"] = [*values, *node.meta["val"]]
    for user in list(node.users):
        _pick(graph, user, call, len(values) + user.args[1])
    graph.erase_node(node)
    late = _descendants(graph, roots)
    if rows < 0 and not any(seed in late for seed in seeds):
        for index, output in enumerate(outputs):
            _share(graph, output, call, index, inside)
    _sort(graph)


def _pick(graph: Graph, old: Node, call: Node, index: int) -> Node:
    """Puts result ``index`` of ``call`` in place of ``old``."""
    with graph.inserting_before(old):
        new = graph.call_function(operator.getitem, (call, index))
    new.meta = dict(old.meta)
    old.replace_all_uses_with(new)
    graph.erase_node(old)
    return new


def _share(graph: Graph, output: Node, call: Node, index: int, inside: set[Node]) -> None:
    """Lets what is outside read ``output`` from ``call``, which computes it anyway."""
    readers = [user for user in output.users if user not in inside and user is not call]
    if output not in inside or not readers:
        return
    with graph.inserting_after(call):
        new = graph.call_function(operator.getitem, (call, index))
    new.meta = dict(output.meta)
    output.replace_all_uses_with(new, delete_user_cb=lambda user: user in readers)


def _descendants(graph: Graph, sources: Iterable[Node]) -> set[Node]:
    found = set(sources)
    for node in graph.nodes:
        if any(operand in found for operand in node.all_input_nodes):
            found.add(node)
    return found


def _between(graph: Graph, roots: list[Node], outputs: list[Node]) -> set[Node]:
    """The nodes on a way from a root to an output, without the roots."""
    found: set[Node] = set()
    pending = list(outputs)
    below = _descendants(graph, roots)
    while pending:
        node = pending.pop()
        if node in below and node not in found and node not in roots:
            found.add(node)
            pending += node.all_input_nodes
    return found


@dataclass
class _Function:
    graph: Graph
    #: What the function reads besides the roots.
    read: list[Node]


def _function(inside: set[Node], roots: list[Node], outputs: list[Node]) -> _Function:
    graph = Graph()
    values: dict[Node, Node] = {}
    for number, root in enumerate(roots):
        values[root] = graph.placeholder(f"root_{number}")
        values[root].meta = dict(root.meta)
    owner = next(iter(roots)).graph
    ordered = [node for node in owner.nodes if node in inside]
    read: list[Node] = []
    for node in [operand for n in ordered for operand in n.all_input_nodes] + list(outputs):
        if node not in inside and node not in values:
            values[node] = graph.placeholder(node.name)
            values[node].meta = dict(node.meta)
            read.append(node)
    for node in ordered:
        values[node] = graph.node_copy(node, values.__getitem__)
    graph.output(tuple(values[output] for output in outputs))
    _dissolve(graph)
    return _Function(graph, read)


def _dissolve(graph: Graph) -> None:
    """Drops the boundaries of levels, which have no meaning once the transforms are outlined."""
    for node in list(graph.nodes):
        if node.target in (ENTER, LEAVE):
            for user in list(node.users):
                user.replace_all_uses_with(node.args[0][user.args[1]])
                graph.erase_node(user)
            graph.erase_node(node)
    graph.eliminate_dead_code()


def _sort(graph: Graph) -> None:
    """Restores the order of operands before users, changing as little as possible."""
    placed: set[Node] = set()

    def place(node: Node) -> None:
        pending = [node]
        while pending:
            current = pending[-1]
            missing = [n for n in current.all_input_nodes if n not in placed]
            if current in placed or not missing:
                pending.pop()
                if current not in placed:
                    placed.add(current)
                    order.append(current)
            else:
                pending += missing

    order: list[Node] = []
    nodes = list(graph.nodes)
    for node in nodes:
        place(node)
    if order == nodes:
        return
    cursor = graph._root
    for node in order:
        cursor.append(node)
        cursor = node
