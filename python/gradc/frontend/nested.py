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

import torch
from torch.fx import Graph, Node

from ..errors import UnsupportedError
from .diagnostics import location_of
from .ops import (
    CHOOSE,
    CUSTOM_JVP,
    CUSTOM_VJP,
    ENTER,
    LEAVE,
    LOOP,
    MAP,
    PULL,
    PUSH,
    REGION,
    ROWS,
    SEEDS,
    STOP,
)

META = "gradc_nested"


def nested(*operands: Any) -> Any:
    """The target of a node that calls a function; its meaning is in the node's `Nested`."""
    raise NotImplementedError("only exists inside a graph")


@dataclass
class Nested:
    """A function with a graph of its own and what is done with it.

    * ``kind``: ``"call"``, ``"vjp"``, ``"jvp"``, ``"map"``, ``"if"`` or ``"while"``.
    * ``rule``: functions that are the derivative of this one: a single one is a JVP rule, two are
      the forward and the backward function of a VJP rule.
    * ``without``: the arguments to which the rule gives no gradient, by number.
    * ``name``: what the user calls a function with a rule.
    * ``wrt``: the placeholders that are differentiated, by number.
    * ``rows``: length of the leading dimension that the cotangents or tangents have in addition, or
      -1. With rows only the derivatives are results, each with that dimension.

    A ``"map"`` calls the function once a row of its first ``roots`` operands, which have that
    leading dimension in addition, as the results have.

    Control flow has an ``other`` function. An ``"if"`` takes the predicate, the operands of
    ``graph`` and those of ``other``, and runs one of the two. A ``"while"`` takes the first
    ``roots`` operands of both, then the rest of either: ``graph`` computes the predicate, ``other``
    what replaces the first operands.

    Else the operands of the node are one a placeholder of ``graph``, then the cotangents or
    tangents. The results are those of ``graph``, then one gradient an entry of ``wrt``, or one
    tangent a result.
    """

    kind: str
    graph: Graph
    wrt: list[int]
    rows: int = -1
    rule: tuple[Graph, ...] = ()
    without: tuple[int, ...] = ()
    other: Graph | None = None
    roots: int = 0
    name: str = ""


def placeholders_of(graph: Graph) -> list[Node]:
    """The arguments of a function's graph."""
    return [node for node in graph.nodes if node.op == "placeholder"]


def results_of(graph: Graph) -> list[Node]:
    """What a function's graph returns."""
    return list(next(node for node in graph.nodes if node.op == "output").args[0])


def outline_transforms(graph: Graph) -> None:
    """Rewrites every transform of ``graph`` (functional ATen ops) in place."""
    while node := next((n for n in graph.nodes if n.target in _OUTLINE), None):
        _OUTLINE[node.target](graph, node)
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


def _function(
    inside: set[Node],
    roots: list[Node],
    outputs: list[Node],
    *,
    last: list[Node] = (),
    also: list[Node] = (),
) -> _Function:
    """The nodes ``inside`` as a graph that takes the ``roots``, what is read besides (and ``also``
    is to be taken), and then ``last``."""
    graph = Graph()
    values: dict[Node, Node] = {}

    def take(node: Node) -> None:
        values[node] = graph.placeholder(node.name)
        values[node].meta = dict(node.meta)

    for root in roots:
        take(root)
    ordered = [node for node in next(iter(outputs)).graph.nodes if node in inside]
    read: list[Node] = []
    wanted = [operand for n in ordered for operand in n.all_input_nodes]
    for node in [*also, *wanted, *outputs]:
        if node not in inside and node not in values and node not in last:
            take(node)
            read.append(node)
    for node in last:
        take(node)
    for node in ordered:
        values[node] = graph.node_copy(node, values.__getitem__)
    graph.output(tuple(values[output] for output in outputs))
    _dissolve(graph)
    return _Function(graph, read)


def _outline_rule(graph: Graph, node: Node) -> None:
    """A function with a rule of its own, and its call."""
    outputs, roots, seeds, derivatives, name, *without = node.args
    late = _descendants(graph, seeds)
    body = _between(graph, roots, outputs)
    if node.target is CUSTOM_JVP:
        also = _function(body, roots, outputs).read
        inside = _between(graph, [*roots, *seeds], derivatives)
        rule = _function(inside, [*roots, *seeds], derivatives, also=also)
        read, rules = rule.read, [rule.graph]
    else:
        pulled = _between(graph, seeds, derivatives)
        backward = _function(pulled, [], derivatives, last=seeds)
        inside = _between(graph, roots, [*outputs, *backward.read])
        forward = _function(inside, roots, [*outputs, *backward.read])
        read, rules = forward.read, [forward.graph, backward.graph]
    if any(value in late for value in [*outputs, *read]):
        raise UnsupportedError(
            "the result of a function depends on the cotangents or tangents of its rule",
            location=location_of(node),
        )
    primal = _function(body, roots, outputs, also=read)
    # Only the arguments have a gradient by the rule: the rest is read without one.
    with graph.inserting_before(node):
        stopped = [_stopped(graph, value) for value in read]
        call = graph.call_function(nested, (*roots, *stopped))
    _fill(rules, roots, read, seeds, node.target is CUSTOM_JVP)
    call.meta = {**node.meta, "val": [output.meta["val"] for output in outputs]}
    call.meta[META] = Nested(
        "call", primal.graph, [], rule=tuple(rules), without=tuple(*without), name=name
    )
    for user in list(node.users):
        _pick(graph, user, call, user.args[1])
    graph.erase_node(node)
    _sort(graph)


