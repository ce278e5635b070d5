"""gradc: a gradient compiler.

``compile`` makes a PyTorch function or module run as native code, forward and backward; ``grad``,
``value_and_grad`` and ``vjp`` transform whole functions; ``stop_gradient`` is a barrier for both.
"""

from __future__ import annotations

from .api import compile
from .compiler import STAGES
from .errors import (
    CaptureError,
    CompileError,
    GradcError,
    InputError,
    SecondOrderError,
    SourceLocation,
    UnsupportedError,
)
from .transforms import grad, stop_gradient, value_and_grad, vjp

__all__ = [
    "STAGES",
    "CaptureError",
    "CompileError",
    "GradcError",
    "InputError",
    "SecondOrderError",
    "SourceLocation",
    "UnsupportedError",
    "compile",
    "grad",
    "stop_gradient",
    "value_and_grad",
    "vjp",
]
