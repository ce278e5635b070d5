"""Custom rules on MLIR functions against those of JAX and PyTorch on the same math.

Most rules here are not the derivative of their function, so that each test sees which one was used.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from gradc.testing import run_mlir

jax.config.update("jax_enable_x64", True)

T = "tensor<4xf64>"
ROWS = "tensor<3x4xf64>"


def transforms(function: str) -> str:
    """Derivatives of ``function``, which takes and returns two tensors, up to second order."""
    return f"""
    func.func private @{function}_gradient(%x: {T}, %y: {T}, %ct: {T}) -> ({T}, {T}) {{
      %r:3 = grad.vjp @{function}(%x, %y) cotangents(%ct) wrt [0, 1]
          : ({T}, {T}, {T}) -> ({T}, {T}, {T})
      return %r#1, %r#2 : {T}, {T}
    }}
    func.func @{function}_vjp(%x: {T}, %y: {T}, %ct: {T}) -> ({T}, {T}, {T}) {{
      %r:3 = grad.vjp @{function}(%x, %y) cotangents(%ct) wrt [0, 1]
          : ({T}, {T}, {T}) -> ({T}, {T}, {T})
      return %r#0, %r#1, %r#2 : {T}, {T}, {T}
    }}
    func.func @{function}_vjp_of_vjp(%x: {T}, %y: {T}, %ct: {T}, %u: {T}, %v: {T})
        -> ({T}, {T}, {T}) {{
      %r:5 = grad.vjp @{function}_gradient(%x, %y, %ct) cotangents(%u, %v) wrt [0, 1, 2]
          : ({T}, {T}, {T}, {T}, {T}) -> ({T}, {T}, {T}, {T}, {T})
      return %r#2, %r#3, %r#4 : {T}, {T}, {T}
    }}
    func.func private @{function}_rows(%x: {ROWS}, %y: {T}) -> {ROWS} {{
      %r = grad.vmap @{function}(%x, %y) batched [0] size 3 : ({ROWS}, {T}) -> {ROWS}
      return %r : {ROWS}
    }}
    func.func @{function}_vjp_of_rows(%x: {ROWS}, %y: {T}, %ct: {ROWS}) -> ({ROWS}, {ROWS}, {T}) {{
      %r:3 = grad.vjp @{function}_rows(%x, %y) cotangents(%ct) wrt [0, 1]
          : ({ROWS}, {T}, {ROWS}) -> ({ROWS}, {ROWS}, {T})
      return %r#0, %r#1, %r#2 : {ROWS}, {ROWS}, {T}
    }}
    func.func @{function}_rows_of_vjp(%x: {ROWS}, %y: {T}, %ct: {ROWS}) -> ({ROWS}, {ROWS}) {{
      %r:2 = grad.vmap @{function}_gradient(%x, %y, %ct) batched [0, 2] size 3
          : ({ROWS}, {T}, {ROWS}) -> ({ROWS}, {ROWS})
      return %r#0, %r#1 : {ROWS}, {ROWS}
    }}"""


def forward_transforms(function: str) -> str:
    return f"""
    func.func @{function}_jvp(%x: {T}, %y: {T}, %t: {T}, %u: {T}) -> ({T}, {T}) {{
      %r:2 = grad.jvp @{function}(%x, %y) tangents(%t, %u) wrt [0, 1]
          : ({T}, {T}, {T}, {T}) -> ({T}, {T})
      return %r#0, %r#1 : {T}, {T}
    }}
    func.func @{function}_jvp_of_vjp(%x: {T}, %y: {T}, %ct: {T}, %t: {T}) -> ({T}, {T}) {{
      %r:4 = grad.jvp @{function}_gradient(%x, %y, %ct) tangents(%t) wrt [0]
          : ({T}, {T}, {T}, {T}) -> ({T}, {T}, {T}, {T})
      return %r#2, %r#3 : {T}, {T}
    }}"""


# A function around the one with the rule.
AROUND = f"""
func.func private @around(%x: {T}, %y: {T}) -> {T} {{
  %0 = math.exp %x : {T}
  %1 = func.call @f(%0, %y) : ({T}, {T}) -> {T}
  %2 = arith.mulf %1, %x : {T}
  %3 = func.call @f(%2, %2) : ({T}, {T}) -> {T}
  return %3 : {T}
}}"""

JVP = (
    f"""
