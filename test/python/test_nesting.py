"""Transforms inside transforms: the values of torch.func and JAX, to depth three."""

from __future__ import annotations

import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import gradc

jax.config.update("jax_enable_x64", True)


class Math:
    """The same functions in PyTorch and in JAX."""

    def __init__(self, tools, namespace):
        self.tools = tools
        self.n = namespace

    def body(self, which: int):
        n = self.n
        return (
            lambda x: n.sin(x) * x,
            lambda x: n.tanh(x @ self.array([[0.3, -0.2, 0.5], [0.1, 0.7, -0.4], [0.2, 0.2, 0.9]])),
            lambda x: n.exp(-x * x) + x**3,
            lambda x: x / (1.0 + x * x),
        )[which]

    def array(self, values):
        if self.n is torch:
            return torch.tensor(values, dtype=torch.float64)
        return jnp.array(values)


# Each takes vectors to vectors, so that they nest in any order.
def _grad(m, f):
    return lambda x: m.tools.grad(lambda y: (f(y) * x).sum())(x)


def _gradient_of_sum(m, f):
    return m.tools.grad(lambda y: (f(y) ** 2).sum())


def _value_and_grad(m, f):
    def out(x):
        value, gradient = m.tools.value_and_grad(lambda y: f(y).sum())(x)
        return value * gradient

    return out


def _jvp(m, f):
    def out(x):
        value, tangent = m.tools.jvp(f, (x,), (m.n.cos(x),))
        return value + tangent

    return out


def _vjp(m, f):
    def out(x):
        value, pullback = m.tools.vjp(f, x)
        return pullback(value * x)[0]

    return out


def _hessian(m, f):
    return lambda x: m.tools.hessian(lambda y: f(y).sum())(x) @ x


def _jacrev(m, f):
    return lambda x: m.tools.jacrev(f)(x) @ m.n.sin(x)


def _jacfwd(m, f):
    return lambda x: m.tools.jacfwd(f)(x).sum(0)


FIRST_ORDER = (_grad, _gradient_of_sum, _value_and_grad, _jvp, _vjp)
EVERY = (*FIRST_ORDER, _hessian, _jacrev, _jacfwd)


