"""Trains a small net with gradc.compile: the loop is PyTorch's own."""

from __future__ import annotations

import torch
from torch import nn

import gradc


def main() -> None:
    torch.manual_seed(0)
    x = torch.rand(256, 1) * 6 - 3
    y = torch.sin(x)
    net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
    compiled = gradc.compile(net)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for step in range(301):
        optimizer.zero_grad()
        loss = (compiled(x) - y).pow(2).mean()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            print(f"step {step}: loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