func.func private @f(%x: {T}, %y: {T}) -> {T} attributes {{grad.custom_jvp = @rule}} {{
  %0 = math.sin %x : {T}
  %1 = arith.mulf %0, %y : {T}
  return %1 : {T}
}}
func.func private @rule(%x: {T}, %y: {T}, %tx: {T}, %ty: {T}) -> ({T}, {T}) {{
  %r = func.call @f(%x, %y) : ({T}, {T}) -> {T}
  %c = math.cos %x : {T}
  %two = arith.constant dense<2.0> : {T}
  %0 = arith.mulf %c, %two : {T}
  %1 = arith.mulf %0, %tx : {T}
  %2 = arith.mulf %r, %ty : {T}
  %3 = arith.addf %1, %2 : {T}
  return %r, %3 : {T}, {T}
}}"""
    + AROUND
    + transforms("f")
    + transforms("around")
    + forward_transforms("f")
    + forward_transforms("around")
)


@jax.custom_jvp
def f(x, y):
    return jnp.sin(x) * y


@f.defjvp
def f_jvp(primals, tangents):
    (x, y), (tx, ty) = primals, tangents
    r = f(x, y)
    return r, 2 * jnp.cos(x) * tx + r * ty


def around(inner):
    def function(x, y):
        z = inner(jnp.exp(x), y) * x
        return inner(z, z)

    return function


def close(actual, expected):
    for a, e in zip(actual, expected, strict=True):
        np.testing.assert_allclose(a.numpy(), np.asarray(e), rtol=1e-9, atol=1e-9)


def arrays(*shapes):
    generator = np.random.default_rng(1)
    values = [generator.standard_normal(shape) for shape in shapes]
    return values, [torch.from_numpy(value) for value in values]


def gradient(function):
    return lambda x, y, ct: jax.vjp(function, x, y)[1](ct)


def check_reverse(call, name, reference):
    (x, y, ct, u, v), tensors = arrays(*[4] * 5)
    value, pullback = jax.vjp(reference, x, y)
    close(call(f"{name}_vjp", *tensors[:3]), (value, *pullback(ct)))
    second = jax.vjp(gradient(reference), x, y, ct)[1]((u, v))
    close(call(f"{name}_vjp_of_vjp", *tensors), second)


def check_rows(call, name, reference):
    (xs, y, ct), tensors = arrays((3, 4), 4, (3, 4))
    rows = jax.vmap(reference, in_axes=(0, None))
    value, pullback = jax.vjp(rows, xs, y)
    close(call(f"{name}_vjp_of_rows", *tensors), (value, *pullback(ct)))
    expected = jax.vmap(gradient(reference), in_axes=(0, None, 0))(xs, y, ct)
    close(call(f"{name}_rows_of_vjp", *tensors), expected)


@pytest.fixture(scope="module")
def jvp_rule():
    return run_mlir(JVP)


CALLS = pytest.mark.parametrize("name, wrap", [("f", lambda g: g), ("around", around)])


@CALLS
def test_jvp_rule_forward(jvp_rule, name, wrap):
    (x, y, t, u), tensors = arrays(*[4] * 4)
    reference = wrap(f)
    close(jvp_rule(f"{name}_jvp", *tensors), jax.jvp(reference, (x, y), (t, u)))
    ct, t = t, u
    expected = jax.jvp(lambda x: gradient(reference)(x, y, ct), (x,), (t,))[1]
    close(jvp_rule(f"{name}_jvp_of_vjp", *tensors), expected)


@CALLS
def test_jvp_rule_reverse(jvp_rule, name, wrap):
    check_reverse(jvp_rule, name, wrap(f))


@CALLS
def test_jvp_rule_in_a_vmap(jvp_rule, name, wrap):
    check_rows(jvp_rule, name, wrap(f))


# Residuals that are arguments and results: nothing is computed twice.
VJP = (
    f"""
