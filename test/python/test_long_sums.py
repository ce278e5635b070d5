"""Programs with gradients that are sums of many terms."""

from __future__ import annotations

import numpy as np
from mlir import ir
from mlir.passmanager import PassManager

from gradc._lib import _gradc

_gradc.register_passes()

VECTOR = "tensor<64xf64>"


def chain(number: int) -> str:
    """``number`` steps of ``y = sin(y) + x``, whose gradient is a sum of as many terms."""
    steps = "\n".join(
        f"  %s{i} = math.sin %y{i} : {VECTOR}\n  %y{i + 1} = arith.addf %s{i}, %y0 : {VECTOR}"
        for i in range(number)
    )
    return f"""
func.func private @f(%y0: {VECTOR}) -> {VECTOR} {{
{steps}
  return %y{number} : {VECTOR}
}}
func.func @gradient(%x: {VECTOR}, %ct: {VECTOR}) -> {VECTOR} {{
  %y, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : ({VECTOR}, {VECTOR}) -> ({VECTOR}, {VECTOR})
  return %dx : {VECTOR}
}}
"""


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
        executable = _gradc.Executable(lowered(context, chain(number)))
    executable.call_dlpack("gradient", [x, ct], [dx])
    np.testing.assert_allclose(dx, slope * ct, rtol=1e-9)