def _agree(wraps, which: int, tolerance: float = 1e-8) -> None:
    ours, theirs = Math(gradc, torch), Math(jax, jnp)
    f, g = ours.body(which), theirs.body(which)
    for wrap in wraps:
        f, g = wrap(ours, f), wrap(theirs, g)
    x = np.random.default_rng(which).normal(size=3)
    found = gradc.jvp(f, (torch.from_numpy(x),), (torch.ones(3, dtype=torch.float64),))
    expected = jax.jvp(g, (jnp.array(x),), (jnp.ones(3),))
    for value, reference in zip(found, expected, strict=True):
        np.testing.assert_allclose(value.numpy(), reference, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("seed", range(12))
def test_random_nesting_equals_jax(seed):
    choose = random.Random(seed)
    wraps = [choose.choice(EVERY) for _ in range(choose.choice((1, 2, 2)))]
    _agree(wraps, choose.randrange(4))


@pytest.mark.parametrize("wrap", EVERY, ids=lambda wrap: wrap.__name__[1:])
def test_each_transform_under_forward_mode(wrap):
    _agree([wrap], 0)


def test_third_derivative(double):
    x = double(1)[0]
    third = gradc.grad(gradc.grad(gradc.grad(lambda x: x.sin() * x**4)))
    expected = torch.func.grad(torch.func.grad(torch.func.grad(lambda x: x.sin() * x**4)))
    torch.testing.assert_close(third(x), expected(x), rtol=1e-12, atol=0)


def test_levels_are_not_confused(double):
    """d/dx (x * d/dy (x + y)) = 1, not 2."""
    x = double(1)[0]

    def f(x):
        return x * gradc.grad(lambda y: x + y)(torch.ones((), dtype=torch.float64))

    torch.testing.assert_close(gradc.grad(f)(x), torch.ones_like(x))


def test_inner_transform_under_no_grad_is_a_constant_outside(double):
    x = double(3)

    def f(x):
        with torch.no_grad():
            slope = gradc.grad(lambda y: (y**3).sum())(x)
        return (slope * x).sum()

    torch.testing.assert_close(gradc.grad(f)(x), 3 * x**2)


def test_barrier_inside_stops_every_level(double):
    x = double(3)
    inner = gradc.grad(lambda y: (y.detach() ** 2 * y).sum())
    torch.testing.assert_close(gradc.grad(lambda x: inner(x).sum())(x), torch.zeros_like(x))
    torch.testing.assert_close(gradc.jvp(inner, (x,), (x,))[1], torch.zeros_like(x))


def test_aux_and_closure_of_an_inner_transform(double):
    x, w = double(3), double(3)

    def outer(x, w, grad):
        def f(y):
            hidden = y * w
            return (hidden**2).sum(), hidden

        gradient, hidden = grad(f, has_aux=True)(x)
        return (gradient * hidden).sum()

    for argnums in (0, 1):
        found = gradc.grad(lambda x, w: outer(x, w, gradc.grad), argnums)(x, w)
        expected = torch.func.grad(lambda x, w: outer(x, w, torch.func.grad), argnums)(x, w)
        torch.testing.assert_close(found, expected)


def test_trees_and_several_arguments(double):
    primals = ({"a": double(2), "b": (double(3),)}, double(2))

    def f(tree, y):
        return {"out": tree["a"].sin() * y, "all": tree["b"][0].prod() * y.sum()}

    for ours, theirs in ((gradc.jacrev, torch.func.jacrev), (gradc.jacfwd, torch.func.jacfwd)):
        found, expected = ours(f, (0, 1))(*primals), theirs(f, (0, 1))(*primals)
        torch.testing.assert_close(found, expected)
    tangents = torch.utils._pytree.tree_map(torch.cos, primals)
    torch.testing.assert_close(
        gradc.jvp(f, primals, tangents), torch.func.jvp(f, primals, tangents)
    )


def test_jacobians_of_scalars(double):
    x = double(1)[0]
    for transform in (gradc.jacrev, gradc.jacfwd):
        torch.testing.assert_close(transform(lambda x: x**3)(x), 3 * x**2)
    torch.testing.assert_close(gradc.hessian(lambda x: x**3)(x), 6 * x)


def test_hvp(double):
    x, v = double(4), double(4)

    def f(x):
        return (x.sin() * x.flip(0)).sum()

    value, (gradient,), (product,) = gradc.hvp(f, (x,), (v,))
    torch.testing.assert_close(value, f(x))
    torch.testing.assert_close(gradient, torch.func.grad(f)(x))
    torch.testing.assert_close(product, torch.func.hessian(f)(x) @ v)


def test_hessian_is_symmetric(double):
    x = double(5)
    hessian = gradc.hessian(lambda x: (x.outer(x).tanh() @ x).sum())(x)
    torch.testing.assert_close(hessian, hessian.T, rtol=1e-12, atol=1e-12)


def test_transforms_inside_a_compiled_function(double):
    """A gradient penalty, trained on the tape."""
    w, x = double(3).requires_grad_(), double(4, 3)

    def penalty(w, x, grad):
        slope = grad(lambda x: torch.tanh(x @ w).sum())(x)
        return ((slope.norm(dim=1) - 1) ** 2).sum()

    loss = gradc.compile(lambda w, x: penalty(w, x, gradc.grad), fullgraph=True)(w, x)
    (found,) = torch.autograd.grad(loss, w)
    (expected,) = torch.autograd.grad(penalty(w, x, torch.func.grad), w)
    torch.testing.assert_close(found, expected)


def test_jvp_rejects_what_does_not_match(double):
    x = double(3)
    with pytest.raises(gradc.InputError, match="1 primals, but 2 tangents"):
        gradc.jvp(torch.sin, (x,), (x, x))
    with pytest.raises(gradc.InputError, match=r"tangent 0 is .*\[2\], primal 0 is"):
        gradc.jvp(torch.sin, (x,), (double(2),))
    with pytest.raises(gradc.InputError, match="int64"):
        gradc.jvp(torch.sin, (torch.arange(3),), (x,))
