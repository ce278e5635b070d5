"""MLIR functions of loop nests over tensors and ops that stand for others, and the same in
PyTorch."""

from __future__ import annotations

import torch
from derivatives_of import Program, random
from product_programs import product

F64 = torch.float64

# The values of shared outputs are those from before the loop.
FORALL = Program(
    "forall",
    """
func.func private @f(%x: tensor<4x3xf64>, %w: tensor<3xf64>) -> tensor<4x3xf64> {
  %r = scf.forall (%i) = (0) to (4) step (2) shared_outs(%o = %x) -> tensor<4x3xf64> {
    %a = tensor.extract_slice %o[%i, 0] [2, 3] [1, 1] : tensor<4x3xf64> to tensor<2x3xf64>
    %e = tensor.empty() : tensor<2x3xf64>
    %b = linalg.broadcast ins(%w : tensor<3xf64>) outs(%e : tensor<2x3xf64>) dimensions = [0]
    %c = arith.mulf %a, %a : tensor<2x3xf64>
    %d = arith.mulf %c, %b : tensor<2x3xf64>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %d into %o[%i, 0] [2, 3] [1, 1]
          : tensor<2x3xf64> into tensor<4x3xf64>
    }
  }
  return %r : tensor<4x3xf64>
}""",
    lambda x, w: x * x * w,
    (random(4, 3), random(3, seed=1)),
)

FORALL_OF_TWO = Program(
    "forall_of_two",
    """
func.func private @f(%x: tensor<3x4xf64>, %y: tensor<4x3xf64>) -> tensor<3x4xf64> {
  %e = tensor.empty() : tensor<3x4xf64>
  %p:2 = scf.forall (%i, %j) in (3, 4) shared_outs(%o = %e, %q = %y)
      -> (tensor<3x4xf64>, tensor<4x3xf64>) {
    %a = tensor.extract %x[%i, %j] : tensor<3x4xf64>
    %b = tensor.extract %y[%j, %i] : tensor<4x3xf64>
    %c = arith.mulf %a, %b : f64
    %s = math.sin %c : f64
    %t = tensor.from_elements %s : tensor<1x1xf64>
    %u = tensor.from_elements %c : tensor<f64>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i, %j] [1, 1] [1, 1]
          : tensor<1x1xf64> into tensor<3x4xf64>
      tensor.parallel_insert_slice %u into %q[%j, %i] [1, 1] [1, 1]
          : tensor<f64> into tensor<4x3xf64>
    }
  }
  %e1 = tensor.empty() : tensor<3x4xf64>
  %t = linalg.transpose ins(%p#1 : tensor<4x3xf64>) outs(%e1 : tensor<3x4xf64>) permutation = [1, 0]
  %r = arith.mulf %p#0, %t : tensor<3x4xf64>
  return %r : tensor<3x4xf64>
}""",
    lambda x, y: torch.sin(x * y.T) * (x * y.T),
    (random(3, 4), random(4, 3, seed=1)),
)

PARALLEL = Program(
    "parallel",
    """
func.func private @f(%x: tensor<4xf64>, %init: tensor<f64>) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %i = tensor.extract %init[] : tensor<f64>
  %r:2 = scf.parallel (%k) = (%c0) to (%c4) step (%c1) init(%i, %i) -> (f64, f64) {
    %a = tensor.extract %x[%k] : tensor<4xf64>
    %s = math.sin %a : f64
    scf.reduce(%s, %a : f64, f64) {
    ^bb0(%l: f64, %m: f64):
      %y = arith.addf %l, %m : f64
      scf.reduce.return %y : f64
    }, {
    ^bb0(%l: f64, %m: f64):
      %y = arith.mulf %l, %m : f64
      scf.reduce.return %y : f64
    }
  }
  %y = arith.mulf %r#0, %r#1 : f64
  %t = tensor.from_elements %y : tensor<f64>
  return %t : tensor<f64>
}""",
    lambda x, init: (init + x.sin().sum()) * (init * product(x)),
    (random(4), torch.tensor(1.5, dtype=F64)),
)

