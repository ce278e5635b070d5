"""Grad modes that reach beyond a call or a graph."""

import pytest
import torch

import gradc


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("after", [True, False])
def test_a_switch_without_an_end_outlasts_the_call(before, after):
    def f(x):
        torch.set_grad_enabled(after)
        return x * 2

    compiled = gradc.compile(f)
    for run in (f, compiled, compiled):
        with torch.set_grad_enabled(before):
            result = run(torch.ones(3, requires_grad=True))
            assert torch.is_grad_enabled() is after
        assert result.requires_grad is after


def test_a_graph_break_inside_a_region():
    def f(x):
        with torch.no_grad():
            shift = x.mean()
            torch._dynamo.graph_break()
            shift = shift * x.sum()
        return (x - shift).prod(), torch.is_grad_enabled()

    x = torch.arange(1.0, 4.0, requires_grad=True)
    gradients = []
    for run in (f, gradc.compile(f)):
        result, enabled = run(x)
        assert enabled and torch.is_grad_enabled()
        gradients += torch.autograd.grad(result, x)
    torch.testing.assert_close(gradients[1], gradients[0])
