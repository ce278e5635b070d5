"""MLIR functions on tensors of dynamic shape, between arguments and results of known shape, and
the same in PyTorch."""

from __future__ import annotations

import torch
from derivatives_of import Program, random
from product_programs import ZEROS

ELEMENTWISE = Program(
    "dynamic_elementwise",
    """
func.func private @f(%x: tensor<3x4xf64>, %w: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %a = tensor.cast %x : tensor<3x4xf64> to tensor<?x4xf64>
  %b = tensor.cast %w : tensor<3x4xf64> to tensor<?x4xf64>
  %s = math.powf %a, %b : tensor<?x4xf64>
  %t = math.tanh %s : tensor<?x4xf64>
  %m = arith.maximumf %t, %b : tensor<?x4xf64>
  %c = arith.cmpf olt, %a, %b : tensor<?x4xf64>
  %d = arith.select %c, %m, %s : tensor<?x4xi1>, tensor<?x4xf64>
  %y = tensor.cast %d : tensor<?x4xf64> to tensor<3x4xf64>
  return %y : tensor<3x4xf64>
}""",
    lambda x, w: torch.where(x < w, torch.maximum((x**w).tanh(), w), x**w),
    (random(3, 4), random(3, 4, seed=1)),
)

LINALG = Program(
    "dynamic_linalg",
    """
func.func private @f(%x: tensor<3x4xf64>, %w: tensor<4x2xf64>, %b: tensor<2xf64>)
    -> tensor<3x2xf64> {
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %a = tensor.cast %x : tensor<3x4xf64> to tensor<?x?xf64>
  %v = tensor.cast %w : tensor<4x2xf64> to tensor<?x2xf64>
  %n = tensor.dim %a, %c0 : tensor<?x?xf64>
  %e = tensor.empty(%n) : tensor<?x2xf64>
  %z = linalg.fill ins(%zero : f64) outs(%e : tensor<?x2xf64>) -> tensor<?x2xf64>
  %p = linalg.matmul ins(%a, %v : tensor<?x?xf64>, tensor<?x2xf64>) outs(%z : tensor<?x2xf64>)
      -> tensor<?x2xf64>
  %r = linalg.broadcast ins(%b : tensor<2xf64>) outs(%e : tensor<?x2xf64>) dimensions = [0]
  %q = linalg.mul ins(%p, %r : tensor<?x2xf64>, tensor<?x2xf64>) outs(%e : tensor<?x2xf64>)
      -> tensor<?x2xf64>
  %t = linalg.tanh ins(%q : tensor<?x2xf64>) outs(%e : tensor<?x2xf64>) -> tensor<?x2xf64>
  %y = tensor.cast %t : tensor<?x2xf64> to tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}""",
    lambda x, w, b: (x @ w * b).tanh(),
    (random(3, 4), random(4, 2, seed=1), random(2, seed=2)),
)

REDUCTIONS = Program(
    "dynamic_reductions",
    """
func.func private @f(%x: tensor<3x5xf64>) -> tensor<5xf64> {
  %zero = arith.constant 0.0 : f64
  %low = arith.constant -1.0e9 : f64
  %c1 = arith.constant 1 : index
  %a = tensor.cast %x : tensor<3x5xf64> to tensor<?x?xf64>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64>
  %e = tensor.empty(%n) : tensor<?xf64>
  %z = linalg.fill ins(%zero : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
  %i = linalg.fill ins(%low : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
  %s = linalg.reduce { arith.addf } ins(%a : tensor<?x?xf64>) outs(%z : tensor<?xf64>)
      dimensions = [0]
  %m = linalg.reduce { arith.maximumf } ins(%a : tensor<?x?xf64>) outs(%i : tensor<?xf64>)
      dimensions = [0]
  %r = arith.mulf %s, %m : tensor<?xf64>
  %y = tensor.cast %r : tensor<?xf64> to tensor<5xf64>
  return %y : tensor<5xf64>
}""",
    lambda x: x.sum(0) * x.amax(0),
    (ZEROS,),
)

