"""Ops that reach the differentiator whole.

torch-mlir's lowering of these loses PyTorch's derivative convention (which of several equal maxima
gets the gradient). Each becomes a call to a private function whose body is written here as MLIR
text: value reductions split ties evenly, value-index pairs send the gradient to the index. Shapes
are static. Pieces of the text are in outlined_text.py, what deals in positions in positions.py.

One entry of ``_OUTLINED`` an op: from its FX node to a function body on builtin tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch.fx import Node

from .conventions import packet_name
from .mlir_types import element_type, tensor_type
from .numerics import normal_dims
from .outlined_text import (
    INFINITY,
    Outlined,
    affine_map,
    argument,
    dims_text,
    filled,
    function,
    iterators,
    kept,
    shape_of,
)
from .positions import POSITIONS


def outline(node: Node) -> Outlined | None:
    """The outlined form of ``node``; None if it has none (integer maxima have no derivative)."""
    name = packet_name(node)
    if name in POSITIONS:
        return POSITIONS[name](node)
    write = _OUTLINED.get(name)
    if write is None or not isinstance(node.args[0], Node):
        return None
    if element_type(node.args[0].meta["val"].dtype) not in INFINITY:
        return None
    return write(node)


# -- reductions
# ---------------------------------------------------------------------------------------
def _extremum(node: Node, dims: Sequence[int], keepdim: bool, largest: bool) -> Outlined:
    """One result, ``arith.maximumf``/``minimumf``: ties share the gradient evenly."""
    x = node.args[0]
    shape, element = shape_of(x), element_type(x.meta["val"].dtype)
    rank = len(shape)
    outer = [d for d in range(rank) if d not in dims]
    source = tensor_type(shape, element)
    result = tensor_type([shape[d] for d in outer], element)
    maps = [affine_map(rank, dims_text(range(rank))), affine_map(rank, dims_text(outer))]
    kinds = iterators(["reduction" if d in dims else "parallel" for d in range(rank)])
    combine = "arith.maximumf" if largest else "arith.minimumf"
    body = filled("init", result, element, INFINITY[element][largest]) + (
        f"  %r = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = {kinds}}} "
        f"ins(%a0 : {source}) outs(%init : {result}) {{\n"
        f"  ^bb0(%in: {element} LOC, %out: {element} LOC):\n"
        f"    %m = {combine} %in, %out : {element} LOC\n"
        f"    linalg.yield %m : {element} LOC\n"
        f"  }} -> {result} LOC\n"
    )
    value = "%r"
    if keepdim and dims:
        body += kept("%r", shape, dims, element, "%k")
        value = "%k"
        result = tensor_type([1 if d in dims else s for d, s in enumerate(shape)], element)
    return Outlined([x], [result], function([source], [result], body, value))


def _amax(largest: bool) -> Callable[[Node], Outlined]:
    def write(node: Node) -> Outlined:
        dims = normal_dims(node.args[0].meta["val"], argument(node, 1, "dim", []))
        return _extremum(node, dims, bool(argument(node, 2, "keepdim", False)), largest)

    return write


def _pair_body(element: str, index: str, largest: bool, last_nan: bool) -> str:
    """The combiner of a value-index pair: a strict comparison keeps the first, NaN beats all."""
    combine, compare = ("arith.maximumf", "ogt") if largest else ("arith.minimumf", "olt")
    text = (
        f"    %m = {combine} %in, %out : {element} LOC\n"
        f"    %better = arith.cmpf {compare}, %in, %out : {element} LOC\n"
        f"    %nan = arith.cmpf uno, %in, %in : {element} LOC\n"
    )
    if last_nan:  # pooling: every NaN takes the place of the one before
        text += "    %take = arith.ori %better, %nan : i1 LOC\n"
    else:
        text += (
            f"    %number = arith.cmpf ord, %out, %out : {element} LOC\n"
            "    %first = arith.andi %nan, %number : i1 LOC\n"
            "    %take = arith.ori %better, %first : i1 LOC\n"
        )
    return text + (
        f"    %i = arith.select %take, {index}, %at : i64 LOC\n"
        f"    linalg.yield %m, %i : {element}, i64 LOC\n"
    )


def _with_index(node: Node, largest: bool) -> Outlined:
    """``max.dim``/``min.dim``: value and i64 index of the first extremum along one dimension."""
    x = node.args[0]
    shape, element = shape_of(x), element_type(x.meta["val"].dtype)
    rank, source = len(shape), tensor_type(shape, element)
    keepdim = bool(argument(node, 2, "keepdim", False))
    dims = normal_dims(x.meta["val"], argument(node, 1, "dim", 0))
    if not dims:  # a scalar is its own maximum
        body = "  %z = arith.constant dense<0> : tensor<i64> LOC\n"
        return Outlined(
            [x],
            [source, "tensor<i64>"],
            function([source], [source, "tensor<i64>"], body, "%a0, %z"),
        )
    outer = [d for d in range(rank) if d not in dims]
    results = [tensor_type([shape[d] for d in outer], kind) for kind in (element, "i64")]
    maps = [affine_map(rank, dims_text(range(rank)))] + [affine_map(rank, dims_text(outer))] * 2
    kinds = iterators(["reduction" if d in dims else "parallel" for d in range(rank)])
    body = (
        filled("init", results[0], element, INFINITY[element][largest])
        + filled("zero", results[1], "i64", "0")
        + f"  %r:2 = linalg.generic {{indexing_maps = [{', '.join(maps)}], "
        f"iterator_types = {kinds}}} "
        f"ins(%a0 : {source}) outs(%init, %zero : {results[0]}, {results[1]}) {{\n"
        f"  ^bb0(%in: {element} LOC, %out: {element} LOC, %at: i64 LOC):\n"
        f"    %n = linalg.index {dims[0]} : index LOC\n"
        "    %here = arith.index_cast %n : index to i64 LOC\n"
        + _pair_body(element, "%here", largest, last_nan=False)
        + f"  }} -> ({results[0]}, {results[1]}) LOC\n"
    )
    values = "%r#0, %r#1"
    if keepdim:
        body += kept("%r#0", shape, dims, element, "%k0") + kept("%r#1", shape, dims, "i64", "%k1")
        full = [1 if d in dims else s for d, s in enumerate(shape)]
        results, values = [tensor_type(full, element), tensor_type(full, "i64")], "%k0, %k1"
    return Outlined([x], results, function([source], results, body, values))


def _max(largest: bool) -> Callable[[Node], Outlined | None]:
    def write(node: Node) -> Outlined | None:
        overload = getattr(node.target, "_overloadname", "")
        if overload == "default":
            return _extremum(node, range(len(shape_of(node.args[0]))), False, largest)
        return _with_index(node, largest) if overload == "dim" else None

    return write


# -- elementwise
# --------------------------------------------------------------------------------------
def _elementwise(combine: str) -> Callable[[Node], Outlined]:
    """``maximum``/``minimum`` of equal types (legalise.py sees to that): ties get a half each."""

    def write(node: Node) -> Outlined:
        shape = shape_of(node)
        element = element_type(node.meta["val"].dtype)
        kind, rank = tensor_type(shape, element), len(shape)
        identity = affine_map(rank, dims_text(range(rank)))
        body = (
            f"  %e = tensor.empty() : {kind} LOC\n"
            f"  %r = linalg.generic {{indexing_maps = [{identity}, {identity}, {identity}], "
            f"iterator_types = {iterators(['parallel'] * rank)}}} "
            f"ins(%a0, %a1 : {kind}, {kind}) outs(%e : {kind}) {{\n"
            f"  ^bb0(%x: {element} LOC, %y: {element} LOC, %out: {element} LOC):\n"
            f"    %m = {combine} %x, %y : {element} LOC\n"
            f"    linalg.yield %m : {element} LOC\n"
            f"  }} -> {kind} LOC\n"
        )
        return Outlined(list(node.args[:2]), [kind], function([kind, kind], [kind], body, "%r"))

    return write


def _erfc(node: Node) -> Outlined:
    """torch-mlir has no lowering."""
    kind, rank = (
        tensor_type(shape_of(node), element_type(node.meta["val"].dtype)),
        len(shape_of(node)),
    )
    element, identity = (
        element_type(node.meta["val"].dtype),
        affine_map(rank, dims_text(range(rank))),
    )
    body = (
        f"  %e = tensor.empty() : {kind} LOC\n"
        f"  %r = linalg.generic {{indexing_maps = [{identity}, {identity}], "
        f"iterator_types = {iterators(['parallel'] * rank)}}} "
        f"ins(%a0 : {kind}) outs(%e : {kind}) {{\n"
        f"  ^bb0(%x: {element} LOC, %out: {element} LOC):\n"
        f"    %m = math.erfc %x : {element} LOC\n"
        f"    linalg.yield %m : {element} LOC\n"
        f"  }} -> {kind} LOC\n"
    )
    return Outlined([node.args[0]], [kind], function([kind], [kind], body, "%r"))


# -- pooling
# ------------------------------------------------------------------------------------------
def _pair(value: Any, default: Sequence[int]) -> tuple[int, int]:
    value = list(value) or list(default)
    return (value[0], value[-1])


def _max_pool2d(node: Node) -> Outlined:
    """Value and window index of the maximum, then the flat input index that PyTorch returns."""
    x = node.args[0]
    shape, element = shape_of(x), element_type(x.meta["val"].dtype)
    kernel = _pair(node.args[1], ())
    stride = _pair(argument(node, 2, "stride", ()), kernel)
    padding = _pair(argument(node, 3, "padding", ()), (0, 0))
    dilation = _pair(argument(node, 4, "dilation", ()), (1, 1))
    out = _shape_of(node.meta["val"][0])
    lead, height_width = shape[:-2], shape[-2:]
    k = len(lead)
    source = tensor_type(shape, element)
    # High padding reaches the last window's end, which ceil_mode may put past the input.
    ends = [
        (o - 1) * s + (n - 1) * d + 1
        for o, s, n, d in zip(out[-2:], stride, kernel, dilation, strict=True)
    ]
    high = [
        max(end - size - p, 0) for end, size, p in zip(ends, height_width, padding, strict=True)
    ]
    padded = [*lead, *(p + s + h for p, s, h in zip(padding, height_width, high, strict=True))]
    body, value = "", "%a0"
    padded_type = tensor_type(padded, element)
    low_infinity = INFINITY[element][True]
    if padded != shape:
        zeros = ", ".join("0" for _ in lead)
        join = ", " if lead else ""
        formals = ", ".join(f"%p{i}: index LOC" for i in range(len(shape)))
        body += (
            f"  %pad_c = arith.constant {low_infinity} : {element} LOC\n"
            f"  %padded = tensor.pad %a0 low[{zeros}{join}{padding[0]}, {padding[1]}] "
            f"high[{zeros}{join}{high[0]}, {high[1]}] {{\n"
            f"  ^bb0({formals}):\n    tensor.yield %pad_c : {element} LOC\n"
            f"  }} : {source} to {padded_type} LOC\n"
        )
        value = "%padded"
    rank = k + 4
    window = tensor_type(kernel, element)
    results = [tensor_type(out, element), tensor_type(out, "i64")]
    reads = dims_text(range(k)) + [
        f"d{k + axis} * {stride[axis]} + d{k + 2 + axis} * {dilation[axis]}" for axis in (0, 1)
    ]
    maps = [affine_map(rank, reads), affine_map(rank, dims_text([k + 2, k + 3]))] + [
        affine_map(rank, dims_text(range(k + 2)))
    ] * 2
    kinds = iterators(["parallel"] * (k + 2) + ["reduction"] * 2)
    body += (
        filled("init", results[0], element, low_infinity)
        + filled("zero", results[1], "i64", "0")
        + f"  %window = tensor.empty() : {window} LOC\n"
        f"  %r:2 = linalg.generic {{indexing_maps = [{', '.join(maps)}], "
        f"iterator_types = {kinds}}} "
        f"ins({value}, %window : {padded_type}, {window}) "
        f"outs(%init, %zero : {results[0]}, {results[1]}) {{\n"
        f"  ^bb0(%in: {element} LOC, %w: {element} LOC, %out: {element} LOC, %at: i64 LOC):\n"
        f"    %row = linalg.index {k + 2} : index LOC\n"
        f"    %column = linalg.index {k + 3} : index LOC\n"
        f"    %width = arith.constant {kernel[1]} : index LOC\n"
        "    %start = arith.muli %row, %width : index LOC\n"
        "    %n = arith.addi %start, %column : index LOC\n"
        "    %here = arith.index_cast %n : index to i64 LOC\n"
        + _pair_body(element, "%here", True, last_nan=True)
        + f"  }} -> ({results[0]}, {results[1]}) LOC\n"
    )
    body += _flat_index(results[1], k, kernel, stride, padding, dilation, height_width[1])
    return Outlined([x], results, function([source], results, body, "%r#0, %flat"))


def _flat_index(
    kind: str, k: int, kernel: tuple, stride: tuple, padding: tuple, dilation: tuple, width: int
) -> str:
    """Window index -> position in the unpadded input plane."""
    identity = affine_map(k + 2, dims_text(range(k + 2)))
    text = (
        f"  %flat_e = tensor.empty() : {kind} LOC\n"
        f"  %flat = linalg.generic {{indexing_maps = [{identity}, {identity}], "
        f"iterator_types = {iterators(['parallel'] * (k + 2))}}} "
        f"ins(%r#1 : {kind}) outs(%flat_e : {kind}) {{\n"
        "  ^bb0(%in: i64 LOC, %out: i64 LOC):\n"
        f"    %kw = arith.constant {kernel[1]} : i64 LOC\n"
        "    %q0 = arith.divsi %in, %kw : i64 LOC\n"
        "    %q1 = arith.remsi %in, %kw : i64 LOC\n"
    )
    for axis in (0, 1):
        text += (
            f"    %n{axis} = linalg.index {k + axis} : index LOC\n"
            f"    %o{axis} = arith.index_cast %n{axis} : index to i64 LOC\n"
            f"    %s{axis} = arith.constant {stride[axis]} : i64 LOC\n"
            f"    %d{axis} = arith.constant {dilation[axis]} : i64 LOC\n"
            f"    %p{axis} = arith.constant {padding[axis]} : i64 LOC\n"
            f"    %x{axis} = arith.muli %o{axis}, %s{axis} : i64 LOC\n"
            f"    %y{axis} = arith.muli %q{axis}, %d{axis} : i64 LOC\n"
            f"    %z{axis} = arith.addi %x{axis}, %y{axis} : i64 LOC\n"
            f"    %at{axis} = arith.subi %z{axis}, %p{axis} : i64 LOC\n"
        )
    return text + (
        f"    %width = arith.constant {width} : i64 LOC\n"
        "    %line = arith.muli %at0, %width : i64 LOC\n"
        "    %f = arith.addi %line, %at1 : i64 LOC\n"
        "    linalg.yield %f : i64 LOC\n"
        f"  }} -> {kind} LOC\n"
    )


def _shape_of(tensor: Any) -> list[int]:
    return [int(size) for size in tensor.shape]


_OUTLINED: dict[str, Callable[[Node], Outlined | None]] = {
    "amax": _amax(True),
    "amin": _amax(False),
    "max": _max(True),
    "min": _max(False),
    "maximum": _elementwise("arith.maximumf"),
    "minimum": _elementwise("arith.minimumf"),
    "erfc": _erfc,
    "max_pool2d_with_indices": _max_pool2d,
}
