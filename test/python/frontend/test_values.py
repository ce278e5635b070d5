"""Values and derivatives of the functional graph equal eager's, kinks included."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from frontend_reference import assert_like_eager
from torch import nn


def f64(*shape: int) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64, requires_grad=True)


def leaf(values: list) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


KINKS = [-1000.0, -6.0, -3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 6.0, 20.0, 1000.0]
TIES = [[1.0, 1.0, 0.0], [2.0, 3.0, 3.0]]
ZEROS = [[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    "name",
    "relu relu6 hardtanh hardswish leaky_relu elu selu celu gelu silu mish softplus logsigmoid "
    "softsign tanhshrink softshrink hardshrink sigmoid tanh".split(),
)
def test_activation_at_its_kinks(name):
    assert_like_eager(getattr(F, name), leaf(KINKS), order=1, rtol=1e-10)


def test_hardsigmoid():
    # Eager's own derivative is f32's sixth.
    assert_like_eager(F.hardsigmoid, leaf(KINKS), order=1, rtol=1e-8)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: F.gelu(x, approximate="tanh"),
        lambda x: (x.clamp(-1, 1), x.clamp(min=0), x.clamp(max=3)),
        lambda x: (x.abs(), x.sign() * x, x.floor() + x, x**0),
        lambda x: F.threshold(x, 0.5, 9.0),
        lambda x: torch.nan_to_num(x / x),
    ],
)
def test_elementwise_at_kinks(function):
    assert_like_eager(function, leaf(KINKS), order=1)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x.amax(1), x.amin(0, keepdim=True), x.max(), x.min()),
        lambda x: (x.max(1).values, x.max(1).indices, x.min(0, keepdim=True).values),
        lambda x: (torch.maximum(x, x.new_ones(2, 1)), torch.minimum(x, x[0])),
        lambda x: torch.logaddexp(x, x.new_ones(3)),
    ],
)
def test_ties(function):
    assert_like_eager(function, leaf(TIES))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.norm(dim=1),
        lambda x: torch.linalg.vector_norm(x, ord=1),
        lambda x: x.norm(p=float("inf"), dim=1),
        lambda x: x.norm(p=3, dim=1),
        lambda x: (x.prod(), x.prod(1), x.cumprod(1), x.cumsum(0)),
        lambda x: F.normalize(x, dim=1),
        lambda x: F.cosine_similarity(x, x.flip(0)),
        lambda x: x.std(1),
        lambda x: (torch.cdist(x, x), torch.cdist(x, x.flip(0), p=1.0)),
        lambda x: (x.renorm(2, 0, 1.0), torch.dist(x, x.flip(0))),
    ],
)
def test_zeros(function):
    assert_like_eager(function, leaf(ZEROS), order=1)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: F.softmax(x, 1),
        lambda x: F.log_softmax(x, 0),
        lambda x: torch.logsumexp(x, 1),
        lambda x: torch.logsumexp(torch.cat([x, x.new_full((1, 4), -torch.inf)]), 1),
        lambda x: F.layer_norm(x, (4,)),
        lambda x: (x.var(1), x.std(), torch.var_mean(x, 0, correction=0)[1]),
        lambda x: (x**2, x**3, x**4, (x.abs() + 1) ** -0.5, (x.abs() + 1) ** 1.7, 2.0**x),
        lambda x: F.rms_norm(x, (4,)),
        lambda x: F.glu(x),
        lambda x: x.unfold(1, 2, 1) * 2,
        lambda x: F.pad(x[None], (1, 2), mode="reflect") ** 2,
        lambda x: (x.split(2, 1)[0] * x.chunk(2, 1)[1], x.unbind(0)[1]),
        lambda x: torch.fmod(x, 1.5) + torch.remainder(x, 2.0),
        lambda x: F.one_hot(x.argmax(1), 4) * x + x.scatter(1, x.argmax(1, True), 2.0),
    ],
)
def test_smooth(function):
    assert_like_eager(function, f64(3, 4))


@pytest.mark.parametrize(
    "name",
    ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy_with_logits"],
)
def test_loss(name):
    target = torch.rand(3, 4, dtype=torch.float64)
    assert_like_eager(lambda x, t: getattr(F, name)(x, t), f64(3, 4), target)


def test_binary_cross_entropy_at_the_edges():
    target = torch.tensor([0.0, 1.0, 1.0, 0.0], dtype=torch.float64)
    inside = torch.rand(4, dtype=torch.float64, requires_grad=True)
    assert_like_eager(F.binary_cross_entropy, inside, target)
    # Eager's epsilon is f32's 1e-12.
    edge = leaf([0.0, 1.0, 0.5, 1.0])
    assert_like_eager(F.binary_cross_entropy, edge, target, order=1, rtol=1e-8)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_cross_entropy(reduction):
    def function(x, t, w):
        return F.cross_entropy(
            x, t, weight=w, label_smoothing=0.1, ignore_index=1, reduction=reduction
        )

    weight = torch.rand(4, dtype=torch.float64)
    assert_like_eager(function, f64(3, 4), torch.tensor([0, 1, 3]), weight)


def test_masked_attention_with_an_empty_row():
    mask = torch.tensor([[True, False, True], [False] * 3, [True] * 3])
    assert_like_eager(
        lambda q, m: F.scaled_dot_product_attention(q, q, q, attn_mask=m),
        f64(1, 1, 3, 4),
        mask,
        order=1,
    )


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize(
    ("module", "shape"),
    [
        (lambda: nn.BatchNorm2d(3, dtype=torch.float64), (2, 3, 4, 4)),
        (lambda: nn.InstanceNorm1d(4, True, dtype=torch.float64), (2, 4, 3)),
        (
            lambda: nn.InstanceNorm1d(4, track_running_stats=True, dtype=torch.float64),
            (2, 4, 3),
        ),
        (lambda: nn.GroupNorm(2, 4, dtype=torch.float64), (2, 4, 3)),
        (lambda: nn.LayerNorm((4, 3), dtype=torch.float64), (2, 4, 3)),
        (lambda: nn.MultiheadAttention(3, 1, dtype=torch.float64), None),
        (lambda: nn.LSTMCell(3, 2, dtype=torch.float64), (2, 3)),
        (lambda: nn.ConvTranspose2d(2, 3, 3, stride=2, dtype=torch.float64), (1, 2, 4, 4)),
    ],
)
def test_modules(module, shape, training):
    args = [f64(2, 4, 3)] * 3 if shape is None else [f64(*shape)]
    assert_like_eager(module().train(training), *args, order=1, rtol=1e-10)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True),
        lambda x: F.max_pool2d(x, 2, 2, ceil_mode=True, dilation=2),
        lambda x: F.avg_pool2d(x, 3, 2, 1),
        lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
    ],
)
def test_pooling(function):
    assert_like_eager(function, f64(2, 2, 7, 6))


def test_half_precision_computes_in_f32():
    x = torch.randn(64, dtype=torch.bfloat16, requires_grad=True)
    assert_like_eager(
        lambda x: (x.sum(), x.mean(), x.var(), F.softmax(x, 0), F.gelu(x)), x, order=1, rtol=8e-3
    )


def test_half_precision_linear_rounds_once():
    linear = nn.Linear(64, 32, dtype=torch.bfloat16)
    assert_like_eager(linear, torch.randn(8, 64, dtype=torch.bfloat16), order=0, rtol=1e-6)


@pytest.mark.parametrize("shape", [(0, 4), (1, 1), (1, 4)])
def test_small_shapes(shape):
    assert_like_eager(
        lambda x: (x.sum(), x * 2, F.softmax(x, 1), x.sum(0, keepdim=True)), f64(*shape)
    )


def test_in_place():
    def function(x, b):
        b.mul_(2)
        y = x * 1
        y.add_(b)
        y[0] = 0
        y[:, 1].mul_(x[:, 0])
        y[x > 1] = 0.5
        return y.relu_()

    assert_like_eager(function, f64(3, 4), torch.randn(3, 4, dtype=torch.float64))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: F.dropout(F.dropout(x, 0.1).transpose(0, 1) * 2, 0.3),
        lambda x: x * torch.rand_like(x) + torch.randn(8),
        lambda x: x * torch.empty_like(x).bernoulli_(0.3),
        lambda x: torch.bernoulli(x.detach().transpose(0, 1), 0.3) * x.transpose(0, 1),
        lambda x: F.dropout1d(x, 0.5) + torch.randint(0, 9, (8,)),
        lambda x: F.dropout(x, 0.5, training=False) * F.dropout(x, 0.0),
    ],
)
def test_draws_are_eagers(function):
    assert_like_eager(function, f64(2, 3, 8), order=1)


def test_checkpoint_is_transparent():
    def function(x):
        inner = torch.utils.checkpoint.checkpoint(lambda t: t.sin().exp(), x, use_reentrant=False)
        return inner * x

    assert_like_eager(function, f64(3, 4))
