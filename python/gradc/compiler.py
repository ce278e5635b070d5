"""From the MLIR text that a frontend imported to native functions, through the pipelines of
lib/Pipelines.

``build`` is the way in. The stages are put in order in C++; here they are only named, and what a
caller has to know about the result (which argument is which residual, which result takes a
cotangent) is read from the attributes and types that the passes leave.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import scipy_openblas32
import torch
from mlir import ir
from mlir.passmanager import PassManager

from . import config
from ._lib import _gradc
from .diagnostics import source_location, translated
from .errors import SourceLocation

_gradc.register_passes()
_gradc.load_blas(str(Path(scipy_openblas32.get_lib_dir()) / "libscipy_openblas.so"))
_gradc.set_thread_budget(torch.get_num_threads)

#: A native function: addresses of the inputs, addresses of the results.
NativeFunction = Callable[[Sequence[int], Sequence[int]], None]


class Mode(enum.Enum):
    """What is made of ``@main``; the value is the pipeline that derives it."""

    PLAIN = "grad-gradient"
    #: A forward and a backward function.
    TAPE = "grad-tape"
    #: One function that computes results and gradients.
    JOINT = "grad-lower-regions,grad-joint,grad-gradient"


_ENTRIES = {
    Mode.PLAIN: ("main",),
    Mode.TAPE: ("main.forward", "main.backward"),
    Mode.JOINT: ("main.joint",),
}

#: Stage name -> pipeline from the imported program, for `Stages.text`.
_STRIP = "symbol-dce,grad-strip"
_LOWER = "symbol-dce,grad-strip,grad-to-llvm-cpu"

STAGES = (
    "captured", "imported", "inferred", "differentiated", "forward", "backward", "lowered", "llvm",
)  # fmt: skip

_DTYPES = {
    "f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
    "i64": torch.int64, "i32": torch.int32, "i16": torch.int16, "i8": torch.int8, "si8": torch.int8,
    "ui8": torch.uint8, "i1": torch.bool,
    "complex<f32>": torch.complex64, "complex<f64>": torch.complex128,
}  # fmt: skip


@dataclass(frozen=True)
class TensorType:
    """Shape and dtype of one argument or result."""

    shape: tuple[int, ...]
    dtype: torch.dtype

    @classmethod
    def of(cls, type_: ir.Type) -> TensorType:
        shaped = ir.RankedTensorType(type_)
        return cls(tuple(shaped.shape), _DTYPES[str(shaped.element_type)])

    @property
    def bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize

    def empty(self) -> torch.Tensor:
        return torch.empty(self.shape, dtype=self.dtype)


@dataclass(frozen=True)
class Residual:
    """A value that the forward function keeps for the backward function.

    ``number`` is n >= 0 for argument n of ``@main``, -1 - k for result k of the forward function.
    ``name`` is what the user calls an argument, ``location`` the line that computes anything else.
    """

    number: int
    type: TensorType
    name: str | None
    location: SourceLocation | None


@dataclass(frozen=True)
class Native:
    """The compiled functions of one program and what their arguments and results mean.

    * ``run`` takes the arguments of ``@main``; in ``Mode.JOINT`` they are followed by one cotangent
      an entry of ``cotangents`` and the results of ``@main`` by one gradient an entry of
      ``gradients``; in ``Mode.TAPE`` the results of ``@main`` are followed by the extra residuals.
    * ``backward`` (``Mode.TAPE``) takes ``residuals`` and then the cotangents, and returns the
      gradients.
    * ``cotangents`` are result numbers, ``gradients`` argument numbers of ``@main``.
    """

    mode: Mode
    run: NativeFunction
    results: tuple[TensorType, ...]
    backward: NativeFunction | None = None
    cotangents: tuple[int, ...] = ()
    gradients: tuple[int, ...] = ()
    gradient_types: tuple[TensorType, ...] = ()
    residuals: tuple[Residual, ...] = ()
    #: Owns the machine code of ``run`` and ``backward``.
    executable: object = None

    @property
    def every_result(self) -> tuple[TensorType, ...]:
        """What ``run`` returns."""
        return self.results + (self.gradient_types if self.mode is Mode.JOINT else ())


@dataclass
class Stages:
    """The program at every stage, as text; computed when asked for, from the imported program."""

    imported: str
    mode: Mode
    captured: str = ""
    _texts: dict[str, str] = field(default_factory=dict)

    def available(self) -> tuple[str, ...]:
        """The names that `text` takes, in order."""
        skip = {
            Mode.PLAIN: {"differentiated", "forward", "backward"},
            Mode.JOINT: {"forward", "backward"},
        }
        return tuple(stage for stage in STAGES if stage not in skip.get(self.mode, ()))

    def text(self, stage: str) -> str:
        """The text of ``stage``.

        Raises:
            ValueError: when there is no such stage, or the program was not differentiated.
        """
        if stage not in self.available():
            raise ValueError(f"no stage {stage!r} here; there are {', '.join(self.available())}")
        if stage == "captured":
            return self.captured
        if stage not in self._texts:
            self._texts[stage] = self._make(stage)
        return self._texts[stage]

    def _make(self, stage: str) -> str:
        with new_context():
            module = parse(self.imported)
            if stage == "inferred":
                run_pipeline(module, "grad-infer-requires-grad")
            elif stage == "differentiated":
                run_pipeline(module, Mode.JOINT.value)
            elif stage != "imported":
                run_pipeline(module, self.mode.value)
            if stage in ("forward", "backward"):
                return str(find_function(module, f"main.{stage}"))
            if stage in ("lowered", "llvm"):
                keep_only(module, _ENTRIES[self.mode])
                run_pipeline(module, _STRIP if stage == "lowered" else _LOWER)
            return str(module)


def new_context() -> ir.Context:
    """A context with MLIR's dialects, the `grad` dialect and its rules; to be entered with
    ``with``."""
    context = ir.Context()
    # One function is compiled at a time: threads would only cost their start.
    context.enable_multithreading(False)
    _gradc.register_dialects(context)
    return context


def parse(text: str) -> ir.Module:
    """``text`` as a module of the current context; raises ``CompileError`` on malformed MLIR."""
    with translated("parsing MLIR"):
        return ir.Module.parse(text)


def run_pipeline(module: ir.Module, pipeline: str) -> None:
    """Runs ``pipeline`` (names with commas between, as gradc-opt takes them) on ``module`` in
    place."""
    with translated(pipeline):
        PassManager.parse(f"builtin.module({pipeline})").run(module.operation)


def find_function(module: ir.Module, name: str) -> ir.OpView | None:
    """The function ``@name`` of ``module``, or None."""
    for op in module.body.operations:
        if (
            op.operation.name == "func.func"
            and ir.StringAttr(op.attributes["sym_name"]).value == name
        ):
            return op
    return None


def functions_with_rules(module: ir.Module) -> list[ir.OpView]:
    """The functions of ``module`` that bring a derivative of their own."""
    names = ("grad.custom_jvp", "grad.custom_vjp")
    return [op for op in module.body.operations if any(name in op.attributes for name in names)]


def keep_only(module: ir.Module, names: Sequence[str]) -> None:
    """Makes every function but ``names`` private, for ``symbol-dce`` to remove what they do not
    call."""
    for op in module.body.operations:
        if op.operation.name == "func.func":
            public = ir.StringAttr(op.attributes["sym_name"]).value in names
            op.attributes["sym_visibility"] = ir.StringAttr.get("public" if public else "private")


def _numbers(function: ir.OpView, name: str) -> tuple[int, ...]:
    if name not in function.attributes:
        return ()
    return tuple(
        int(n) if isinstance(n, int) else ir.IntegerAttr(n).value for n in function.attributes[name]
    )


def _types(types: Sequence[ir.Type]) -> tuple[TensorType, ...]:
    return tuple(TensorType.of(type_) for type_ in types)


def _residuals(backward: ir.OpView) -> tuple[Residual, ...]:
    """The first arguments of the backward function, and what partition says of them."""
    found = []
    for n, argument in zip(_numbers(backward, "grad.residuals"), backward.arguments, strict=False):
        name = None
        if "arg_attrs" in backward.attributes:
            attributes = backward.arg_attrs[argument.arg_number]
            if "grad.name" in attributes:
                name = ir.StringAttr(attributes["grad.name"]).value
        where = source_location(argument.location)
        found.append(Residual(n, TensorType.of(argument.type), name, where))
    return tuple(found)


def build(imported: str, mode: Mode) -> tuple[Native, Stages]:
    """Compiles ``imported`` (a module with a public ``@main`` on ranked, static tensors).

    Falls back to ``Mode.PLAIN`` when no result has a gradient path to an argument that requires
    one.

    Raises:
        CompileError: when a pass refuses the program.
    """
    with new_context():
        module = parse(imported)
        for op in functions_with_rules(module):
            if "no_inline" in op.attributes:
                del op.attributes["no_inline"]
        run_pipeline(module, mode.value)
        entry = find_function(module, _ENTRIES[mode][0])
        if mode is not Mode.PLAIN and (entry is None or not _numbers(entry, "grad.gradients")):
            return build(imported, Mode.PLAIN)
        assert entry is not None, "the imported module has no @main"
        results = _types(entry.type.results)
        cotangents, gradients = (
            _numbers(entry, "grad.cotangents"),
            _numbers(entry, "grad.gradients"),
        )
        gradient_types: tuple[TensorType, ...] = ()
        residuals: tuple[Residual, ...] = ()
        if mode is Mode.TAPE:
            reverse = find_function(module, "main.backward")
            residuals = _residuals(reverse)
            gradient_types = _types(reverse.type.results)
        elif mode is Mode.JOINT:
            count = len(results) - len(gradients)
            results, gradient_types = results[:count], results[count:]
        keep_only(module, _ENTRIES[mode])
        run_pipeline(module, _LOWER)
        executable = _gradc.Executable(module, config.OPT_LEVEL)
    native = Native(
        mode,
        executable.function(_ENTRIES[mode][0]),
        results,
        executable.function("main.backward") if mode is Mode.TAPE else None,
        cotangents,
        gradients,
        gradient_types,
        residuals,
        executable,
    )
    return native, Stages(imported, mode)
