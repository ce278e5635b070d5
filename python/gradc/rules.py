"""Which ops gradc can differentiate, asked of the compiler itself."""

from __future__ import annotations

from mlir import ir

from ._lib import _gradc
from .compiler import new_context


def differentiable_ops(*dialects: str) -> list[str]:
    """The names of the ops with a derivative rule, sorted.

    Args:
        dialects: names of dialects, such as ``"math"``; without any, those of the dialects that the
            rules are written for.
    """
    wanted = dialects or ("arith", "math", "tensor", "linalg", "grad")
    with new_context() as context:
        for dialect in wanted:
            context.get_dialect_descriptor(dialect)
        # Rules are attached when their dialect is loaded, and parsing loads it.
        ir.Module.parse("module {}")
        names = _gradc.differentiable_ops(context)
    return sorted(name for name in names if name.split(".")[0] in wanted)