def _outline_choice(graph: Graph, node: Node) -> None:
    predicate, roots, taken, others, otherwise = node.args
    first = _branch(graph, node, roots, taken)
    second = _branch(graph, node, others, otherwise)
    operands = [predicate, *roots, *first.read, *others, *second.read]
    _put(graph, node, operands, Nested("if", first.graph, [], other=second.graph))


def _outline_loop(graph: Graph, node: Node) -> None:
    roots, predicate, following = node.args
    condition = _branch(graph, node, roots, [predicate])
    body = _branch(graph, node, roots, following)
    operands = [*roots, *condition.read, *body.read]
    what = Nested("while", condition.graph, [], other=body.graph, roots=len(roots))
    _put(graph, node, operands, what)


def _outline_map(graph: Graph, node: Node) -> None:
    outputs, roots, rows = node.args
    function = _branch(graph, node, roots, outputs, "in a function that is mapped over rows")
    what = Nested("map", function.graph, [], rows, roots=len(roots))
    # The rows are what only the function knows; the call takes what they are the rows of.
    whole = [root.args[0].args[0][root.args[1]] for root in roots]
    _put(graph, node, [*whole, *function.read], what)
    _sort(graph)


def _branch(
    graph: Graph,
    node: Node,
    roots: list[Node],
    outputs: list[Node],
    where: str = "under control flow",
) -> _Function:
    function = _function(_between(graph, roots, outputs), roots, outputs)
    if any(
        value.op == "placeholder" and value.name.startswith("random_") for value in function.read
    ):
        raise UnsupportedError(
            f"draws random numbers {where}",
            location=location_of(node),
            hint="draw before it and pass the numbers in",
        )
    return function


def _put(graph: Graph, node: Node, operands: list[Node], what: Nested) -> None:
    with graph.inserting_before(node):
        call = graph.call_function(nested, tuple(operands))
    call.meta = {**node.meta, META: what}
    for user in list(node.users):
        _pick(graph, user, call, user.args[1])
    graph.erase_node(node)


def _stopped(graph: Graph, value: Node) -> Node:
    if not _floats([value]):
        return value
    new = graph.call_function(STOP, (value,))
    new.meta = dict(value.meta)
    return new


def _floats(values: Iterable[Node]) -> list[Node]:
    return [v for v in values if v.meta["val"].dtype.is_floating_point]


def _fill(
    rules: list[Graph], roots: list[Node], read: list[Node], seeds: list[Node], forward: bool
) -> None:
    """Gives a rule what the arguments that it does not know of have in addition: tangents that it
    does not read, gradients that are zero."""
    others = _floats(read)
    if forward:
        (graph,) = rules
        placeholders = placeholders_of(graph)
        # The graph takes the roots, the seeds and what is read; a rule takes the seeds last.
        anchor = placeholders[-1]
        order = placeholders[: len(roots)] + placeholders[len(roots) + len(seeds) :]
        for node in [*order[1:], *placeholders[len(roots) : len(roots) + len(seeds)]]:
            anchor.append(node)
            anchor = node
        for value in others:
            with graph.inserting_after(anchor):
                anchor = graph.placeholder(f"tangent_{value.name}")
            anchor.meta = dict(value.meta)
        return
    graph = rules[1]
    output = next(node for node in graph.nodes if node.op == "output")
    zeros = []
    for value in others:
        example = value.meta["val"]
        with graph.inserting_before(output):
            zero = graph.call_function(
                torch.ops.aten.full.default, (list(example.shape), 0), {"dtype": example.dtype}
            )
        zero.meta = {"val": example}
        zeros.append(zero)
    output.args = ((*output.args[0], *zeros),)


_OUTLINE = {
    PULL: _outline,
    PUSH: _outline,
    CUSTOM_VJP: _outline_rule,
    CUSTOM_JVP: _outline_rule,
    CHOOSE: _outline_choice,
    LOOP: _outline_loop,
    MAP: _outline_map,
}


def _dissolve(graph: Graph) -> None:
    """Drops the boundaries of levels, which have no meaning once the transforms are outlined."""
    for node in list(graph.nodes):
        if node.target in (ENTER, LEAVE, SEEDS, REGION, ROWS):
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
