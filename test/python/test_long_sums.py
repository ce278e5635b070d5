"""Programs with gradients that are sums of many terms."""

from __future__ import annotations

import numpy as np
from compile_time import sums
from mlir import ir
from mlir.passmanager import PassManager

from gradc._lib import _gradc

_gradc.register_passes()


def lowered(context: ir.Context, text: str) -> ir.Module:
    _gradc.register_dialects(context)
    module = ir.Module.parse(text)
    PassManager.parse("builtin.module(grad-gradient,grad-to-llvm-cpu)").run(module.operation)
    return module


def test_a_sum_of_many_terms_is_right() -> None:
    """It goes through its buffer on the way."""
    number = 500
    x, ct, dx = np.linspace(-1, 1, 64), np.linspace(1, 2, 64), np.empty(64)
    y, slope = x, np.ones(64)
    for _ in range(number):
        y, slope = np.sin(y) + x, np.cos(y) * slope + 1
    with ir.Context() as context:
        executable = _gradc.Executable(lowered(context, sums(number)))
    executable.call_dlpack("gradient", [x, ct], [dx])
    np.testing.assert_allclose(dx, slope * ct, rtol=1e-9)
