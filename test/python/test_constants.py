"""What is computed of constants alone is what PyTorch computes."""

from __future__ import annotations

import pytest
import torch

import gradc

OPERATIONS = [
    lambda a, b: torch.stack([a != 3, a == 3, a > -3, a >= 3.0, b < 0.5, b <= -3]),
    lambda a, b: torch.where(a > b, a, b),
    lambda a, b: torch.div(b, a + 1, rounding_mode="floor"),
    lambda a, b: b.clamp(-2, 0) + a.sign() + b.sign(),
    lambda a, b: a.masked_fill(b < 0, 7),
    lambda a, b: torch.cat([a, b])[1:3] * (a != b),
    lambda a, b: (a[:, None] * b).float() / 3,
]


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.int64])
def test_constants(operation, dtype):
    def function(x):
        a, b = (torch.full((2,), number, dtype=dtype) for number in (3, -3))
        return operation(a, b) + x.sum() * 0

    x = torch.ones(2)
    torch.testing.assert_close(gradc.compile(function, fullgraph=True)(x), function(x))
