"""``create_graph=True`` on what gradc compiled, and transforms under an outer tape: eager's values
to any order."""

from __future__ import annotations

import pytest
import torch

import gradc


def _orders(f, x, count):
    """The derivatives of order 1 to ``count`` of the sum of ``f``, each as the gradient of the sum
    of the one before."""
    found, value = [], f(x)
    for _ in range(count):
        (value,) = torch.autograd.grad(value.sum(), x, create_graph=True)
        found.append(value)
    return found


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (x**4).sum(),
        lambda x: torch.nn.functional.softmax(x, 0).log().sum() * x.sum(),
        lambda x: (x.outer(x).tanh() @ x).sum(),
        lambda x: torch.where(x > 0, x**3, x.exp()).sum(),
        lambda x: torch.relu(x) * x**3,
    ],
    ids=["power", "softmax", "contraction", "where", "relu"],
)
def test_orders_one_to_three(f, double):
    x = double(4).requires_grad_()
    for found, expected in zip(_orders(gradc.compile(f), x, 3), _orders(f, x, 3), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)


def test_module_with_batch_norm(double):
    """The buffers that the call overwrites are not what the second derivative reads."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Tanh())
    model = model.double().train()
    x = double(5, 3)

    def penalty(model):
        gradients = torch.autograd.grad(
            (model(x) ** 2).sum(), list(model.parameters()), create_graph=True
        )
        return torch.autograd.grad(sum((g**2).sum() for g in gradients), list(model.parameters()))

    expected = penalty(model)
    torch.testing.assert_close(penalty(gradc.compile(model)), expected, rtol=1e-9, atol=1e-9)


def test_path_through_the_cotangent(double):
    x, y = double(3).requires_grad_(), double(3).requires_grad_()
    f = gradc.compile(lambda x: x.sin())
    (gradient,) = torch.autograd.grad(f(x), x, y, create_graph=True)
    (found,) = torch.autograd.grad(gradient.sum(), y)
    torch.testing.assert_close(found, x.cos())


def test_first_derivative_does_not_keep_what_only_the_second_needs(double):
    x = double(3).requires_grad_()
    held = (x * 1.0).requires_grad_()
    before = held.clone()
    result = gradc.compile(lambda h: (h * 3).sum())(held)
    with torch.no_grad():
        held.add_(1)  # eager does not need it either
    result.backward()
    torch.testing.assert_close(x.grad, torch.full_like(before, 3))


def test_change_in_place_between_the_orders_is_noticed(double):
    x = double(3).requires_grad_()
    held = x * 1.0
    result = gradc.compile(lambda h: (h**3).sum())(held)
    with torch.no_grad():
        held.add_(1)
    with pytest.raises(RuntimeError, match=r"modified by an inplace|changed in place"):
        torch.autograd.grad(result, x, create_graph=True)


def test_twice_without_retain_graph_raises(double):
    x = double(3).requires_grad_()
    result = gradc.compile(lambda x: (x**3).sum())(x)
    result.backward()
    with pytest.raises(RuntimeError, match="second time"):
        torch.autograd.grad(result, x, create_graph=True)


def test_transform_under_an_outer_tape(double):
    w, x = double(3).requires_grad_(), double(3).requires_grad_()

    def outer(grad):
        return (grad(lambda x: (x**3 * w).sum())(x) * w).sum()

    found = torch.autograd.grad(outer(gradc.grad), (w, x))
    expected = torch.autograd.grad(outer(torch.func.grad), (w, x))
    torch.testing.assert_close(found, expected)


def test_value_and_pullback_under_an_outer_tape(double):
    w, x, c = (double(3).requires_grad_() for _ in range(3))

    def outer(vjp):
        value, pullback = vjp(lambda x: x**3 * w, x)
        return (value * x).sum() + (pullback(c)[0] * w).sum()

    found = torch.autograd.grad(outer(gradc.vjp), (w, x, c))
    expected = torch.autograd.grad(outer(torch.func.vjp), (w, x, c))
    torch.testing.assert_close(found, expected)


def test_transform_under_no_grad_is_a_constant(double):
    w, x = double(3).requires_grad_(), double(3)
    with torch.no_grad():
        assert not gradc.grad(lambda x: (x * x * w).sum())(x).requires_grad
        assert not gradc.jvp(lambda x: x * w, (x,), (x,))[1].requires_grad


def test_jvp_under_an_outer_tape(double):
    w, x = double(3).requires_grad_(), double(3).requires_grad_()

    def outer(jvp):
        value, tangent = jvp(lambda x: (x * w).sin(), (x,), (x * 2,))
        return (value * tangent).sum()

    found = torch.autograd.grad(outer(gradc.jvp), (w, x))
    expected = torch.autograd.grad(outer(torch.func.jvp), (w, x))
    torch.testing.assert_close(found, expected)
