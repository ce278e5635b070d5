"""Random draws, lifted out of the graph.

A compiled program has no generator. Each random op of the functional graph becomes an argument that
the caller fills by running that very op eagerly, in graph order, so the numbers are eager's for the
same seed. Dropout is written out here so that its draw keeps eager's memory order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.fx import Graph, Node

from ..errors import UnsupportedError
from .diagnostics import location_of, op_name

aten = torch.ops.aten

# Ops whose tensor operands matter only by shape, dtype and layout.
_LIFTED = {
    aten.bernoulli.p,
    aten.rand.default,
    aten.randn.default,
    aten.rand_like.default,
    aten.randn_like.default,
    aten.randint.default,
    aten.randint.low,
    aten.randint_like.default,
    aten.randint_like.low_dtype,
    aten.randperm.default,
    aten.uniform.default,
    aten.normal_functional.default,
    aten.exponential.default,
    aten.normal.float_float,
}


def dropout(x: Tensor, p: float, train: bool) -> Tensor:
    """Draws in the memory order of ``x``, as eager does; PyTorch's own form loses the layout."""
    if not train or p == 0 or x.numel() == 0:
        return x
    if p == 1:
        return x * torch.zeros_like(x)
    return x * (aten.bernoulli.p(x, 1 - p) / (1 - p))


def _bernoulli(x: Tensor, p: float = 0.5) -> Tensor:
    """Eager's result is contiguous whatever the layout of ``x``, and drawn in that order."""
    return torch.empty(x.shape, dtype=x.dtype, device=x.device).bernoulli_(p)


def _native_dropout(x: Tensor, p: float, train: Any) -> tuple:
    """The mask is drawn outside the graph; see randomness.py."""
    if train is False or p == 0:
        return x.clone(), torch.ones_like(x, dtype=torch.bool)
    kept = aten.bernoulli.p(x, 1 - p)
    return dropout(x, p, True) if p == 1 else x * (kept / (1 - p)), kept.to(torch.bool)


def lift(graph: Graph) -> list[Callable[[], torch.Tensor]]:
    """Turn every random node into a placeholder; return how to fill them, in graph order.

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
                op=op_name(node),
                location=location_of(node),
                hint="draw outside the compiled function and pass the result in",
            )
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
        overlaps = any(
            step == 0 and size > 1 for step, size in zip(val.stride(), val.shape, strict=True)
        )
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


RANDOM_COMPOSITES: dict[Any, Callable] = {
    aten.dropout.default: dropout,
    aten.dropout_.default: lambda x, p, train: x.copy_(dropout(x, p, train)),
    aten.bernoulli.p: _bernoulli,
}

RANDOM_DECOMPOSITIONS: dict[Any, Callable] = {
    aten.native_dropout.default: _native_dropout,
}
