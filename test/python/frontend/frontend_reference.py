"""Capture, import, and a reference that runs the functional graph with PyTorch's own autograd."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node

from gradc.frontend import ImportedProgram, import_graph
from gradc.frontend.importer import Traced, trace_program
from gradc.frontend.ops import STOP, VALUE_OF
from gradc.frontend.scatters import ADD_AT


def capture(function: Callable, *args: Any) -> tuple[GraphModule, list[Any]]:
    """The Dynamo graph of a call and the inputs it was captured with."""
    seen: list[tuple[GraphModule, list[Any]]] = []

    def backend(gm: GraphModule, inputs: list[Any]) -> Callable:
        seen.append((gm, inputs))
        return gm.forward

    torch._dynamo.reset()
    torch.compile(function, backend=backend, fullgraph=True, dynamic=False)(*args)
    return seen[0]


def imported(function: Callable, *args: Any) -> ImportedProgram:
    return import_graph(*capture(function, *args))


class _ValueOf(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, value: torch.Tensor, path: torch.Tensor) -> torch.Tensor:
        return value.clone()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple:
        return None, gradient


class _Reference(Interpreter):
    def __init__(self, gm: GraphModule) -> None:
        super().__init__(gm, garbage_collect_values=False)
        self.values: dict[Node, Any] = {}

    def run_node(self, n: Node) -> Any:
        self.values[n] = super().run_node(n)
        return self.values[n]

    def call_function(self, target: Any, args: tuple, kwargs: dict) -> Any:
        if target is STOP:
            return args[0].detach()
        if target is VALUE_OF:
            return _ValueOf.apply(*args)
        if target is ADD_AT:
            return args[0].index_put((args[1],), args[2], accumulate=True)
        if target is torch.ops.prims.convert_element_type.default:
            return args[0].to(args[1])
        if target is torch.ops.aten.view.default:  # views of the trace may be copies here
            return args[0].reshape(args[1])
        return super().call_function(target, args, kwargs)


def _leaves(inputs: list[Any]) -> list[Any]:
    return [
        x.detach().clone().requires_grad_(x.requires_grad) if isinstance(x, torch.Tensor) else x
        for x in inputs
    ]


def _inner(values: list[Any]) -> list[Any]:
    """Not leaves, so that in-place writes are allowed."""
    return [v * 1 if isinstance(v, torch.Tensor) and v.requires_grad else v for v in values]


def run_eager(gm: GraphModule, inputs: list[Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """Leaves, the graph's arguments after the call, and its outputs."""
    leaves = _leaves(inputs)
    arguments = _inner(leaves)
    torch.manual_seed(0)
    return leaves, arguments, list(gm(*arguments))


def run_traced(traced: Traced, inputs: list[Any]) -> tuple[list[Any], list[torch.Tensor]]:
    """Leaves and results of the functional graph."""
    leaves = _leaves(inputs)
    torch.manual_seed(0)
    arguments = [
        leaves[s.position]
        if s.kind == "input"
        else s.tensor
        if s.kind == "constant"
        else s.generate()
        for s in traced.inputs
    ]
    reference = _Reference(traced.gm)
    reference.run(*_inner(arguments))
    return leaves, [reference.values[node] for node in traced.results]


def assert_like_eager(function: Callable, *args: Any, order: int = 2, rtol: float = 1e-11) -> None:
    """Values, gradient paths and gradients to ``order`` equal eager's."""
    gm, inputs = capture(function, *args)
    traced = trace_program(gm, inputs)
    leaves, arguments, outputs = run_eager(gm, inputs)
    own_leaves, results = run_traced(traced, inputs)
    pairs = []
    for spec, result in zip(traced.outputs, results, strict=True):
        expected = (arguments if spec.kind == "mutation" else outputs)[spec.position]
        torch.testing.assert_close(
            result.detach(), expected.detach(), rtol=rtol, atol=rtol, equal_nan=True
        )
        connected = expected.grad_fn is not None
        assert spec.requires_grad == connected
        assert connected or not result.requires_grad
        if connected:
            pairs.append((expected, result))
    wanted = [i for i, x in enumerate(leaves) if isinstance(x, torch.Tensor) and x.requires_grad]
    first = [e for e, _ in pairs], [leaves[i] for i in wanted]
    second = [r for _, r in pairs], [own_leaves[i] for i in wanted]
    if pairs and order >= 1:
        _compare(first, second, order, 10 * rtol)


def _compare(first: tuple, second: tuple, order: int, rtol: float) -> None:
    gradients = []
    for outputs, leaves in (first, second):
        torch.manual_seed(1)
        total = sum((o * torch.randn(o.shape, dtype=o.dtype)).sum() for o in outputs)
        gradients.append(
            torch.autograd.grad(total, leaves, allow_unused=True, create_graph=order > 1)
            if isinstance(total, torch.Tensor) and total.requires_grad
            else [None] * len(leaves)
        )
    for expected, found in zip(*gradients, strict=True):
        zero = torch.zeros(()) if expected is None and found is None else None
        if zero is not None:
            continue
        # None and zero are the same to a compiled backward at higher order.
        expected = torch.zeros_like(found) if expected is None else expected
        found = torch.zeros_like(expected) if found is None else found
        torch.testing.assert_close(found, expected, rtol=rtol, atol=rtol, equal_nan=True)
    if order > 1:
        pairs = [
            (e * e, f * f)
            for e, f in zip(*gradients, strict=True)
            if e is not None and f is not None and e.requires_grad and f.requires_grad
        ]
        if pairs:
            left, right = zip(*pairs, strict=True)
            _compare((left, first[1]), (right, second[1]), order - 1, 10 * rtol)
