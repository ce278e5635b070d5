"""A transformer's encoder, each layer called by ``run(layer, x)``: plainly or as a checkpoint."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Layer(nn.Module):
    """Attention and a feed-forward part, each behind a norm and beside a residual connection."""

    def __init__(self, width: int, heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        parts = self.qkv(self.norm1(x)).reshape(batch, length, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4).unbind(0)
        weights = torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5, -1)
        if self.dropout:
            weights = F.dropout(weights, self.dropout)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Encoder(nn.Module):
    """Layers, and a loss of the last one's result."""

    def __init__(
        self, run: Callable, layers: int, width: int, heads: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(width, heads, dropout) for _ in range(layers))
        self.run = run

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = self.run(layer, x)
        return x.square().mean()
