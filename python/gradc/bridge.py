"""The door between native code and PyTorch's tape.

PyTorch keeps what its own ops would keep (residuals through ``save_for_backward``), so freed
buffers, ``retain_graph`` and changes in place behave as they do in eager mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from . import derivatives
from .errors import InputError
from .program import Program, Tensors


class NativeFunction(torch.autograd.Function):
    """Results of a program's forward function; the gradient is its backward function."""

    @staticmethod
    def forward(ctx: Any, program: Program, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        ctx.set_materialize_grads(False)
        ctx.program = program
        native = program.native
        arguments = program.arguments(inputs)
        everything = program.run(arguments)
        kept = program.residuals(arguments, inputs, everything)
        results = everything[: program.result_count]
        ctx.kept = derivatives.Kept(program.tensors(arguments, inputs), program.argument_names)
        dirty = []
        for position, k in program.mutations:
            target = inputs[position].copy_(results[k])
            # A leaf can only have been written under no_grad, where it stays a leaf. Anything else
            # becomes a result of this function if the value that was written carries a gradient.
            if k in native.cotangents and not (target.is_leaf and target.requires_grad):
                results[k] = target
                dirty.append(target)
        ctx.mark_dirty(*dirty)
        _check_saved(program, inputs, kept)
        ctx.save_for_backward(*kept)
        ctx.mark_non_differentiable(
            *[result for k, result in enumerate(results) if k not in native.cotangents]
        )
        ctx.input_count = len(inputs)
        return tuple(results)

    @staticmethod
    @torch._dynamo.disable(reason="a backward pass")
    def backward(ctx: Any, *cotangents: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        program: Program = ctx.program
        residuals = ctx.saved_tensors
        given = [cotangents[k] for k in program.native.cotangents]
        values: list[torch.Tensor | None] = []
        if torch.is_grad_enabled():
            values = _pulled(ctx, cotangents)
        elif None not in given:
            values = program.run_backward(residuals, given)
        elif any(cotangent is not None for cotangent in given):
            values = _of_some_results(ctx, residuals, cotangents)
        gradients: list[torch.Tensor | None] = [None] * ctx.input_count
        if values:
            _add(gradients, program.gradient_positions, values)
        if not torch.is_grad_enabled():
            ctx.kept.release()
        return (None, *gradients)


def _of_some_results(
    ctx: Any, residuals: Tensors, cotangents: Sequence[torch.Tensor | None]
) -> list[torch.Tensor | None]:
    """The gradients when some results were not used; None for arguments that only these depend
    on."""
    program: Program = ctx.program
    numbers = program.native.cotangents
    values = program.run_backward(residuals, [cotangents[k] for k in numbers])
    # A zero cotangent adds nothing, unless 0 * inf makes it NaN.
    if any(value.isnan().any() for value in values):
        return _pulled(ctx, cotangents)
    used = frozenset(k for k in numbers if cotangents[k] is not None)
    reached = derivatives.reached(program, used)
    return [
        value if n in reached else None
        for n, value in zip(program.native.gradients, values, strict=True)
    ]


def _pulled(ctx: Any, cotangents: Sequence[torch.Tensor | None]) -> list[torch.Tensor | None]:
    """The gradients as results of a program of the arguments and those cotangents that there are;
    on the tape itself if grad mode is on."""
    program: Program = ctx.program
    form, roots = derivatives.form_of(program), derivatives.roots_of(program)
    values = derivatives.pull(form, roots, ctx.kept, cotangents)
    return [values[n] for n in program.native.gradients] if values else []


def _check_saved(program: Program, inputs: Tensors, kept: Tensors) -> None:
    """Refuses inference tensors, of which PyTorch's tape keeps none."""
    for tensor in kept:
        if tensor.is_inference():
            names = [
                spec.name
                for spec in program.imported.inputs
                if spec.position is not None and inputs[spec.position] is tensor
            ]
            name = f"`{names[0]}`" if names else "a captured tensor"
            raise InputError(
                f"{name} was made in inference mode, and the backward pass needs it",
                hint="pass a clone of it, or make it outside of torch.inference_mode()",
            )


def _add(
    gradients: list[torch.Tensor | None],
    positions: list[int | None],
    values: Sequence[torch.Tensor | None],
) -> None:
    for position, value in zip(positions, values, strict=True):
        if position is not None and value is not None:
            known = gradients[position]
            gradients[position] = value if known is None else known + value


def call(program: Program, inputs: Tensors) -> list[Any]:
    """Runs ``program`` on PyTorch's tape and returns the outputs of its graph."""
    if program.differentiable:
        # The modes in the graph decided what requires grad; the mode around the call must not.
        with torch.enable_grad():
            results = NativeFunction.apply(program, *inputs)
    else:
        results = program.run(program.arguments(inputs))
        program.write_back(inputs, results)
    outputs = program.outputs(inputs, results)
    if program.imported.grad_mode is not None:
        torch._C._set_grad_enabled(program.imported.grad_mode)
    return outputs


def call_transformed(program: Program, inputs: Tensors) -> list[Any]:
    """Runs ``program``, which was compiled without a derivative; one is made when it is asked
    for."""
    arguments = program.arguments(inputs)
    results = derivatives.attach(
        program.run(arguments),
        lambda: derivatives.form_of(program),
        program.tensors(arguments, inputs),
    )
    program.write_back(inputs, results)
    return program.outputs(inputs, results)
