"""Structured ops, arithmetic, barriers and control flow."""

from __future__ import annotations

import torch
from batch_case import ID1, ID2, INDEX, Case, M, S, V, at, case

STRUCTURED_CASES: list[Case] = [
    case(
        "matmul",
        f"{M} tensor<4x3xf64>",
        "tensor<2x3xf64>",
        """%z = arith.constant 0.0 : f64
        %e = tensor.empty() : tensor<2x3xf64>
        %i = linalg.fill ins(%z : f64) outs(%e : tensor<2x3xf64>) -> tensor<2x3xf64>
        %r = linalg.matmul ins(%a, %b : tensor<2x4xf64>, tensor<4x3xf64>)
            outs(%i : tensor<2x3xf64>) -> tensor<2x3xf64>
        return %r : tensor<2x3xf64>""",
        lambda a, b: a @ b,
    ),
    case(
        "matmul onto",
        f"{M} tensor<4x3xf64> tensor<2x3xf64>",
        "tensor<2x3xf64>",
        """%r = linalg.matmul ins(%a, %b : tensor<2x4xf64>, tensor<4x3xf64>)
            outs(%c : tensor<2x3xf64>) -> tensor<2x3xf64>
        return %r : tensor<2x3xf64>""",
        lambda a, b, c: c + a @ b,
    ),
    case(
        "batch_matmul",
        "tensor<2x3x4xf64> tensor<2x4x5xf64> tensor<2x3x5xf64>",
        "tensor<2x3x5xf64>",
        """%r = linalg.batch_matmul ins(%a, %b : tensor<2x3x4xf64>, tensor<2x4x5xf64>)
            outs(%c : tensor<2x3x5xf64>) -> tensor<2x3x5xf64>
        return %r : tensor<2x3x5xf64>""",
        lambda a, b, c: c + a @ b,
    ),
    case(
        "conv",
        "tensor<1x2x5x5xf64> tensor<3x2x2x2xf64> tensor<1x3x4x4xf64>",
        "tensor<1x3x4x4xf64>",
        """%r = linalg.conv_2d_nchw_fchw
            ins(%a, %b : tensor<1x2x5x5xf64>, tensor<3x2x2x2xf64>)
            outs(%c : tensor<1x3x4x4xf64>) -> tensor<1x3x4x4xf64>
        return %r : tensor<1x3x4x4xf64>""",
        lambda a, b, c: c + torch.nn.functional.conv2d(a, b),
    ),
    case(
        "max pooling",
        "tensor<1x2x4x4xf64>",
        "tensor<1x2x2x2xf64>",
        """%w = tensor.empty() : tensor<2x2xf64>
        %z = arith.constant 0xFFF0000000000000 : f64
        %e = tensor.empty() : tensor<1x2x2x2xf64>
        %i = linalg.fill ins(%z : f64) outs(%e : tensor<1x2x2x2xf64>) -> tensor<1x2x2x2xf64>
        %r = linalg.pooling_nchw_max {strides = dense<2> : vector<2xi64>}
            ins(%a, %w : tensor<1x2x4x4xf64>, tensor<2x2xf64>)
            outs(%i : tensor<1x2x2x2xf64>) -> tensor<1x2x2x2xf64>
        return %r : tensor<1x2x2x2xf64>""",
        lambda a: torch.nn.functional.max_pool2d(a, 2),
    ),
    case(
        "reduce",
        f"{M} tensor<2xf64>",
        "tensor<2xf64>",
        """%r = linalg.reduce { arith.addf } ins(%a : tensor<2x4xf64>) outs(%b : tensor<2xf64>)
            dimensions = [1]
        return %r : tensor<2xf64>""",
        lambda a, b: b + a.sum(1),
    ),
    case(
        "broadcast and transpose",
        V,
        "tensor<4x2xf64>",
        """%e = tensor.empty() : tensor<2x4xf64>
        %b = linalg.broadcast ins(%a : tensor<4xf64>) outs(%e : tensor<2x4xf64>) dimensions = [0]
        %f = tensor.empty() : tensor<4x2xf64>
        %r = linalg.transpose ins(%b : tensor<2x4xf64>) outs(%f : tensor<4x2xf64>)
            permutation = [1, 0]
        return %r : tensor<4x2xf64>""",
        lambda a: a[:, None].expand(4, 2),
    ),
    case(
        "fill with an element",
        f"{V}",
        V,
        """%c = arith.constant 2 : index
        %s = tensor.extract %a[%c] : tensor<4xf64>
        %q = math.sin %s : f64
        %p = arith.mulf %q, %s : f64
        %e = tensor.empty() : tensor<4xf64>
        %r = linalg.fill ins(%p : f64) outs(%e : tensor<4xf64>) -> tensor<4xf64>
        return %r : tensor<4xf64>""",
        lambda a: (a[2].sin() * a[2]).expand(4),
    ),
    case(
        "linalg.index and a captured scalar",
        f"{V} {S}",
        V,
        f"""%s = tensor.extract %b[] : tensor<f64>
        %e = tensor.empty() : tensor<4xf64>
        %r = linalg.generic {{indexing_maps = [{ID1}, {ID1}], iterator_types = ["parallel"]}}
            ins(%a : tensor<4xf64>) outs(%e : tensor<4xf64>) {{
        ^bb0(%x: f64, %o: f64):
          %i = linalg.index 0 : index
          %n = arith.index_cast %i : index to i64
          %w = arith.sitofp %n : i64 to f64
          %p = arith.mulf %x, %w : f64
          %q = arith.mulf %p, %s : f64
          linalg.yield %q : f64
        }} -> tensor<4xf64>
        return %r : tensor<4xf64>""",
        lambda a, b: a * torch.arange(4) * b,
    ),
    case(
        "gather from a captured tensor",
        "tensor<3x4xf64> tensor<2xi64>",
        M,
        f"""%e = tensor.empty() : tensor<2x4xf64>
        %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i)>, {ID2}],
            iterator_types = ["parallel", "parallel"]}}
            ins(%b : tensor<2xi64>) outs(%e : tensor<2x4xf64>) {{
        ^bb0(%x: i64, %o: f64):
          %i = arith.index_cast %x : i64 to index
          %j = linalg.index 1 : index
          %z = arith.constant 0 : i64
          %ok = arith.cmpi sge, %x, %z : i64
          cf.assert %ok, "negative index"
          %v = tensor.extract %a[%i, %j] : tensor<3x4xf64>
          linalg.yield %v : f64
        }} -> tensor<2x4xf64>
        return %r : tensor<2x4xf64>""",
        lambda a, b: a[b],
    ),
    case(
        "arithmetic on tensors",
        f"{V} {V}",
        V,
        """%c = arith.constant dense<0.5> : tensor<4xf64>
        %s = math.tanh %a : tensor<4xf64>
        %p = arith.mulf %s, %b : tensor<4xf64>
        %q = arith.addf %p, %c : tensor<4xf64>
        %m = arith.cmpf ogt, %a, %b : tensor<4xf64>
        %r = arith.select %m, %q, %a : tensor<4xi1>, tensor<4xf64>
        return %r : tensor<4xf64>""",
        lambda a, b: torch.where(a > b, a.tanh() * b + 0.5, a),
    ),
    case(
        "select of tensors by a scalar",
        f"{V} {V} {S}",
        V,
        """%s = tensor.extract %c[] : tensor<f64>
        %z = arith.constant 0.0 : f64
        %m = arith.cmpf ogt, %s, %z : f64
        %r = arith.select %m, %a, %b : tensor<4xf64>
        return %r : tensor<4xf64>""",
        lambda a, b, c: torch.where(c > 0, a, b),
    ),
    case(
        "a constant with values of its own",
        V,
        V,
        """%c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf64>
        %r = tensor.insert_slice %a into %c[0] [4] [1] : tensor<4xf64> into tensor<4xf64>
        %t = arith.mulf %r, %c : tensor<4xf64>
        return %t : tensor<4xf64>""",
        lambda a: a * torch.tensor([1.0, 2.0, 3.0, 4.0]),
    ),
    case(
        "value_of",
        f"{V} {V}",
        V,
        """%v = grad.value_of %a, %b : tensor<4xf64>, tensor<4xf64> -> tensor<4xf64>
        %r = arith.mulf %v, %v : tensor<4xf64>
        return %r : tensor<4xf64>""",
        lambda a, b: (a.detach() + b - b.detach()) ** 2,
    ),
    case(
        "stop_gradient",
        f"{S} {S}",
        S,
        """%x = tensor.extract %a[] : tensor<f64>
        %s = grad.stop_gradient %x : f64 -> f64
        %y = tensor.extract %b[] : tensor<f64>
        %p = arith.mulf %s, %y : f64
        %q = arith.mulf %p, %x : f64
        %r = tensor.from_elements %q : tensor<f64>
        return %r : tensor<f64>""",
        lambda a, b: a.detach() * b * a,
    ),
    case(
        "scatter_add",
        "tensor<2xi64> tensor<2x4xf64> tensor<3x4xf64>",
        "tensor<3x4xf64>",
        """%r = grad.scatter_add bounds [2, 4] ins(%a, %b : tensor<2xi64>, tensor<2x4xf64>)
            maps [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>]
            into %c : tensor<3x4xf64> {
        ^bb0(%row: i64, %value: f64):
          %i = arith.index_cast %row : i64 to index
          %j = grad.loop_index 1
          grad.yield %i, %j, %value : index, index, f64
        }
        return %r : tensor<3x4xf64>""",
        lambda a, b, c: c.index_add(0, a, b),
    ),
    case(
        "scatter_add of what it captures",
        "tensor<2xi64> tensor<4xf64> tensor<f64> tensor<3x4xf64>",
        "tensor<3x4xf64>",
        """%s = tensor.extract %c[] : tensor<f64>
        %r = grad.scatter_add bounds [2, 4] ins(%a : tensor<2xi64>)
            maps [affine_map<(i, j) -> (i)>] into %d : tensor<3x4xf64> {
        ^bb0(%row: i64):
          %i = arith.index_cast %row : i64 to index
          %j = grad.loop_index 1
          %x = tensor.extract %b[%j] : tensor<4xf64>
          %v = arith.mulf %x, %s : f64
          grad.yield %i, %j, %v : index, index, f64
        }
        return %r : tensor<3x4xf64>""",
        lambda a, b, c, d: d.index_add(0, a, (b * c).expand(2, 4)),
    ),
    case(
        "scf.if",
        f"{V} {S}",
        V,
        """%s = tensor.extract %b[] : tensor<f64>
        %z = arith.constant 0.0 : f64
        %m = arith.cmpf ogt, %s, %z : f64
        %r = scf.if %m -> tensor<4xf64> {
          %y = math.exp %a : tensor<4xf64>
          scf.yield %y : tensor<4xf64>
        } else {
          scf.yield %a : tensor<4xf64>
        }
        return %r : tensor<4xf64>""",
        lambda a, b: a.exp() if b > 0 else a,
    ),
    case(
        "scf.for",
        f"{V} {S} {INDEX}",
        V,
        """%n = tensor.extract %c[] : tensor<i64>
        %n2 = arith.index_cast %n : i64 to index
        %zero = arith.constant 0 : index
        %one = arith.constant 1 : index
        %s = tensor.extract %b[] : tensor<f64>
        %t = arith.constant 1.0 : f64
        %r:2 = scf.for %i = %zero to %n2 step %one iter_args(%x = %a, %y = %t)
            -> (tensor<4xf64>, f64) {
          %u = tensor.splat %y : tensor<4xf64>
          %v = arith.mulf %x, %u : tensor<4xf64>
          %w = arith.addf %y, %s : f64
          scf.yield %v, %w : tensor<4xf64>, f64
        }
        %u = tensor.splat %r#1 : tensor<4xf64>
        %q = arith.addf %r#0, %u : tensor<4xf64>
        return %q : tensor<4xf64>""",
        lambda a, b, c: (
            a * torch.stack([torch.ones(())] + [1 + i * b for i in range(at(c))]).prod()
            + (1 + at(c) * b)
        ),
    ),
    case(
        "scf.while",
        f"{S} {INDEX}",
        S,
        """%x = tensor.extract %a[] : tensor<f64>
        %n = tensor.extract %b[] : tensor<i64>
        %zero = arith.constant 0 : i64
        %one = arith.constant 1 : i64
        %r:2 = scf.while (%i = %n, %y = %x) : (i64, f64) -> (i64, f64) {
          %more = arith.cmpi sgt, %i, %zero : i64
          scf.condition(%more) %i, %y : i64, f64
        } do {
        ^bb0(%i: i64, %y: f64):
          %j = arith.subi %i, %one : i64
          %z = arith.mulf %y, %y : f64
          scf.yield %j, %z : i64, f64
        }
        %t = tensor.from_elements %r#1 : tensor<f64>
        return %t : tensor<f64>""",
        lambda a, b: a ** (2 ** at(b)),
    ),
]
