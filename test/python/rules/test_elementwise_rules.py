"""Every elementwise derivative rule, in both modes and to second order, against PyTorch.

The rule table is read from the compiler (`gradc.rules`), so an op that gets a rule without a row
here fails `test_every_rule_has_a_row`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch

from gradc.rules import differentiable_ops
from gradc.testing import run_mlir

Function = Callable[..., torch.Tensor]


@dataclass(frozen=True)
class Row:
    """An op: its text over operands %a, %b, %c, what PyTorch calls it, and where it is defined."""

    text: str
    reference: Function
    domains: tuple[tuple[float, float], ...]
    #: Points with a convention of their own, one tuple an operand.
    special: tuple[tuple[float, ...], ...] = ()

    @property
    def name(self) -> str:
        return self.text.split()[0]


def unary(op: str, reference: Function, low: float = -2.0, high: float = 2.0, special=()) -> Row:
    return Row(f"{op} %a : f64", reference, ((low, high),), (special,) if special else ())


def binary(op: str, reference: Function, low: float = -2.0, high: float = 2.0, special=()) -> Row:
    return Row(f"{op} %a, %b : f64", reference, ((low, high),) * 2, special)


ROWS = [
    binary("arith.addf", torch.add),
    binary("arith.subf", torch.sub),
    binary("arith.mulf", torch.mul),
    binary("arith.divf", torch.div, 0.5, 2.0),
    binary("arith.remf", torch.fmod, 0.5, 3.0),
    binary("arith.maximumf", torch.maximum, special=((1.0, -1.0, 0.0), (1.0, -1.0, 0.0))),
    binary("arith.minimumf", torch.minimum, special=((1.0, -1.0, 0.0), (1.0, -1.0, 0.0))),
    binary("arith.maxnumf", torch.fmax, special=((1.0, -1.0, 0.0), (1.0, -1.0, 0.0))),
    binary("arith.minnumf", torch.fmin, special=((1.0, -1.0, 0.0), (1.0, -1.0, 0.0))),
    unary("arith.negf", torch.neg),
    unary("math.absf", torch.abs, special=(0.0,)),
    unary("math.exp", torch.exp),
    unary("math.exp2", torch.exp2),
    unary("math.expm1", torch.expm1),
    unary("math.log", torch.log, 0.1, 4.0),
    unary("math.log1p", torch.log1p, -0.9, 4.0),
    unary("math.log2", torch.log2, 0.1, 4.0),
    unary("math.log10", torch.log10, 0.1, 4.0),
    unary("math.sqrt", torch.sqrt, 0.1, 4.0),
    unary("math.rsqrt", torch.rsqrt, 0.1, 4.0),
    unary("math.cbrt", lambda x: x.sign() * x.abs().pow(1 / 3), 0.1, 4.0),
    binary("math.powf", torch.pow, 0.1, 3.0, special=((0.0, 0.0, 2.0), (0.0, 2.0, 0.0))),
    unary("math.sin", torch.sin),
    unary("math.cos", torch.cos),
    unary("math.tan", torch.tan, -1.0, 1.0),
    unary("math.asin", torch.asin, -0.9, 0.9),
    unary("math.acos", torch.acos, -0.9, 0.9),
    unary("math.atan", torch.atan),
    binary("math.atan2", torch.atan2, special=((0.0, 0.0, 1.0), (0.0, 1.0, 0.0))),
    unary("math.sinh", torch.sinh),
    unary("math.cosh", torch.cosh),
    unary("math.tanh", torch.tanh),
    unary("math.asinh", torch.asinh),
    unary("math.acosh", torch.acosh, 1.1, 4.0),
    unary("math.atanh", torch.atanh, -0.9, 0.9),
    unary("math.erf", torch.erf),
    unary("math.erfc", torch.erfc),
    binary("math.copysign", torch.copysign),
    Row(
        "math.clampf %a to [%b, %c] : f64",
        torch.clamp,
        ((-2.0, 2.0),) * 3,
        (
            (-1.0, 2.0, 1.0, 1.0, 0.0, 3.0),
            (-1.0, 0.0, -1.0, 2.0, 1.0, 1.0),
            (1.0, 2.0, 1.0, 0.0, 1.0, 1.0),
        ),
    ),
    Row("math.fma %a, %b, %c : f64", lambda a, b, c: a * b + c, ((-2.0, 2.0),) * 3),
    unary("math.floor", torch.floor),
    unary("math.ceil", torch.ceil),
    unary("math.round", torch.round),
    unary("math.roundeven", torch.round),
    unary("math.trunc", torch.trunc),
]

SIZE = 6


def module_text(row: Row) -> str:
    """`@f`, its VJP, its JVP and the VJP of its VJP, on vectors."""
    n = len(row.domains)
    names = "abc"[:n]
    t = f"tensor<{SIZE}xf64>"
    arguments = ", ".join(f"%p{x}: {t}" for x in names)
    values = ", ".join(f"%p{x}" for x in names)
    types = ", ".join([t] * n)
    maps = ", ".join(["affine_map<(i) -> (i)>"] * (n + 1))
    scalars = ", ".join(f"%{x}: f64" for x in names)
    gradients = ", ".join(f"%d{x}" for x in names)
    wrt = ", ".join(str(i) for i in range(n))
    return f"""
