"""Settings that hold for every test: a silent fall-back to eager execution would prove nothing."""

from __future__ import annotations

import pytest
import torch


@pytest.fixture(autouse=True)
def _strict_dynamo():
    torch._dynamo.reset()
    torch.manual_seed(0)
    with torch._dynamo.config.patch(fail_on_recompile_limit_hit=True, suppress_errors=False):
        yield


@pytest.fixture
def double():
    """A function that makes random f64 tensors."""
    generator = torch.Generator().manual_seed(7)
    return lambda *shape: torch.randn(*shape, dtype=torch.float64, generator=generator)
