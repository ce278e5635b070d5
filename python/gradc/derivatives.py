"""Programs that can be differentiated after they ran: to any order, compiled when first asked for.

`attach` leaves a node on PyTorch's tape for values that a program computed. Its backward is a
program again, the derivative of the first, so a gradient taken with ``create_graph=True`` can be
differentiated in turn. Nothing is kept but the arguments: what the derivative needs of the forward
pass it computes anew.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from mlir import ir

from .compiler import (
    Mode,
    Native,
    build,
    find_function,
    functions_with_rules,
    new_context,
    parse,
    run_pipeline,
)
from .errors import GradcError
from .frontend.ops import is_floating
from .program import Program, Tensors, dense, run_native

_ATTRIBUTE = "grad.requires_grad"


@dataclass(frozen=True)
class Derivative:
    """The derivative of a program: its arguments are those of the program and one cotangent an
    entry of ``cotangents`` (result numbers), its results one gradient an entry of ``gradients``
    (argument numbers). ``reads`` are the arguments of the program that it needs."""

    program: Differentiable
    cotangents: tuple[int, ...]
    gradients: tuple[int, ...]
    reads: frozenset[int]


class Differentiable:
    """A module with a public ``@main`` on tensors; safe under threads.

    ``text`` makes the module's text, when it is first needed.
    """

    def __init__(self, text: Callable[[], str], native: Native | None = None) -> None:
        self._text = text
        self._native = native
        self._derivatives: dict[tuple, Derivative | None] = {}
        self._lock = threading.RLock()

    @property
    def native(self) -> Native:
        """The compiled ``@main``."""
        with self._lock:
            if self._native is None:
                self._native, _ = build(self._text(), Mode.PLAIN)
            return self._native

    def run(self, arguments: Tensors) -> list[torch.Tensor]:
        """The results of ``@main``, freshly allocated."""
        return run_native(self.native, [dense(a.detach()) for a in arguments])

    def derivative(
        self, requires: frozenset[int], used: frozenset[int] | None = None
    ) -> Derivative | None:
        """The derivative of the results ``used`` (numbers; None is all) for the arguments
        ``requires``; None when no such result depends on them.

        Raises:
            CompileError: when an op has no derivative.
        """
        with self._lock:
            if (requires, used) not in self._derivatives:
                self._derivatives[requires, used] = _derive(self._text(), requires, used)
            return self._derivatives[requires, used]


def joint_form(program: Program) -> Differentiable:
    """What the native function of a ``Mode.JOINT`` program computes: results, then gradients, of
    arguments and cotangents."""

    def text() -> str:
        with new_context():
            module, function = _joint_module(program.imported.mlir, roots_of(program))
            _wrap(module, function, 0)
            return _text_of(module)

    return Differentiable(text, program.native)


def form_of(program: Program) -> Differentiable:
    """``program``'s ``@main`` as a `Differentiable`."""
    if program.differentiable_form is None:
        native = program.native if program.native.mode is Mode.PLAIN else None
        program.differentiable_form = Differentiable(lambda: program.imported.mlir, native)
    return program.differentiable_form


def roots_of(program: Program) -> frozenset[int]:
    """The arguments of ``@main`` that require a gradient."""
    return frozenset(n for n, spec in enumerate(program.imported.inputs) if spec.requires_grad)


def reached(program: Program, used: frozenset[int]) -> frozenset[int]:
    """The arguments of ``@main`` that get a gradient when only the results ``used`` have a
    cotangent."""
    known = program.reached
    if used not in known:
        with new_context():
            _, function = _joint_module(program.imported.mlir, roots_of(program), used)
            numbers = () if function is None else function.attributes["grad.gradients"]
            known[used] = frozenset(ir.DenseI64ArrayAttr(numbers)) if numbers else frozenset()
    return known[used]


class Kept:
    """The arguments of a program, kept for a derivative that may be asked for.

    PyTorch's ``save_for_backward`` would refuse to give any of them out when one was changed in
    place, although the derivative may not read that one.
    """

    def __init__(self, tensors: Tensors, names: Sequence[str | None] = ()) -> None:
        self._tensors: list[torch.Tensor] | None = list(tensors)
        self._names = names
        self._versions = [version(tensor) for tensor in tensors]

    def release(self) -> None:
        """Lets go of the tensors, as PyTorch does after a backward pass without
        ``retain_graph``."""
        if not torch._C._autograd._get_current_graph_task_keep_graph():
            self._tensors = None

    def checked(self, derivative: Derivative) -> list[torch.Tensor]:
        """The arguments; raises when one that ``derivative`` reads was changed in place."""
        if self._tensors is None:
            raise GradcError(
                "differentiates a graph a second time, whose tensors have been freed",
                hint="pass retain_graph=True to the first backward pass",
            )
        for number in derivative.reads:
            if version(self._tensors[number]) != self._versions[number]:
                name = self._names[number] if number < len(self._names) else None
                raise GradcError(
                    f"{f'`{name}`' if name else f'argument {number} of a function'}, which the "
                    "derivative needs, was changed in place after the call, or by the function "
                    "itself",
                    hint="change a clone, or differentiate before the change; a function that "
                    "changes it itself can return the new value instead",
                )
        return self._tensors


def version(tensor: torch.Tensor) -> int:
    """What tells that ``tensor`` was changed in place; nothing does for an inference tensor, which
    only inference mode can change."""
    return 0 if tensor.is_inference() else tensor._version


