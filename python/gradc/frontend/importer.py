"""The way from a Dynamo graph to MLIR text; each step is a module of its own.

guards      what the traces would drop: explicit or refused
trace       pre-dispatch ATen graph
barriers    where eager's gradient stops, written into the graph
trace       functional, decomposed ATen graph (decompositions.py)
randomness  draws become arguments
legalise    small rewrites; conventions: refuse derivatives that would be lost
nested      transforms inside become calls of functions with graphs of their own
emitter     torch dialect text, outlined ops beside it (outline.py)
lowering    a worker process runs torch-mlir; linalg-on-tensors text comes back
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx import Graph, GraphModule, Node

from ..errors import CaptureError, GradcError, SourceLocation, UnsupportedError
from . import checkpoints, conventions, randomness
from .barriers import Marked, SharedCheckpoint, mark
from .constants import fold_constants
from .decompositions import COMPOSITES, decomposition_table
from .diagnostics import location_of, op_name, origin, quote, readable_name, without_ordinals
from .emitter import Emitted, emit
from .guards import prepare
from .legalise import legalise
from .lowering import WORKER
from .memory import storage
from .nested import outline_transforms
from .program import ImportedProgram, InputSpec, OutputSpec
from .trace import fake_inputs, trace_functional, trace_pre_dispatch

_TRACING = threading.RLock()


@dataclass
class Traced:
    """A functional ATen graph and the meaning of its placeholders and results."""

    gm: GraphModule
    inputs: list[InputSpec]
    results: list[Node]
    outputs: list[OutputSpec]
    marked: Marked
    positions: list[int]
    indexed: dict[SourceLocation, str]


def import_graph(
    gm: GraphModule,
    example_inputs: Sequence[Any],
    *,
    columns: bool = False,
    merge: bool = True,
    views: bool = False,
) -> ImportedProgram:
    """Import a graph captured by Dynamo (parameters and buffers among its inputs).

    ``example_inputs`` are real or fake tensors with static shapes, or Python numbers that the graph
    was specialised to. Their ``requires_grad`` decides what carries a gradient. With ``columns``
    locations have a column, see ``ImportedProgram.nodes``; without ``merge`` operations that
    compute the same stay apart; with ``views`` outputs that are views are made outside the program,
    see ``ImportedProgram.views``. Raises ``UnsupportedError`` for what would not be faithful,
    ``CaptureError`` for what cannot be traced.
    """
    WORKER.start()
    # Tracing changes modes that belong to the process; inference mode would leave no gradient paths
    # to see.
    with _TRACING, torch.inference_mode(False):
        return _import(gm, example_inputs, columns, merge, views)


def _import(
    gm: GraphModule, example_inputs: Sequence[Any], columns: bool, merge: bool, views: bool
) -> ImportedProgram:
    clock = Clock()
    traced = trace_program(gm, example_inputs, clock, views)
    graph = traced.gm.graph
    carries = conventions.carrying(graph, [spec.requires_grad for spec in traced.inputs])
    conventions.check(graph, carries)
    emitted = emit(graph, traced.results, [spec.name for spec in traced.inputs])
    clock.lap("emit")
    text = _attach_arguments(_lower(emitted, merge), traced.inputs)
    if not columns:
        text = without_ordinals(text)
    clock.lap("lower")
    marked, positions = traced.marked, traced.positions
    return ImportedProgram(
        mlir=text,
        inputs=traced.inputs,
        outputs=traced.outputs,
        constant_outputs=marked.constants,
        input_outputs={index: positions[at] for index, at in marked.inputs.items()},
        repeated_outputs=marked.repeated,
        views={
            index: view if view.input is None else replace(view, input=positions[view.input])
            for index, view in marked.views.items()
        },
        output_count=marked.count,
        grad_mode=marked.grad_mode,
        timings=clock.laps,
        nodes={number: origin(node) for number, node in emitted.ordinals.items()},
        indexed=traced.indexed,
    )


def trace_program(
    gm: GraphModule,
    example_inputs: Sequence[Any],
    clock: Clock | None = None,
    views: bool = False,
) -> Traced:
    """Everything in PyTorch's terms: barriers, decompositions, lifted constants and draws."""
    clock = clock or Clock()
    tensors, positions, bind = _split(example_inputs)
    gm = prepare(gm)
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    pre = trace_pre_dispatch(gm, bind, fake_inputs(tensors, mode), mode)
    clock.lap("trace")
    constants = _lift_constants(pre)
    every = tensors + [tensor for _, tensor in constants]
    with mode:
        try:
            marked = mark(pre, _as_called(every, mode), views)
        except SharedCheckpoint:
            checkpoints.forget(pre)
            marked = mark(pre, _as_called(every, mode), views)
    clock.lap("barriers")
    functional = trace_functional(
        marked.gm, fake_inputs(every, mode), mode, COMPOSITES, decomposition_table()
    )
    constants += _lift_constants(functional)
    names = _names(gm, positions)
    inputs = [
        InputSpec("input", position=position, name=name, requires_grad=tensor.requires_grad)
        for position, name, tensor in zip(positions, names, tensors, strict=True)
    ]
    inputs += [
        InputSpec("constant", tensor=tensor, name=name, requires_grad=tensor.requires_grad)
        for name, tensor in constants
    ]
    inputs += [
        InputSpec("random", name=f"random.{index}", generate=generate)
        for index, generate in enumerate(randomness.lift(functional.graph))
    ]
    fold_constants(functional.graph)
    legalise(functional.graph)
    outline_transforms(functional.graph)
    results, outputs = _outputs(functional.graph, marked, positions)
    _check_overlap(tensors, positions, outputs)
    clock.lap("decompose")
    return Traced(functional, inputs, results, outputs, marked, positions, _indexed(pre))