EXECUTE_REGION = Program(
    "execute_region",
    """
func.func private @f(%x: tensor<4xf64>) -> tensor<4xf64> {
  %r = scf.execute_region -> tensor<4xf64> {
    %a = math.exp %x : tensor<4xf64>
    %b = arith.mulf %a, %x : tensor<4xf64>
    scf.yield %b : tensor<4xf64>
  }
  return %r : tensor<4xf64>
}""",
    lambda x: x.exp() * x,
    (random(4),),
)

GENERATE = Program(
    "generate",
    """
func.func private @f(%x: tensor<4xf64>, %w: tensor<f64>) -> tensor<4x3xf64> {
  %s = tensor.extract %w[] : tensor<f64>
  %r = tensor.generate {
  ^bb0(%i: index, %j: index):
    %c3 = arith.constant 3 : index
    %k = arith.subi %c3, %i : index
    %a = tensor.extract %x[%k] : tensor<4xf64>
    %n = arith.index_cast %j : index to i64
    %m = arith.sitofp %n : i64 to f64
    %b = arith.mulf %a, %m : f64
    %c = math.sin %b : f64
    %d = arith.mulf %c, %s : f64
    tensor.yield %d : f64
  } : tensor<4x3xf64>
  return %r : tensor<4x3xf64>
}""",
    lambda x, w: torch.sin(x.flip(0)[:, None] * torch.arange(3)) * w,
    (random(4), torch.tensor(1.5, dtype=F64)),
)

GATHER = Program(
    "gather",
    """
func.func private @f(%x: tensor<3x4x2xf64>, %n: tensor<5x2xi64>) -> tensor<5x4xf64> {
  %r = tensor.gather %x[%n] gather_dims([0, 2])
      : (tensor<3x4x2xf64>, tensor<5x2xi64>) -> tensor<5x4xf64>
  %y = arith.mulf %r, %r : tensor<5x4xf64>
  return %y : tensor<5x4xf64>
}""",
    lambda x, n: x[n[:, 0], :, n[:, 1]] ** 2,
    (random(3, 4, 2), torch.tensor([[0, 1], [2, 0], [0, 1], [1, 1], [0, 1]])),
)

GATHER_KEEPING_DIMENSIONS = Program(
    "gather_keeping_dimensions",
    """
func.func private @f(%x: tensor<3x4xf64>, %n: tensor<2x2x1xi64>) -> tensor<2x2x3x1xf64> {
  %r = tensor.gather %x[%n] gather_dims([1])
      : (tensor<3x4xf64>, tensor<2x2x1xi64>) -> tensor<2x2x3x1xf64>
  %y = math.exp %r : tensor<2x2x3x1xf64>
  return %y : tensor<2x2x3x1xf64>
}""",
    lambda x, n: x.T[n[..., 0]].exp()[..., None],
    (random(3, 4), torch.tensor([[[0], [3]], [[3], [1]]])),
)

SCATTER = Program(
    "scatter",
    """
func.func private @f(%x: tensor<2x4xf64>, %d: tensor<3x4x2xf64>, %n: tensor<2x2xi64>)
    -> tensor<3x4x2xf64> {
  %r = tensor.scatter %x into %d[%n] scatter_dims([0, 2]) unique
      : (tensor<2x4xf64>, tensor<3x4x2xf64>, tensor<2x2xi64>) -> tensor<3x4x2xf64>
  %y = arith.mulf %r, %r : tensor<3x4x2xf64>
  return %y : tensor<3x4x2xf64>
}""",
    lambda x, d, n: d.transpose(1, 2).index_put((n[:, 0], n[:, 1]), x).transpose(1, 2) ** 2,
    (random(2, 4), random(3, 4, 2, seed=1), torch.tensor([[0, 1], [2, 0]])),
)

