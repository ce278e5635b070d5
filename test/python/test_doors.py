"""What goes in through the doors: modules, arguments that are written to, recurrent modules."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import gradc


def loss(model, x):
    return model(x).tanh().sum()


@pytest.fixture
def model():
    return nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 2)).double()


def functional(model):
    return lambda parameters, x: torch.func.functional_call(model, parameters, (x,)).tanh().sum()


def plain(tree):
    return torch.utils._pytree.tree_map(lambda t: t.detach(), tree)


def test_jvp_and_hvp_of_a_module(double, model):
    x, parameters = double(4, 3), plain(dict(model.named_parameters()))
    tangents = {name: double(*p.shape) for name, p in reversed(parameters.items())}
    found = gradc.jvp(loss, (model, x), (tangents, x))
    ordered = {name: tangents[name] for name in parameters}
    expected = torch.func.jvp(functional(model), (parameters, x), (ordered, x))
    torch.testing.assert_close(plain(found), expected)
    value, (gradient,), (product,) = gradc.hvp(lambda m: loss(m, x), (model,), (tangents,))
    slope = torch.func.grad(lambda p: functional(model)(p, x))
    torch.testing.assert_close(plain(value), expected[0])
    torch.testing.assert_close(
        plain((gradient, product)), torch.func.jvp(slope, (parameters,), (ordered,))
    )


def test_jacobians_of_a_module(double, model):
    x, parameters = double(2, 3), plain(dict(model.named_parameters()))
    for ours, theirs in (
        (gradc.jacrev, torch.func.jacrev),
        (gradc.jacfwd, torch.func.jacfwd),
        (gradc.hessian, torch.func.hessian),
    ):
        found = ours(loss)(model, x)
        torch.testing.assert_close(plain(found), theirs(functional(model))(parameters, x))


def test_module_inside_a_captured_function(double, model):
    x = double(2, 3)
    found = gradc.compile(lambda x: gradc.grad(loss)(model, x), fullgraph=True)(x)
    torch.testing.assert_close(plain(found), plain(gradc.grad(loss)(model, x)))


def test_module_whose_tangents_do_not_fit(double, model):
    with pytest.raises(gradc.InputError, match=r"tangent 0 has entries \['0.weight'\]"):
        gradc.jvp(loss, (model, double(1, 3)), ({"0.weight": double(2, 3)}, double(1, 3)))
    frozen = nn.Linear(3, 2).requires_grad_(False)
    with pytest.raises(gradc.InputError, match=r"argument 0 .* none of whose parameters"):
        gradc.jacrev(loss)(frozen, double(1, 3))


def test_names_of_a_compiled_module(double, model):
    x, names = double(2, 3), [name for name, _ in model.named_parameters()]
    compiled = gradc.compile(model)
    assert list(gradc.grad(loss)(compiled, x)) == names
    _, pullback = gradc.vjp(loss, nn.Sequential(compiled), x)
    assert list(pullback(torch.ones((), dtype=x.dtype))[0]) == [f"0.{name}" for name in names]


def writing(x):
    x.mul_(2)  # writes
    return x.sum()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: gradc.grad(writing)(x),
        lambda x: gradc.jvp(writing, (x,), (x,)),
        lambda x: gradc.hessian(writing)(x),
        lambda x: gradc.grad(lambda y: gradc.grad(writing)(y * 1).sum())(x),
        lambda x: gradc.compile(lambda y: gradc.grad(writing)(y.clone()), fullgraph=True)(x),
    ],
    ids=["grad", "jvp", "hessian", "nested", "compile"],
)
def test_write_into_a_differentiated_argument(double, call):
    with pytest.raises(gradc.CaptureError, match="differentiated argument in place") as error:
        call(double(3))
    assert error.value.location.text == "x.mul_(2)  # writes"
    assert "x.clone()" in error.value.hint


def test_hidden_write_into_a_root(double):
    def hidden(x):
        with torch.no_grad():
            x.mul_(2)
        return x.sum()

    with pytest.raises(gradc.UnsupportedError, match="writes in place to an argument"):
        gradc.grad(lambda x: gradc.grad(hidden)(x * 1).sum())(double(3))


def asking(x):
    return x * 2 if x.requires_grad else x * 3


@pytest.mark.parametrize(
    "call",
    [
        lambda x: gradc.jvp(asking, (x,), (torch.ones_like(x),))[1],
        lambda x: gradc.jacrev(asking)(x).sum(0),
        lambda x: gradc.compile(gradc.grad(lambda x: asking(x).sum()))(x),
        lambda x: gradc.compile(gradc.grad(lambda x: asking(x.sin()).sum()))(x * 0),
    ],
)
def test_arguments_of_a_transform_require_a_gradient(double, call):
    assert torch.equal(call(double(3)), torch.full((3,), 2.0, dtype=torch.float64))


def test_what_leaves_a_level_requires_a_gradient_if_something_outside_does(double):
    def outer(x, w):
        slope = gradc.grad(lambda y: (y**2).sum())(x)
        scaled = gradc.grad(lambda y: (y**2 * w).sum())(x)
        return slope * (3 if slope.requires_grad else 2), scaled * (
            3 if scaled.requires_grad else 2
        )

    x, w = double(3), double(3).requires_grad_()
    slope, scaled = gradc.compile(outer, fullgraph=True)(x, w)
    torch.testing.assert_close(slope, 4 * x)
    torch.testing.assert_close(scaled, 6 * x * w)


class Straight(torch.autograd.Function):
    """A rule that is not the derivative."""

    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, gradient):
        return gradient


def test_rules_inside_a_level_are_seen(double):
    x = double(3)
    ones = torch.ones_like(x)
    assert torch.equal(gradc.jacrev(lambda x: Straight.apply(x).sum())(x), ones)
    inner = gradc.grad(lambda x: Straight.apply(x).sum())
    assert torch.equal(gradc.compile(lambda x: inner(x), fullgraph=True)(x), ones)
    with pytest.raises(gradc.CompileError, match=r"torch.autograd.Function.*reverse mode only"):
        gradc.jvp(Straight.apply, (x,), (x,))


@gradc.custom_vjp
def clipped(x):
    return x * 1.0


clipped.defvjp(lambda x: (x * 1.0, None), lambda _, ct: (ct.clamp(-1, 1),))


def test_forward_mode_through_a_custom_vjp_names_it(double):
    def use(x):
        return clipped(x)  # here

    with pytest.raises(gradc.CompileError, match="`clipped` has a custom rule") as error:
        gradc.jvp(use, (double(3),), (double(3),))
    assert error.value.location.text == "return clipped(x)  # here"
    assert "gradc.custom_jvp" in error.value.hint


def test_tangents_and_cotangents_are_named(double):
    x = double(3)
    with pytest.raises(gradc.InputError, match=r"tangent 1 is .*\[2\], primal 1 is .*\[3\]"):
        gradc.jvp(torch.mul, (x, x), (x, x[:2]))
    with pytest.raises(gradc.InputError, match="tangent 1 does not have the structure"):
        gradc.jvp(lambda x, y: x * y["a"], (x, {"a": x}), (x, x))
    with pytest.raises(gradc.InputError, match="tangent 0 is a float"):
        gradc.jvp(torch.sin, (x,), (3.0,))
    with pytest.raises(gradc.InputError, match=r"cotangent 1 is .*\[2\]"):
        gradc.grad(lambda x: gradc.vjp(lambda x: (x, x * 2), x)[1]((x, x[:2]))[0].sum())(x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
def test_recurrent_modules_are_captured(kind, dtype):
    module = kind(3, 2, dtype=dtype)
    x = torch.randn(3, 2, 3, dtype=dtype, requires_grad=True)
    compiled = gradc.compile(module)
    inputs = [x, *module.parameters()]
    found = torch.autograd.grad(compiled(x)[0].sin().sum(), inputs)
    expected = torch.autograd.grad(module(x)[0].sin().sum(), inputs)
    torch.testing.assert_close(found, expected)
    compiled(x)
    assert len(compiled.programs()) == 1


def test_leaves_made_inside(double):
    x = double(3)

    def fresh(x):
        y = x.detach().requires_grad_()
        return (y * x).sum() * (1 if y.requires_grad else 2)

    torch.testing.assert_close(gradc.grad(fresh)(x), x)
    with pytest.raises(gradc.CaptureError, match="depends on a leaf that it made itself"):
        gradc.compile(fresh, fullgraph=True)(x.clone().requires_grad_())


def test_inference_tensors(double):
    with torch.inference_mode():
        x = double(3)
    torch.testing.assert_close(gradc.grad(lambda x: x.sin().sum())(x), x.cos())
    w = double(3).requires_grad_()
    with pytest.raises(gradc.InputError, match="made in inference mode") as error:
        gradc.compile(lambda x, w: (x * w).sum())(x, w)
    assert "clone" in error.value.hint


def test_second_derivative_of_a_module_that_writes_a_buffer(double):
    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.ones(3, dtype=torch.float64))
            self.w = nn.Parameter(double(3))

        def forward(self, x):
            self.count.mul_(2)
            return (self.w**2 * self.count * x).sum()

    module, x = Counting(), double(3)
    value = gradc.compile(module)(x)
    (first,) = torch.autograd.grad(value, module.w, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), module.w)
    torch.testing.assert_close(second, 4 * x)
