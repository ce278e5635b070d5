"""Every form of gradient mode and of detaching, through the tape and the transforms, as eager has
it."""

from __future__ import annotations

import threading

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import gradc

FORMS = {}


def form(function):
    FORMS[function.__name__] = function
    return function


@form
def no_grad(x):
    with torch.no_grad():
        c = x * x
    return c * x, c


@form
def nested_either_way(x):
    with torch.enable_grad(), torch.no_grad():
        a = x * x
        with torch.enable_grad():
            b = x * 2
        c = x * 3
    d = x * 4
    return a * b * c * d, a, b, c, d


@form
def set_grad_enabled_called(x):
    torch.set_grad_enabled(False)
    a = x * x
    torch.set_grad_enabled(True)
    b = x * 2
    return a * b, a


@form
def set_grad_enabled_as_context(x):
    with torch.set_grad_enabled(False):
        a = x * x
        with torch.set_grad_enabled(True):
            b = x * 3
    return a * b, a, b


@form
def inference_mode(x):
    with torch.inference_mode():
        a = x.detach() * x
    return a.clone() * x


@form
def inference_mode_off(x):
    with torch.inference_mode(False):
        a = x * x
    with torch.no_grad():
        with torch.inference_mode(False):
            b = x * x
        c = x * x
    return a * x * b, c


@torch.no_grad()
def _double(v):
    return v * 2


@torch.enable_grad()
def _tracked_double(v):
    return v * 2


@torch.inference_mode()
def _inference_double(v):
    return v * 2


@form
def decorated_helpers(x):
    with torch.no_grad():
        a = _double(x)
        b = x * 3
        c = _tracked_double(x)
    return a * b * c * x, _double(x) * x, _tracked_double(x) * x, _inference_double(x).clone() * x


@form
def detached(x):
    return x.detach() * x, x.data * x, torch.Tensor.detach(x) * x


@form
def detached_in_place(x):
    z = x * 2
    w = z.detach_()
    return w * x, x.expand(2, 3).clone().detach_() * x


@form
def required_again(x):
    z = x * 2
    z.requires_grad_()
    return z * x


@form
def in_place_off_the_path(x):
    z = x * 1.0
    with torch.no_grad():
        z.mul_(2)
        z += 1
    return z * z


@form
def in_place_off_the_path_through_views(x):
    z = x * 1.0
    with torch.no_grad():
        z[0] = 5.0
        z[1:].mul_(3)
    return z * z


@form
def in_place_through_data(x):
    z = x * 1.0
    z.data.mul_(2)
    w = x * 1.0
    w.detach().mul_(3)
    return z * z, w * w


@form
def copied_under_no_grad(x):
    y = torch.zeros(3, dtype=torch.float64)
    with torch.no_grad():
        y.copy_(x)
    z = torch.zeros(3, dtype=torch.float64)
    z[0] = x[1]
    return y * x, z * x


@form
def left_by_an_exception(x):
    try:
        with torch.no_grad():
            a = x * 2
            raise ValueError
    except ValueError:
        b = x * 3
    return a * b, a


@form
def chosen_between_path_and_none(x):
    return torch.where(x > 1, x, x.detach() * 5)


@form
def integers_between(x):
    return (x > 1).double() * x, x.long() * x, x.round().detach() * x


@form
def modes_and_flags_read(x):
    with torch.no_grad():
        off = 2.0 if torch.is_grad_enabled() else 5.0
    y = x * 2
    on = 3.0 if y.requires_grad else 1.0
    return x * off * on * (1.0 if y.detach().requires_grad else 2.0)


@form
def passed_through(x):
    y = x * 2
    with torch.no_grad():
        z = y
        w = y[:2]
        v = nn.functional.dropout(y, 0.5, training=False)
        u = y.contiguous()
        t = y.to(torch.float64)
    return z * x, w * x[:2], v * x, u * x, t * x


@form
def aliases_returned(x):
    y = x * 2
    return y, y, y.view(3, 1), y.detach(), x[:2]


@form
def stopped_tree(x):
    tree = gradc.stop_gradient({"a": x * 2, "b": [x, 3, None, (x.long(),)]})
    return tree["a"] * x * tree["b"][1] + tree["b"][0] * tree["b"][3][0]


@form
def checkpointed(x):
    return checkpoint(lambda v: v.sin() * v.detach(), x, use_reentrant=False)


@form
def overwritten(x):
    """What was there before gets a gradient of zero, not none."""
    z, w, v = x * 2, x * 3, x * 4
    z.zero_()
    w[:] = 5.0
    v.view(3, 1).copy_(x.detach()[:, None])
    return z, w, v


@form
def view_of_a_view_made_under_no_grad(x):
    with torch.no_grad():
        v = x.view(3, 1)
    return v[1:] * x


@form
def written_into_out(x):
    y = torch.empty_like(x)
    torch.mul(x.detach(), 2, out=y)
    return y * x


def _values():
    return torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)


def _outputs(result):
    return result if isinstance(result, tuple) else (result,)


def _by_tape(function):
    x = _values().requires_grad_()
    outputs = _outputs(function(x))
    flags = [out.requires_grad for out in outputs]
    total = sum((k + 1) * out.sum() for k, out in enumerate(outputs) if out.requires_grad)
    gradient = None
    if isinstance(total, torch.Tensor):
        (gradient,) = torch.autograd.grad(total, x, allow_unused=True)
    return [out.detach() for out in outputs], flags, gradient


