"""A gradient stops where eager's does, and nowhere else."""

from __future__ import annotations

import pytest
import torch
from frontend_reference import assert_like_eager, imported


def _x() -> torch.Tensor:
    return torch.randn(3, 4, dtype=torch.float64, requires_grad=True)


def _detach(x, y):
    return (x.detach() * y + x).sum()


def _detached_view(x, y):
    return x.detach().view(4, 3).t() * y


def _no_grad(x, y):
    with torch.no_grad():
        a = x.exp()
    return a * y


def _nested_enable(x, y):
    with torch.no_grad():
        a = x.exp()
        with torch.enable_grad():
            b = y.sin() * x
    return a * b


def _set_grad_enabled(x, y):
    torch.set_grad_enabled(False)
    a = x * 2
    torch.set_grad_enabled(True)
    return a * y


@torch.no_grad()
def _decorated_helper(x):
    return x.tanh()


def _decorated(x, y):
    return _decorated_helper(x) * x * y


def _pass_through(x, y):
    with torch.no_grad():
        z = torch.nn.functional.dropout(x, training=False)
    return z * y


def _view_under_no_grad(x, y):
    with torch.no_grad():
        v = x.view(-1)
    return (v * 2).sum() + (x * y).sum()


def _integers_only(x, y):
    with torch.no_grad():
        i = x.argmax(1)
    return (x * y)[0] + i.sum()


def _data(x, y):
    return x * y.data


def _straight_through(x, y):
    return x + (x.round() - x).detach() * y


def _view_of_a_view_made_under_no_grad(x, y):
    with torch.no_grad():
        turned = x.t()
    return turned[1:].sum() * y


def _plain(x, y):
    return (x * y).sum()


@pytest.mark.parametrize(
    ("function", "barriers"),
    [
        (_detach, 1),
        (_detached_view, 1),
        (_no_grad, 1),
        (_nested_enable, 1),
        (_set_grad_enabled, 1),
        (_decorated, 1),
        (_pass_through, 0),
        (_view_under_no_grad, 1),
        (_integers_only, 0),
        (_data, 1),
        (_straight_through, 1),
        (_view_of_a_view_made_under_no_grad, 1),
        (_plain, 0),
    ],
)
def test_barriers(function, barriers):
    assert_like_eager(function, _x(), _x())
    assert imported(function, _x(), _x()).mlir.count('"grad.stop_gradient"(') == barriers


def test_no_barrier_without_a_gradient():
    text = imported(_detach, _x().detach(), _x().detach()).mlir
    assert "grad.stop_gradient" not in text
    assert "grad.requires_grad" not in text


def test_inference_mode_is_a_barrier():
    def function(x, y):
        with torch.inference_mode():
            a = x * 2
        return a + y

    # Capture itself fails once an inference tensor would be saved for backward.
    gm_inputs = [_x().detach(), _x().detach()]
    assert_like_eager(function, *gm_inputs)


def _write_under_no_grad(x, w):
    y = w * 2
    with torch.no_grad():
        y.add_(x)
        y[0].zero_()
        y.clamp_(min=-1)
    return y * x


def _write_into_detached(x, y):
    x = x * 1
    x.detach().mul_(2)
    return x * y


def _buffer_write(x, b):
    b = b.detach().clone()
    with torch.no_grad():
        b.copy_(x)
    return x * b


@pytest.mark.parametrize(
    ("function", "joins"),
    # The fourth of the first is clamp's own.
    [(_write_under_no_grad, 4), (_write_into_detached, 1), (_buffer_write, 0)],
)
def test_writes_off_the_gradient_path(function, joins):
    assert_like_eager(function, _x(), _x())
    assert imported(function, _x(), _x()).mlir.count('"grad.value_of"(') == joins


def test_batch_norm_statistics_do_not_carry():
    program = imported(torch.nn.BatchNorm1d(4), torch.randn(5, 4, requires_grad=True))
    assert [s.requires_grad for s in program.outputs if s.kind == "mutation"] == [False] * 3
    # One barrier for the mean, one for the variance.
    assert program.mlir.count('"grad.stop_gradient"(') == 2


@pytest.mark.parametrize(
    "write",
    [
        lambda y, x: y.zero_(),
        lambda y, x: y.fill_(x[0, 0].detach()),
        lambda y, x: y.copy_(x),
        lambda y, x: y.__setitem__(slice(None), 2.0),
        lambda y, x: y.view(-1).zero_(),
    ],
)
def test_what_is_overwritten_keeps_a_path(write):
    def function(x, w):
        y = w * 2
        write(y, x)
        return y

    assert_like_eager(function, _x(), _x())
