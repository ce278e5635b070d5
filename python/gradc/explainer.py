"""`gradc.explain`: why a value requires grad or does not, what stops gradients, what is saved.

The function is captured as the transforms capture it, and compiled twice as far as needed, never
run. A probed twin of the graph, in which every intermediate is an output as well, goes through
inference, whose types say what requires grad, and through ``grad-explain``, which says why. The
graph itself goes through the pipeline of the tape, whose functions say what is saved. Columns of
locations carry the number of a node, by which MLIR ops are led back to the user's operations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch.fx import GraphModule, Node

from . import capture, config, provenance
from .errors import InputError, SourceLocation
from .explanation import Barrier, Explanation, Saved, Value
from .frontend import ImportedProgram, import_graph
from .frontend.guards import prepare
from .locks import compile_lock
from .probes import needed_inside, with_probes
from .reasons import Reason, Residual, reasons, residuals
from .signature import check_inputs, name_inputs, with_constants


def explain(fn: Callable, *args: Any, **kwargs: Any) -> Explanation:
    """Says of every value that ``fn(*args, **kwargs)`` computes whether it requires grad and why,
    what each barrier cuts, and what is saved for the backward pass.

    Nothing is computed and nothing changed: only shapes, dtypes and ``requires_grad`` of the
    arguments count. The grad mode around the call does not.

    Args:
        fn: a function, an ``nn.Module``, or what `gradc.compile` made of one.
        args, kwargs: as ``fn`` is called with.

    Returns:
        An `Explanation`. ``print`` shows it as tables, ``requires_grad(name)`` and ``find(name)``
        look values up, ``to_json()`` writes it down.

    Raises:
        InputError: ``fn`` can not be called, or is a gradc transform.
        GradcError: ``fn`` can not be captured as one graph, or uses what is not supported.
    """
    fn = _original(fn)
    with compile_lock, torch.inference_mode(False), torch.enable_grad():
        captured = _capture(fn, args, kwargs)
        return _Explainer(fn, captured).run()


def _original(fn: Any) -> Callable:
    """``fn`` before `gradc.compile`."""
    if isinstance(fn, torch._dynamo.OptimizedModule):
        return fn._orig_mod
    if not callable(fn):
        raise InputError(f"gradc.explain takes a function or a module, got a {type(fn).__name__}")
    if hasattr(fn, "programs") and not isinstance(fn, torch.nn.Module):
        compiled = getattr(fn, "__wrapped__", None)
        original = getattr(compiled, "_torchdynamo_orig_callable", None)
        if original is None:
            raise InputError(
                f"{_name(fn)} is a gradc transform, which has no tape to explain",
                hint="explain the function that it transforms",
            )
        return original
    return fn


# -- capture
class _Captured(Exception):
    """Ends the call once the graph and its inputs are known."""

    def __init__(self, gm: GraphModule, inputs: Sequence[Any]) -> None:
        super().__init__("captured")
        self.gm = gm
        self.inputs = inputs


@dataclass
class _Graph:
    """The captured graph, as the frontend prepares it, and the nodes that ``fn`` returns."""

    gm: GraphModule
    inputs: list[torch.Tensor]
    outputs: list[Node] = field(default_factory=list)


def _capture(fn: Callable, args: tuple, kwargs: dict) -> _Graph:
    def backend(gm: GraphModule, example_inputs: Sequence[Any]) -> Callable:
        name_inputs(gm)
        provenance.note_kinds(gm)

        def run(*inputs: Any) -> Any:
            raise _Captured(gm, inputs)

        return run

    try:
        with capture.capture_errors(capture.one_graph("gradc.explain")):
            capture.compiled(backend, config.RECOMPILE_LIMIT)(fn, False, args, kwargs)
    except _Captured as captured:
        gm, kept = with_constants(captured.gm, captured.inputs)
        inputs = [captured.inputs[position] for position in kept]
        check_inputs(gm, inputs)
        gm = prepare(gm)
        return _Graph(gm, inputs, _take_marks(gm))
    raise InputError(
        f"{_name(fn)} computes nothing from tensors, so there is nothing to explain",
        hint="return something that depends on a tensor",
    )


def _take_marks(gm: GraphModule) -> list[Node]:
    """Removes the marks of `capture` and returns what they mark, in order."""
    marks = {}
    for node in list(gm.graph.nodes):
        if node.op == "call_function" and node.target is capture.MARK:
            marks[node.args[1]] = node.args[0]
            node.replace_all_uses_with(node.args[0])
            gm.graph.erase_node(node)
    gm.recompile()
    return [marks[index] for index in sorted(marks)]


# -- the explanation
class _Explainer:
    def __init__(self, fn: Callable, graph: _Graph) -> None:
        self.fn = fn
        self.graph = graph
        self.rows = provenance.rows(graph.gm)
        self.placeholders = list(graph.gm.graph.find_nodes(op="placeholder"))
        self.reasons: dict[Node, Reason] = {}
        self.keys: dict[Node, str] = {}
        self.names: dict[Node, str] = {}
        #: (kind, file, line) -> number
        self.barriers: dict[tuple[str, str, int], int] = {}
        self.stopped_by: dict[Node, tuple[int, ...]] = {}
        self.cut: dict[int, dict[Node, None]] = {}

    def run(self) -> Explanation:
        self._name()
        probed, probes = with_probes(self.graph.gm, [row.node for row in self.rows])
        imported = import_graph(probed, self.graph.inputs, columns=True, merge=False)
        self._read(imported, probes)
        for row in self.rows:
            self.stopped_by[row.node] = self._barriers_of(row)
        outputs = self._output_names()
        values = [self._argument(node, outputs) for node in self.placeholders]
        values += [self._intermediate(row, outputs) for row in self.rows]
        return Explanation(
            _name(self.fn), tuple(values), tuple(self._all_barriers()), tuple(self._saved(outputs))
        )

    def _name(self) -> None:
        """Names and unique keys: the name alone where it is unique, else with its line."""
        for node in self.placeholders:
            self.names[node] = provenance.placeholder_name(node, self.fn)
        for row in self.rows:
            self.names[row.node] = row.name
        lines = {row.node: row.where.line if row.where else 0 for row in self.rows}
        taken = _counts(self.names.values())
        keys = {}
        for node, name in self.names.items():
            if taken[name] == 1:
                keys[node] = name
            else:
                keys[node] = f"{name}:{lines[node]}" if node in lines else f"{name} (argument)"
        again = _counts(keys.values())
        seen: dict[str, int] = {}
        for node, key in keys.items():
            seen[key] = seen.get(key, 0) + 1
            self.keys[node] = key if again[key] == 1 else f"{key}#{seen[key]}"

    def _read(self, imported: ImportedProgram, probes: dict[str, Node]) -> None:
        """The reasons of placeholders and rows, and the node of each column."""
        self.nodes = {
            column: probes[name] for column, name in imported.nodes.items() if name in probes
        }
        first = imported.output_count - len(self.rows)
        outputs = [
            k
            for k, spec in enumerate(imported.outputs)
            if spec.kind == "mutation" or spec.position < first
        ]
        arguments, results = reasons(imported.mlir, outputs)
        #: argument number of @main -> placeholder
        self.arguments = [
            self.placeholders[spec.position] if spec.kind == "input" else None
            for spec in imported.inputs
        ]
        returned = {p for index, p in imported.input_outputs.items() if index < first}
        for spec, node, reason in zip(imported.inputs, self.arguments, arguments, strict=True):
            if node is not None:
                # An argument that is returned as it is has no result of its own.
                needed = reason.requires_grad and (reason.needed or spec.position in returned)
                self.reasons[node] = replace(reason, needed=needed)
        for k, spec in enumerate(imported.outputs):
            if spec.kind == "output" and spec.position >= first:
                self.reasons[self.rows[spec.position - first].node] = results[k]
        for node in needed_inside(self.graph.gm, self.reasons):
            if node in self.reasons:
                self.reasons[node] = replace(self.reasons[node], needed=True)

    def _barriers_of(self, row: provenance.Row) -> tuple[int, ...]:
        """Numbers of the barriers that keep ``row`` from requiring grad."""
        reason = self.reasons[row.node]
        if reason.kind != "stopped":
            return ()
        sources = provenance.sources(row.node, self.reasons)
        cut = [node for node in sources if self.reasons[node].requires_grad]
        if not cut:
            return tuple(
                dict.fromkeys(n for node in sources for n in self.stopped_by.get(node, ()))
            )
        kind, where = self._kind(row)
        key = (kind, where.file if where else "", where.line if where else 0)
        number = self.barriers.setdefault(key, len(self.barriers))
        for node in cut:
            roots = self.reasons[node].roots
            self.cut.setdefault(number, {}).update((self.arguments[n], None) for n in roots)
        return (number,)

    def _kind(self, row: provenance.Row) -> tuple[str, SourceLocation | None]:
        if row.op in ("detach", "detach_", "data"):
            kind = "stop_gradient" if provenance.is_stop_gradient(row.node) else row.op.strip("_")
            return kind, row.where
        if not row.grad_mode:
            return provenance.mode_switch(row.node)
        return f"{row.op} (no derivative)", row.where

    def _all_barriers(self) -> list[Barrier]:
        return [
            Barrier(
                kind,
                file,
                line,
                tuple(self.names[node] for node in self.placeholders if node in self.cut[number]),
                tuple(
                    self.keys[row.node] for row in self.rows if number in self.stopped_by[row.node]
                ),
            )
            for (kind, file, line), number in self.barriers.items()
        ]

    def _output_names(self) -> dict[Node, list[str]]:
        nodes = self.graph.outputs
        found: dict[Node, list[str]] = {}
        for index, node in enumerate(nodes):
            name = "output" if len(nodes) == 1 else f"output[{index}]"
            found.setdefault(provenance.unmarked(node), []).append(name)
        return found

    def _common(self, node: Node, tensor: Any, outputs: dict[Node, list[str]]) -> dict[str, Any]:
        reason = self.reasons[node]
        return {
            "key": self.keys[node],
            "name": self.names[node],
            "shape": tuple(int(size) for size in tensor.shape),
            "dtype": str(tensor.dtype).removeprefix("torch."),
            "requires_grad": reason.requires_grad,
            "needed": reason.needed,
            "outputs": tuple(outputs.get(node, ())),
        }

    def _argument(self, node: Node, outputs: dict[Node, list[str]]) -> Value:
        tensor = self.graph.inputs[self.placeholders.index(node)]
        reason = self.reasons[node]
        if not _differentiable(tensor):
            kind, why = "integer", _integer(tensor)
        elif not reason.requires_grad:
            kind, why = "unset", "requires_grad is not set"
        else:
            kind = "root"
            why = "requires_grad is set" if reason.needed else "not needed: reaches no output"
        return Value(
            kind=node.meta["gradc_kind"],
            reason=kind,
            why=why,
            **self._common(node, tensor, outputs),
        )

    def _intermediate(self, row: provenance.Row, outputs: dict[Node, list[str]]) -> Value:
        tensor = provenance.example(row.node)
        reason = self.reasons[row.node]
        path = list(dict.fromkeys(self.nodes[c] for c in reason.path if c in self.nodes))
        path = [node for node in path if node in self.keys and node is not row.node]
        kind = reason.kind
        if kind == "type":
            kind, why = "integer", _integer(tensor)
        elif kind == "stopped":
            why = self._stopped_words(row)
        elif kind == "constant":
            why = "reads only constants"
        else:
            path.append(row.node)
            kind, why = "depends", self._depends_words(row, reason, path)
        return Value(
            kind="intermediate",
            reason=kind,
            why=why,
            op=row.op,
            file=row.where.file if row.where else "",
            line=row.where.line if row.where else 0,
            depends_on=tuple(self.names[self.arguments[n]] for n in reason.roots),
            path=tuple(self.keys[node] for node in path),
            barriers=self.stopped_by[row.node],
            **self._common(row.node, tensor, outputs),
        )

    def _stopped_words(self, row: provenance.Row) -> str:
        places = list(self.barriers)
        words = []
        for number in self.stopped_by[row.node]:
            kind, file, line = places[number]
            words.append(f"{kind} at {_short(file, line)}")
        return "stopped by " + (" and ".join(words) or "a barrier")

    def _depends_words(self, row: provenance.Row, reason: Reason, path: list[Node]) -> str:
        if not reason.needed:
            return "not needed: reaches no output"
        if reason.root is None:
            return "a leaf of its own"
        root = f"depends on `{self.names[self.arguments[reason.root]]}`"
        if len(reason.roots) > 1:
            root += f" and {len(reason.roots) - 1} more"
        through = next((r for r in self.rows if r.node is path[0]), row)
        if through.where is None:
            return f"{root} through {through.op}"
        return f"{root} through {through.op} at {_short(through.where.file, through.where.line)}"

    def _saved(self, outputs: dict[Node, list[str]]) -> list[Saved]:
        imported = import_graph(self.graph.gm, self.graph.inputs, columns=True, views=True)
        found = []
        for residual in residuals(imported.mlir):
            kind, name = self._origin(residual, imported, outputs)
            size = math.prod(residual.type.shape) * residual.type.dtype.itemsize
            free = kind in ("argument", "constant", "output")
            dtype = str(residual.type.dtype).removeprefix("torch.")
            allocated = 0 if free else size
            found.append(Saved(kind, name, residual.type.shape, dtype, size, allocated))
        return found

    def _origin(
        self, residual: Residual, imported: ImportedProgram, outputs: dict[Node, list[str]]
    ) -> tuple[str, str]:
        """What a residual is, and its name."""
        if residual.number >= 0:
            spec = imported.inputs[residual.number]
            if spec.kind != "input":
                return spec.kind, spec.name
            mutated = any(
                (out.kind, out.position) == ("mutation", spec.position) for out in imported.outputs
            )
            return "copy" if mutated else "argument", self.names[self.placeholders[spec.position]]
        number = -1 - residual.number
        if number < len(imported.outputs) and imported.outputs[number].kind == "output":
            final = next(iter(self.graph.gm.graph.find_nodes(op="output")))
            shown = {view.output: slot for slot, view in imported.views.items()}
            position = imported.outputs[number].position
            if position >= imported.output_count:
                position = shown[position]
            node = provenance.unmarked(final.args[0][position])
            return "output", outputs[node][0] if node in outputs else self.keys.get(node, "")
        name = imported.nodes.get(residual.column)
        node = next((node for node in self.graph.gm.graph.nodes if node.name == name), None)
        return "intermediate", self._made_by(node)

    def _made_by(self, node: Node | None) -> str:
        """The key of ``node``; of a node that makes several tensors, all their keys; of one inside
        a transform, its op."""
        if node is None:
            return ""
        node = provenance.unmarked(node)
        parts = [node, *node.users] if node not in self.keys else [node]
        keys = [self.keys[part] for part in parts if part in self.keys]
        return ", ".join(keys) or provenance.operation(node)


def _name(fn: Callable) -> str:
    return getattr(fn, "__name__", type(fn).__name__)


def _counts(names: Any) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return counts


def _differentiable(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def _integer(tensor: torch.Tensor) -> str:
    return "boolean" if tensor.dtype is torch.bool else "integer"


def _short(file: str, line: int) -> str:
    return f"{file.rpartition('/')[2]}:{line}"
