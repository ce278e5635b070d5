"""``torch.cond`` and ``torch.while_loop`` through both doors, against the same in plain Python."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch._higher_order_ops.while_loop import while_loop

import gradc


def _tape(function: Callable, *arguments: torch.Tensor) -> tuple[torch.Tensor, list]:
    """Value and gradients through ``backward``."""
    leaves = [x.clone().requires_grad_() if x.is_floating_point() else x.clone() for x in arguments]
    value = function(*leaves)
    value.sum().backward()
    return value.detach(), [x.grad for x in leaves]


def _assert_like(compiled: Callable, plain: Callable, *arguments: torch.Tensor) -> None:
    """The same values and gradients, on the tape and by a transform."""
    value, gradients = _tape(plain, *arguments)
    got, got_gradients = _tape(torch.compile(compiled, backend="gradc"), *arguments)
    torch.testing.assert_close(got, value)
    for g, e in zip(got_gradients, gradients, strict=True):
        if e is not None:
            torch.testing.assert_close(g, e)
        elif g is not None:
            # At a join a path may be seen that no execution takes.
            assert not g.any()
    argnums = tuple(i for i, x in enumerate(arguments) if x.is_floating_point())
    transformed = gradc.grad(lambda *xs: compiled(*xs).sum(), argnums=argnums)(*arguments)
    for i, g in zip(argnums, transformed, strict=True):
        expected = gradients[i]
        torch.testing.assert_close(g, torch.zeros_like(g) if expected is None else expected)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_cond(double, sign: float) -> None:
    def compiled(x, w):
        return torch.cond(x.sum() > 0, lambda a, b: (a * b).sin(), lambda a, b: a - b * b, (x, w))

    def plain(x, w):
        return (x * w).sin() if x.sum() > 0 else x - w * w

    _assert_like(compiled, plain, double(3).abs() * sign, double(3))


def test_cond_differentiates_the_side_taken(double) -> None:
    # The other side has a gradient of NaN.
    def compiled(x):
        return torch.cond(x.sum() > 0, lambda a: a.sqrt(), lambda a: a * 2, (x,))

    def plain(x):
        return x.sqrt() if x.sum() > 0 else x * 2

    _assert_like(compiled, plain, -double(3).abs())
    _assert_like(compiled, plain, double(3).abs())


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_cond_with_closures_and_barriers(double, sign: float) -> None:
    weight = double(3)

    def taken(a):
        with torch.no_grad():
            scale = (a * weight).exp()
        return a * scale + a.detach()

    def compiled(x):
        return torch.cond(x[0] > 0, taken, lambda a: a * weight, (x,))

    def plain(x):
        return taken(x) if x[0] > 0 else x * weight

    _assert_like(compiled, plain, double(3).abs() * sign)


@pytest.mark.parametrize("point", [(2.0, 1.0), (2.0, -1.0), (-2.0, 1.0)])
def test_nested_cond(point: tuple[float, float]) -> None:
    def inner(a):
        return torch.cond(a[1] > 0, lambda b: b.exp(), lambda b: b.tanh(), (a,))

    def compiled(x):
        return torch.cond(x[0] > 0, lambda a: inner(a) * a, lambda a: a * a * a, (x,))

    def plain(x):
        if x[0] > 0:
            return (x.exp() if x[1] > 0 else x.tanh()) * x
        return x * x * x

    _assert_like(compiled, plain, torch.tensor(point, dtype=torch.float64))


@pytest.mark.parametrize("limit", [0, 1, 5])
def test_while_loop(double, limit: int) -> None:
    def compiled(x, w, n):
        def condition(i, y):
            return i < n

        def body(i, y):
            return i + 1, (y * w).sin() + x

        return while_loop(condition, body, (torch.zeros((), dtype=torch.int64), x * 2))[1]

    def plain(x, w, n):
        y = x * 2
        for _ in range(int(n)):
            y = (y * w).sin() + x
        return y

    _assert_like(compiled, plain, double(3), double(3), torch.tensor(limit))


def test_while_loop_that_depends_on_values(double) -> None:
    def compiled(x, w):
        def condition(y, k):
            return y.norm() < 10

        def body(y, k):
            return torch.cond(k > 1, lambda a: a * a + 1, lambda a: a * 2 + w, (y,)), k + 1

        return while_loop(condition, body, (x.clone(), torch.zeros(())))[0]

    def plain(x, w):
        y, k = x.clone(), 0
        while y.norm() < 10:
            y, k = (y * y + 1 if k > 1 else y * 2 + w), k + 1
        return y

    _assert_like(compiled, plain, double(3).abs(), double(3).abs())


def _nested(n, m, step, x, y):
    """``step`` in a loop in a loop; both loops run a number of times that the data decide."""

    def outer(i, y):
        def inner(j, z):
            return j + 1, step(z, y, x)

        start = torch.zeros((), dtype=torch.int64)
        z = while_loop(lambda j, z: j < m + i, inner, (start, y))[1]
        return i + 1, z * 0.5 + y

    return while_loop(lambda i, y: i < n, outer, (torch.zeros((), dtype=torch.int64), y))[1]


def _nested_plain(n, m, step, x, y):
    for i in range(int(n)):
        z = y
        for _ in range(int(m) + i):
            z = step(z, y, x)
        y = z * 0.5 + y
    return y


@pytest.mark.parametrize(("n", "m"), [(0, 2), (1, 0), (3, 1), (2, 3)])
def test_loop_in_a_loop(double, n: int, m: int) -> None:
    def step(z, y, x):
        return (z * x).sin() + y

    _assert_like(
        lambda x, y, n, m: _nested(n, m, step, x, y.clone()),
        lambda x, y, n, m: _nested_plain(n, m, step, x, y.clone()),
        *(double(3), double(3), torch.tensor(n), torch.tensor(m)),
    )


def test_loop_in_a_loop_in_a_loop(double) -> None:
    limit = torch.tensor(2)

    def step(z, y, x):
        return _nested(limit, limit, lambda a, b, c: (a * c).tanh() + b, x, z) * 0.1 + y

    def step_plain(z, y, x):
        return _nested_plain(limit, limit, lambda a, b, c: (a * c).tanh() + b, x, z) * 0.1 + y

    _assert_like(
        lambda x, y: _nested(limit, limit, step, x, y.clone()),
        lambda x, y: _nested_plain(limit, limit, step_plain, x, y.clone()),
        *(double(3), double(3)),
    )


def test_loop_in_a_loop_swaps_what_both_carry(double) -> None:
    def compiled(x, y):
        def outer(i, a, b):
            def inner(j, p, q):
                return j + 1, q.clone(), p * 0.5 + b

            start = torch.zeros((), dtype=torch.int64)
            _, p, q = while_loop(lambda j, p, q: j < 3, inner, (start, a, b))
            return i + 1, q.clone(), p + a

        _, a, b = while_loop(
            lambda i, a, b: i < 2, outer, (torch.zeros((), dtype=torch.int64), x.sin(), y.sin())
        )
        return a - b * b

    def plain(x, y):
        a, b = x.sin(), y.sin()
        for _ in range(2):
            p, q = a, b
            for _ in range(3):
                p, q = q, p * 0.5 + b
            a, b = q, p + a
        return a - b * b

    _assert_like(compiled, plain, double(3), double(3))


def test_second_derivative_of_a_loop(double) -> None:
    def compiled(x):
        def body(i, y):
            return i + 1, y.sin() * x

        zero = torch.zeros((), dtype=torch.int64)
        return while_loop(lambda i, y: i < 3, body, (zero, x))[1].sum()

    def plain(x):
        y = x
        for _ in range(3):
            y = y.sin() * x
        return y.sum()

    x = double(3)
    expected = torch.autograd.functional.hessian(plain, x)
    torch.testing.assert_close(gradc.hessian(compiled)(x), expected)


def test_random_numbers_under_control_flow_are_refused() -> None:
    def compiled(x):
        return torch.cond(x.sum() > 0, lambda a: a * torch.rand_like(a), torch.sin, (x,))

    with pytest.raises(gradc.UnsupportedError, match="random numbers under control flow"):
        torch.compile(compiled, backend="gradc")(torch.ones(3))
