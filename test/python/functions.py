"""Differentiable functions to check gradients with: see test_gradients.py.

Each entry gives the shapes of its tensors for a size ``a`` and a size ``b``. Inputs listed in
``integers`` are class numbers or row numbers below the given bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F


@dataclass(frozen=True)
class Function:
    name: str
    call: Callable
    shapes: Callable[[int, int], list[tuple[int, ...]]]
    integers: dict[int, int] = field(default_factory=dict)
    positive: bool = False
    empty: bool = True  # defined for tensors without elements
    single: bool = True  # defined for sizes of one


def _same(count: int) -> Callable[[int, int], list[tuple[int, ...]]]:
    return lambda a, b: [(a, b)] * count


def _mlp(x, w1, b1, w2, b2, labels):
    return F.cross_entropy(torch.tanh(x @ w1 + b1) @ w2 + b2, labels)


def _cnn(image, kernel, gamma, beta, w, labels):
    """A convolutional net in train mode."""
    h = F.conv2d(image, kernel, padding=1)
    h = F.batch_norm(h, None, None, gamma, beta, training=True)
    h = F.max_pool2d(torch.relu(h), 2)
    return F.cross_entropy(h.flatten(1) @ w, labels)


def _attention(q, k, v):
    weights = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, -1)
    return weights @ v


def _lstm_cell(x, h, c, w, u):
    i, f, g, o = (x @ w + h @ u).chunk(4, 1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c)


FUNCTIONS = [
    # Elementwise.
    Function("exp_sin", lambda x, y: x.exp() * y.sin(), _same(2)),
    Function("tanh_cos", lambda x: torch.tanh(x) - torch.cos(x), _same(1)),
    Function("log_sqrt", lambda x: x.log() + x.sqrt() + x.rsqrt(), _same(1), positive=True),
    Function("divide", lambda x, y: x / (y * y + 1), _same(2)),
    Function("powers", lambda x: x**2 + x**3 - 2**x, _same(1)),
    Function("power_of_tensor", lambda x, y: x**y, _same(2), positive=True),
    Function("sigmoid_silu", lambda x: torch.sigmoid(x) + F.silu(x), _same(1)),
    Function("relu_leaky", lambda x: torch.relu(x) + F.leaky_relu(x, 0.2), _same(1)),
    Function("gelu", F.gelu, _same(1)),
    Function("softplus_elu", lambda x: F.softplus(x) + F.elu(x), _same(1)),
    Function("erf_expm1_log1p", lambda x: x.erf() + x.expm1() + (x * x).log1p(), _same(1)),
    Function("atan_sinh", lambda x, y: torch.atan2(x, y) + torch.sinh(x), _same(2)),
    Function("clamp_abs", lambda x: x.clamp(-0.5, 0.7) + x.abs(), _same(1)),
    Function("where_maximum", lambda x, y: torch.where(x > 0, x, y) * torch.max(x, y), _same(2)),
    Function("broadcast", lambda x, y, z: x * y + z, lambda a, b: [(a, b), (b,), (a, 1)]),
    # Reductions.
    Function("sum_dim", lambda x: x.sum(1) * x.sum(), _same(1)),
    Function("mean_keepdim", lambda x: x - x.mean(1, keepdim=True), _same(1), empty=False),
    Function("variance", lambda x: x.var(1, correction=0).sum() + x.std(0, correction=0), _same(1),
             empty=False),
    Function("amax", lambda x: x.amax(1).sum() - x.amin(0), _same(1), empty=False),
    Function("max_index", lambda x: x.max(1).values, _same(1), empty=False),
    Function("logsumexp", lambda x: x.logsumexp(1), _same(1), empty=False),
    Function("softmax", lambda x: torch.softmax(x, 1) * x, _same(1), empty=False),
    Function("log_softmax", lambda x: torch.log_softmax(x, 0), _same(1), empty=False),
    Function("norm", lambda x: x.norm() + x.norm(dim=1).sum(), _same(1), empty=False),
    # Contractions.
    Function("matmul", lambda x, y: x @ y, lambda a, b: [(a, b), (b, a)]),
    Function("batched_matmul", lambda x, y: x @ y, lambda a, b: [(2, a, b), (2, b, 3)]),
    Function("matrix_vector", lambda x, y: x @ y, lambda a, b: [(a, b), (b,)]),
    Function("linear", F.linear, lambda a, b: [(2, a, b), (4, b), (4,)]),
    Function("einsum", lambda x, y: torch.einsum("ij,kj->ik", x, y), lambda a, b: [(a, b), (3, b)]),
    Function(
        "conv2d", lambda x, w, b: F.conv2d(x, w, b, stride=2, padding=1),
        lambda a, b: [(2, a, 6, 7), (b, a, 3, 3), (b,)], empty=False,
    ),
    Function("avg_pool", lambda x: F.avg_pool2d(x, 2), lambda a, b: [(a, b, 4, 6)], empty=False),
    Function("max_pool", lambda x: F.max_pool2d(x, 2), lambda a, b: [(a, b, 4, 6)], empty=False),
    Function("attention", _attention, lambda a, b: [(2, a, b)] * 3, empty=False),
    # Data movement.
    Function("transpose_reshape", lambda x: x.t().reshape(-1) * 2, _same(1)),
    Function("slice_cat", lambda x, y: torch.cat([x[:, ::2], y * 2], 1), _same(2)),
    Function("pad_flip", lambda x: F.pad(x.flip(1), (1, 2)), _same(1)),
    Function("stack_expand", lambda x, y: torch.stack([x, y]).expand(2, *x.shape), _same(2)),
    Function("gather_rows", lambda x, i: x[i], lambda a, b: [(5, b), (a,)], {1: 5}),
    Function("embedding", lambda w, i: F.embedding(i, w), lambda a, b: [(5, b), (a, 2)], {1: 5}),
    # Losses and models.
    Function("mse", F.mse_loss, _same(2), empty=False),
    Function("cross_entropy", F.cross_entropy, lambda a, b: [(a, b + 1), (a,)], {1: 2},
             empty=False),
    Function("bce_logits", lambda x, y: F.binary_cross_entropy_with_logits(x, y.sigmoid()),
             _same(2), empty=False),
    Function("layer_norm", lambda x, g, b: F.layer_norm(x, g.shape, g, b),
             lambda a, b: [(a, b), (b,), (b,)], empty=False),
    Function("lstm_cell", _lstm_cell, lambda a, b: [(a, b)] + [(a, 3)] * 2 + [(b, 12), (3, 12)]),
    Function("mlp", _mlp, lambda a, b: [(a, b), (b, 4), (4,), (4, 3), (3,), (a,)], {5: 3},
             empty=False),
    Function("cnn_train", _cnn,
             lambda a, b: [(a, 2, 6, 6), (b, 2, 3, 3), (b,), (b,), (9 * b, 4), (a,)], {5: 4},
             empty=False),
]  # fmt: skip
