"""What a transform compiles: a graph of Dynamo together with its derivative.

Dynamo calls back into a `TransformedGraph`; the `Request` of the running call tells it which
tensors are differentiated, and takes what the function itself does not return.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import GraphModule

from . import capture, config, derivatives, recurrent
from .arguments import Roots, describe
from .backend import compile_graph
from .compiler import Mode
from .errors import GradcError, InputError
from .program import Program
from .signature import name_inputs


class Request:
    """One call of a transform: what goes in besides the arguments, what comes out besides the
    results."""

    def __init__(self, roots: Roots, on_tape: bool) -> None:
        self.roots = roots
        #: Grad mode is on around the call.
        self.on_tape = on_tape
        self.gradients: list[torch.Tensor | None] = []
        self.pullback: (
            Callable[[Sequence[torch.Tensor | None]], list[torch.Tensor | None]] | None
        ) = None
        self.marked: list[torch.Tensor] = []


class TransformedGraph:
    """A graph of Dynamo and its derivative for the marked outputs; compiled at its first call."""

    def __init__(self, owner: Transform, gm: GraphModule) -> None:
        name_inputs(gm)
        recurrent.note(gm)
        self.marks = capture.split_marks(gm)
        self.owner = owner
        self.program: Program | None = None
        self._joint_form: derivatives.Differentiable | None = None
        #: for each root, the positions of the graph's inputs that are it
        self.positions: list[list[int]] = []
        self._lock = threading.RLock()

    def __call__(self, *inputs: torch.Tensor) -> list[Any]:
        request: Request = self.owner.active.request
        if self.program is None:
            with self._lock:
                if self.program is None:
                    self._compile(inputs, request.roots)
        program = self.program
        arguments = program.arguments(inputs)
        outer = self._outer(program, arguments, inputs, request.roots)
        if program.native.mode is Mode.JOINT:
            results = program.run(arguments, self._seeds)
            if request.on_tape:
                results = derivatives.attach(results, self._joint, [*outer, *self._seeds])
            request.gradients = self._by_root(results[len(program.native.results) :])
        else:
            results = program.run(arguments)
            if self.owner.mode is Mode.TAPE:
                request.pullback = self._pullback(program, arguments, inputs, results, outer)
            else:
                request.gradients = [None] * len(self.positions)
            results = results[: program.result_count]
            if request.on_tape:
                results = derivatives.attach(results, lambda: derivatives.form_of(program), outer)
        program.write_back(inputs, results)
        outputs = program.outputs(inputs, results)
        request.marked = outputs[self.marks.first :]
        return [outputs[slot] for slot in self.marks.layout]

    def _outer(
        self,
        program: Program,
        arguments: list[torch.Tensor],
        inputs: Sequence[torch.Tensor],
        roots: Roots,
    ) -> list[torch.Tensor]:
        """The arguments of ``@main`` as the tape around the transform knows them."""
        originals = list(inputs)
        for original, positions in zip(roots.originals, self.positions, strict=True):
            for position in positions:
                originals[position] = original
        return program.tensors(arguments, originals)

    def _joint(self) -> derivatives.Differentiable:
        """What the compiled program computes, as a program with derivatives."""
        if self._joint_form is None:
            self._joint_form = derivatives.joint_form(self.program)
        return self._joint_form

    def _compile(self, inputs: Sequence[torch.Tensor], roots: Roots) -> None:
        if self.owner.mode is Mode.JOINT:
            self._check_loss()
        self.positions = [
            [position for position, tensor in enumerate(inputs) if tensor is leaf]
            for leaf in roots.leaves
        ]
        chosen = {position for positions in self.positions for position in positions}
        # Only the roots require a gradient in this program, whatever else does outside.
        seen = [
            tensor if position in chosen or not tensor.requires_grad else tensor.detach()
            for position, tensor in enumerate(inputs)
        ]
        program = compile_graph(self.marks.gm, seen, self.owner.mode, self.owner.name)
        loss = program.result_of.get(self.marks.first)
        # A value that is written into an input may carry a gradient too: its cotangent is zero.
        self._seeds = [
            (torch.ones if k == loss else torch.zeros)(type_.shape, dtype=type_.dtype)
            for k in program.native.cotangents
            for type_ in (program.native.results[k],)
        ]
        self.program = program
        self.owner.programs.append(program)

    def _check_loss(self) -> None:
        what = f"{self.owner.name} differentiates {describe(self.owner.fn)}, which has to return"
        if len(self.marks.nodes) != 1:
            aux = self.owner.has_aux
            returned = "no such pair" if aux else f"{len(self.marks.nodes)} tensors"
            raise InputError(
                f"{what} {'a tuple (tensor, aux)' if aux else 'one tensor'}; "
                f"it returned {returned}",
                hint=None if aux else "return (loss, aux) and pass has_aux=True to return more",
            )
        loss = self.marks.nodes[0].meta["example_value"]
        where = capture.user_location(self.marks.nodes[0], self.owner.fn)
        if loss.dim() != 0:
            raise InputError(
                f"{what} a scalar; it returned a tensor of shape {list(loss.shape)}",
                location=where,
                hint="reduce it with .sum() or .mean(), or use gradc.vjp",
            )
        if not loss.is_floating_point():
            raise InputError(
                f"{what} a floating-point scalar; it returned {loss.dtype}", location=where
            )

    def _by_root(self, values: Sequence[torch.Tensor]) -> list[torch.Tensor | None]:
        found: dict[int, torch.Tensor] = {}
        for position, value in zip(self.program.gradient_positions, values, strict=True):
            found[position] = found[position] + value if position in found else value
        gradients: list[torch.Tensor | None] = []
        for positions in self.positions:
            parts = [found[position] for position in positions if position in found]
            gradients.append(functools.reduce(torch.add, parts) if parts else None)
        return gradients

    def _pullback(
        self,
        program: Program,
        arguments: list[torch.Tensor],
        inputs: Sequence[torch.Tensor],
        results: list,
        outer: list[torch.Tensor],
    ) -> Callable[[Sequence[torch.Tensor | None]], list[torch.Tensor | None]]:
        if not program.differentiable:
            return lambda cotangents: [None] * len(self.positions)
        kept = [residual.detach() for residual in program.residuals(arguments, inputs, results)]
        versions = [derivatives.version(residual) for residual in kept]
        form, roots = derivatives.form_of(program), derivatives.roots_of(program)

        def pullback(cotangents: Sequence[torch.Tensor | None]) -> list[torch.Tensor | None]:
            if [derivatives.version(residual) for residual in kept] != versions:
                raise GradcError(
                    f"a tensor that the gradient of {describe(self.owner.fn)} needs "
                    "was changed in place after the call",
                    hint="pass a clone, or call the function returned by vjp before the change",
                )
            given = {
                program.result_of[self.marks.first + index]: cotangent
                for index, cotangent in enumerate(cotangents)
            }
            seeds = program.seeds([given.get(k) for k in program.native.cotangents])
            values = derivatives.attach(
                program.run_backward(kept, seeds),
                lambda: form.derivative(roots).program,
                [*outer, *seeds],
            )
            return self._by_root(values)

        return pullback


class Transform:
    """A captured function, compiled once for each set of Dynamo's guards; safe under threads."""

    def __init__(
        self, fn: Callable, name: str, argnums: tuple[int, ...], has_aux: bool, mode: Mode
    ) -> None:
        self.fn = fn
        self.name = name
        self.argnums = argnums
        self.has_aux = has_aux
        self.mode = mode
        self.programs: list[Program] = []
        self.active = threading.local()
        self._compiled = capture.compiled(
            lambda gm, example_inputs: TransformedGraph(self, gm), config.RECOMPILE_LIMIT
        )

    def run(self, fn: Callable, args: tuple, kwargs: dict) -> tuple[Any, Request]:
        """Calls ``fn`` and returns what it returns, and the request with the derivative."""
        request = Request(Roots(fn, args, self.argnums), torch.is_grad_enabled())
        outer, self.active.request = getattr(self.active, "request", None), request
        try:
            with (
                torch.inference_mode(False),
                torch.enable_grad(),
                capture.capture_errors(capture.one_graph(self.name)),
            ):
                result = self._compiled(fn, self.has_aux, request.roots.args, kwargs)
        finally:
            self.active.request = outer
        if self.has_aux and not (isinstance(result, tuple) and len(result) == 2):
            raise InputError(f"has_aux=True: {describe(fn)} has to return a tuple (output, aux)")
        return result, request

    def ir(self, stage: str, index: int = -1) -> str:
        """The text of ``stage`` (see `gradc.STAGES`) of the ``index``-th program compiled, the
        latest by default.

        Raises:
            ValueError: before the first call, or when there is no such stage.
        """
        return compiled_at(self.programs, index).stages.text(stage)


def compiled_at(programs: Sequence[Program], index: int) -> Program:
    """``programs[index]``; raises ``ValueError`` when nothing was compiled yet."""
    if not programs:
        raise ValueError("nothing is compiled yet: call the function first")
    return programs[index]
