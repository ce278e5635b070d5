"""``torch.cond`` and ``torch.while_loop`` in a Dynamo graph.

Their subgraphs are written out in place, each on fresh values that ``gradc::region`` makes, so that
everything up to functional ATen ops sees plain operations. What belongs together is said by the op
that has the results: ``gradc::choose`` and ``gradc::loop``. nested.py makes functions of the
subgraphs again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from ..errors import UnsupportedError
from .diagnostics import location_of
from .inline import Writer, erase_call, inline, is_tensor
from .ops import CHOOSE, LOOP, REGION

Visit = Callable[[GraphModule, Node], None]


def expand_cond(gm: GraphModule, node: Node, visit: Visit) -> None:
    """Replaces ``node``, a call of ``torch.cond``."""
    predicate, taken, otherwise, operands = node.args
    with gm.graph.inserting_before(node):
        writer = _Writer(gm, node, visit)
        branches = []
        for holder in (taken, otherwise):
            roots, entered = writer.enter(list(operands), loops=False)
            branches += [roots, writer.run(holder, entered)]
        condition = writer.condition(predicate)
        if not branches[1]:
            raise UnsupportedError(
                "has branches without results", op="torch.cond", location=location_of(node)
            )
        whole = writer.call(CHOOSE, condition, *branches)
    _replace(gm, node, whole, (taken, otherwise))


def expand_while(gm: GraphModule, node: Node, visit: Visit) -> None:
    """Replaces ``node``, a call of ``torch.while_loop``."""
    condition, body, carried, more = node.args
    with gm.graph.inserting_before(node):
        writer = _Writer(gm, node, visit)
        writer.check(carried)
        # Numbers among the operands are part of the program.
        roots, entered = writer.enter([*carried, *more], loops=True)
        (predicate,) = writer.run(condition, entered)
        following = writer.run(body, entered)
        whole = writer.call(LOOP, roots, writer.condition(predicate), following)
    _replace(gm, node, whole, (condition, body))


class _Writer(Writer):
    def __init__(self, gm: GraphModule, node: Node, visit: Visit) -> None:
        super().__init__(gm, node)
        self.visit = visit

    def check(self, values: Any) -> None:
        if not all(is_tensor(value) for value in values):
            raise UnsupportedError(
                "passes on something that is not a tensor",
                op=str(self.node.target),
                location=location_of(self.node),
                hint="carry numbers as tensors",
            )

    def enter(self, operands: list[Any], loops: bool) -> tuple[list[Node], list[Any]]:
        """What stands for the tensors among ``operands`` inside, and all operands with them."""
        tensors = [i for i, operand in enumerate(operands) if is_tensor(operand)]
        roots = self.parts(REGION, [operands[i] for i in tensors], loops)
        entered = list(operands)
        for i, root in zip(tensors, roots, strict=True):
            entered[i] = root
        return roots, entered

    def run(self, holder: Node, operands: list[Any]) -> list[Node]:
        result = inline(self.gm, getattr(self.gm, holder.target), operands, self.visit)
        results = list(result) if isinstance(result, (list, tuple)) else [result]
        self.check(results)
        return results

    def condition(self, value: Any) -> Node:
        """A boolean of rank zero."""
        flat = self.call(torch.reshape, value, ())
        return self.call(torch.ops.aten.to.dtype, flat, torch.bool)


def _replace(gm: GraphModule, node: Node, whole: Node, holders: tuple[Node, ...]) -> None:
    node.replace_all_uses_with(whole)
    erase_call(gm, node, holders)
