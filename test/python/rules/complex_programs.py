"""One function an op of the complex dialect, of real arguments, and the same in PyTorch."""

from __future__ import annotations

from collections.abc import Callable

import torch
from derivatives_of import Program, random

SIZE = 4


def program(op: str, reference: Callable[..., torch.Tensor], count: int, real: bool) -> Program:
    """``op`` of ``count`` complex numbers, made from parts; a mix of the parts of the result."""
    parts = [f"%p{i}" for i in range(2 * count)]
    vector = f"tensor<{SIZE}xf64>"
    lines = [
        f"    %z{i} = complex.create %p{2 * i}, %p{2 * i + 1} : complex<f64>" for i in range(count)
    ]
    operands = ", ".join(f"%z{i}" for i in range(count))
    lines.append(f"    %w = complex.{op} {operands} : complex<f64>")
    if real:
        lines.append("    %y = arith.mulf %w, %w : f64")
    else:
        lines += [
            "    %r = complex.re %w : complex<f64>",
            "    %i = complex.im %w : complex<f64>",
            "    %m = arith.mulf %r, %i : f64",
            "    %y = arith.addf %m, %r : f64",
        ]
    arguments = [f"%a{i}" for i in range(2 * count)]
    text = f"""
func.func private @f({", ".join(f"{a}: {vector}" for a in arguments)}) -> {vector} {{
  %e = tensor.empty() : {vector}
  %t = linalg.map ins({", ".join(arguments)} : {", ".join([vector] * len(arguments))})
      outs(%e : {vector}) ({", ".join(f"{p}: f64" for p in parts)}, %o: f64) {{
{chr(10).join(lines)}
    linalg.yield %y : f64
  }}
  return %t : {vector}
}}"""

    def mixed(*given: torch.Tensor) -> torch.Tensor:
        numbers = [torch.complex(re, im) for re, im in zip(given[::2], given[1::2])]
        w = reference(*numbers)
        return w * w if real else w.real * w.imag + w.real

    # Every quadrant, away from branch cuts.
    signs = torch.tensor([[1.0, 1.0], [-0.7, 1.0], [0.6, -1.0], [-1.0, -0.4]]).double().T
    values = [random(SIZE, seed=i) * signs[i % 2] for i in range(2 * count)]
    return Program(f"complex_{op}", text, mixed, tuple(values))


def unary(
    op: str, reference: Callable[[torch.Tensor], torch.Tensor], real: bool = False
) -> Program:
    return program(op, reference, 1, real)


def binary(op: str, reference: Callable[..., torch.Tensor]) -> Program:
    return program(op, reference, 2, False)


SUM = Program(
    "complex_sum",
    """
func.func private @f(%x: tensor<3xf64>, %y: tensor<3xf64>, %c: tensor<3xi1>) -> tensor<f64> {
  %zero = complex.constant [0.0, 0.0] : complex<f64>
  %e = tensor.empty() : tensor<complex<f64>>
  %i = linalg.fill ins(%zero : complex<f64>) outs(%e : tensor<complex<f64>>)
      -> tensor<complex<f64>>
  %s = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>,
                       affine_map<(i) -> ()>],
      iterator_types = ["reduction"]
  } ins(%x, %y, %c : tensor<3xf64>, tensor<3xf64>, tensor<3xi1>)
    outs(%i : tensor<complex<f64>>) {
  ^bb0(%a: f64, %b: f64, %d: i1, %o: complex<f64>):
    %z = complex.create %a, %b : complex<f64>
    %w = complex.mul %z, %z : complex<f64>
    %v = arith.select %d, %z, %w : complex<f64>
    %t = complex.add %o, %v : complex<f64>
    linalg.yield %t : complex<f64>
  } -> tensor<complex<f64>>
  %n = tensor.extract %s[] : tensor<complex<f64>>
  %m = complex.abs %n : complex<f64>
  %r = tensor.from_elements %m : tensor<f64>
  return %r : tensor<f64>
}""",
    lambda x, y, c: torch.where(c, torch.complex(x, y), torch.complex(x, y) ** 2).sum().abs(),
    (random(3), random(3, seed=1), torch.tensor([True, False, True])),
)

PROGRAMS = [
    unary("abs", torch.abs, real=True),
    unary("angle", torch.angle, real=True),
    unary("conj", torch.conj),
    unary("cos", torch.cos),
    unary("exp", torch.exp),
    unary("expm1", torch.expm1),
    unary("log", torch.log),
    unary("log1p", torch.log1p),
    unary("neg", torch.neg),
    unary("rsqrt", torch.rsqrt),
    unary("sign", torch.sgn),
    unary("sin", torch.sin),
    unary("sqrt", torch.sqrt),
    unary("tan", torch.tan),
    unary("tanh", torch.tanh),
    binary("add", torch.add),
    binary("div", torch.div),
    binary("mul", torch.mul),
    binary("pow", torch.pow),
    binary("sub", torch.sub),
    SUM,
]
