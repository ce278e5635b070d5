"""The benchmark rows: a scalar loss each, its inputs, and which of them are differentiated.

A loss is written once against a namespace ``m`` of array functions, which `torch_namespace` and
`jax_namespace` provide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Row:
    """``inputs(rng)`` are the arguments of ``loss(m, *inputs)``; ``argnums`` get gradients."""

    loss: Callable[..., Any]
    inputs: Callable[[np.random.Generator], list[np.ndarray]]
    argnums: tuple[int, ...]


def _normal(rng: np.random.Generator, *shape: int, scale: float = 1.0) -> np.ndarray:
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def _chain(m, x):
    for _ in range(5):
        x = m.tanh(x) * 0.9 + m.sin(x)
        x = m.exp(-x * x)
    return m.sum(x)


def _layernorm(m, x, gain, bias):
    centred = x - m.mean(x)
    y = centred / m.sqrt(m.mean(centred * centred) + 1e-5) * gain + bias
    return m.sum(y * y)


def _softmax_xent(m, scores, labels):
    return m.cross_entropy(scores, labels)


def _mlp(m, x, w1, b1, w2, b2, w3, b3, labels):
    hidden = m.tanh(m.tanh(x @ w1 + b1) @ w2 + b2)
    return m.cross_entropy(hidden @ w3 + b3, labels)


def _mlp_inputs(batch: int) -> Callable[[np.random.Generator], list[np.ndarray]]:
    def make(rng: np.random.Generator) -> list[np.ndarray]:
        arrays = [_normal(rng, batch, 784)]
        for rows, columns in ((784, 512), (512, 512), (512, 10)):
            arrays += [_normal(rng, rows, columns, scale=0.05), _normal(rng, columns)]
        return [*arrays, rng.integers(0, 10, batch)]

    return make


def _lstm_cell(m, x, h, c, w, u, b):
    gates = x @ m.transpose(w) + h @ m.transpose(u) + b
    i, f, g, o = (gates[:, n * 512 : (n + 1) * 512] for n in range(4))
    c = m.sigmoid(f) * c + m.sigmoid(i) * m.tanh(g)
    return m.sum(m.sigmoid(o) * m.tanh(c))


def _attention(m, q, k, v):
    y = m.softmax(q @ m.transpose(k) / 8.0) @ v
    return m.sum(y * y)


def _embed(m, table, rows, y):
    return m.sum(m.tanh(table[rows]) * y)


def _gmm(m, alphas, means, scales, x):
    z = (x[:, None, :] - means[None]) * m.exp(scales)[None]
    terms = alphas + m.sum_last(scales) - 0.5 * m.sum_last(z * z)
    return m.sum(m.logsumexp(terms)) - 1000 * m.sum(m.logsumexp(alphas[None]))


def _kmeans(m, centres, points):
    products = points @ m.transpose(centres)
    squares = m.sum_last(points * points)[:, None] + m.sum_last(centres * centres)[None]
    return m.sum(m.minimum_last(squares - 2 * products))


def _logreg(m, x, w, y):
    z = x @ w
    return m.sum(m.softplus(z) - y * z)


ROWS: dict[str, Row] = {
    "chain": Row(_chain, lambda r: [_normal(r, 1 << 20)], (0,)),
    "layernorm": Row(
        _layernorm,
        lambda r: [_normal(r, 4096, 1024), _normal(r, 1024), _normal(r, 1024)],
        (0, 1, 2),
    ),
    "softmax_xent": Row(
        _softmax_xent, lambda r: [_normal(r, 1024, 32000), r.integers(0, 32000, 1024)], (0,)
    ),
    "mlp16": Row(_mlp, _mlp_inputs(16), (1, 2, 3, 4, 5, 6)),
    "mlp256": Row(_mlp, _mlp_inputs(256), (1, 2, 3, 4, 5, 6)),
    "lstm_cell": Row(
        _lstm_cell,
        lambda r: [_normal(r, 64, 512) for _ in range(3)]
        + [_normal(r, 2048, 512, scale=0.05) for _ in range(2)]
        + [_normal(r, 2048)],
        (0, 1, 2, 3, 4, 5),
    ),
    "attention": Row(_attention, lambda r: [_normal(r, 8, 512, 64) for _ in range(3)], (0, 1, 2)),
    "embed": Row(
        _embed,
        lambda r: [_normal(r, 50000, 128), r.integers(0, 50000, 8192), _normal(r, 8192, 128)],
        (0,),
    ),
    "gmm": Row(
        _gmm,
        lambda r: [
            _normal(r, 25), _normal(r, 25, 10), _normal(r, 25, 10, scale=0.1), _normal(r, 1000, 10),
        ],
        (0, 1, 2),
    ),
    "kmeans": Row(_kmeans, lambda r: [_normal(r, 100, 16), _normal(r, 10000, 16)], (0,)),
    "logreg": Row(
        _logreg,
        lambda r: [
            _normal(r, 4096, 512), _normal(r, 512, scale=0.05),
            r.integers(0, 2, 4096).astype(np.float32),
        ],
        (1,),
    ),
}  # fmt: skip


def torch_namespace() -> SimpleNamespace:
    import torch
    from torch.nn import functional as F

    return SimpleNamespace(
        tanh=torch.tanh, sin=torch.sin, exp=torch.exp, sqrt=torch.sqrt, sum=torch.sum,
        mean=lambda x: x.mean(-1, keepdim=True),
        sum_last=lambda x: x.sum(-1),
        transpose=lambda x: x.transpose(-1, -2),
        sigmoid=torch.sigmoid,
        softmax=lambda x: torch.softmax(x, -1),
        logsumexp=lambda x: torch.logsumexp(x, -1),
        minimum_last=lambda x: x.min(-1).values,
        softplus=F.softplus,
        cross_entropy=F.cross_entropy,
    )  # fmt: skip


def jax_namespace() -> SimpleNamespace:
    import jax
    import jax.numpy as jnp

    def cross_entropy(scores, labels):
        picked = jnp.take_along_axis(jax.nn.log_softmax(scores, -1), labels[:, None], 1)
        return -jnp.mean(picked)

    return SimpleNamespace(
        tanh=jnp.tanh, sin=jnp.sin, exp=jnp.exp, sqrt=jnp.sqrt, sum=jnp.sum,
        mean=lambda x: jnp.mean(x, -1, keepdims=True),
        sum_last=lambda x: jnp.sum(x, -1),
        transpose=lambda x: jnp.swapaxes(x, -1, -2),
        sigmoid=jax.nn.sigmoid,
        softmax=lambda x: jax.nn.softmax(x, -1),
        logsumexp=lambda x: jax.nn.logsumexp(x, -1),
        minimum_last=lambda x: jnp.min(x, -1),
        softplus=jax.nn.softplus,
        cross_entropy=cross_entropy,
    )  # fmt: skip
