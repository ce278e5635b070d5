"""The two traces: Dynamo graph -> pre-dispatch ATen graph -> functional, decomposed ATen graph.

Both run on fake tensors with static shapes, so nothing is computed. The first keeps composite ops,
views, in-place writes and grad-mode switches, which is what the barriers are read from. The second
has none of them left: in-place writes have become values, and ``aten.copy_`` into a placeholder at
the very end stands for a mutated input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
import torch.fx.traceback as fx_traceback
from torch._subclasses.fake_tensor import DynamicOutputShapeException, FakeTensorMode
from torch.fx import GraphModule, Interpreter, Node
from torch.fx.experimental.proxy_tensor import make_fx

from ..errors import CaptureError, GradcError
from .diagnostics import location_of, op_name


def fake_inputs(tensors: Sequence[torch.Tensor], mode: FakeTensorMode) -> list[torch.Tensor]:
    """Fake tensors of ``mode`` with the shapes, strides, dtypes and devices of ``tensors``; no
    autograd."""
    fakes = []
    with mode:
        for tensor in tensors:
            sizes = [int(size) for size in tensor.shape]
            fakes.append(
                torch.empty_strided(
                    sizes,
                    [int(s) for s in tensor.stride()],
                    dtype=tensor.dtype,
                    device=tensor.device,
                )
            )
    return fakes


aten = torch.ops.aten

_CONTRACTIONS = {
    aten.mm,
    aten.mv,
    aten.dot,
    aten.bmm,
    aten.addmm,
    aten.baddbmm,
    aten.matmul,
    aten.linear,
    aten.einsum,
    aten.conv1d,
    aten.conv2d,
    aten.conv3d,
    aten.convolution,
}


def _check_dtypes(args: tuple) -> None:
    """Eager refuses products of mixed dtypes; on fake tensors they pass."""
    flat = [a for arg in args for a in (arg if isinstance(arg, (list, tuple)) else [arg])]
    dtypes = list(dict.fromkeys(a.dtype for a in flat if isinstance(a, torch.Tensor)))
    if len(dtypes) > 1:
        names = " and ".join(str(dtype).removeprefix("torch.") for dtype in dtypes)
        raise CaptureError(
            f"operands have different dtypes, {names}",
            hint="convert one of them with .to(dtype); the same call fails when it is not compiled",
        )


class _Running(Interpreter):
    """Runs a graph node by node, with own implementations for some ops and errors that name the
    line."""

    def __init__(self, gm: GraphModule, composites: dict[Any, Callable]) -> None:
        super().__init__(gm)
        self.composites = composites

    def run_node(self, n: Node) -> Any:
        try:
            return super().run_node(n)
        except GradcError as error:
            if error.location is not None or n.op != "call_function":
                raise
            raise type(error)(
                str(error).split("\n")[0], op=op_name(n), location=location_of(n), hint=error.hint
            ) from error
        except DynamicOutputShapeException as error:
            raise CaptureError(
                "has a result whose size depends on data",
                op=op_name(n),
                location=location_of(n),
                hint="keep every element: torch.where(mask, x, 0) instead of x[mask]",
            ) from error
        except Exception as error:
            raise CaptureError(
                f"cannot be traced with static shapes: {type(error).__name__}: "
                f"{str(error).splitlines()[0] if str(error) else ''}",
                op=op_name(n),
                location=location_of(n),
                hint="values that decide shapes or control flow must not depend on tensor data",
            ) from error

    def call_function(self, target: Any, args: tuple, kwargs: dict) -> Any:
        if getattr(target, "overloadpacket", None) in _CONTRACTIONS:
            _check_dtypes(args)
        return super().call_function(self.composites.get(target, target), args, kwargs)


@contextmanager
def _no_library_kernels() -> Iterator[None]:
    """Recurrent modules are taken apart, where PyTorch would choose a kernel of oneDNN."""
    enabled = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)
    try:
        yield
    finally:
        torch._C._set_mkldnn_enabled(enabled)


def _trace(
    run: Callable, fakes: list[torch.Tensor], mode: FakeTensorMode, **options: Any
) -> GraphModule:
    with ExitStack() as stack:
        stack.enter_context(mode)
        stack.enter_context(_no_library_kernels())
        stack.enter_context(fx_traceback.preserve_node_meta())
        return make_fx(run, tracing_mode="real", **options)(*fakes)


def trace_pre_dispatch(
    gm: GraphModule,
    bind: Callable[[list[torch.Tensor]], list],
    fakes: list[torch.Tensor],
    mode: FakeTensorMode,
) -> GraphModule:
    """The Dynamo graph as ATen ops before autograd: composite ops whole, grad-mode switches as
    nodes.

    ``bind`` puts the tensors among the graph's other (constant) arguments.
    """

    def run(*tensors: torch.Tensor) -> Any:
        return _Running(gm, {}).run(*bind(list(tensors)))

    with torch.enable_grad():
        return _trace(run, fakes, mode, pre_dispatch=True)


def trace_functional(
    gm: GraphModule,
    fakes: list[torch.Tensor],
    mode: FakeTensorMode,
    composites: dict[Any, Callable],
    decompositions: dict[Any, Callable],
) -> GraphModule:
    """The marked graph without mutation, with composite ops and those of ``decompositions`` taken
    apart.

    ``composites`` are implementations for ops of ``gm`` itself, used before PyTorch's own.
    """

    def run(*tensors: torch.Tensor) -> Any:
        return _Running(gm, composites).run(*tensors)

    with torch.no_grad():
        functional = torch.func.functionalize(run, remove="mutations")
        traced = _trace(functional, fakes, mode, decomposition_table=decompositions)
        if _writes(traced):
            # A composite op taken apart below functionalisation wrote into a temporary of its own.
            again = torch.func.functionalize(_Running(traced, {}).run, remove="mutations")
            traced = _trace(again, fakes, mode, decomposition_table=decompositions)
    traced.graph.eliminate_dead_code()
    return traced


def _writes(gm: GraphModule) -> bool:
    """Whether anything but a placeholder is written in place."""
    return any(
        node.op == "call_function"
        and isinstance(node.target, torch._ops.OpOverload)
        and node.target._schema.is_mutable
        and not (isinstance(node.args[0], Node) and node.args[0].op == "placeholder")
        for node in gm.graph.nodes
    )
