"""Ops of the tensor dialect."""

from __future__ import annotations

import torch
from batch_case import INDEX, Case, M, S, V, at, case

TENSOR_CASES: list[Case] = [
    case(
        "extract at a computed index",
        f"{V} {INDEX}",
        S,
        """%n = tensor.extract %b[] : tensor<i64>
        %i = arith.index_cast %n : i64 to index
        %x = tensor.extract %a[%i] : tensor<4xf64>
        %y = arith.mulf %x, %x : f64
        %r = tensor.from_elements %y : tensor<f64>
        return %r : tensor<f64>""",
        lambda a, b: a[at(b)] ** 2,
    ),
    case(
        "insert at a fixed index",
        f"{V} {S}",
        V,
        """%c = arith.constant 1 : index
        %s = tensor.extract %b[] : tensor<f64>
        %r = tensor.insert %s into %a[%c] : tensor<4xf64>
        return %r : tensor<4xf64>""",
        lambda a, b: torch.cat([a[:1], b[None], a[2:]]),
    ),
    case(
        "insert at a computed index",
        f"{V} {S} {INDEX}",
        V,
        """%n = tensor.extract %c[] : tensor<i64>
        %i = arith.index_cast %n : i64 to index
        %s = tensor.extract %b[] : tensor<f64>
        %r = tensor.insert %s into %a[%i] : tensor<4xf64>
        return %r : tensor<4xf64>""",
        lambda a, b, c: torch.where(torch.arange(4) == c, b, a),
    ),
    case(
        "extract_slice",
        "tensor<3x4xf64>",
        "tensor<2xf64>",
        """%r = tensor.extract_slice %a[1, 0] [1, 2] [1, 2] : tensor<3x4xf64> to tensor<2xf64>
        return %r : tensor<2xf64>""",
        lambda a: a[1, ::2],
    ),
    case(
        "extract_slice at a computed offset",
        f"tensor<5x4xf64> {INDEX}",
        "tensor<2x4xf64>",
        """%n = tensor.extract %b[] : tensor<i64>
        %i = arith.index_cast %n : i64 to index
        %r = tensor.extract_slice %a[%i, 0] [2, 4] [2, 1] : tensor<5x4xf64> to tensor<2x4xf64>
        return %r : tensor<2x4xf64>""",
        lambda a, b: a[at(b) : at(b) + 3 : 2],
    ),
    case(
        "rank-reducing extract_slice at a computed offset",
        f"tensor<5x4xf64> {INDEX}",
        V,
        """%n = tensor.extract %b[] : tensor<i64>
        %i = arith.index_cast %n : i64 to index
        %r = tensor.extract_slice %a[%i, 0] [1, 4] [1, 1] : tensor<5x4xf64> to tensor<4xf64>
        return %r : tensor<4xf64>""",
        lambda a, b: a[at(b)],
    ),
    case(
        "insert_slice",
        "tensor<2xf64> tensor<3x4xf64>",
        "tensor<3x4xf64>",
        """%r = tensor.insert_slice %a into %b[1, 1] [1, 2] [1, 2]
            : tensor<2xf64> into tensor<3x4xf64>
        return %r : tensor<3x4xf64>""",
        lambda a, b: torch.stack([b[0], torch.stack([b[1, 0], a[0], b[1, 2], a[1]]), b[2]]),
    ),
    case(
        "insert_slice at a computed offset",
        f"{V} tensor<3x4xf64> {INDEX}",
        "tensor<3x4xf64>",
        """%n = tensor.extract %c[] : tensor<i64>
        %i = arith.index_cast %n : i64 to index
        %r = tensor.insert_slice %a into %b[%i, 0] [1, 4] [1, 1]
            : tensor<4xf64> into tensor<3x4xf64>
        return %r : tensor<3x4xf64>""",
        lambda a, b, c: torch.where((torch.arange(3) == c)[:, None], a, b),
    ),
    case(
        "pad with a constant",
        M,
        "tensor<4x5xf64>",
        """%z = arith.constant 7.0 : f64
        %r = tensor.pad %a low[1, 0] high[1, 1] {
        ^bb0(%i: index, %j: index):
          tensor.yield %z : f64
        } : tensor<2x4xf64> to tensor<4x5xf64>
        return %r : tensor<4x5xf64>""",
        lambda a: torch.nn.functional.pad(a, (0, 1, 1, 1), value=7.0),
    ),
    case(
        "pad with an element",
        f"{M} {S}",
        "tensor<4x5xf64>",
        """%z = tensor.extract %b[] : tensor<f64>
        %r = tensor.pad %a low[1, 0] high[1, 1] {
        ^bb0(%i: index, %j: index):
          tensor.yield %z : f64
        } : tensor<2x4xf64> to tensor<4x5xf64>
        return %r : tensor<4x5xf64>""",
        lambda a, b: b + torch.nn.functional.pad(a - b, (0, 1, 1, 1), value=0.0),
    ),
    case(
        "concat",
        "tensor<2x1xf64> tensor<2x3xf64>",
        "tensor<2x4xf64>",
        """%r = tensor.concat dim(1) %a, %b : (tensor<2x1xf64>, tensor<2x3xf64>) -> tensor<2x4xf64>
        return %r : tensor<2x4xf64>""",
        lambda a, b: torch.cat([a, b], 1),
    ),
    case(
        "collapse_shape and expand_shape",
        "tensor<2x6xf64>",
        "tensor<3x2x2xf64>",
        """%c = tensor.collapse_shape %a [[0, 1]] : tensor<2x6xf64> into tensor<12xf64>
        %r = tensor.expand_shape %c [[0, 1, 2]] output_shape [3, 2, 2]
            : tensor<12xf64> into tensor<3x2x2xf64>
        return %r : tensor<3x2x2xf64>""",
        lambda a: a.reshape(3, 2, 2),
    ),
    case(
        "shapes of a scalar",
        "tensor<1x1xf64>",
        "tensor<1x1x1xf64>",
        """%c = tensor.collapse_shape %a [] : tensor<1x1xf64> into tensor<f64>
        %s = tensor.extract %c[] : tensor<f64>
        %d = tensor.from_elements %s : tensor<f64>
        %r = tensor.expand_shape %d [] output_shape [1, 1, 1]
            : tensor<f64> into tensor<1x1x1xf64>
        return %r : tensor<1x1x1xf64>""",
        lambda a: a[None],
    ),
    case(
        "reshape",
        "tensor<2x6xf64>",
        "tensor<4x3xf64>",
        """%s = arith.constant dense<[4, 3]> : tensor<2xindex>
        %r = tensor.reshape %a(%s) : (tensor<2x6xf64>, tensor<2xindex>) -> tensor<4x3xf64>
        return %r : tensor<4x3xf64>""",
        lambda a: a.reshape(4, 3),
    ),
    case(
        "from_elements and splat",
        f"{S} {S}",
        "tensor<2x2xf64>",
        """%x = tensor.extract %a[] : tensor<f64>
        %y = tensor.extract %b[] : tensor<f64>
        %p = arith.mulf %x, %y : f64
        %c = arith.constant 2.0 : f64
        %t = tensor.from_elements %x, %y, %p, %c : tensor<2x2xf64>
        %u = tensor.splat %y : tensor<2x2xf64>
        %r = arith.mulf %t, %u : tensor<2x2xf64>
        return %r : tensor<2x2xf64>""",
        lambda a, b: torch.stack([a * b, b * b, a * b * b, 2 * b]).reshape(2, 2),
    ),
    case(
        "one element",
        S,
        "tensor<1x1xf64>",
        """%x = tensor.extract %a[] : tensor<f64>
        %y = math.exp %x : f64
        %r = tensor.from_elements %y : tensor<1x1xf64>
        return %r : tensor<1x1xf64>""",
        lambda a: a.exp().reshape(1, 1),
    ),
    case(
        "generate",
        f"{V} {S}",
        "tensor<2x4xf64>",
        """%s = tensor.extract %b[] : tensor<f64>
        %r = tensor.generate {
        ^bb0(%i: index, %j: index):
          %x = tensor.extract %a[%j] : tensor<4xf64>
          %n = arith.index_cast %i : index to i64
          %w = arith.sitofp %n : i64 to f64
          %y = arith.mulf %x, %w : f64
          %z = arith.addf %y, %s : f64
          tensor.yield %z : f64
        } : tensor<2x4xf64>
        return %r : tensor<2x4xf64>""",
        lambda a, b: a * torch.arange(2)[:, None] + b,
        differentiable=False,
    ),
    case(
        "tensor.gather",
        "tensor<3x4xf64> tensor<2x1xi64>",
        "tensor<2x4xf64>",
        """%r = tensor.gather %a[%b] gather_dims([0])
            : (tensor<3x4xf64>, tensor<2x1xi64>) -> tensor<2x4xf64>
        return %r : tensor<2x4xf64>""",
        lambda a, b: a[b[:, 0]],
    ),
    case(
        "sizes",
        V,
        S,
        """%zero = arith.constant 0 : index
        %d = tensor.cast %a : tensor<4xf64> to tensor<?xf64>
        %n = tensor.dim %d, %zero : tensor<?xf64>
        %i = arith.index_cast %n : index to i64
        %f = arith.sitofp %i : i64 to f64
        %x = tensor.extract %d[%zero] : tensor<?xf64>
        %y = arith.mulf %x, %f : f64
        %r = tensor.from_elements %y : tensor<f64>
        return %r : tensor<f64>""",
        lambda a: 4 * a[0],
        differentiable=False,
    ),
]
