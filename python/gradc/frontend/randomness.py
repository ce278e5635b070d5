"""Random draws, lifted out of the graph.

A compiled program has no generator. Each random op of the functional graph becomes an argument that the
caller fills by running that very op eagerly, in graph order, so the numbers are eager's for the same seed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import Graph, Node

from ..errors import UnsupportedError
from .diagnostics import location_of, op_name

aten = torch.ops.aten

# Ops whose tensor operands matter only by shape, dtype and layout.
_LIFTED = {
    aten.bernoulli.p, aten.rand.default, aten.randn.default, aten.rand_like.default,
    aten.randn_like.default, aten.randint.default, aten.randint.low, aten.randint_like.default,
    aten.randint_like.low_dtype, aten.randperm.default, aten.uniform.default,
    aten.normal_functional.default, aten.exponential.default, aten.normal.float_float,
}  # fmt: skip


def lift(graph: Graph) -> list[Callable[[], torch.Tensor]]:
    """Turn every random node into a placeholder after the last one; return how to fill them, in order.

    Raises ``UnsupportedError`` for a draw whose distribution depends on tensor values.
    """
    generators: list[Callable[[], torch.Tensor]] = []
    last = [node for node in graph.nodes if node.op == "placeholder"]
    anchor = last[-1] if last else None
    for node in list(graph.nodes):
        if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
            continue
        if torch.Tag.nondeterministic_seeded not in node.target.tags:
            continue
        if node.target not in _LIFTED:
            raise UnsupportedError(
                "draws random numbers whose distribution depends on tensor values",
                op=op_name(node), location=location_of(node),
                hint="draw outside the compiled function and pass the result in",
            )  # fmt: skip
        generators.append(_generator(node))
        point = graph.inserting_after(anchor) if anchor else graph.inserting_before(None)
        with point:
            anchor = graph.placeholder(f"random_{len(generators) - 1}")
        anchor.meta = dict(node.meta)
        node.replace_all_uses_with(anchor)
        graph.erase_node(node)
    return generators


def _generator(node: Node) -> Callable[[], torch.Tensor]:
    def template(arg: Node) -> Any:
        val = arg.meta["val"]
        # An expanded template overlaps itself; eager's result is contiguous then.
        overlaps = any(step == 0 and size > 1 for step, size in zip(val.stride(), val.shape, strict=True))
        stride = torch.empty(val.shape, device="meta").stride() if overlaps else val.stride()
        return _Empty(tuple(val.shape), tuple(stride), val.dtype, val.device)

    target = node.target
    args = torch.fx.map_arg(node.args, template)
    kwargs = {k: v for k, v in torch.fx.map_arg(node.kwargs, template).items() if k != "generator"}

    def make(value: Any) -> Any:
        return value() if isinstance(value, _Empty) else value

    def generate() -> torch.Tensor:
        with torch.no_grad():
            if target is aten.bernoulli.p:
                # It stands for a write into the template, in the template's memory order.
                return make(args[0]).bernoulli_(args[1])
            return target(*map(make, args), **{k: make(v) for k, v in kwargs.items()})

    return generate


class _Empty:
    """An uninitialised tensor of fixed layout, made anew at each call."""

    def __init__(self, *layout: Any) -> None:
        self.layout = layout

    def __call__(self) -> torch.Tensor:
        shape, stride, dtype, device = self.layout
        return torch.empty_strided(shape, stride, dtype=dtype, device=device)
