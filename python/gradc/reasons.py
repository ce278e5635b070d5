"""What the compiler says of an imported program, for `gradc.explain`: why its values require a
gradient or do not, and what its tape keeps. Read from the types and attributes that passes leave.

Places are columns of locations, see `frontend.ImportedProgram.nodes`.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from ._lib import _gradc
from .compiler import Mode, TensorType, find_function, new_context, parse, run_pipeline


def column(location: ir.Location) -> int:
    """The column of the first file location in ``location``, or 0."""
    if location.is_a_file():
        return location.start_col
    if location.is_a_fused():
        return next((c for part in location.locations if (c := column(part))), 0)
    if location.is_a_name():
        return column(location.child_loc)
    if location.is_a_callsite():
        return column(location.callee) or column(location.caller)
    return 0


@dataclass(frozen=True)
class Reason:
    """What the compiler says of one value; ``path`` are columns."""

    requires_grad: bool = False
    needed: bool = False
    kind: str = "constant"
    roots: tuple[int, ...] = ()
    root: int | None = None
    path: tuple[int, ...] = ()

    @classmethod
    def of(cls, attribute: ir.Attribute) -> Reason:
        entries = {entry.name: entry.attr for entry in ir.DictAttr(attribute)}
        path = ir.ArrayAttr(entries["path"]) if "path" in entries else ()
        return cls(
            ir.BoolAttr(entries["requires_grad"]).value,
            ir.BoolAttr(entries["needed"]).value,
            ir.StringAttr(entries["reason"]).value,
            tuple(ir.DenseI64ArrayAttr(entries["roots"])) if "roots" in entries else (),
            ir.IntegerAttr(entries["root"]).value if "root" in entries else None,
            tuple(column(ir.Location.from_attr(location)) for location in path),
        )


def reasons(text: str, outputs: list[int]) -> tuple[list[Reason], list[Reason]]:
    """What the compiler says of the arguments and the results of ``@main``, of which ``outputs``
    are differentiated."""
    with new_context():
        module = parse(text)
        run_pipeline(module, "grad-infer-requires-grad")
        types = list(find_function(module, "main").type.results)
        required = [_gradc.has_requires_grad(type_) for type_ in types]

        module = parse(text)
        main = find_function(module, "main")
        main.attributes["grad.cotangents"] = ir.DenseI64ArrayAttr.get(outputs)
        run_pipeline(module, "grad-explain{attributes=true}")
        main = find_function(module, "main")
        arguments = [
            Reason.of(attributes["grad.explain"]) if "grad.explain" in attributes else Reason()
            for attributes in map(ir.DictAttr, main.arg_attrs)
        ]
        results = [_of_value(value, arguments) for value in _returned(main)]
    assert required == [reason.requires_grad for reason in results]
    return arguments, results


def _of_value(value: ir.Value, arguments: list[Reason]) -> Reason:
    if isinstance(value, ir.BlockArgument):
        return arguments[value.arg_number]
    op = value.owner
    if "grad.explain" not in op.attributes:
        return Reason()
    return Reason.of(op.attributes["grad.explain"][value.result_number])


def _returned(function: ir.OpView) -> list[ir.Value]:
    operations = function.entry_block.operations
    return list(operations[len(operations) - 1].operands)


@dataclass(frozen=True)
class Residual:
    """A tensor that goes from the forward to the backward function.

    ``number`` is as in `compiler.Native.residuals`; ``column`` that of the op that makes it, 0 for
    an argument.
    """

    number: int
    type: TensorType
    column: int


def residuals(text: str) -> list[Residual]:
    """The residuals of ``@main`` on the tape, in order."""
    with new_context():
        module = parse(text)
        run_pipeline(module, Mode.TAPE.value)
        backward = find_function(module, "main.backward")
        if backward is None:
            return []
        returned = _returned(find_function(module, "main.forward"))
        numbers = list(ir.DenseI64ArrayAttr(backward.attributes["grad.residuals"]))
        types = list(backward.type.inputs)[: len(numbers)]
        return [
            Residual(number, TensorType.of(type_), _made_at(returned, number))
            for number, type_ in zip(numbers, types, strict=True)
        ]


def _made_at(returned: list[ir.Value], number: int) -> int:
    if number >= 0 or isinstance(returned[-1 - number], ir.BlockArgument):
        return 0
    return column(returned[-1 - number].owner.location)
