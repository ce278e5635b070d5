"""The door between native code and PyTorch's tape: one ``torch.autograd.Function``.

PyTorch keeps what its own ops would keep (residuals through ``save_for_backward``), so freed
buffers, ``retain_graph`` and changes in place behave as they do in eager mode.
"""

from __future__ import annotations

from typing import Any

import torch

from .errors import SecondOrderError
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
        dirty = []
        for position, k in program.mutations:
            target = inputs[position].copy_(results[k])
            # A leaf can only have been written under no_grad, where it stays a leaf. Anything else
            # becomes a result of this function if the value that was written carries a gradient.
            if k in native.cotangents and not (target.is_leaf and target.requires_grad):
                results[k] = target
                dirty.append(target)
        ctx.mark_dirty(*dirty)
        ctx.save_for_backward(*kept)
        ctx.mark_non_differentiable(
            *[result for k, result in enumerate(results) if k not in native.cotangents]
        )
        ctx.input_count = len(inputs)
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        if torch.is_grad_enabled():
            raise SecondOrderError(
                "create_graph=True asks for a gradient that can be differentiated again; "
                "a function compiled by gradc has first derivatives only",
                hint="call the function uncompiled where second derivatives are needed",
            )
        program: Program = ctx.program
        gradients: list[torch.Tensor | None] = [None] * ctx.input_count
        given = [cotangents[k] for k in program.native.cotangents]
        if any(cotangent is not None for cotangent in given):
            values = program.run_backward(ctx.saved_tensors, given)
            for position, value in zip(program.gradient_positions, values, strict=True):
                if position is not None:
                    known = gradients[position]
                    gradients[position] = value if known is None else known + value
        return (None, *gradients)


def call(program: Program, inputs: Tensors) -> list[Any]:
    """Runs ``program`` on PyTorch's tape and returns the outputs of its graph."""
    if program.differentiable:
        # The modes in the graph decided what requires grad; the mode around the call must not.
        with torch.enable_grad():
            results = NativeFunction.apply(program, *inputs)
        return program.outputs(inputs, results)
    results = program.run(program.arguments(inputs))
    program.write_back(inputs, results)
    return program.outputs(inputs, results)


class OutOfReach(torch.autograd.Function):
    """Values that depend on ``sources`` in a way that can not be differentiated again: backward
    raises."""

    @staticmethod
    def forward(
        ctx: Any, values: list[torch.Tensor], *sources: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        return tuple(values)

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        raise SecondOrderError(
            "differentiates the result of a gradc transform, which gives first derivatives only",
            hint="detach the result if it is meant to be a constant",
        )


def out_of_reach(values: list[torch.Tensor], sources: list[torch.Tensor]) -> list[torch.Tensor]:
    """``values`` (fresh tensors) tied to ``sources`` on PyTorch's tape, so that differentiating
    them raises."""
    return list(OutOfReach.apply(values, *sources))
