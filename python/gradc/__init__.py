"""gradc: a gradient compiler.

``compile`` makes a PyTorch function or module run as native code, forward and backward; ``grad``,
``value_and_grad``, ``vjp``, ``jvp``, ``jacrev``, ``jacfwd``, ``hessian`` and ``hvp`` transform
whole functions and nest; ``stop_gradient`` is a barrier for all of them;
``explain`` says why a value requires grad or does not.

PyTorch is imported when one of these names is first used, not before: the command-line tools and
``gradc.dialects`` do without it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .errors import (
    CaptureError,
    CompileError,
    GradcError,
    InputError,
    SourceLocation,
    UnsupportedError,
)

if TYPE_CHECKING:
    from .api import compile
    from .checkpointing import checkpoint
    from .compiler import STAGES
    from .custom import custom_jvp, custom_vjp
    from .explainer import explain
    from .explanation import Explanation
    from .jacobians import hessian, hvp, jacfwd, jacrev, jvp
    from .transforms import grad, stop_gradient, value_and_grad, vjp

__all__ = [
    "STAGES",
    "CaptureError",
    "CompileError",
    "Explanation",
    "GradcError",
    "InputError",
    "SourceLocation",
    "UnsupportedError",
    "checkpoint",
    "compile",
    "custom_jvp",
    "custom_vjp",
    "explain",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacrev",
    "jvp",
    "stop_gradient",
    "value_and_grad",
    "vjp",
]

_HOME = {
    "Explanation": "explanation",
    "STAGES": "compiler",
    "checkpoint": "checkpointing",
    "compile": "api",
    "custom_jvp": "custom",
    "custom_vjp": "custom",
    "explain": "explainer",
    "grad": "transforms",
    "hessian": "jacobians",
    "hvp": "jacobians",
    "jacfwd": "jacobians",
    "jacrev": "jacobians",
    "jvp": "jacobians",
    "stop_gradient": "transforms",
    "value_and_grad": "transforms",
    "vjp": "transforms",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