PAD_BY_POSITION = Program(
    "pad_by_position",
    """
func.func private @f(%x: tensor<2x3xf64>, %w: tensor<4xf64>) -> tensor<4x4xf64> {
  %r = tensor.pad %x low[1, 0] high[1, 1] {
  ^bb0(%i: index, %j: index):
    %a = tensor.extract %w[%i] : tensor<4xf64>
    %b = tensor.extract %w[%j] : tensor<4xf64>
    %c = arith.mulf %a, %b : f64
    tensor.yield %c : f64
  } : tensor<2x3xf64> to tensor<4x4xf64>
  %y = math.sin %r : tensor<4x4xf64>
  return %y : tensor<4x4xf64>
}""",
    lambda x, w: torch.where(
        torch.nn.functional.pad(torch.ones(2, 3), (0, 1, 1, 1)) == 1,
        torch.nn.functional.pad(x, (0, 1, 1, 1)),
        torch.outer(w, w),
    ).sin(),
    (random(2, 3), random(4, seed=1)),
)

SOFTMAX = Program(
    "softmax",
    """
func.func private @f(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %e = tensor.empty() : tensor<3x4xf64>
  %r = linalg.softmax dimension(1) ins(%x : tensor<3x4xf64>) outs(%e : tensor<3x4xf64>)
      -> tensor<3x4xf64>
  return %r : tensor<3x4xf64>
}""",
    lambda x: x.softmax(1),
    (
        torch.tensor(
            [[1.0, 2.0, 2.0, -1.0], [0.0, 0.0, 0.0, 0.0], [9.0, -3.0, 0.5, 1.0]], dtype=F64
        ),
    ),
)

PACK = Program(
    "pack",
    """
func.func private @f(%x: tensor<5x4xf64>, %p: tensor<f64>) -> tensor<2x3x2x2xf64> {
  %e = tensor.empty() : tensor<2x3x2x2xf64>
  %v = tensor.extract %p[] : tensor<f64>
  %r = linalg.pack %x padding_value(%v : f64) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1]
      inner_tiles = [2, 2] into %e : tensor<5x4xf64> -> tensor<2x3x2x2xf64>
  %y = arith.mulf %r, %r : tensor<2x3x2x2xf64>
  return %y : tensor<2x3x2x2xf64>
}""",
    lambda x, p: torch.cat([x, p.expand(1, 4)]).reshape(3, 2, 2, 2).permute(2, 0, 1, 3) ** 2,
    (random(5, 4), torch.tensor(1.5, dtype=F64)),
)

UNPACK = Program(
    "unpack",
    """
func.func private @f(%x: tensor<2x3x2x2xf64>) -> tensor<5x4xf64> {
  %e = tensor.empty() : tensor<5x4xf64>
  %r = linalg.unpack %x outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [2, 2]
      into %e : tensor<2x3x2x2xf64> -> tensor<5x4xf64>
  %y = arith.mulf %r, %r : tensor<5x4xf64>
  return %y : tensor<5x4xf64>
}""",
    lambda x: x.permute(1, 2, 0, 3).reshape(6, 4)[:5] ** 2,
    (random(2, 3, 2, 2),),
)