# fmt: off
_INDEXING = frozenset("""
    cross_entropy_loss embedding embedding_bag gather index index_add index_copy index_fill
    index_put index_select nll_loss nll_loss_nd nll_loss2d put scatter scatter_add take
    take_along_dim
""".split())
# fmt: on


def _indexed(pre: GraphModule) -> dict[SourceLocation, str]:
    """By source line, the op that reads or writes at computed positions."""
    found: dict[SourceLocation, str] = {}
    for node in pre.graph.nodes:
        packet = getattr(node.target, "overloadpacket", None)
        name = packet.__name__.rstrip("_") if packet is not None else None
        if name in _INDEXING and (where := location_of(node)) is not None:
            found[where] = op_name(node)
    return found


def _as_called(tensors: list[torch.Tensor], mode: FakeTensorMode) -> list[torch.Tensor]:
    """Fake tensors with the ``requires_grad`` of ``tensors``; not leaves, so that an in-place write
    which eager allows is allowed here."""
    return [
        fake.requires_grad_().clone() if tensor.requires_grad else fake
        for fake, tensor in zip(fake_inputs(tensors, mode), tensors, strict=True)
    ]


class Clock:
    """Seconds by stage."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name] = now - self._last
        self._last = now


def _split(example_inputs: Sequence[Any]) -> tuple[list[torch.Tensor], list[int], Any]:
    """The tensors among the inputs, their positions, and how to put traced ones back among the
    rest."""
    tensors, positions = [], []
    for position, value in enumerate(example_inputs):
        if isinstance(value, torch.Tensor):
            if any(not isinstance(size, int) for size in value.shape):
                raise CaptureError(
                    f"input {position} has a symbolic shape; shapes must be static here"
                )
            if value.layout is not torch.strided:
                raise UnsupportedError(
                    f"input {position} has layout {value.layout}; only dense tensors work"
                )
            tensors.append(value)
            positions.append(position)

    def bind(values: list[torch.Tensor]) -> list[Any]:
        full = list(example_inputs)
        for position, value in zip(positions, values, strict=True):
            full[position] = value
        return full

    return tensors, positions, bind


def _check_overlap(
    tensors: list[torch.Tensor], positions: list[int], outputs: list[OutputSpec]
) -> None:
    """Refuse a write to an input whose memory another input shares: each is a value of its own
    here."""
    mutated = {spec.position for spec in outputs if spec.kind == "mutation"}
    storages: dict[int, list[int]] = {}
    for tensor, position in zip(tensors, positions, strict=True):
        storages.setdefault(storage(tensor), []).append(position)
    for group in storages.values():
        if len(group) > 1 and mutated & set(group):
            raise UnsupportedError(
                f"inputs {group} share memory and one of them is written in place",
                hint="pass a clone of one of them",
            )


def _lift_constants(gm: GraphModule) -> list[tuple[str, torch.Tensor]]:
    """Turn tensors held by the graph module into placeholders; return names and values.

    Single numbers stay in the graph, where they can be folded.
    """
    graph = gm.graph
    found: list[tuple[str, torch.Tensor]] = []
    anchor = next((n for n in reversed(graph.nodes) if n.op == "placeholder"), None)
    lifted: dict[str, Node] = {}
    for node in [node for node in graph.nodes if node.op == "get_attr"]:
        value = getattr(gm, node.target)
        if not isinstance(value, torch.Tensor):
            continue
        if isinstance(value, FakeTensor):
            raise CaptureError(f"the graph holds {node.target}, a tensor without data")
        if value.numel() == 1 and not value.requires_grad and not value.is_complex():
            with graph.inserting_before(node):
                new = graph.call_function(
                    torch.ops.aten.full.default,
                    (list(value.shape), value.item()),
                    {"dtype": value.dtype, "device": value.device},
                )
            new.meta = dict(node.meta)
        elif node.target in lifted:
            new = lifted[node.target]
        else:
            first = next(iter(graph.nodes))
            with graph.inserting_after(anchor) if anchor else graph.inserting_before(first):
                new = anchor = graph.placeholder(f"constant_{len(found)}")
            new.meta = {"val": value, **node.meta}
            lifted[node.target] = new
            found.append((node.target.strip("_").replace("_", "."), value))
        node.replace_all_uses_with(new)
        graph.erase_node(node)
    gm.recompile()
    return found


def _names(gm: GraphModule, positions: list[int]) -> list[str]:
    found = gm.graph.find_nodes(op="placeholder")
    names = [node.meta.get("gradc_name") or readable_name(node.target) for node in found]
    return [names[position] for position in positions]


def _outputs(
    graph: Graph, marked: Marked, positions: list[int]
) -> tuple[list[Node], list[OutputSpec]]:
    """Results of ``@main``: mutated inputs first, then outputs that are tensors of their own."""
    results: list[Node] = []
    specs: list[OutputSpec] = []
    placeholders = [node for node in graph.nodes if node.op == "placeholder"]
    for node in [n for n in graph.nodes if n.target is torch.ops.aten.copy_.default]:
        at = placeholders.index(node.args[0])
        if at >= len(positions):
            raise UnsupportedError(
                "writes into a constant", op=op_name(node), location=location_of(node)
            )
        _add(
            results, specs, node.args[1], "mutation", positions[at], marked.input_requires_grad[at]
        )
        graph.erase_node(node)
    final = next(node for node in graph.nodes if node.op == "output")
    for node, index, grad in zip(final.args[0], marked.kept, marked.requires_grad, strict=True):
        _add(results, specs, node, "output", index, grad)
    return results, specs


def _add(
    results: list[Node], specs: list[OutputSpec], node: Node, kind: str, position: int, grad: bool
) -> None:
    value = node.meta["val"]
    results.append(node)
    specs.append(OutputSpec(kind, position, grad, tuple(int(s) for s in value.shape), value.dtype))


def _lower(emitted: Emitted, merge: bool) -> str:
    answer = WORKER.request(
        {
            "module": emitted.module,
            "definitions": emitted.definitions,
            "transforms": emitted.transforms,
            "merge": merge,
        }
    )
    if "mlir" in answer:
        return answer["mlir"]
    raise _explain(answer["error"], answer["diagnostics"], emitted)


def _explain(error: str, diagnostics: list, emitted: Emitted) -> GradcError:
    """A complaint of torch-mlir in the user's terms: the first one that leads to a node."""
    for where, message in diagnostics:
        found = re.search(r'"((?:[^"\\]|\\.)*)":(\d+):(\d+)', where)
        if found is None or message.endswith(".yield"):
            continue
        in_text = found.group(1) == "-"
        number = int(found.group(2 if in_text else 3))
        node = (emitted.lines if in_text else emitted.ordinals).get(number)
        if node is None:
            continue
        if error == "contract":
            reason = f"lowers to {message}, outside the dialects that can be compiled"
        else:
            reason = "cannot be lowered to MLIR by torch-mlir"
        return UnsupportedError(
            reason,
            op=op_name(node),
            location=location_of(node),
            hint="rewrite the line with other operations, or call it outside the compiled function",
        )
    detail = "; ".join(f"{where}: {message}" for where, message in diagnostics[:3])
    return CaptureError(f"lowering failed ({error}): {detail}")


def _attach_arguments(text: str, inputs: list[InputSpec]) -> str:
    """Names and requires_grad as argument attributes of ``@main`` (generic form)."""
    attributes = ", ".join(
        "{"
        + ("grad.requires_grad, " if s.requires_grad else "")
        + ("grad.temporary, " if s.kind == "random" else "")
        + f"grad.name = {quote(s.name)}"
        + "}"
        for s in inputs
    )
    head = re.search(r'"func\.func"\(\) <\{(?=[^\n]*sym_name = "main")', text)
    if head is None:
        raise CaptureError("the lowered module has no @main")
    return text[: head.end()] + f"arg_attrs = [{attributes}], " + text[head.end() :]