func.func private @f(%x: {T}, %y: {T}) -> {T} attributes {{grad.custom_vjp = [@f_fwd, @f_bwd]}} {{
  %0 = math.sin %x : {T}
  %1 = arith.mulf %0, %y : {T}
  return %1 : {T}
}}
func.func private @f_fwd(%x: {T}, %y: {T}) -> ({T}, {T}, {T}, {T}) {{
  %r = func.call @f(%x, %y) : ({T}, {T}) -> {T}
  return %r, %r, %x, %y : {T}, {T}, {T}, {T}
}}
func.func private @f_bwd(%r: {T}, %x: {T}, %y: {T}, %ct: {T}) -> ({T}, {T}) {{
  %c = math.cos %x : {T}
  %0 = arith.mulf %c, %y : {T}
  %1 = arith.mulf %0, %ct : {T}
  %2 = arith.mulf %r, %ct : {T}
  return %1, %2 : {T}, {T}
}}"""
    + AROUND
    + transforms("f")
    + transforms("around")
)


class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        result = x.sin() * y
        ctx.save_for_backward(result, x, y)
        return result

    @staticmethod
    def backward(ctx, ct):
        result, x, y = ctx.saved_tensors
        return x.cos() * y * ct, result * ct


def torch_around(x, y):
    z = F.apply(x.exp(), y) * x
    return F.apply(z, z)


@pytest.mark.parametrize("name, reference", [("f", F.apply), ("around", torch_around)])
def test_vjp_rule(name, reference):
    call = run_mlir(VJP)
    x, y, ct, u, v = (t.requires_grad_() for t in arrays(*[4] * 5)[1])
    value = reference(x, y)
    first = torch.autograd.grad(value, [x, y], ct, create_graph=True)
    given = [t.detach() for t in (x, y, ct, u, v)]
    expected = [t.detach() for t in (value, *first)]
    torch.testing.assert_close(call(f"{name}_vjp", *given[:3]), expected, rtol=1e-9, atol=1e-9)
    second = torch.autograd.grad(first, [x, y, ct], [u, v])
    actual = call(f"{name}_vjp_of_vjp", *given)
    torch.testing.assert_close(actual, list(second), rtol=1e-9, atol=1e-9)


# A true derivative with a residual that only the forward function computes.
COMPUTED = (
    f"""
func.func private @f(%x: {T}, %y: {T}) -> {T} attributes {{grad.custom_vjp = [@f_fwd, @f_bwd]}} {{
  %0 = math.sin %x : {T}
  %1 = arith.mulf %0, %y : {T}
  return %1 : {T}
}}
func.func private @f_fwd(%x: {T}, %y: {T}) -> ({T}, {T}, {T}) {{
  %0 = math.sin %x : {T}
  %1 = arith.mulf %0, %y : {T}
  %2 = math.cos %x : {T}
  %3 = arith.mulf %2, %y : {T}
  return %1, %3, %0 : {T}, {T}, {T}
}}
func.func private @f_bwd(%a: {T}, %b: {T}, %ct: {T}) -> ({T}, {T}) {{
  %0 = arith.mulf %a, %ct : {T}
  %1 = arith.mulf %b, %ct : {T}
  return %0, %1 : {T}, {T}
}}"""
    + AROUND
    + transforms("f")
    + transforms("around")
)


@CALLS
def test_vjp_rule_with_computed_residuals(name, wrap):
    call = run_mlir(COMPUTED)
    reference = wrap(lambda x, y: jnp.sin(x) * y)
    check_reverse(call, name, reference)
    check_rows(call, name, reference)


# Calls in branches and in loops.
CONTROL = f"""
func.func private @control(%x: {T}, %y: {T}) -> {T} {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = arith.constant 3 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%z = %x) -> ({T}) {{
    %odd = arith.remui %i, %n : index
    %c = arith.cmpi eq, %odd, %one : index
    %w = scf.if %c -> ({T}) {{
      %v = func.call @f(%z, %y) : ({T}, {T}) -> {T}
      scf.yield %v : {T}
    }} else {{
      %u = func.call @f(%z, %z) : ({T}, {T}) -> {T}
      %v = arith.addf %u, %y : {T}
      scf.yield %v : {T}
    }}
    scf.yield %w : {T}
  }}
  return %r : {T}
}}"""


def control(inner):
    def function(x, y):
        z = inner(x, x) + y
        z = inner(z, y)
        return inner(z, z) + y

    return function


def test_rules_in_control_flow():
    call = run_mlir(JVP + CONTROL + transforms("control") + forward_transforms("control"))
    check_reverse(call, "control", control(f))
    (x, y, t, u), tensors = arrays(*[4] * 4)
    close(call("control_jvp", *tensors), jax.jvp(control(f), (x, y), (t, u)))
    call = run_mlir(COMPUTED + CONTROL + transforms("control"))
    check_reverse(call, "control", control(lambda x, y: jnp.sin(x) * y))