MOVEMENT = Program(
    "dynamic_movement",
    """
func.func private @f(%x: tensor<3x4xf64>, %w: tensor<2x4xf64>, %p: tensor<f64>)
    -> tensor<7x4xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = tensor.cast %x : tensor<3x4xf64> to tensor<?x4xf64>
  %b = tensor.cast %w : tensor<2x4xf64> to tensor<?x4xf64>
  %v = tensor.extract %p[] : tensor<f64>
  %c = tensor.concat dim(0) %a, %b : (tensor<?x4xf64>, tensor<?x4xf64>) -> tensor<?x4xf64>
  %d = tensor.pad %c low[%c1, 0] high[%c1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f64
  } : tensor<?x4xf64> to tensor<?x4xf64>
  %n = tensor.dim %d, %c0 : tensor<?x4xf64>
  %g = tensor.expand_shape %d [[0], [1, 2]] output_shape [%n, 2, 2]
      : tensor<?x4xf64> into tensor<?x2x2xf64>
  %h = arith.mulf %g, %g : tensor<?x2x2xf64>
  %k = tensor.collapse_shape %h [[0], [1, 2]] : tensor<?x2x2xf64> into tensor<?x4xf64>
  %s = tensor.extract_slice %k[1, 0] [%c2, 4] [1, 1] : tensor<?x4xf64> to tensor<?x4xf64>
  %t = math.sin %s : tensor<?x4xf64>
  %q = tensor.insert_slice %t into %k[%c2, 0] [%c2, 4] [1, 1] : tensor<?x4xf64> into tensor<?x4xf64>
  %m = arith.muli %n, %c2 : index
  %shape = tensor.from_elements %m, %c2 : tensor<2xindex>
  %r = tensor.reshape %q(%shape) : (tensor<?x4xf64>, tensor<2xindex>) -> tensor<?x?xf64>
  %u = math.exp %r : tensor<?x?xf64>
  %back = tensor.from_elements %n, %c2, %c2 : tensor<3xindex>
  %o = tensor.reshape %u(%back) : (tensor<?x?xf64>, tensor<3xindex>) -> tensor<?x2x2xf64>
  %f = tensor.collapse_shape %o [[0], [1, 2]] : tensor<?x2x2xf64> into tensor<?x4xf64>
  %y = tensor.cast %f : tensor<?x4xf64> to tensor<7x4xf64>
  return %y : tensor<7x4xf64>
}""",
    lambda x, w, p: _movement(x, w, p),
    (random(3, 4), random(2, 4, seed=1), torch.tensor(1.5, dtype=torch.float64)),
)


def _movement(x: torch.Tensor, w: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
    row = p.expand(1, 4)
    k = torch.cat([row, x, w, row]) ** 2
    return torch.cat([k[:2], k[1:3].sin(), k[4:]]).exp()


SPLAT = Program(
    "dynamic_splat_and_generate",
    """
func.func private @f(%x: tensor<3xf64>, %w: tensor<f64>) -> tensor<3xf64> {
  %c0 = arith.constant 0 : index
  %a = tensor.cast %x : tensor<3xf64> to tensor<?xf64>
  %n = tensor.dim %a, %c0 : tensor<?xf64>
  %v = tensor.extract %w[] : tensor<f64>
  %s = tensor.splat %v[%n] : tensor<?xf64>
  %i = tensor.extract %a[%c0] : tensor<?xf64>
  %j = tensor.insert %i into %s[%c0] : tensor<?xf64>
  %m = arith.mulf %j, %a : tensor<?xf64>
  %y = tensor.cast %m : tensor<?xf64> to tensor<3xf64>
  return %y : tensor<3xf64>
}""",
    lambda x, w: x * torch.cat([x[:1], w.expand(2)]),
    (random(3), torch.tensor(1.5, dtype=torch.float64)),
)

CONVOLUTION = Program(
    "dynamic_convolution",
    """
func.func private @f(%x: tensor<7xf64>, %w: tensor<3xf64>) -> tensor<5xf64> {
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f64
  %a = tensor.cast %x : tensor<7xf64> to tensor<?xf64>
  %b = tensor.cast %w : tensor<3xf64> to tensor<?xf64>
  %n = tensor.empty(%c5) : tensor<?xf64>
  %z = linalg.fill ins(%zero : f64) outs(%n : tensor<?xf64>) -> tensor<?xf64>
  %r = linalg.conv_1d ins(%a, %b : tensor<?xf64>, tensor<?xf64>) outs(%z : tensor<?xf64>)
      -> tensor<?xf64>
  %y = tensor.cast %r : tensor<?xf64> to tensor<5xf64>
  return %y : tensor<5xf64>
}""",
    lambda x, w: x.unfold(0, 3, 1) @ w,
    (random(7), random(3, seed=1)),
)

PROGRAMS = [value for value in list(vars().values()) if isinstance(value, Program)]
