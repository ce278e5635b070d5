"""One specialised program: how tensors get into native code and what becomes of its results.

Everything that does not depend on the data is decided in the constructor; a call allocates results,
passes addresses and wraps up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from .compiler import Mode, Native, Stages
from .errors import GradcError, InputError, SourceLocation, UnsupportedError
from .frontend import ImportedProgram
from .frontend.diagnostics import is_users

Tensors = Sequence[torch.Tensor]


def dense(tensor: torch.Tensor) -> torch.Tensor:
    """``tensor`` itself when its elements lie in row-major order as they are read, or such a
    copy."""
    if tensor.is_neg():
        tensor = tensor.resolve_neg()
    if tensor.is_conj():
        tensor = tensor.resolve_conj()
    return tensor if tensor.is_contiguous() else tensor.contiguous()


def run_native(
    native: Native, arguments: Tensors, indexed: dict[SourceLocation, str] | None = None
) -> list[torch.Tensor]:
    """Runs ``native.run`` on dense ``arguments``; returns everything that it returns, freshly
    allocated. ``indexed`` names the ops whose index may be out of range, for messages."""
    results = [type_.empty() for type_ in native.every_result]
    _call(native.run, _addresses(arguments), results, indexed)
    return results


def _addresses(tensors: Tensors) -> list[int]:
    return [tensor.data_ptr() for tensor in tensors]


@dataclass(frozen=True)
class Saved:
    """One tensor that is kept between the forward and the backward pass.

    ``kind`` says where it lives: ``"argument"`` (a tensor of the caller's, which costs nothing),
    ``"result"`` (returned to the caller, which costs nothing while the caller keeps it),
    ``"random"`` (a draw) or ``"value"`` (an intermediate value). ``bytes`` is its size whatever
    the kind; ``allocated`` is what is allocated for it alone.
    """

    kind: str
    name: str | None
    location: SourceLocation | None
    shape: tuple[int, ...]
    dtype: torch.dtype
    bytes: int
    allocated: int


class Program:
    """A compiled graph for one signature.

    ``inputs`` below are the tensors of the graph, one a placeholder; ``arguments`` are those of
    ``@main``.
    """

    def __init__(self, imported: ImportedProgram, native: Native, stages: Stages) -> None:
        self.native = native
        self.stages = stages
        self.imported = imported
        self.name = "graph"
        #: The same program for derivatives.py, made when it is first needed.
        self.differentiable_form: Any = None
        #: Results that have a cotangent -> arguments that get a gradient (derivatives.py).
        self.reached: dict[frozenset[int], frozenset[int]] = {}
        # One entry an argument of @main: the position of an input, or None and where else it comes
        # from.
        self._sources = [
            (spec.position if spec.kind == "input" else None, spec.tensor, spec.generate)
            for spec in imported.inputs
        ]
        self._constants = {
            index: dense(spec.tensor.detach())
            for index, spec in enumerate(imported.inputs)
            if spec.kind == "constant"
        }
        #: Graph output number -> number of the result of @main that holds it.
        self.result_of = {
            spec.position: k for k, spec in enumerate(imported.outputs) if spec.kind == "output"
        }
        #: (position of the input, number of the result that it is overwritten with)
        self.mutations = [
            (spec.position, k) for k, spec in enumerate(imported.outputs) if spec.kind == "mutation"
        ]
        self.result_count = len(imported.outputs)
        self._mutated = {position for position, _ in self.mutations}
        # A residual that this very call overwrites has to be copied first.
        self._copied_residuals = {
            residual.number
            for residual in native.residuals
            if residual.number >= 0 and self._sources[residual.number][0] in self._mutated
        }
        #: argument number -> position of the input, for gradients
        self.gradient_positions = [self._sources[n][0] for n in native.gradients]

    @property
    def differentiable(self) -> bool:
        """Whether some result has a gradient path to an input that requires a gradient."""
        return self.native.mode is not Mode.PLAIN

    def arguments(self, inputs: Tensors) -> list[torch.Tensor]:
        """The arguments of ``@main``, dense and ready to be read."""
        self._check_overlap(inputs)
        arguments = []
        for index, (position, _, generate) in enumerate(self._sources):
            if position is not None:
                arguments.append(dense(inputs[position]))
            elif generate is not None:
                arguments.append(dense(generate()))
            else:
                arguments.append(self._constants[index])
        return arguments

    def tensors(self, arguments: list[torch.Tensor], inputs: Tensors) -> list[torch.Tensor]:
        """One tensor an argument of ``@main``, with the history that the caller's tensors have on
        PyTorch's tape. What the call is about to overwrite is a copy, unless it has a history."""
        kept = []
        for argument, (position, _, _) in zip(arguments, self._sources, strict=True):
            tensor = argument if position is None else inputs[position]
            overwritten = position in self._mutated and not tensor.requires_grad
            kept.append(tensor.clone() if overwritten else tensor)
        return kept

    @property
    def argument_names(self) -> list[str | None]:
        """What the user calls the arguments of ``@main``."""
        return [spec.name for spec in self.imported.inputs]

    def _check_overlap(self, inputs: Tensors) -> None:
        """Refuses inputs that share memory with one that is written: the program treats them as
        apart."""
        for position, _ in self.mutations:
            storage = inputs[position].untyped_storage().data_ptr()
            for other, tensor in enumerate(inputs):
                if other != position and storage and tensor.untyped_storage().data_ptr() == storage:
                    raise UnsupportedError(
                        f"the function writes in place to its input {position}, which shares "
                        f"memory with its input {other}",
                        hint="pass a clone of one of them",
                    )

    def run(self, arguments: Tensors, extra: Tensors = ()) -> list[torch.Tensor]:
        """Runs the native function; returns everything that it returns, freshly allocated."""
        return run_native(self.native, [*arguments, *extra], self.imported.indexed)

    def residuals(
        self, arguments: list[torch.Tensor], inputs: Tensors, results: Tensors
    ) -> list[torch.Tensor]:
        """What the backward function reads, as the tensors to keep.

        An input is kept itself, not its dense copy, so that a later in-place change is noticed.
        """
        kept = []
        for residual in self.native.residuals:
            n = residual.number
            if n < 0:
                kept.append(results[-1 - n])
            elif n in self._copied_residuals:
                kept.append(arguments[n].clone())
            else:
                position = self._sources[n][0]
                kept.append(arguments[n] if position is None else inputs[position])
        return kept

    def saved(self) -> list[Saved]:
        """What is kept for the backward function, in the order of its arguments."""
        found = []
        for residual in self.native.residuals:
            n, type_ = residual.number, residual.type
            if n >= 0:
                given = self._sources[n][2] is None
                kind = "argument" if given else "random"
                own = not given or n in self._copied_residuals
            else:
                own = -1 - n >= self.result_count
                kind = "value" if own else "result"
            found.append(
                Saved(
                    kind,
                    residual.name,
                    residual.location,
                    type_.shape,
                    type_.dtype,
                    type_.bytes,
                    type_.bytes if own else 0,
                )
            )
        return found

    def run_backward(
        self, residuals: Tensors, cotangents: Sequence[torch.Tensor | None]
    ) -> list[torch.Tensor]:
        """One gradient an entry of ``gradient_positions``, freshly allocated.

        ``cotangents`` has one entry an entry of ``native.cotangents``; None means zeros.
        """
        arguments = [dense(tensor) for tensor in (*residuals, *self.seeds(cotangents))]
        gradients = [type_.empty() for type_ in self.native.gradient_types]
        _call(self.native.backward, _addresses(arguments), gradients, self.imported.indexed)
        return gradients

    def seeds(self, cotangents: Sequence[torch.Tensor | None]) -> list[torch.Tensor]:
        """``cotangents`` (one entry an entry of ``native.cotangents``), checked, None as zeros."""
        return [
            self._cotangent(k, cotangent)
            for k, cotangent in zip(self.native.cotangents, cotangents, strict=True)
        ]

    def _cotangent(self, k: int, cotangent: torch.Tensor | None) -> torch.Tensor:
        type_ = self.native.results[k]
        if cotangent is None:
            return torch.zeros(type_.shape, dtype=type_.dtype)
        if tuple(cotangent.shape) != type_.shape or cotangent.dtype != type_.dtype:
            raise InputError(
                f"the cotangent of output {k} is {cotangent.dtype}{list(cotangent.shape)}, "
                f"the output is {type_.dtype}{list(type_.shape)}"
            )
        return cotangent

    def outputs(self, inputs: Tensors, results: Tensors) -> list[Any]:
        """The outputs of the graph: results, constants, inputs, views and repetitions in their
        places."""
        imported = self.imported
        outputs: dict[int, Any] = {slot: results[k] for slot, k in self.result_of.items()}
        outputs.update(imported.constant_outputs)
        for slot, position in imported.input_outputs.items():
            outputs[slot] = inputs[position]
        for slot, view in imported.views.items():
            base = outputs[view.output] if view.input is None else inputs[view.input]
            outputs[slot] = view.of(base)
        for slot, earlier in imported.repeated_outputs.items():
            outputs[slot] = outputs[earlier]
        return [outputs[slot] for slot in range(imported.output_count)]

    def write_back(self, inputs: Tensors, results: Tensors) -> None:
        """Overwrites mutated inputs; bumps their versions as the in-place op would have."""
        if self.mutations:
            with torch.no_grad():
                for position, k in self.mutations:
                    inputs[position].copy_(results[k])


def _call(
    function: Any,
    inputs: list[int],
    results: Tensors,
    indexed: dict[SourceLocation, str] | None,
) -> None:
    try:
        function(inputs, _addresses(results))
    except RuntimeError as error:
        raise _failed(str(error), indexed or {}) from error


def _failed(text: str, indexed: dict[SourceLocation, str]) -> GradcError:
    """A failed assertion: its message, and on a second line the source line that it comes from."""
    message, _, place = text.partition("\n")
    file, _, line = place.rpartition(":")
    where = SourceLocation(file, int(line)) if line.isdigit() and is_users(file) else None
    if "index" not in message:
        return GradcError(message, location=where)
    return GradcError(
        message,
        op=indexed.get(where, "indexing"),
        location=where,
        hint="an index has to be below the size of its dimension, and not below 0 or, where "
        "PyTorch counts from the end, minus that size",
    )
