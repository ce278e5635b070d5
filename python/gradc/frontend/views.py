"""Outputs that share memory with an input or with another output, and stay views of it.

Native results are allocated afresh. Where eager execution returns a view, the same view is made
again of what it is a view of, so that a later write into one is seen in the other.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node

from .memory import common_storage


@dataclass(frozen=True)
class Step:
    """One op of a chain of views: ``target(*args, **kwargs)``, where the value before stands for
    `VALUE`; ``grad_mode`` is the mode that it ran under."""

    target: Callable
    args: tuple
    kwargs: dict[str, Any]
    grad_mode: bool


class _Value:
    def __repr__(self) -> str:
        return "VALUE"


VALUE = _Value()


@dataclass(frozen=True)
class View:
    """``steps`` applied to an input (its position) or to an output (its number)."""

    steps: tuple[Step, ...]
    input: int | None = None
    output: int | None = None

    def of(self, base: torch.Tensor) -> torch.Tensor:
        """The view, of ``base`` as it is now."""
        value: Any = base
        for step in self.steps:

            def put(arg: Any, value: Any = value) -> Any:
                return value if arg is VALUE else arg

            with torch.set_grad_enabled(step.grad_mode):
                value = step.target(*map(put, step.args), **step.kwargs)
        return value


#: A number of an output, and the node that it is.
Output = tuple[int, Node]


def apart(
    outputs: list[Output],
    count: int,
    positions: Mapping[int, int],
    eager: Mapping[Node, Any],
    modes: Mapping[Node, bool],
) -> tuple[list[Output], dict[int, View]]:
    """The outputs that are values of their own, and those that are views of inputs or of values
    that several outputs show.

    ``positions`` has the positions of the inputs by the identity of their eager values. Numbers
    from ``count`` on are given to values that are no output themselves.
    """
    views: dict[int, View] = {}
    shown: dict[int, list[tuple[int, Node, Node, View]]] = {}
    for number, node in outputs:
        base, steps = _chain(node, eager, modes)
        at = positions.get(id(eager[base]))
        if at is not None:
            views[number] = View(steps, input=at)
        else:
            shown.setdefault(id(eager[base]), []).append((number, node, base, View(steps)))
    own: list[Output] = []
    for group in shown.values():
        _, node, base, _ = group[0]
        # A part of a value that nobody sees the rest of is a value of its own.
        part = len(group) == 1 and eager[node].numel() < eager[base].numel()
        # Results lie in row-major order, which the views have to be possible in.
        if part or not eager[base].is_contiguous():
            own += [(number, node) for number, node, _, _ in group]
            continue
        whole = next((number for number, _, _, view in group if not view.steps), None)
        if whole is None:
            whole, count = count, count + 1
        own.append((whole, base))
        for number, _, _, view in group:
            if number != whole:
                views[number] = View(view.steps, output=whole)
    return sorted(own, key=lambda output: output[0]), views


def _chain(
    node: Node, eager: Mapping[Node, Any], modes: Mapping[Node, bool]
) -> tuple[Node, tuple[Step, ...]]:
    """The node whose memory ``node`` shows and the views in between; ``node`` itself and nothing
    where it has memory of its own.

    ``eager`` has the value of every node in a run of PyTorch's, ``modes`` the grad mode that it ran
    under.
    """
    steps: list[Step] = []
    base, count = node, 0  # the last tensor on the way, and the steps from there
    while (step := _step(node, eager, modes)) is not None:
        node, found = step
        steps += found
        if isinstance(eager[node], torch.Tensor):
            base, count = node, len(steps)
    return base, tuple(reversed(steps[:count]))


def _step(
    node: Node, eager: Mapping[Node, Any], modes: Mapping[Node, bool]
) -> tuple[Node, list[Step]] | None:
    if node.op != "call_function" or not node.args or not isinstance(node.args[0], Node):
        return None
    source, value = node.args[0], eager[node]
    if value is eager[source]:
        return source, []  # written in place
    aten = isinstance(node.target, torch._ops.OpOverload) and node.target.namespace == "aten"
    if not aten and node.target is not operator.getitem:
        return None
    memory = common_storage(value)
    if memory is None or memory != common_storage(eager[source]):
        return None
    if node.all_input_nodes != [source]:
        return None
    args = torch.fx.map_arg(node.args, lambda _: VALUE)
    return source, [Step(node.target, args, dict(node.kwargs), modes[node])]
