"""One function an op of the linalg dialect, and the same in PyTorch."""

from __future__ import annotations

from collections.abc import Callable

import torch
from derivatives_of import Program, random, type_of
from torch.nn import functional as F


def named(
    op: str,
    shapes: list[tuple[int, ...]],
    reference: Callable[..., torch.Tensor],
    attributes: str = "",
    name: str = "",
) -> Program:
    """``op`` of operands of ``shapes``, on top of an initial value that ``reference`` does not get.
    The initial value of a sum is differentiated as well."""
    operands = [random(*shape, seed=number) for number, shape in enumerate(shapes)]
    result = reference(*operands)
    adds = any(kind in op for kind in ("mat", "vec", "dot", "mmt4d", "contract", "conv", "sum"))
    init = random(*result.shape, seed=len(shapes))
    low = {"max": "-1.0e9", "min": "1.0e9"}.get(op.rpartition("_")[2], "0.0")
    arguments = (*operands, init) if adds else tuple(operands)
    names = [f"%a{i}" for i in range(len(operands))]
    types = [type_of(x) for x in operands]
    windows = op.startswith("pooling")
    if windows:
        # The second operand of a pooling is its window, of which only the shape counts.
        arguments = tuple(x for i, x in enumerate(arguments) if i != 1)
    declared = ", ".join(
        f"{a}: {type_of(x)}"
        for a, x in zip([a for i, a in enumerate(names) if not (windows and i == 1)] + ["%init"],
                        arguments)
    )  # fmt: skip
    out = type_of(result)
    setup = [f"  %a1 = tensor.empty() : {types[1]}"] if windows else []
    if not adds:
        setup.append(f"  %init = arith.constant dense<{low}> : {out}")
    text = f"""
func.func private @f({declared}) -> {out} {{
{chr(10).join(setup)}
  %r = linalg.{op} {attributes} ins({", ".join(names)} : {", ".join(types)})
      outs(%init : {out}) -> {out}
  %y = arith.mulf %r, %r : {out}
  return %y : {out}
}}"""

    def squared(*given: torch.Tensor) -> torch.Tensor:
        given = [*given]
        added = given.pop() if adds else 0.0
        if windows:
            given.insert(1, operands[1])
        return (reference(*given) + added) ** 2

    return Program(name or op, text, squared, arguments)


def unary(op: str, reference: Callable[[torch.Tensor], torch.Tensor]) -> Program:
    return named(op, [(3, 4)], reference)


def binary(op: str, reference: Callable[..., torch.Tensor]) -> Program:
    return named(op, [(3, 4), (3, 4)], reference)


def nhwc(x: torch.Tensor) -> torch.Tensor:
    """From channels last to channels first."""
    return x.movedim(-1, 1)


def last(x: torch.Tensor) -> torch.Tensor:
    return x.movedim(1, -1)


ELEMENTWISE = [
    unary("abs", torch.abs),
    unary("ceil", torch.ceil),
    unary("copy", lambda x: x),
    unary("erf", torch.erf),
    unary("exp", torch.exp),
    unary("floor", torch.floor),
    unary("log", torch.log),
    unary("negf", torch.neg),
    unary("reciprocal", torch.reciprocal),
    unary("round", torch.round),
    unary("rsqrt", torch.rsqrt),
    unary("sqrt", torch.sqrt),
    unary("square", torch.square),
    unary("tanh", torch.tanh),
    binary("add", torch.add),
    binary("div", torch.div),
    binary("max", torch.maximum),
    binary("min", torch.minimum),
    binary("mul", torch.mul),
    binary("powf", torch.pow),
    binary("sub", torch.sub),
    named("elementwise", [(3, 4)], torch.exp, "kind=#linalg.elementwise_kind<exp>"),
    named("elementwise", [(4, 3), (3, 4)], lambda x, y: x.T * y,
          "kind=#linalg.elementwise_kind<mul> indexing_maps = [affine_map<(i, j) -> (j, i)>,"
          " affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>]", "elementwise_transposed"),
]  # fmt: skip

