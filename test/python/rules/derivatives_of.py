"""The derivatives of an MLIR function, in both modes and to second order, against those that
PyTorch's eager mode gives for the same function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from gradc.testing import run_mlir


@dataclass(frozen=True)
class Program:
    """``@f`` in MLIR: takes the tensors of ``arguments``, f64 ones first, and returns one f64
    tensor."""

    name: str
    text: str
    reference: Callable[..., torch.Tensor]
    arguments: tuple[torch.Tensor, ...]

    @property
    def differentiated(self) -> list[torch.Tensor]:
        return [x for x in self.arguments if x.is_floating_point()]


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    """Numbers between 0.5 and 1.5."""
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(shape, dtype=torch.float64, generator=generator) + 0.5


def type_of(x: torch.Tensor) -> str:
    element = {torch.float64: "f64", torch.int64: "i64", torch.bool: "i1"}[x.dtype]
    return "tensor<" + "".join(f"{size}x" for size in x.shape) + element + ">"


def module_text(program: Program, result: torch.Tensor) -> str:
    """``@f`` with its derivatives: ``vjp`` and ``jvp`` beside the value, and the derivatives of the
    gradient in both modes."""
    names = [f"%a{i}" for i in range(len(program.arguments))]
    types = [type_of(x) for x in program.arguments]
    count = len(program.differentiated)
    wrt = ", ".join(str(i) for i in range(count))
    ys = type_of(result)
    floats = ", ".join(types[:count])
    given = ", ".join(names)
    inputs = ", ".join(types)
    declared = ", ".join(f"{a}: {t}" for a, t in zip(names, types))
    tangents = ", ".join(f"%t{i}" for i in range(count))
    with_tangents = ", ".join(f"%t{i}: {t}" for i, t in enumerate(types[:count]))
    grads = ", ".join(f"%d{i}" for i in range(count))
    return f"""{program.text}
func.func @vjp({declared}, %ct: {ys}) -> ({ys}, {floats}) {{
  %y, {grads} = grad.vjp @f({given}) cotangents(%ct) wrt [{wrt}]
      : ({inputs}, {ys}) -> ({ys}, {floats})
  return %y, {grads} : {ys}, {floats}
}}
func.func @jvp({declared}, {with_tangents}) -> ({ys}, {ys}) {{
  %y, %t = grad.jvp @f({given}) tangents({tangents}) wrt [{wrt}]
      : ({inputs}, {floats}) -> ({ys}, {ys})
  return %y, %t : {ys}, {ys}
}}
func.func private @gradient({declared}, %ct: {ys}) -> ({floats}) {{
  %y, {grads} = grad.vjp @f({given}) cotangents(%ct) wrt [{wrt}]
      : ({inputs}, {ys}) -> ({ys}, {floats})
  return {grads} : {floats}
}}
func.func @reverse_over_reverse({declared}, %ct: {ys}, {with_tangents}) -> ({floats}) {{
  %y:{count}, {grads} = grad.vjp @gradient({given}, %ct) cotangents({tangents}) wrt [{wrt}]
      : ({inputs}, {ys}, {floats}) -> ({floats}, {floats})
  return {grads} : {floats}
}}
func.func @forward_over_reverse({declared}, %ct: {ys}, {with_tangents}) -> ({floats}) {{
  %y:{count}, {grads} = grad.jvp @gradient({given}, %ct) tangents({tangents}) wrt [{wrt}]
      : ({inputs}, {ys}, {floats}) -> ({floats}, {floats})
  return {grads} : {floats}
}}
"""


def _gradient(outputs, inputs, cotangents, **options) -> list[torch.Tensor]:
    """PyTorch's gradients, zeros where there is no path."""
    pairs = [(y, c) for y, c in zip(outputs, cotangents) if y.requires_grad]
    if not pairs:
        return [torch.zeros_like(x) for x in inputs]
    found = torch.autograd.grad(
        [y for y, _ in pairs], inputs, [c for _, c in pairs], allow_unused=True, **options
    )
    return [torch.zeros_like(x) if g is None else g for x, g in zip(inputs, found)]


def _assert_close(got, expected) -> None:
    for g, e in zip(got, expected, strict=True):
        torch.testing.assert_close(g, e.detach(), rtol=1e-11, atol=1e-13)


def check_derivatives(program: Program) -> None:
    """The value, both modes, and reverse and forward mode over reverse mode."""
    leaves = [x.clone().requires_grad_() for x in program.differentiated]
    rest = program.arguments[len(leaves) :]
    value = program.reference(*leaves, *rest)
    generator = torch.Generator().manual_seed(3)
    cotangent, *tangents = (
        torch.randn(x.shape, dtype=torch.float64, generator=generator) for x in [value, *leaves]
    )
    gradient = _gradient([value], leaves, [cotangent], create_graph=True)
    second = _gradient(gradient, leaves, tangents)
    compiled = run_mlir(module_text(program, value))

    got = compiled("vjp", *program.arguments, cotangent)
    _assert_close(got, [value, *gradient])
    primal, tangent = compiled("jvp", *program.arguments, *tangents)
    _assert_close([primal], [value])
    # <u, J t> = <J^T u, t>
    pulled = sum((g * t).sum() for g, t in zip(gradient, tangents))
    torch.testing.assert_close((tangent * cotangent).sum(), pulled, rtol=1e-10, atol=1e-12)
    for mode in ("reverse_over_reverse", "forward_over_reverse"):
        _assert_close(compiled(mode, *program.arguments, cotangent, *tangents), second)
