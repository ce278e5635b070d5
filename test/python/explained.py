"""Models whose explanations test_explain.py holds against eager PyTorch."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import gradc


class Barriers(nn.Module):
    """Most ways to stop a gradient, a frozen and an unused parameter, a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(6, 8)
        self.frozen = nn.Linear(8, 8).requires_grad_(False)
        self.unused = nn.Parameter(torch.ones(3))
        self.scale = nn.Parameter(torch.ones(8))
        self.register_buffer("mean", torch.zeros(8))

    @torch.no_grad()
    def statistics(self, hidden: Tensor) -> Tensor:
        average = hidden.mean(0)
        return average - self.mean

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.first(x).tanh()
        shift = self.statistics(hidden)
        through = self.frozen(hidden)
        with torch.no_grad():
            norm = through.norm()
            half = norm * 0.5
        target = gradc.stop_gradient(through * self.scale)
        mask = hidden > 0
        weights = mask.to(hidden.dtype)
        wasted = self.unused.exp()
        del wasted
        copy = through.detach() + 1
        data = hidden.data * weights
        result = (through * self.scale - shift) / half + copy * weights + data
        return result, target


class Block(nn.Module):
    """Attention over an embedding, with dropout and tuples of tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(11, 8)
        self.qkv = nn.Linear(8, 24)
        self.out = nn.Linear(8, 8, bias=False)
        self.norm = nn.LayerNorm(8)

    def forward(self, tokens: Tensor, labels: Tensor) -> Tensor:
        x = self.embedding(tokens)
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        weights = torch.softmax(q @ k.transpose(-1, -2) * 0.35, -1)
        weights = F.dropout(weights, 0.25, self.training)
        x = x + self.out(weights @ v)
        best, position = x.max(-1)
        scores = x.mean(1)
        return F.cross_entropy(scores, labels) + best.sum() * 0.01 + position.sum() * 0


def step(w: Tensor, b: Tensor, x: Tensor, count: Tensor) -> tuple[Tensor, Tensor]:
    """Values written in place, and a straight-through estimator."""
    y = x @ w
    y.add_(b)
    with torch.inference_mode():
        level = b.abs().max()
    rounded = y + (y.round() - y).detach()
    total = torch.zeros_like(x[:, 0])
    total += rounded.sum(1) + level
    steps = count + 1
    return total, steps
