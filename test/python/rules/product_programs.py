"""MLIR functions of products over loop nests, and the same in PyTorch."""

from __future__ import annotations

import functools
import operator

import torch
from derivatives_of import Program, random

F64 = torch.float64


def product(x: torch.Tensor) -> torch.Tensor:
    """The product along the last dimension, factor by factor."""
    return functools.reduce(operator.mul, x.unbind(-1))


#: No zero in the first row, one in the second, two in the third.
ZEROS = torch.tensor(
    [[0.5, 2.0, -1.0, 3.0, 1.5], [2.0, 0.0, 3.0, 1.0, -2.0], [0.0, 4.0, 0.0, 2.0, 1.0]], dtype=F64
)

PRODUCT = Program(
    "product",
    """
func.func private @f(%x: tensor<3x5xf64>, %i: tensor<3xf64>) -> tensor<3xf64> {
  %r = linalg.reduce { arith.mulf } ins(%x : tensor<3x5xf64>) outs(%i : tensor<3xf64>)
      dimensions = [1]
  return %r : tensor<3xf64>
}""",
    lambda x, i: i * product(x),
    (ZEROS, torch.tensor([2.0, 0.5, 3.0], dtype=F64)),
)

PRODUCT_OF_ALL = Program(
    "product_of_all",
    """
func.func private @f(%x: tensor<2x3xf64>) -> tensor<f64> {
  %one = arith.constant dense<1.0> : tensor<f64>
  %r = linalg.reduce { arith.mulf } ins(%x : tensor<2x3xf64>) outs(%one : tensor<f64>)
      dimensions = [0, 1]
  return %r : tensor<f64>
}""",
    lambda x: product(x.reshape(-1)),
    (torch.tensor([[1.5, 0.0, 2.0], [-1.0, 3.0, 0.5]], dtype=F64),),
)

# A product of a function of two operands along loops that are not the last, in a result that keeps
# a dimension of size one; some points do not take part.
PRODUCT_OF_TERMS = Program(
    "product_of_terms",
    """
func.func private @f(%x: tensor<3x4xf64>, %w: tensor<3xf64>) -> tensor<1x4xf64> {
  %one = arith.constant dense<1.0> : tensor<1x4xf64>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                       affine_map<(i, j) -> (0, j)>],
      iterator_types = ["reduction", "parallel"]
  } ins(%x, %w : tensor<3x4xf64>, tensor<3xf64>) outs(%one : tensor<1x4xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %s = math.sin %a : f64
    %t = arith.mulf %s, %b : f64
    %p = arith.mulf %t, %o : f64
    %q = arith.divf %p, %b : f64
    %n = arith.negf %q : f64
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi eq, %i, %j : index
    %y = arith.select %c, %o, %n : f64
    linalg.yield %y : f64
  } -> tensor<1x4xf64>
  return %r : tensor<1x4xf64>
}""",
    lambda x, w: product(
        torch.where(torch.eye(3, 4, dtype=torch.bool), 1.0, -(x.sin() * w[:, None]) / w[:, None]).T
    )[None],
    (torch.tensor([[1.0, 0.0, 2.0, 0.0], [0.5, 1.0, -1.0, 0.0], [1.0, 2.0, 3.0, 1.0]], dtype=F64),
     random(3)),
)  # fmt: skip

PRODUCT_AND_SUM = Program(
    "product_and_sum",
    """
func.func private @f(%x: tensor<3x5xf64>) -> tensor<3xf64> {
  %one = arith.constant dense<1.0> : tensor<3xf64>
  %zero = arith.constant dense<0.0> : tensor<3xf64>
  %r:2 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                       affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]
  } ins(%x : tensor<3x5xf64>) outs(%one, %zero : tensor<3xf64>, tensor<3xf64>) {
  ^bb0(%a: f64, %p: f64, %s: f64):
    %p1 = arith.mulf %p, %a : f64
    %s1 = arith.addf %s, %a : f64
    linalg.yield %p1, %s1 : f64, f64
  } -> (tensor<3xf64>, tensor<3xf64>)
  %y = arith.mulf %r#0, %r#1 : tensor<3xf64>
  return %y : tensor<3xf64>
}""",
    lambda x: product(x) * x.sum(1),
    (ZEROS,),
)

PRODUCT_OF_WINDOWS = Program(
    "product_of_windows",
    """
func.func private @f(%x: tensor<6xf64>, %w: tensor<3xf64>) -> tensor<4xf64> {
  %one = arith.constant dense<1.0> : tensor<4xf64>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i + j)>, affine_map<(i, j) -> (j)>,
                       affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]
  } ins(%x, %w : tensor<6xf64>, tensor<3xf64>) outs(%one : tensor<4xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %t = arith.addf %a, %b : f64
    %y = arith.mulf %o, %t : f64
    linalg.yield %y : f64
  } -> tensor<4xf64>
  return %r : tensor<4xf64>
}""",
    lambda x, w: product(x.unfold(0, 3, 1) + w),
    (torch.tensor([1.0, -2.0, 0.5, 3.0, 2.0, -1.0], dtype=F64),
     torch.tensor([2.0, 1.0, -0.5], dtype=F64)),
)  # fmt: skip

PROGRAMS = [value for value in list(vars().values()) if isinstance(value, Program)]