@pytest.mark.parametrize("name", FORMS)
def test_tape(name):
    values, flags, gradient = _by_tape(FORMS[name])
    own_values, own_flags, own_gradient = _by_tape(gradc.compile(FORMS[name], fullgraph=True))
    assert own_flags == flags
    torch.testing.assert_close(own_values, values)
    torch.testing.assert_close(own_gradient, gradient)


#: Forms that ask for or set requires_grad, which arguments of a jvp do not have when captured.
ON_A_TAPE_ONLY = {"modes_and_flags_read", "required_again"}


@pytest.mark.parametrize("outer", [torch.enable_grad, torch.no_grad, torch.inference_mode])
@pytest.mark.parametrize("name", FORMS)
def test_transform_in_either_mode(name, outer):
    function = FORMS[name]
    _, flags, gradient = _by_tape(function)
    gradient = torch.zeros(3, dtype=torch.float64) if gradient is None else gradient

    def total(x):
        outputs = _outputs(function(x))
        return sum((k + 1) * out.sum() for k, out in enumerate(outputs) if flags[k])

    with outer():
        torch.testing.assert_close(gradc.grad(total)(_values()), gradient)
        if name not in ON_A_TAPE_ONLY:
            tangent = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
            _, pushed = gradc.jvp(total, (_values(),), (tangent,))
            torch.testing.assert_close(pushed, (gradient * tangent).sum())


def _fresh_leaf(x):
    y = x.detach().requires_grad_()
    z = y * 2
    return z * x, z.detach() * x


def _constant_leaf(x):
    w = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    return w * x, torch.zeros_like(x, requires_grad=True) * 2


@pytest.mark.parametrize("function", [_fresh_leaf, _constant_leaf])
def test_leaves_made_inside(function):
    """The tape breaks the graph there; transforms see a leaf made of the argument as one graph."""
    values, flags, gradient = _by_tape(function)
    own_values, own_flags, own_gradient = _by_tape(gradc.compile(function))
    assert own_flags == flags
    torch.testing.assert_close(own_values, values)
    torch.testing.assert_close(own_gradient, gradient)

    def total(x):
        return function(x)[0].sum()

    if function is _fresh_leaf:
        x = _values().requires_grad_()
        expected = torch.autograd.grad(total(x), x)[0]
        torch.testing.assert_close(gradc.grad(total)(_values()), expected)
    else:
        with pytest.raises(gradc.CaptureError, match="requires_grad"):
            gradc.grad(total)(_values())


@pytest.mark.parametrize("enabled", [True, False])
def test_mode_chosen_by_an_argument(enabled):
    def f(x, flag):
        with torch.set_grad_enabled(flag):
            a = x * x
        return a * x

    x = _values()
    wanted = 3 * x * x if enabled else x * x
    torch.testing.assert_close(gradc.grad(lambda x: f(x, enabled).sum())(x), wanted)
    leaf = x.clone().requires_grad_()
    gradc.compile(f)(leaf, enabled).sum().backward()
    torch.testing.assert_close(leaf.grad, wanted)


def test_programs_of_both_modes_are_kept_apart():
    def f(x):
        return x * x

    compiled = gradc.compile(f)
    for _ in range(2):
        x = _values().requires_grad_()
        with torch.no_grad():
            assert not compiled(x).requires_grad
        with torch.inference_mode():
            assert compiled(_values()).is_inference()
        assert not compiled(x.detach()).requires_grad
        compiled(x).sum().backward()
        torch.testing.assert_close(x.grad, 2 * x.detach())


def test_equal_expressions_in_both_modes_are_not_merged():
    def f(x):
        a = torch.exp(x)
        with torch.no_grad():
            b = torch.exp(x)
        return (a * b).sum()

    x = _values()
    torch.testing.assert_close(gradc.grad(f)(x), torch.exp(x) ** 2)
    torch.testing.assert_close(gradc.hessian(f)(x), torch.diag(torch.exp(x) ** 2))


def test_modes_belong_to_a_thread():
    def f(x):
        with torch.no_grad():
            c = x * x
        return (c * x).sum()

    compiled = gradc.compile(f)
    x = _values()
    found = []

    def work(enabled):
        for _ in range(5):
            with torch.set_grad_enabled(enabled):
                leaf = x.clone().requires_grad_()
                out = compiled(leaf)
                if enabled:
                    out.backward()
                    found.append(torch.equal(leaf.grad, x * x))
                else:
                    found.append(not out.requires_grad)
                found.append(torch.equal(gradc.grad(f)(x), x * x))
                found.append(torch.is_grad_enabled() is enabled)

    threads = [threading.Thread(target=work, args=(k % 2 == 0,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 60 and all(found)


def test_frozen_parameters():
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
    model[0].requires_grad_(False)
    x = torch.ones(5, 3, dtype=torch.float64)
    out = gradc.compile(model)(x)
    out.pow(2).sum().backward()
    assert model[0].weight.grad is None
    wanted = torch.autograd.grad(model(x).pow(2).sum(), list(model[2].parameters()))
    torch.testing.assert_close([p.grad for p in model[2].parameters()], list(wanted))
    model[2].requires_grad_(False)
    assert not gradc.compile(model)(x).requires_grad
    model[0].weight.requires_grad_(True)
    gradients = gradc.grad(lambda model, x: model(x).pow(2).sum())(model, x)
    assert list(gradients) == ["0.weight"]


def test_an_error_inside_restores_the_mode():
    def f(x):
        with torch.no_grad():
            return torch.linalg.svd(x[None])[1]

    for function in (gradc.compile(f, fullgraph=True), lambda x: gradc.vjp(f, x)):
        with pytest.raises(RuntimeError):
            function(_values().requires_grad_())
        assert torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