PRODUCTS = [
    named("dot", [(4,), (4,)], torch.dot),
    named("matvec", [(3, 4), (4,)], torch.mv),
    named("vecmat", [(3,), (3, 4)], lambda x, a: x @ a),
    named("matmul", [(3, 4), (4, 2)], torch.mm),
    named("matmul", [(4, 3), (2, 4)], lambda a, b: a.T @ b.T,
          "indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>,"
          " affine_map<(m, n, k) -> (m, n)>]", "matmul_transposed"),
    named("batch_matmul", [(2, 3, 4), (2, 4, 2)], torch.bmm),
    named("batch_matvec", [(2, 3, 4), (2, 4)], lambda a, x: torch.einsum("bij,bj->bi", a, x)),
    named("batch_vecmat", [(2, 3), (2, 3, 4)], lambda x, a: torch.einsum("bi,bij->bj", x, a)),
    named("batch_reduce_matmul", [(2, 3, 4), (2, 4, 2)], lambda a, b: torch.bmm(a, b).sum(0)),
    named("mmt4d", [(2, 3, 4, 2), (1, 3, 5, 2)],
          lambda a, b: torch.einsum("mkij,nklj->mnil", a, b)),
    named("batch_mmt4d", [(2, 2, 3, 4, 2), (2, 1, 3, 5, 2)],
          lambda a, b: torch.einsum("bmkij,bnklj->bmnil", a, b)),
    named("contract", [(3, 4, 2), (4, 5)], lambda a, b: torch.einsum("ikm,kj->mij", a, b),
          "indexing_maps = [affine_map<(m, i, j, k) -> (i, k, m)>,"
          " affine_map<(m, i, j, k) -> (k, j)>, affine_map<(m, i, j, k) -> (m, i, j)>]"),
]  # fmt: skip

STRIDED = "{strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}"
DILATED = "{strides = dense<1> : tensor<2xi64>, dilations = dense<2> : tensor<2xi64>}"

