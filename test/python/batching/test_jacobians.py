"""Jacobians and Hessians as grad.vmap of derivatives, against JAX."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from gradc.testing import run_mlir

jax.config.update("jax_enable_x64", True)

# A network of two layers, and a loss that is not quadratic.
NETWORK = """
#id = affine_map<(i) -> (i)>
#mat = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#col = affine_map<(i, j) -> (j)>
func.func private @f(%w: tensor<3x4xf64>, %x: tensor<4xf64>) -> tensor<3xf64> {
  %z = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<3xf64>
  %i = linalg.fill ins(%z : f64) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %s = math.sin %x : tensor<4xf64>
  %m = linalg.matvec ins(%w, %s : tensor<3x4xf64>, tensor<4xf64>)
      outs(%i : tensor<3xf64>) -> tensor<3xf64>
  %t = math.tanh %m : tensor<3xf64>
  %c = arith.constant 0 : index
  %x0 = tensor.extract %x[%c] : tensor<4xf64>
  %u = tensor.splat %x0 : tensor<3xf64>
  %r = arith.mulf %t, %u : tensor<3xf64>
  return %r : tensor<3xf64>
}
func.func private @loss(%w: tensor<3x4xf64>, %x: tensor<4xf64>) -> tensor<f64> {
  %z = arith.constant 0.0 : f64
  %y = func.call @f(%w, %x) : (tensor<3x4xf64>, tensor<4xf64>) -> tensor<3xf64>
  %e = tensor.empty() : tensor<f64>
  %i = linalg.fill ins(%z : f64) outs(%e : tensor<f64>) -> tensor<f64>
  %q = math.exp %y : tensor<3xf64>
  %r = linalg.dot ins(%q, %y : tensor<3xf64>, tensor<3xf64>) outs(%i : tensor<f64>) -> tensor<f64>
  return %r : tensor<f64>
}
func.func private @gradient(%w: tensor<3x4xf64>, %x: tensor<4xf64>) -> tensor<4xf64> {
  %one = arith.constant dense<1.0> : tensor<f64>
  %r, %dx = grad.vjp @loss(%w, %x) cotangents(%one) wrt [1]
      : (tensor<3x4xf64>, tensor<4xf64>, tensor<f64>) -> (tensor<f64>, tensor<4xf64>)
  return %dx : tensor<4xf64>
}
func.func private @pullback(%w: tensor<3x4xf64>, %x: tensor<4xf64>, %ct: tensor<3xf64>)
    -> (tensor<3x4xf64>, tensor<4xf64>) {
  %r, %dw, %dx = grad.vjp @f(%w, %x) cotangents(%ct) wrt [0, 1]
      : (tensor<3x4xf64>, tensor<4xf64>, tensor<3xf64>)
      -> (tensor<3xf64>, tensor<3x4xf64>, tensor<4xf64>)
  return %dw, %dx : tensor<3x4xf64>, tensor<4xf64>
}
func.func private @pushforward(%w: tensor<3x4xf64>, %x: tensor<4xf64>, %t: tensor<4xf64>)
    -> tensor<3xf64> {
  %r, %dr = grad.jvp @f(%w, %x) tangents(%t) wrt [1]
      : (tensor<3x4xf64>, tensor<4xf64>, tensor<4xf64>) -> (tensor<3xf64>, tensor<3xf64>)
  return %dr : tensor<3xf64>
}
func.func private @hvp(%w: tensor<3x4xf64>, %x: tensor<4xf64>, %t: tensor<4xf64>)
    -> tensor<4xf64> {
  %r, %dr = grad.jvp @gradient(%w, %x) tangents(%t) wrt [1]
      : (tensor<3x4xf64>, tensor<4xf64>, tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>)
  return %dr : tensor<4xf64>
}
func.func private @vhp(%w: tensor<3x4xf64>, %x: tensor<4xf64>, %t: tensor<4xf64>)
    -> tensor<4xf64> {
  %r, %dr = grad.vjp @gradient(%w, %x) cotangents(%t) wrt [1]
      : (tensor<3x4xf64>, tensor<4xf64>, tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>)
  return %dr : tensor<4xf64>
}
func.func @jacrev(%w: tensor<3x4xf64>, %x: tensor<4xf64>, %basis: tensor<3x3xf64>)
    -> (tensor<3x3x4xf64>, tensor<3x4xf64>) {
  %r:2 = grad.vmap @pullback(%w, %x, %basis) batched [2] size 3
      : (tensor<3x4xf64>, tensor<4xf64>, tensor<3x3xf64>)
      -> (tensor<3x3x4xf64>, tensor<3x4xf64>)
  return %r#0, %r#1 : tensor<3x3x4xf64>, tensor<3x4xf64>
}
func.func @jacfwd(%w: tensor<3x4xf64>, %x: tensor<4xf64>, %basis: tensor<4x4xf64>)
    -> tensor<4x3xf64> {
  %r = grad.vmap @pushforward(%w, %x, %basis) batched [2] size 4
      : (tensor<3x4xf64>, tensor<4xf64>, tensor<4x4xf64>) -> tensor<4x3xf64>
  return %r : tensor<4x3xf64>
}
func.func @hessian_forward(%w: tensor<3x4xf64>, %x: tensor<4xf64>, %basis: tensor<4x4xf64>)
    -> tensor<4x4xf64> {
  %r = grad.vmap @hvp(%w, %x, %basis) batched [2] size 4
      : (tensor<3x4xf64>, tensor<4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
  return %r : tensor<4x4xf64>
}
func.func @hessian_reverse(%w: tensor<3x4xf64>, %x: tensor<4xf64>, %basis: tensor<4x4xf64>)
    -> tensor<4x4xf64> {
  %r = grad.vmap @vhp(%w, %x, %basis) batched [2] size 4
      : (tensor<3x4xf64>, tensor<4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
  return %r : tensor<4x4xf64>
}
// Gradients of many points, and the derivative of all of that.
func.func @gradients(%w: tensor<3x4xf64>, %xs: tensor<5x4xf64>) -> tensor<5x4xf64> {
  %r = grad.vmap @gradient(%w, %xs) batched [1] size 5
      : (tensor<3x4xf64>, tensor<5x4xf64>) -> tensor<5x4xf64>
  return %r : tensor<5x4xf64>
}
func.func @gradients_pullback(%w: tensor<3x4xf64>, %xs: tensor<5x4xf64>, %ct: tensor<5x4xf64>)
    -> (tensor<3x4xf64>, tensor<5x4xf64>) {
  %r:3 = grad.vjp @gradients(%w, %xs) cotangents(%ct) wrt [0, 1]
      : (tensor<3x4xf64>, tensor<5x4xf64>, tensor<5x4xf64>)
      -> (tensor<5x4xf64>, tensor<3x4xf64>, tensor<5x4xf64>)
  return %r#1, %r#2 : tensor<3x4xf64>, tensor<5x4xf64>
}
// The Jacobian of every point: a vmap in a vmap.
func.func private @jacobian(%w: tensor<3x4xf64>, %x: tensor<4xf64>, %basis: tensor<4x4xf64>)
    -> tensor<4x3xf64> {
  %r = grad.vmap @pushforward(%w, %x, %basis) batched [2] size 4
      : (tensor<3x4xf64>, tensor<4xf64>, tensor<4x4xf64>) -> tensor<4x3xf64>
  return %r : tensor<4x3xf64>
}
func.func @jacobians(%w: tensor<3x4xf64>, %xs: tensor<5x4xf64>, %basis: tensor<4x4xf64>)
    -> tensor<5x4x3xf64> {
  %r = grad.vmap @jacobian(%w, %xs, %basis) batched [1] size 5
      : (tensor<3x4xf64>, tensor<5x4xf64>, tensor<4x4xf64>) -> tensor<5x4x3xf64>
  return %r : tensor<5x4x3xf64>
}
"""


def f(w, x):
    return jnp.tanh(w @ jnp.sin(x)) * x[0]


def loss(w, x):
    return jnp.exp(f(w, x)) @ f(w, x)


@pytest.fixture(scope="module")
def network():
    generator = np.random.default_rng(0)
    arrays = [generator.standard_normal(shape) for shape in [(3, 4), (4,), (5, 4), (5, 4)]]
    return run_mlir(NETWORK), *arrays


def check(actual, expected):
    for a, e in zip(actual, expected, strict=True):
        np.testing.assert_allclose(a.numpy(), np.asarray(e), rtol=1e-9, atol=1e-9)


def test_jacobians(network):
    call, w, x, _, _ = network
    point = [torch.from_numpy(w), torch.from_numpy(x)]
    actual = call("jacrev", *point, torch.eye(3).double())
    check(actual, jax.jacrev(f, argnums=(0, 1))(w, x))
    actual = call("jacfwd", *point, torch.eye(4).double())
    check(actual, [jax.jacfwd(f, argnums=1)(w, x).T])


def test_hessians(network):
    call, w, x, _, _ = network
    point = [torch.from_numpy(w), torch.from_numpy(x), torch.eye(4).double()]
    expected = [jax.hessian(loss, argnums=1)(w, x)]
    check(call("hessian_forward", *point), expected)
    check(call("hessian_reverse", *point), expected)


def test_derivative_of_a_vmap_of_gradients(network):
    call, w, _, xs, ct = network
    gradients = jax.vmap(jax.grad(loss, argnums=1), in_axes=(None, 0))
    arguments = [torch.from_numpy(w), torch.from_numpy(xs)]
    value, pullback = jax.vjp(gradients, w, xs)
    check(call("gradients", *arguments), [value])
    check(call("gradients_pullback", *arguments, torch.from_numpy(ct)), pullback(ct))


def test_vmap_in_a_vmap(network):
    call, w, _, xs, _ = network
    actual = call("jacobians", torch.from_numpy(w), torch.from_numpy(xs), torch.eye(4).double())
    expected = jax.vmap(jax.jacfwd(f, argnums=1), in_axes=(None, 0))(w, xs)
    check(actual, [expected.transpose(0, 2, 1)])