def _derive(mlir: str, requires: frozenset[int], used: frozenset[int] | None) -> Derivative | None:
    with new_context():
        module, function = _joint_module(mlir, requires, used)
        if function is None:
            return None
        cotangents, gradients = (
            tuple(ir.DenseI64ArrayAttr(function.attributes[name]))
            for name in ("grad.cotangents", "grad.gradients")
        )
        main = _wrap(module, function, len(function.type.results) - len(gradients))
        count = len(main.arguments) - len(cotangents)
        reads = frozenset(n for n in range(count) if list(main.arguments[n].uses))
        text = _text_of(module)
    return Derivative(Differentiable(lambda: text), cotangents, gradients, reads)


def _joint_module(
    mlir: str, requires: frozenset[int], used: frozenset[int] | None = None
) -> tuple[ir.Module, ir.OpView | None]:
    """``mlir`` with the joint function of ``@main`` for the arguments ``requires`` and the results
    ``used`` (None is all), if any of these depends on them."""
    module = parse(mlir)
    main = find_function(module, "main")
    if used is not None:
        _stop_others(main, used)
    main.arg_attrs = ir.ArrayAttr.get(
        [
            ir.DictAttr.get(
                {named.name: named.attr for named in attributes if named.name != _ATTRIBUTE}
                | ({_ATTRIBUTE: ir.UnitAttr.get()} if number in requires else {})
            )
            for number, attributes in enumerate(_argument_attributes(main))
        ]
    )
    run_pipeline(module, "grad-lower-regions,grad-joint")
    return module, find_function(module, "main.joint")


def _stop_others(main: ir.OpView, used: frozenset[int]) -> None:
    """Puts a barrier before every result but those ``used``."""
    operations = main.entry_block.operations
    terminator = operations[len(operations) - 1].operation
    for number, value in enumerate(list(terminator.operands)):
        if number not in used:
            with terminator.location, ir.InsertionPoint(terminator):
                stop = ir.Operation.create(
                    "grad.stop_gradient", results=[value.type], operands=[value]
                )
            terminator.operands[number] = stop.result


def _argument_attributes(main: ir.OpView) -> list[Any]:
    if "arg_attrs" in main.attributes:
        return list(main.arg_attrs)
    return [ir.DictAttr.get({}) for _ in main.arguments]


def _text_of(module: ir.Module) -> str:
    return module.operation.get_asm(enable_debug_info=True, print_generic_op_form=True)


def _wrap(module: ir.Module, function: ir.OpView, first: int) -> ir.OpView:
    """Makes ``@main`` of ``module`` return the results of ``function`` from ``first`` on, and
    expands every transform; returns ``@main``."""
    type_ = function.type
    for op in module.body.operations:
        op.attributes["sym_visibility"] = ir.StringAttr.get("private")
    # A function with a rule of its own stays one for the derivatives that follow.
    for op in functions_with_rules(module):
        op.attributes["no_inline"] = ir.UnitAttr.get()
    kinds = list(type_.results)
    with ir.Location.unknown(), ir.InsertionPoint(module.body):
        wrapper = ir.Operation.create(
            "func.func",
            attributes={
                "sym_name": ir.StringAttr.get("main.derived"),
                "function_type": ir.TypeAttr.get(ir.FunctionType.get(type_.inputs, kinds[first:])),
            },
            regions=1,
        )
        block = wrapper.regions[0].blocks.append(*type_.inputs)
        with ir.InsertionPoint(block):
            call = ir.Operation.create(
                "func.call",
                results=kinds,
                operands=list(block.arguments),
                attributes={"callee": ir.FlatSymbolRefAttr.get("main.joint")},
            )
            ir.Operation.create("func.return", operands=list(call.results)[first:])
    run_pipeline(module, "grad-gradient")
    main = find_function(module, "main.derived")
    main.attributes["sym_name"] = ir.StringAttr.get("main")
    return main


def attach(
    values: list[torch.Tensor], form: Callable[[], Differentiable], arguments: Tensors
) -> list[torch.Tensor]:
    """``values``, on PyTorch's tape as what ``form()`` computes of ``arguments``, if one of these
    requires a gradient."""
    if torch.is_grad_enabled() and any(a.requires_grad for a in arguments):
        return list(_Node.apply(values, form, *arguments))
    return values


def pull(
    form: Differentiable,
    requires: frozenset[int],
    kept: Kept,
    cotangents: Sequence[torch.Tensor | None],
) -> list[torch.Tensor | None]:
    """One gradient an argument (None without a path), on the tape itself if grad mode is on; an
    empty list when there is none.

    ``cotangents`` has one entry a result; None where the result is not used.
    """
    used = frozenset(k for k, cotangent in enumerate(cotangents) if cotangent is not None)
    derivative = form.derivative(requires, used)
    if derivative is None:
        return []
    arguments = kept.checked(derivative)
    gradients: list[torch.Tensor | None] = [None] * len(arguments)
    given = [*arguments, *[cotangents[k] for k in derivative.cotangents]]
    values = attach(derivative.program.run(given), lambda: derivative.program, given)
    for number, value in zip(derivative.gradients, values, strict=True):
        gradients[number] = value
    return gradients


class _Node(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        values: list[torch.Tensor],
        form: Callable[[], Differentiable],
        *arguments: torch.Tensor,
    ) -> tuple[torch.Tensor, ...]:
        ctx.set_materialize_grads(False)
        ctx.form = form
        ctx.requires = frozenset(n for n, needed in enumerate(ctx.needs_input_grad[2:]) if needed)
        ctx.kept = Kept(arguments)
        ctx.count = len(arguments)
        ctx.mark_non_differentiable(*[value for value in values if not is_floating(value)])
        return tuple(values)

    @staticmethod
    @torch._dynamo.disable(reason="a backward pass")
    def backward(ctx: Any, *cotangents: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        gradients = pull(ctx.form(), ctx.requires, ctx.kept, cotangents)
        ctx.kept.release()
        return (None, None, *(gradients or [None] * ctx.count))