func.func private @f({arguments}) -> {t} {{
  %e = tensor.empty() : {t}
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
      ins({values} : {types}) outs(%e : {t}) {{
  ^bb0({scalars}, %out: f64):
    %y = {row.text}
    linalg.yield %y : f64
  }} -> {t}
  return %r : {t}
}}
func.func @vjp({arguments}, %ct: {t}) -> ({types}) {{
  %y, {gradients} = grad.vjp @f({values}) cotangents(%ct) wrt [{wrt}]
      : ({types}, {t}) -> ({t}, {types})
  return {gradients} : {types}
}}
func.func @jvp({arguments}, {", ".join(f"%t{x}: {t}" for x in names)}) -> {t} {{
  %y, %dy = grad.jvp @f({values}) tangents({", ".join(f"%t{x}" for x in names)}) wrt [{wrt}]
      : ({types}, {types}) -> ({t}, {t})
  return %dy : {t}
}}
func.func private @vjp_only({arguments}, %ct: {t}) -> ({types}) {{
  %y, {gradients} = grad.vjp @f({values}) cotangents(%ct) wrt [{wrt}]
      : ({types}, {t}) -> ({t}, {types})
  return {gradients} : {types}
}}
func.func @second({arguments}, %ct: {t}, {", ".join(f"%u{x}: {t}" for x in names)}) -> ({types}) {{
  %y:{n}, {", ".join(f"%dd{x}" for x in names)} = grad.vjp @vjp_only({values}, %ct)
      cotangents({", ".join(f"%u{x}" for x in names)}) wrt [{wrt}]
      : ({types}, {t}, {types}) -> ({types}, {types})
  return {", ".join(f"%dd{x}" for x in names)} : {types}
}}
"""


def points(row: Row) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(7)
    tensors = []
    for number, (low, high) in enumerate(row.domains):
        x = torch.rand(SIZE, dtype=torch.float64, generator=generator) * (high - low) + low
        if row.special:
            x[: len(row.special[number])] = torch.tensor(row.special[number], dtype=torch.float64)
        tensors.append(x)
    return tensors


def random_like(tensors: list[torch.Tensor], seed: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(SIZE, dtype=torch.float64, generator=generator) for _ in tensors]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_rule(row: Row) -> None:
    primals = points(row)
    (cotangent,) = random_like([primals[0]], 1)
    tangents = random_like(primals, 2)
    directions = random_like(primals, 3)
    compiled = run_mlir(module_text(row))

    leaves = [x.clone().requires_grad_() for x in primals]
    expected = torch.autograd.grad(
        row.reference(*leaves), leaves, cotangent, create_graph=True, allow_unused=True
    )
    expected = [torch.zeros_like(x) if g is None else g for x, g in zip(leaves, expected)]
    got = compiled("vjp", *primals, cotangent)
    for g, e in zip(got, expected):
        torch.testing.assert_close(g, e.detach(), rtol=1e-12, atol=1e-14, equal_nan=True)

    # <u, J t> = <J^T u, t>
    (tangent,) = compiled("jvp", *primals, *tangents)
    pulled = sum((g * t).nan_to_num() for g, t in zip(got, tangents))
    torch.testing.assert_close((tangent * cotangent).nan_to_num(), pulled, rtol=1e-9, atol=1e-12)

    if row.special:
        # At a kink the second derivative of the reference is a convention of its own.
        return
    dependent = [(e, u) for e, u in zip(expected, directions) if e.requires_grad]
    if not dependent:
        return
    second = torch.autograd.grad(
        [e for e, _ in dependent], leaves, [u for _, u in dependent], allow_unused=True
    )
    got = compiled("second", *primals, cotangent, *directions)
    for g, e, x in zip(got, second, leaves):
        e = torch.zeros_like(x) if e is None else e
        torch.testing.assert_close(g, e.detach(), rtol=1e-10, atol=1e-12)


def test_every_rule_has_a_row() -> None:
    other = {"arith.select", "arith.extf", "arith.truncf", "math.fpowi", "math.sincos"}
    assert {row.name for row in ROWS} | other == set(differentiable_ops("arith", "math"))
