"""Functions with a derivative of the user's: ``custom_vjp``, ``custom_jvp`` and
``torch.autograd.Function``, against eager autograd and closed forms."""

from __future__ import annotations

import pytest
import torch

import gradc


@gradc.custom_vjp
def clipped(x, bound):
    return x * 1.0


clipped.defvjp(
    lambda x, bound: (x * 1.0, bound),
    lambda bound, ct: (torch.minimum(torch.maximum(ct, -bound), bound), None),
)


@gradc.custom_jvp
def softplus(x):
    return torch.log1p(torch.exp(x))


@softplus.defjvp
def _(primals, tangents):
    (x,), (t,) = primals, tangents
    return softplus.fn(x), torch.sigmoid(x) * t


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x**3 * factor

    @staticmethod
    def backward(ctx, ct):
        (x,) = ctx.saved_tensors
        return ct * 3 * x**2 * ctx.factor, None


class Rounded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, ct):
        return ct


class Exponential(torch.autograd.Function):
    """Saves its result."""

    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, ct):
        (result,) = ctx.saved_tensors
        return ct * result


class Pair(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        largest = x.argmax()
        ctx.mark_non_differentiable(largest)
        return x * y, x + y, largest

    @staticmethod
    def backward(ctx, product, total, _):
        _, y = ctx.saved_tensors
        return product * y + total, None


def test_custom_vjp_is_the_derivative(double):
    x, bound = double(4), torch.tensor(0.5, dtype=torch.float64)

    def f(x):
        return (clipped(x, bound) * torch.arange(4.0, dtype=torch.float64)).sum()

    torch.testing.assert_close(
        gradc.grad(f)(x), torch.tensor([0, 0.5, 0.5, 0.5], dtype=torch.float64)
    )


def test_argument_without_a_gradient(double):
    x, bound = double(4).requires_grad_(), double(1)[0].abs().requires_grad_()
    result = gradc.compile(lambda x, b: clipped(x, b).sum())(x, bound)
    gradient, nothing = torch.autograd.grad(result, (x, bound), allow_unused=True)
    torch.testing.assert_close(gradient, torch.ones_like(x) * bound.detach().clamp(max=1))
    assert nothing is None


def test_argument_without_a_gradient_has_a_second_one(double):
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, c):
            ctx.save_for_backward(x, c)
            return x * c

        @staticmethod
        def backward(ctx, ct):
            x, c = ctx.saved_tensors
            return ct * c * x, None

    ruled = gradc.custom_vjp(lambda x, c: x * c)
    ruled.defvjp(lambda x, c: (x * c, (x, c)), lambda r, ct: (ct * r[0] * r[1], None))
    x, c = double(3).requires_grad_(), double(3).requires_grad_()

    def second(f):
        (gradient,) = torch.autograd.grad(f(x, c).sum(), x, create_graph=True)
        return torch.autograd.grad((gradient**2).sum(), (x, c))

    expected = second(Scaled.apply)
    for f in (lambda x, c: Scaled.apply(x, c), lambda x, c: ruled(x, c)):
        torch.testing.assert_close(second(gradc.compile(f)), expected)


def test_rule_that_closes_over_a_value_with_a_gradient(double):
    def f(x, c):
        scaled = gradc.custom_vjp(lambda x: x * c)
        scaled.defvjp(lambda x: (x * c, None), lambda r, ct: (ct * c,))
        return scaled(x).sum()

    x, c = double(3), double(3)
    torch.testing.assert_close(gradc.grad(f)(x, c), c)
    with pytest.raises(gradc.UnsupportedError, match="closes over a value"):
        gradc.grad(f, (0, 1))(x, c)


def test_custom_vjp_outside_a_captured_function(double):
    x = double(3).requires_grad_()
    bound = torch.tensor(0.25, dtype=torch.float64)
    (gradient,) = torch.autograd.grad(clipped(x, bound).sum(), x)
    torch.testing.assert_close(gradient, torch.full_like(x, 0.25))


def test_custom_jvp_serves_both_modes(double):
    x, t = double(4), double(4)
    value, tangent = gradc.jvp(softplus, (x,), (t,))
    torch.testing.assert_close(value, torch.nn.functional.softplus(x))
    torch.testing.assert_close(tangent, torch.sigmoid(x) * t)
    torch.testing.assert_close(gradc.grad(lambda x: softplus(x).sum())(x), torch.sigmoid(x))


def test_custom_jvp_differentiated_again(double):
    x = double(3)
    hessian = gradc.hessian(lambda x: softplus(x).sum())(x)
    torch.testing.assert_close(hessian, torch.diag(torch.sigmoid(x) * torch.sigmoid(-x)))