CONVOLUTIONS = [
    named("conv_1d", [(6,), (3,)], lambda x, w: F.conv1d(x[None, None], w[None, None])[0, 0]),
    named("conv_2d", [(5, 6), (3, 2)], lambda x, w: F.conv2d(x[None, None], w[None, None])[0, 0]),
    named("conv_3d", [(4, 4, 5), (2, 3, 2)],
          lambda x, w: F.conv3d(x[None, None], w[None, None])[0, 0]),
    named("conv_1d_ncw_fcw", [(2, 3, 6), (4, 3, 3)], F.conv1d),
    named("conv_1d_nwc_wcf", [(2, 6, 3), (3, 3, 4)],
          lambda x, w: last(F.conv1d(nhwc(x), w.permute(2, 1, 0)))),
    named("conv_2d_nchw_fchw", [(2, 3, 7, 7), (4, 3, 3, 3)],
          lambda x, w: F.conv2d(x, w, stride=2), STRIDED),
    named("conv_2d_nhwc_hwcf", [(2, 7, 7, 3), (3, 3, 3, 4)],
          lambda x, w: last(F.conv2d(nhwc(x), w.permute(3, 2, 0, 1), dilation=2)), DILATED),
    named("conv_2d_nhwc_fhwc", [(2, 5, 5, 3), (4, 3, 3, 3)],
          lambda x, w: last(F.conv2d(nhwc(x), nhwc(w)))),
    named("conv_2d_ngchw_fgchw", [(2, 2, 3, 5, 5), (4, 2, 3, 3, 3)],
          lambda x, w: F.conv2d(x.flatten(1, 2), w.transpose(0, 1).flatten(0, 1), groups=2)
          .unflatten(1, (2, 4))),
    named("conv_2d_ngchw_gfchw", [(2, 2, 3, 5, 5), (2, 4, 3, 3, 3)],
          lambda x, w: F.conv2d(x.flatten(1, 2), w.flatten(0, 1), groups=2).unflatten(1, (2, 4))),
    named("conv_2d_nhwgc_gfhwc", [(2, 5, 5, 2, 3), (2, 4, 3, 3, 3)],
          lambda x, w: last(F.conv2d(nhwc(x.flatten(3, 4)), nhwc(w.flatten(0, 1)), groups=2))
          .unflatten(3, (2, 4))),
    named("conv_3d_ncdhw_fcdhw", [(1, 2, 4, 4, 4), (3, 2, 2, 2, 2)], F.conv3d),
    named("conv_3d_ndhwc_dhwcf", [(1, 4, 4, 4, 2), (2, 2, 2, 2, 3)],
          lambda x, w: last(F.conv3d(nhwc(x), w.permute(4, 3, 0, 1, 2)))),
    named("depthwise_conv_1d_ncw_cw", [(2, 3, 6), (3, 3)],
          lambda x, w: F.conv1d(x, w[:, None], groups=3)),
    named("depthwise_conv_1d_nwc_wc", [(2, 6, 3), (3, 3)],
          lambda x, w: last(F.conv1d(nhwc(x), w.T[:, None], groups=3))),
    named("depthwise_conv_1d_nwc_wcm", [(2, 6, 3), (3, 3, 2)],
          lambda x, w: last(F.conv1d(nhwc(x), w.permute(1, 2, 0).flatten(0, 1)[:, None], groups=3))
          .unflatten(2, (3, 2))),
    named("depthwise_conv_2d_nchw_chw", [(2, 3, 5, 5), (3, 3, 3)],
          lambda x, w: F.conv2d(x, w[:, None], groups=3)),
    named("depthwise_conv_2d_nhwc_hwc", [(2, 5, 5, 3), (3, 3, 3)],
          lambda x, w: last(F.conv2d(nhwc(x), w.permute(2, 0, 1)[:, None], groups=3))),
    named("depthwise_conv_2d_nhwc_hwcm", [(2, 5, 5, 3), (3, 3, 3, 2)],
          lambda x, w: last(
              F.conv2d(nhwc(x), w.permute(2, 3, 0, 1).flatten(0, 1)[:, None], groups=3)
          ).unflatten(3, (3, 2))),
    named("depthwise_conv_3d_ncdhw_cdhw", [(1, 2, 4, 4, 4), (2, 2, 2, 2)],
          lambda x, w: F.conv3d(x, w[:, None], groups=2)),
    named("depthwise_conv_3d_ndhwc_dhwc", [(1, 4, 4, 4, 2), (2, 2, 2, 2)],
          lambda x, w: last(F.conv3d(nhwc(x), w.movedim(-1, 0)[:, None], groups=2))),
    named("depthwise_conv_3d_ndhwc_dhwcm", [(1, 4, 4, 4, 2), (2, 2, 2, 2, 3)],
          lambda x, w: last(
              F.conv3d(nhwc(x), w.permute(3, 4, 0, 1, 2).flatten(0, 1)[:, None], groups=2)
          ).unflatten(4, (2, 3))),
]  # fmt: skip


def pooling(layout: str, reduction: str) -> Program:
    rank = len(layout) - 2
    channels_last = layout.endswith("c")
    sizes = {1: (3,), 2: (2, 3), 3: (2, 1, 2)}[rank]
    space = {1: (6,), 2: (4, 5), 3: (3, 3, 3)}[rank]

    def reference(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        x = nhwc(x) if channels_last else x
        for number, size in enumerate(w.shape):
            x = x.unfold(2 + number, size, 1)
        x = x.flatten(2 + rank)
        y = {"sum": x.sum, "max": x.amax, "min": x.amin}[reduction](-1)
        return last(y) if channels_last else y

    shape = (2, *space, 3) if channels_last else (2, 3, *space)
    return named(f"pooling_{layout}_{reduction}", [shape, sizes], reference)


POOLING = [
    pooling(layout, reduction)
    for layout, reductions in {
        "ncw": ("sum", "max"),
        "nwc": ("sum", "max", "min"),
        "nchw": ("sum", "max"),
        "nhwc": ("sum", "max", "min"),
        "ndhwc": ("sum", "max", "min"),
    }.items()
    for reduction in reductions
]

PROGRAMS = [*ELEMENTWISE, *PRODUCTS, *CONVOLUTIONS, *POOLING]
