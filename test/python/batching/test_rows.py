"""grad.vmap and its derivative against PyTorch row by row."""

from __future__ import annotations

from itertools import chain, combinations

import pytest
import torch
from batch_case import Case
from batch_structured_cases import STRUCTURED_CASES
from batch_tensor_cases import TENSOR_CASES

from gradc.testing import run_mlir


def subsets(count: int) -> list[tuple[int, ...]]:
    return list(chain.from_iterable(combinations(range(count), k) for k in range(1, count + 1)))


@pytest.mark.parametrize("case", STRUCTURED_CASES + TENSOR_CASES, ids=lambda case: case.name)
def test_rows(case: Case):
    for which in subsets(len(case.types)):
        call = run_mlir(case.text(which))
        arguments = case.arguments(which)
        expected = case.expected(which, arguments)
        (actual,) = call("rows", *arguments)
        torch.testing.assert_close(actual, expected, rtol=1e-12, atol=1e-12)
        wrt = case.wrt()
        if not case.differentiable or not wrt:
            continue
        leaves = [x.clone().requires_grad_(i in wrt) for i, x in enumerate(arguments)]
        cotangent = torch.randn_like(expected)
        gradients = torch.autograd.grad(
            case.expected(which, leaves),
            [leaves[i] for i in wrt],
            cotangent,
            materialize_grads=True,
        )
        actual = call("pullback", *arguments, cotangent)
        torch.testing.assert_close(actual, list(gradients), rtol=1e-12, atol=1e-12)


def test_no_rows():
    call = run_mlir("""
    func.func private @row(%a: tensor<4xf64>, %b: tensor<2xf64>) -> tensor<2xf64> {
      %s = tensor.extract_slice %a[1] [2] [1] : tensor<4xf64> to tensor<2xf64>
      %r = arith.addf %s, %b : tensor<2xf64>
      return %r : tensor<2xf64>
    }
    func.func @rows(%a: tensor<0x4xf64>, %b: tensor<2xf64>) -> tensor<0x2xf64> {
      %r = grad.vmap @row(%a, %b) batched [0] size 0
          : (tensor<0x4xf64>, tensor<2xf64>) -> tensor<0x2xf64>
      return %r : tensor<0x2xf64>
    }""")
    (actual,) = call("rows", torch.empty(0, 4).double(), torch.ones(2).double())
    assert actual.shape == (0, 2)


def test_a_failed_assertion_of_one_row_ends_the_call():
    call = run_mlir("""
    func.func private @row(%a: tensor<f64>) -> tensor<f64> {
      %x = tensor.extract %a[] : tensor<f64>
      %z = arith.constant 0.0 : f64
      %ok = arith.cmpf ogt, %x, %z : f64
      cf.assert %ok, "not positive"
      return %a : tensor<f64>
    }
    func.func @rows(%a: tensor<3xf64>) -> tensor<3xf64> {
      %r = grad.vmap @row(%a) batched [0] size 3 : (tensor<3xf64>) -> tensor<3xf64>
      return %r : tensor<3xf64>
    }""")
    x = torch.tensor([1.0, 2.0, 3.0]).double()
    assert torch.equal(call("rows", x)[0], x)
    with pytest.raises(Exception, match="not positive"):
        call("rows", torch.tensor([1.0, -2.0, 3.0]).double())
