"""Running MLIR text on tensors, for tests of rules and passes."""

from __future__ import annotations

from collections.abc import Callable

import torch

from ._lib import _gradc
from .compiler import TensorType, find_function, new_context, parse, run_pipeline


def run_mlir(text: str, pipeline: str = "grad-gradient") -> Callable[..., list[torch.Tensor]]:
    """Compiles ``text`` and returns ``call(name, *arguments) -> results``.

    Arguments are contiguous CPU tensors of the shapes and dtypes of function ``@name``; results are
    fresh tensors.

    Raises:
        CompileError: when a pass fails.
        ValueError: when the arguments do not fit the function.
    """
    with new_context():
        module = parse(text)
        run_pipeline(module, pipeline)
        signatures = {}
        for op in module.body.operations:
            name = str(op.attributes["sym_name"]).strip('"')
            if "sym_visibility" not in op.attributes:
                type_ = find_function(module, name).type
                signatures[name] = (
                    [TensorType.of(t) for t in type_.inputs],
                    [TensorType.of(t) for t in type_.results],
                )
        run_pipeline(module, "symbol-dce,grad-strip,grad-to-llvm-cpu")
        executable = _gradc.Executable(module)

    def call(name: str, *arguments: torch.Tensor) -> list[torch.Tensor]:
        inputs, results = signatures[name]
        given = [TensorType(tuple(x.shape), x.dtype) for x in arguments]
        if given != inputs:
            raise ValueError(f"@{name} takes {inputs}, got {given}")
        outputs = [type_.empty() for type_ in results]
        dense = [argument.contiguous() for argument in arguments]
        executable.function(name)(
            [argument.data_ptr() for argument in dense], [output.data_ptr() for output in outputs]
        )
        return outputs

    return call
