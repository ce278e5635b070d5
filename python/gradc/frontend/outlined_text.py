"""Pieces of the text of outlined functions.

In the text ``@NAME`` stands for the function's symbol and ``LOC`` for the op's source location.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch.fx import Node

from .mlir_types import tensor_type

INFINITY = {
    "f16": ("0x7C00", "0xFC00"),
    "bf16": ("0x7F80", "0xFF80"),
    "f32": ("0x7F800000", "0xFF800000"),
    "f64": ("0x7FF0000000000000", "0xFFF0000000000000"),
}


@dataclass(frozen=True)
class Outlined:
    """The tensor operands of the call, its result types, and its function as text."""

    operands: list[Node]
    results: list[str]
    text: str


def affine_map(dims: int, results: Sequence[str]) -> str:
    return f"affine_map<({', '.join(f'd{i}' for i in range(dims))}) -> ({', '.join(results)})>"


def dims_text(numbers: Sequence[int]) -> list[str]:
    return [f"d{i}" for i in numbers]


def iterators(kinds: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{kind}"' for kind in kinds) + "]"


def function(arguments: Sequence[str], results: Sequence[str], body: str, values: str) -> str:
    formals = ", ".join(f"%a{i}: {kind} LOC" for i, kind in enumerate(arguments))
    joined = ", ".join(results)
    return (
        f"func.func private @NAME({formals}) -> ({joined}) {{\n{body}"
        f"  func.return {values} : {joined} LOC\n}} LOC\n"
    )


def filled(name: str, kind: str, element: str, constant: str) -> str:
    return (
        f"  %{name}_c = arith.constant {constant} : {element} LOC\n"
        f"  %{name}_e = tensor.empty() : {kind} LOC\n"
        f"  %{name} = linalg.fill ins(%{name}_c : {element}) "
        f"outs(%{name}_e : {kind}) -> {kind} LOC\n"
    )


def _groups(rank: int, reduced: Sequence[int]) -> list[list[int]]:
    """Reassociation that puts kept dimensions of size 1 back: each joins a real neighbour."""
    groups: list[list[int]] = [[]]
    real = False
    for dim in range(rank):
        if dim not in reduced:
            if real:
                groups.append([])
            real = True
        groups[-1].append(dim)
    return groups if real else []


def kept(value: str, shape: Sequence[int], reduced: Sequence[int], element: str, out: str) -> str:
    """``out`` = ``value`` with the ``reduced`` dimensions of ``shape`` put back as 1."""
    source = tensor_type([s for d, s in enumerate(shape) if d not in reduced], element)
    full = [1 if d in reduced else s for d, s in enumerate(shape)]
    return (
        f"  {out} = tensor.expand_shape {value} {_groups(len(shape), reduced)} "
        f"output_shape {full} : "
        f"{source} into {tensor_type(full, element)} LOC\n"
    )


def shape_of(node: Any) -> list[int]:
    return [int(size) for size in node.meta["val"].shape]


def argument(node: Node, position: int, name: str, default: Any) -> Any:
    return node.args[position] if position < len(node.args) else node.kwargs.get(name, default)
