"""A twin of a captured graph in which every intermediate is an output, for `gradc.explain`."""

from __future__ import annotations

import operator
from collections.abc import Iterable

import torch
from torch.fx import Graph, GraphModule, Node

from .frontend.ops import CHOOSE, LOOP, PROBE, REGION
from .reasons import Reason


def with_probes(gm: GraphModule, values: Iterable[Node]) -> tuple[GraphModule, dict[str, Node]]:
    """``gm`` with every node of ``values``, as it is when it is made, as a further output.

    A copy is what is returned, with the gradient path that the value has. The path of a value
    inside a loop is that of any iteration: the copy is of the body, run once more on what the loop
    starts from or leaves behind. Also returns the nodes of ``gm`` by the names of those in the twin
    that stand for them.
    """
    prober = _Prober(values)
    nodes = list(gm.graph.nodes)
    prober.run(nodes[:-1], {}, probing=True)
    final = torch.fx.map_arg(tuple(nodes[-1].args[0]), prober.copies.__getitem__)
    prober.graph.output((*final, *(prober.probes[node] for node in prober.wanted)))
    return GraphModule(gm, prober.graph), prober.origins


class _Prober:
    def __init__(self, values: Iterable[Node]) -> None:
        self.wanted = dict.fromkeys(values)
        self.graph = Graph()
        self.copies: dict[Node, Node] = {}
        self.probes: dict[Node, Node] = {}
        self.origins: dict[str, Node] = {}

    def run(self, nodes: list[Node], values: dict[Node, Node], probing: bool) -> None:
        """Copies ``nodes``, which read ``values`` and what was copied before."""
        before, self.copies = self.copies, {**self.copies, **values}
        loops = {_region(node): node for node in nodes if node.target is LOOP} if probing else {}
        at = 0
        while at < len(nodes):
            if loop := loops.get(nodes[at]):
                end = nodes.index(loop, at)
                self._loop(nodes[at], nodes[at + 1 : end], loop)
                at = end
            else:
                self._copy(nodes[at], probing)
            at += 1
        if values:
            self.copies = before

    def _copy(self, node: Node, probing: bool) -> None:
        new = self.graph.node_copy(node, self.copies.__getitem__)
        self.copies[node] = new
        self.origins[new.name] = node
        if probing and node in self.wanted:
            probe = self._call(PROBE, (new,), node)
            self.probes[node] = probe
            self.origins[probe.name] = node

    def _loop(self, region: Node, inside: list[Node], loop: Node) -> None:
        self.run([region, *inside, loop], {}, probing=False)
        roots, predicate, following = loop.args
        again = {}
        for k, (root, initial) in enumerate(zip(roots, region.args[0], strict=True)):
            again[root] = self.copies[initial]
            if k < len(following):
                left = self._call(operator.getitem, (self.copies[loop], k), loop)
                either = (self.copies[predicate], left, again[root])
                again[root] = self._call(torch.where, either, loop)
        self.run([node for node in inside if node not in again], again, probing=True)

    def _call(self, target: object, args: tuple, like: Node) -> Node:
        new = self.graph.call_function(target, args)
        new.meta = dict(like.meta)
        return new


def _region(loop: Node) -> Node:
    return loop.args[0][0].args[0]


def needed_inside(gm: GraphModule, known: dict[Node, Reason]) -> set[Node]:
    """What a needed result of a branch or loop needs of the values inside, whose copies are no part
    of what the program computes."""
    found: set[Node] = set()
    pending = [v for node in gm.graph.nodes if node in known and known[node].needed
               for v in _made_inside(node)]  # fmt: skip
    while pending:
        node = pending.pop()
        constant = node in known and not known[node].requires_grad
        if node not in found and node.op != "placeholder" and not constant:
            found.add(node)
            pending += _made_inside(node) or _carried(node) or node.all_input_nodes
    return found


def _made_inside(node: Node) -> list[Node]:
    """The values inside that become ``node``, if that is a result of a branch or a loop."""
    if node.target is not operator.getitem:
        return []
    whole, index = node.args
    if whole.target is CHOOSE:
        return [whole.args[2][index], whole.args[4][index]]
    return [whole.args[2][index]] if whole.target is LOOP else []


def _carried(node: Node) -> list[Node]:
    """What ``node`` is inside, if that is what a branch or an iteration starts from."""
    if node.target is not operator.getitem or node.args[0].target is not REGION:
        return []
    region, index = node.args
    loops = [user for user in node.users if user.target is LOOP and node in user.args[0]]
    following = [loop.args[2][index] for loop in loops if index < len(loop.args[2])]
    return [region.args[0][index], *following]
