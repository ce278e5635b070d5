"""Gradients equal PyTorch's in f64, for many functions, at ordinary and at awkward shapes."""

from __future__ import annotations

import pytest
import torch
from functions import FUNCTIONS, Function

import gradc


def inputs_of(function: Function, a: int, b: int, strided: bool) -> list[torch.Tensor]:
    tensors = []
    for position, shape in enumerate(function.shapes(a, b)):
        if position in function.integers:
            tensors.append(torch.randint(function.integers[position], shape))
            continue
        # Reversed dimensions and gaps between elements: nothing lies where a dense tensor has it.
        stored = (*reversed(shape[1:]), 2 * shape[0]) if strided and shape else shape
        value = torch.randn(stored, dtype=torch.float64)
        if strided and shape:
            value = value[..., ::2].permute(*reversed(range(len(shape))))
        tensors.append(value.abs() + 0.1 if function.positive else value)
        assert tensors[-1].shape == shape
    return tensors


def expected(function: Function, inputs: list[torch.Tensor], cotangent: torch.Tensor | None):
    leaves = [x.detach().requires_grad_(x.is_floating_point()) for x in inputs]
    output = function.call(*leaves)
    if cotangent is None:
        cotangent = torch.randn(output.shape, dtype=output.dtype)
    roots = [leaf for leaf in leaves if leaf.requires_grad]
    return output.detach(), cotangent, torch.autograd.grad(output, roots, cotangent)


def assert_close(actual: torch.Tensor, wanted: torch.Tensor) -> None:
    assert actual.shape == wanted.shape and actual.dtype == wanted.dtype
    if wanted.numel():
        scale = max(1.0, wanted.abs().max().item())
        assert (actual - wanted).abs().max().item() <= 1e-9 * scale


SIZES = [
    ("plain", 3, 4, False),
    ("strided", 4, 3, True),
    ("one", 1, 1, False),
    ("empty", 0, 2, False),
]
CASES = [
    pytest.param(function, a, b, strided, id=f"{function.name}-{size}")
    for function in FUNCTIONS
    for size, a, b, strided in SIZES
    if (size != "empty" or function.empty) and (size != "one" or function.single)
]


def test_there_are_forty_functions():
    assert len({function.name for function in FUNCTIONS}) >= 40


@pytest.mark.parametrize(("function", "a", "b", "strided"), CASES)
def test_gradient_through_the_tape(function, a, b, strided):
    inputs = inputs_of(function, a, b, strided)
    output, cotangent, wanted = expected(function, inputs, None)
    leaves = [x.detach().requires_grad_(x.is_floating_point()) for x in inputs]
    actual = gradc.compile(function.call, fullgraph=True)(*leaves)
    assert_close(actual.detach(), output)
    roots = [leaf for leaf in leaves if leaf.requires_grad]
    for gradient, reference in zip(
        torch.autograd.grad(actual, roots, cotangent), wanted, strict=True
    ):
        assert_close(gradient, reference)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_gradient_as_a_transform(function):
    inputs = inputs_of(function, 3, 4, False)
    _, cotangent, wanted = expected(function, inputs, None)
    argnums = tuple(n for n, x in enumerate(inputs) if x.is_floating_point())

    def loss(*args):
        return (function.call(*args) * cotangent).sum()

    for gradient, reference in zip(gradc.grad(loss, argnums)(*inputs), wanted, strict=True):
        assert_close(gradient, reference)
