"""What the frontend hands on: MLIR text and the meaning of its arguments and results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from ..errors import SourceLocation
from .views import View


@dataclass(frozen=True)
class InputSpec:
    """One argument of ``@main``.

    ``kind`` is ``"input"`` (the caller's ``example_inputs[position]``), ``"constant"`` (``tensor``,
    a constant or buffer found in the graph module) or ``"random"`` (call ``generate`` once a run,
    in argument order, and pass what it returns: it draws from torch's global generator exactly what
    eager execution would draw).
    """

    kind: str
    position: int | None = None
    tensor: torch.Tensor | None = None
    name: str = ""
    requires_grad: bool = False
    generate: Callable[[], torch.Tensor] | None = None


@dataclass(frozen=True)
class OutputSpec:
    """One result of ``@main``.

    ``kind`` is ``"mutation"`` (write back into ``example_inputs[position]`` with ``copy_``) or
    ``"output"`` (the graph's output number ``position``). ``requires_grad`` says whether eager
    execution would have a gradient path from it to an input; shape and dtype are those of the
    result.
    """

    kind: str
    position: int
    requires_grad: bool
    shape: tuple[int, ...]
    dtype: torch.dtype


@dataclass(frozen=True)
class ImportedProgram:
    """A Dynamo graph as MLIR 22 text, with every outside value an argument of ``@main``.

    * ``constant_outputs``: graph output index -> the None, int, float, bool or str it always is.
    * ``input_outputs``: graph output index -> position of the example input that this output *is*
      (the same tensor object, after its mutation if it is mutated). It has no result of its own.
    * ``repeated_outputs``: graph output index -> an earlier output index with the same tensor
      object. It has no result of its own either.
    * ``views``: graph output index -> the view of an example input or of another output that it is.
      It has no result of its own. Such an output may be one beyond ``output_count``, which is there
      for its views alone.
    * ``grad_mode``: the grad mode that the graph leaves behind; None if it never switches it.
    * ``timings``: seconds spent in each stage.
    * ``nodes``: column of a location -> name of the node of the Dynamo graph that the op comes
      from.
    * ``indexed``: file and line -> the op there that reads or writes at computed positions.
    """

    mlir: str
    inputs: list[InputSpec]
    outputs: list[OutputSpec]
    constant_outputs: dict[int, object] = field(default_factory=dict)
    input_outputs: dict[int, int] = field(default_factory=dict)
    repeated_outputs: dict[int, int] = field(default_factory=dict)
    views: dict[int, View] = field(default_factory=dict)
    output_count: int = 0
    grad_mode: bool | None = None
    timings: dict[str, float] = field(default_factory=dict)
    nodes: dict[int, str] = field(default_factory=dict)
    indexed: dict[SourceLocation, str] = field(default_factory=dict)
