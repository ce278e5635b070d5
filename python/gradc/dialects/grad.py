"""The ``grad`` dialect for the ``mlir`` package.

The ops live in the contexts of ``mlir.ir``::

    from mlir import ir
    from gradc.dialects import grad

    with ir.Context() as context, ir.Location.unknown():
        grad.register_dialect(context)
        module = ir.Module.parse(text)
"""

from mlir import ir

from .._lib._gradc import (
    RequiresGradAttr,
    has_requires_grad,
    register_dialects,
    register_passes,
    with_requires_grad,
)
from . import _grad_ops_gen as _ops
from ._grad_ops_gen import *  # noqa: F403


def register_dialect(context: ir.Context | None = None) -> None:
    """Registers the dialect, its derivative rules and the passes of gradc with ``context``, the
    current one by default, and loads the dialect."""
    register_dialects(context if context is not None else ir.Context.current)
    register_passes()


__all__ = [
    "RequiresGradAttr",
    "has_requires_grad",
    "register_dialect",
    "with_requires_grad",
    *(name for name in vars(_ops) if not name.startswith("_") and name not in ("builtins", "ir")),
]
