"""Scatters, sorting and edges of values: the functional graph against eager."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from frontend_reference import assert_like_eager

ROWS = torch.tensor([0, 0, -1])
PAIR = torch.tensor([0, 1])
INDEX = torch.tensor([[0, 1, 2, 0], [2, 0, 0, 1]])
inf, nan = float("inf"), float("nan")


def leaf(values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def grid():
    return leaf([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]])


def source(*shape):
    return torch.randn(shape, dtype=torch.float64, requires_grad=True)


def _written(x, v):
    y = x * 1.0
    y[:, torch.tensor([0, 2])] = v[:2]
    y[1, torch.tensor([1, 3])] = v[0] * 2
    y[x > 9] = v[2]
    return y


def _written_apart(x, v):
    y = torch.stack([x, x])
    y[PAIR, :, PAIR + 1] = v
    return y


def _written_view(x):
    y = x * 1.0
    y.as_strided((2,), (2,), 1).mul_(x[0, :2])
    return y


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda x, v: x.index_put((ROWS, ROWS), v, accumulate=True), (3,)),
        (_written_apart, (2, 3)),
        (_written, (3,)),
        (lambda x, s: x.scatter(0, INDEX[:1], s), (1, 4)),
        (lambda x, s: x.scatter_add(0, INDEX, s), (2, 4)),
        (lambda x, s: x.scatter_reduce(0, INDEX, s, "mean", include_self=False), (2, 4)),
        (lambda x, s: x.index_add(1, PAIR[[0, 0, 1]], s, alpha=2), (3, 3)),
        (lambda x, s: x.index_copy(1, torch.tensor([0, 3]), s), (3, 2)),
        (lambda x, s: x.put(ROWS, s, accumulate=True), (3,)),
        (lambda x, s: x.masked_scatter(x > 8, s), (5,)),
        (lambda x, s: x.diagonal_scatter(s, offset=1), (3,)),
    ],
)
def test_scatter(function, shape):
    assert_like_eager(function, grid(), source(*shape))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.as_strided((3, 3), (1, 1)),
        _written_view,
        lambda x: x.sort(dim=1, descending=True, stable=True),
        lambda x: (x.topk(2, 1).values, x.kthvalue(2, 0).values, x.median(), x.median(1).values),
        lambda x: (x.cummax(1).values, x.cummin(0).values, x.nanmedian(), x.quantile(0.3, dim=1)),
        lambda x: (x.index_fill(1, torch.tensor([0, 3]), 2.0), x.argsort(1) * x),
    ],
)
def test_views_and_orders(function):
    assert_like_eager(function, grid())


def test_equal_elements_and_nan_in_order():
    x = leaf([[1.0, 3.0, 3.0, 2.0], [nan, 1.0, 0.0, 1.0], [2.0, 2.0, 2.0, 2.0]])
    assert_like_eager(lambda x: (x.sort(dim=1, stable=True).values, x.cummax(1).values), x)
    assert_like_eager(lambda x: (x.median(), x.median(1).values, x.max(), x[0].min()), x, order=1)


def test_overwriting_twice_gives_the_gradient_to_the_last():
    import gradc

    def f(v):
        return (torch.zeros(2, dtype=v.dtype).index_put((ROWS[:2],), v)).sum()

    assert gradc.grad(f)(torch.ones(2, dtype=torch.float64)).tolist() == [0.0, 1.0]


def test_padding_and_frequencies_of_an_embedding():
    index = torch.tensor([0, 1, 1, 3])
    assert_like_eager(lambda w: F.embedding(index, w, padding_idx=1), source(4, 3))
    assert_like_eager(
        lambda w: F.embedding(index, w, scale_grad_by_freq=True), source(4, 3), order=1
    )


def test_negative_padding():
    assert_like_eager(lambda x: F.pad(x, (-1, 1, 1, -1), value=3.0), grid())


EDGES = [-inf, -1000.0, -3.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 3.0, 1000.0, inf, nan]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (F.hardswish(x), F.elu(x), F.softshrink(x), x.clamp(-1, 1), x.clamp(0.5, -0.5)),
        lambda x: (x.sign(), x.sgn(), x == x, x.isfinite(), x.reciprocal(), torch.erfc(x)),
        lambda x: (torch.logit(x), torch.logit(x, 0.1), torch.fmax(x, x[4]), torch.fmin(x, x[4])),
        lambda x: (torch.xlogy(x, x), torch.logaddexp(x, x[5]), torch.logaddexp2(x, x)),
        lambda x: (x.logsumexp(0), x.argmax(), x.argmin(), torch.copysign(x, x[3])),
        lambda x: F.multi_margin_loss(x[:9].reshape(3, 3), torch.tensor([0, 1, 2])),
    ],
)
def test_edges(function):
    assert_like_eager(function, leaf(EDGES), order=1)


def test_hardsigmoid_and_clamp_at_nan():
    assert_like_eager(F.hardsigmoid, leaf(EDGES), order=1)
    low, high = leaf([0.0, 1.0, 0.0, 5.0, 1.0, nan]), leaf([2.0, 1.0, 2.0, 4.0, nan, 2.0])
    assert_like_eager(torch.clamp, leaf([0.0, 1.0, 2.0, 3.0, 1.0, 1.0]), low, high, order=1)
