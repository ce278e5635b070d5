"""grad, value_and_grad, vjp and stop_gradient."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import gradc


def centred_no_grad(x):
    with torch.no_grad():
        shift = x.mean()
    return (x - shift).sum()


def centred_detach(x):
    return (x - x.mean().detach()).sum()


def centred_stop_gradient(x):
    return (x - gradc.stop_gradient(x.mean())).sum()


@pytest.mark.parametrize("f", [centred_no_grad, centred_detach, centred_stop_gradient])
def test_barriers_inside_are_obeyed_and_the_mode_outside_is_not(f, double):
    x = double(5)
    assert torch.equal(gradc.grad(f)(x), torch.ones_like(x))
    with torch.no_grad():
        assert torch.equal(gradc.grad(f)(x), torch.ones_like(x))
    with torch.inference_mode():
        assert torch.equal(gradc.grad(f)(x), torch.ones_like(x))


def test_value_and_grad(double):
    x = double(4)
    value, gradient = gradc.value_and_grad(lambda x: (x * x).sum())(x)
    torch.testing.assert_close(value, (x * x).sum())
    torch.testing.assert_close(gradient, 2 * x)
    assert not value.requires_grad and not gradient.requires_grad


def test_argnums_and_the_same_tensor_twice(double):
    x = double(4)
    gx, gy = gradc.grad(lambda x, y: (x * x * y).sum(), argnums=(0, 1))(x, x)
    torch.testing.assert_close(gx, 2 * x * x)
    torch.testing.assert_close(gy, x * x)
    torch.testing.assert_close(gradc.grad(lambda x, y: (x * y).sum(), argnums=1)(x, x + 1), x)
    (only,) = gradc.grad(lambda x, y: (x * y).sum(), argnums=(-1,))(x, x + 1)
    torch.testing.assert_close(only, x)


def test_aux_and_keyword_arguments(double):
    def f(x, *, scale, names):
        return (x * scale).sum(), {"x": x, "half": x / 2, "names": names}

    x, scale = double(3), double(3)
    gradient, aux = gradc.grad(f, has_aux=True)(x, scale=scale, names=("a", "b"))
    torch.testing.assert_close(gradient, scale)
    assert aux["x"] is x and aux["names"] == ("a", "b")
    torch.testing.assert_close(aux["half"], x / 2)
    (value, aux), _ = gradc.value_and_grad(f, has_aux=True)(x, scale=scale, names=None)
    torch.testing.assert_close(value, (x * scale).sum())
    assert aux["names"] is None


def test_pytree_argument(double):
    tree = {"w": double(3, 2), "rest": [double(2), (double(1), None)]}

    def f(tree, x):
        b, (c, _) = tree["rest"]
        return ((x @ tree["w"] + b) * c).sum()

    x = double(4, 3)
    gradient = gradc.grad(f)(tree, x)
    assert gradient.keys() == tree.keys() and gradient["rest"][1][1] is None
    torch.testing.assert_close(gradient["rest"][0], (4 * tree["rest"][1][0]).expand(2))
    torch.testing.assert_close(gradient["w"], (x.sum(0) * tree["rest"][1][0])[:, None].expand(3, 2))


def test_module_argument_gives_gradients_by_name(double):
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).double()
    model[0].bias.requires_grad_(False)
    x = double(5, 3)

    def loss(model, x):
        return model(x).pow(2).mean()

    gradients = gradc.grad(loss)(model, x)
    assert list(gradients) == ["0.weight", "2.weight", "2.bias"]
    loss(model, x).backward()
    for name, parameter in model.named_parameters():
        if name in gradients:
            torch.testing.assert_close(gradients[name].detach(), parameter.grad)


def test_functional_call(double):
    model = nn.Linear(3, 2).double()
    parameters = {name: p.detach() for name, p in model.named_parameters()}
    x = double(4, 3)

    def loss(parameters, x):
        return torch.func.functional_call(model, parameters, (x,)).sum()

    gradient = gradc.grad(loss)(parameters, x)
    torch.testing.assert_close(gradient["weight"], x.sum(0).expand(2, 3))
    torch.testing.assert_close(gradient["bias"], torch.full((2,), 4.0, dtype=torch.float64))


def test_zeros_where_there_is_no_path(double):
    x, y = double(3), torch.ones(2, dtype=torch.float32)
    gx, gy = gradc.grad(lambda x, y: x.sum(), argnums=(0, 1))(x, y)
    assert torch.equal(gx, torch.ones_like(x))
    assert gy.dtype == torch.float32 and torch.equal(gy, torch.zeros(2))
    assert torch.equal(gradc.grad(lambda x: x.detach().sum())(x), torch.zeros_like(x))


def test_gradient_of_the_identity():
    assert gradc.grad(lambda x: x)(torch.tensor(2.0)).item() == 1.0


def test_vjp(double):
    x, y = double(3), double(3)
    output, pullback = gradc.vjp(lambda x, y: {"product": x * y, "sum": x.sum()}, x, y)
    torch.testing.assert_close(output["product"], x * y)
    ct = {"product": double(3), "sum": double(1)[0]}
    gx, gy = pullback(ct)
    torch.testing.assert_close(gx, ct["product"] * y + ct["sum"])
    torch.testing.assert_close(gy, ct["product"] * x)
    gx, _ = pullback({"product": None, "sum": ct["sum"]})
    torch.testing.assert_close(gx, ct["sum"].expand(3))


def test_vjp_with_aux_of_a_single_output(double):
    x = double(3)
    output, pullback, aux = gradc.vjp(lambda x: (x.exp(), x), x, has_aux=True)
    assert aux is x
    torch.testing.assert_close(pullback(torch.ones_like(x))[0], output)


def test_vjp_notices_a_change_in_place(double):
    x = double(3)
    _, pullback = gradc.vjp(lambda x: x * x, x)
    x.add_(1)
    with pytest.raises(gradc.GradcError, match="changed in place"):
        pullback(torch.ones_like(x))


def test_stop_gradient_of_a_tree(double):
    x = double(3)
    tree = gradc.stop_gradient({"x": x.requires_grad_(), "n": [3, None]})
    assert tree["n"] == [3, None] and not tree["x"].requires_grad

    def f(x):
        stopped = gradc.stop_gradient({"a": x, "b": (x * 2, 1)})
        return (stopped["a"] * stopped["b"][0] * x).sum()

    torch.testing.assert_close(gradc.grad(f)(x.detach()), 2 * x.detach() ** 2)


def test_buffers_are_updated_by_a_transform(double):
    norm = nn.BatchNorm1d(3).double()
    before = norm.running_mean.clone()
    gradc.grad(lambda x: norm(x).pow(3).sum())(double(5, 3))
    assert not torch.equal(norm.running_mean, before)


def test_requires_grad_is_seen_inside(double):
    def f(x, y):
        return (x * 2).sum() if x.requires_grad and not y.requires_grad else (x * 3).sum()

    assert torch.equal(
        gradc.grad(f)(double(2), double(2)), torch.full((2,), 2.0, dtype=torch.float64)
    )


def test_the_package_lists_public_names_only():
    assert dir(gradc) == sorted(gradc.__all__)
    assert all(getattr(gradc, name) is not None for name in dir(gradc))