# A convolution by Winograd's transforms.
WINOGRAD = Program(
    "winograd",
    """
func.func private @f(%x: tensor<1x6x6x2xf64>, %w: tensor<3x3x3x2xf64>) -> tensor<1x4x4x3xf64> {
  %zero = arith.constant dense<0.0> : tensor<16x4x3xf64>
  %e0 = tensor.empty() : tensor<4x4x2x3xf64>
  %e1 = tensor.empty() : tensor<4x4x2x2x1x2xf64>
  %e2 = arith.constant dense<0.0> : tensor<1x4x4x3xf64>
  %u = linalg.winograd_filter_transform fmr(F_2_3) ins(%w : tensor<3x3x3x2xf64>)
      outs(%e0 : tensor<4x4x2x3xf64>) -> tensor<4x4x2x3xf64>
  %v = linalg.winograd_input_transform fmr(F_2_3) ins(%x : tensor<1x6x6x2xf64>)
      outs(%e1 : tensor<4x4x2x2x1x2xf64>) -> tensor<4x4x2x2x1x2xf64>
  %a = tensor.collapse_shape %u [[0, 1], [2], [3]] : tensor<4x4x2x3xf64> into tensor<16x2x3xf64>
  %b = tensor.collapse_shape %v [[0, 1], [2, 3, 4], [5]]
      : tensor<4x4x2x2x1x2xf64> into tensor<16x4x2xf64>
  %c = linalg.batch_matmul ins(%b, %a : tensor<16x4x2xf64>, tensor<16x2x3xf64>)
      outs(%zero : tensor<16x4x3xf64>) -> tensor<16x4x3xf64>
  %d = tensor.expand_shape %c [[0, 1], [2, 3, 4], [5]] output_shape [4, 4, 2, 2, 1, 3]
      : tensor<16x4x3xf64> into tensor<4x4x2x2x1x3xf64>
  %y = linalg.winograd_output_transform fmr(F_2_3) ins(%d : tensor<4x4x2x2x1x3xf64>)
      outs(%e2 : tensor<1x4x4x3xf64>) -> tensor<1x4x4x3xf64>
  return %y : tensor<1x4x4x3xf64>
}""",
    lambda x, w: torch.nn.functional.conv2d(x.permute(0, 3, 1, 2), w.permute(0, 3, 1, 2)).permute(
        0, 2, 3, 1
    ),
    (random(1, 6, 6, 2), random(3, 3, 3, 2, seed=1)),
)

SELECT = Program(
    "select",
    """
func.func private @f(%x: tensor<3xf64>, %y: tensor<3xf64>, %c: tensor<3xi1>) -> tensor<3xf64> {
  %e = tensor.empty() : tensor<3xf64>
  %r = linalg.select ins(%c, %x, %y : tensor<3xi1>, tensor<3xf64>, tensor<3xf64>)
      outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %q = arith.mulf %r, %x : tensor<3xf64>
  return %q : tensor<3xf64>
}""",
    lambda x, y, c: torch.where(c, x, y) * x,
    (random(3), random(3, seed=1), torch.tensor([True, False, True])),
)

FPOWI = Program(
    "fpowi",
    """
func.func private @f(%x: tensor<5xf64>, %n: tensor<5xi64>) -> tensor<5xf64> {
  %y = math.fpowi %x, %n : tensor<5xf64>, tensor<5xi64>
  return %y : tensor<5xf64>
}""",
    lambda x, n: torch.stack([a**k for a, k in zip(x.unbind(), n.tolist())]),
    (torch.tensor([2.0, -1.5, 0.0, 0.0, -3.0], dtype=F64), torch.tensor([3, -2, 0, 1, 1])),
)

SINCOS = Program(
    "sincos",
    """
func.func private @f(%x: tensor<4xf64>) -> tensor<4xf64> {
  %e = tensor.empty() : tensor<4xf64>
  %r = linalg.map ins(%x : tensor<4xf64>) outs(%e : tensor<4xf64>) (%a: f64, %o: f64) {
    %s, %c = math.sincos %a : f64
    %d = arith.mulf %c, %c : f64
    %y = arith.addf %s, %d : f64
    linalg.yield %y : f64
  }
  return %r : tensor<4xf64>
}""",
    lambda x: x.sin() + x.cos() ** 2,
    (random(4),),
)

# Windows that overlap, as those of a convolution do.
OVERLAP = Program(
    "overlap",
    """
func.func private @f(%x: tensor<7xf64>, %w: tensor<3xf64>) -> tensor<3xf64> {
  %zero = arith.constant dense<0.0> : tensor<3xf64>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (2 * i + j)>, affine_map<(i, j) -> (j)>,
                       affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]
  } ins(%x, %w : tensor<7xf64>, tensor<3xf64>) outs(%zero : tensor<3xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %s = math.sin %a : f64
    %p = math.powf %s, %b : f64
    %y = arith.addf %o, %p : f64
    linalg.yield %y : f64
  } -> tensor<3xf64>
  return %r : tensor<3xf64>
}""",
    lambda x, w: (x.sin().unfold(0, 3, 2) ** w).sum(1),
    (random(7), random(3, seed=1)),
)

PROGRAMS = [value for value in list(vars().values()) if isinstance(value, Program)]