def test_custom_vjp_differentiated_again(double):
    square = gradc.custom_vjp(lambda x: x**2)
    square.defvjp(lambda x: (x**2, x), lambda x, ct: (3 * x * ct,))  # told apart from 2 * x
    x = double(3)
    inner = gradc.grad(lambda x: square(x).sum())
    torch.testing.assert_close(inner(x), 3 * x)
    torch.testing.assert_close(gradc.grad(lambda x: inner(x).sum())(x), torch.full_like(x, 3))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: Cube.apply(x.sin(), 2.0),
        lambda x: Rounded.apply(x * 3) * x,
        lambda x: Exponential.apply(x) * x,
        lambda x: Cube.apply(Cube.apply(x, 1.0), 0.5),
    ],
    ids=["cube", "rounded", "exponential", "twice"],
)
def test_autograd_function_to_second_order(f, double):
    x = double(4).requires_grad_()
    for function in (gradc.compile(f), gradc.compile(lambda x: f(x) * 1.0)):
        (found,) = torch.autograd.grad(function(x).sum(), x, create_graph=True)
        (expected,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
        torch.testing.assert_close(found, expected)
        torch.testing.assert_close(
            torch.autograd.grad(found.sum(), x), torch.autograd.grad(expected.sum(), x)
        )


def test_autograd_function_with_several_results(double):
    x, y = double(3).requires_grad_(), double(3).requires_grad_()

    def f(x, y):
        product, total, largest = Pair.apply(x, y)
        return (product * total.detach()).sum() + total.prod() + largest

    found = torch.autograd.grad(gradc.compile(f)(x, y), (x, y), allow_unused=True)
    expected = torch.autograd.grad(f(x, y), (x, y), allow_unused=True)
    torch.testing.assert_close(found[0], expected[0])
    assert expected[1] is None and found[1] is None


def test_autograd_function_under_no_grad(double):
    x = double(3).requires_grad_()

    def f(x):
        with torch.no_grad():
            constant = Cube.apply(x, 1.0)
        return (constant * x).sum()

    (found,) = torch.autograd.grad(gradc.compile(f)(x), x)
    torch.testing.assert_close(found, x.detach() ** 3)


def test_autograd_function_under_a_transform(double):
    x = double(3)
    torch.testing.assert_close(gradc.grad(lambda x: Cube.apply(x, 2.0).sum())(x), 6 * x**2)


@pytest.mark.parametrize(
    ("fwd", "bwd", "message"),
    [
        (lambda x: (x, None), lambda r, ct: (ct, ct), "2 gradients for 1 arguments"),
        (lambda x: (x, None), lambda r, ct: (ct.sum(),), r"float64\[\]; it has to be"),
        (lambda x: (x, None), lambda r, ct: (ct.float(),), "float32"),
        (lambda x: x, lambda r, ct: (ct,), "has to return"),
    ],
    ids=["arity", "shape", "dtype", "structure"],
)
def test_wrong_vjp_rules(fwd, bwd, message, double):
    f = gradc.custom_vjp(lambda x: x)
    f.defvjp(fwd, bwd)
    with pytest.raises(gradc.InputError, match=message):
        gradc.grad(lambda x: f(x).sum())(double(3))


def test_wrong_jvp_rules(double):
    f = gradc.custom_jvp(lambda x: x * 2)
    with pytest.raises(gradc.InputError, match="no rule yet"):
        f(double(3))
    with pytest.raises(gradc.InputError, match="no rule yet"):
        gradc.grad(lambda x: f(x).sum())(double(3))
    f.defjvp(lambda primals, tangents: (primals[0] * 2, tangents[0].sum()))
    with pytest.raises(gradc.InputError, match=r"a tangent of torch.float64\[\]"):
        gradc.grad(lambda x: f(x).sum())(double(3))


class TakesNone(torch.autograd.Function):
    """Its backward wants to know which results are used."""

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, first, second):
        return second * 7 if first is None else first * 2


class TakesNoneForItsOnlyResult(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2

    @staticmethod
    def backward(ctx, cotangent):
        return cotangent * 5


def test_cotangents_that_are_none(double):
    x = double(3).requires_grad_()
    for call in (gradc.compile(TakesNone.apply), lambda x: gradc.vjp(TakesNone.apply, x)):
        with pytest.raises(gradc.UnsupportedError, match="set_materialize_grads") as error:
            call(x)
        assert error.value.location is not None and "zeros" in error.value.hint
    only = gradc.compile(lambda x: TakesNoneForItsOnlyResult.apply(x))(x)
    (gradient,) = torch.autograd.grad(only.sum(), x)
    torch.testing.assert_close(gradient, torch.full_like(x, 5.0))
