"""Ops that reach the differentiator whole.

torch-mlir's lowering of these loses PyTorch's derivative convention (which of several equal maxima
gets the gradient). Each becomes a call to a private function whose body is written here as MLIR
text: value reductions split ties evenly, value-index pairs send the gradient to the index. Shapes
are static. In the text ``@NAME`` stands for the function's symbol and ``LOC`` for the op's source
location.

One entry of ``_OUTLINED`` an op: from its FX node to a function body on builtin tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from torch.fx import Node

from .conventions import packet_name
from .mlir_types import element_type, tensor_type
from .numerics import normal_dims

_INFINITY = {
    "f16": ("0x7C00", "0xFC00"),
    "bf16": ("0x7F80", "0xFF80"),
    "f32": ("0x7F800000", "0xFF800000"),
    "f64": ("0x7FF0000000000000", "0xFFF0000000000000"),
}


@dataclass(frozen=True)
class Outlined:
    """The tensor operands of the call, its result types, and its function as text."""

    operands: list[Node]
    results: list[str]
    text: str


def outline(node: Node) -> Outlined | None:
    """The outlined form of ``node``; None if it has none (integer maxima have no derivative)."""
    write = _OUTLINED.get(packet_name(node))
    if write is None or not isinstance(node.args[0], Node):
        return None
    if element_type(node.args[0].meta["val"].dtype) not in _INFINITY:
        return None
    return write(node)


# -- text
# ---------------------------------------------------------------------------------------------
def _map(dims: int, results: Sequence[str]) -> str:
    return f"affine_map<({', '.join(f'd{i}' for i in range(dims))}) -> ({', '.join(results)})>"


def _dims(numbers: Sequence[int]) -> list[str]:
    return [f"d{i}" for i in numbers]


def _iterators(kinds: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{kind}"' for kind in kinds) + "]"


def _function(arguments: Sequence[str], results: Sequence[str], body: str, values: str) -> str:
    formals = ", ".join(f"%a{i}: {kind} LOC" for i, kind in enumerate(arguments))
    joined = ", ".join(results)
    return (
        f"func.func private @NAME({formals}) -> ({joined}) {{\n{body}"
        f"  func.return {values} : {joined} LOC\n}} LOC\n"
    )


def _filled(name: str, kind: str, element: str, constant: str) -> str:
    return (
        f"  %{name}_c = arith.constant {constant} : {element} LOC\n"
        f"  %{name}_e = tensor.empty() : {kind} LOC\n"
        f"  %{name} = linalg.fill ins(%{name}_c : {element}) "
        f"outs(%{name}_e : {kind}) -> {kind} LOC\n"
    )


def _groups(rank: int, reduced: Sequence[int]) -> list[list[int]]:
    """Reassociation that puts kept dimensions of size 1 back: each joins a real neighbour."""
    groups: list[list[int]] = [[]]
    real = False
    for dim in range(rank):
        if dim not in reduced:
            if real:
                groups.append([])
            real = True
        groups[-1].append(dim)
    return groups if real else []


def _kept(value: str, shape: Sequence[int], reduced: Sequence[int], element: str, out: str) -> str:
    """``out`` = ``value`` with the ``reduced`` dimensions of ``shape`` put back as 1."""
    source = tensor_type([s for d, s in enumerate(shape) if d not in reduced], element)
    full = [1 if d in reduced else s for d, s in enumerate(shape)]
    return (
        f"  {out} = tensor.expand_shape {value} {_groups(len(shape), reduced)} "
        f"output_shape {full} : "
        f"{source} into {tensor_type(full, element)} LOC\n"
    )


def _shape(node: Any) -> list[int]:
    return [int(size) for size in node.meta["val"].shape]


def _argument(node: Node, position: int, name: str, default: Any) -> Any:
    return node.args[position] if position < len(node.args) else node.kwargs.get(name, default)


# -- reductions
# ---------------------------------------------------------------------------------------
def _extremum(node: Node, dims: Sequence[int], keepdim: bool, largest: bool) -> Outlined:
    """One result, ``arith.maximumf``/``minimumf``: ties share the gradient evenly."""
    x = node.args[0]
    shape, element = _shape(x), element_type(x.meta["val"].dtype)
    rank = len(shape)
    outer = [d for d in range(rank) if d not in dims]
    source = tensor_type(shape, element)
    result = tensor_type([shape[d] for d in outer], element)
    maps = [_map(rank, _dims(range(rank))), _map(rank, _dims(outer))]
    kinds = _iterators(["reduction" if d in dims else "parallel" for d in range(rank)])
    combine = "arith.maximumf" if largest else "arith.minimumf"
    body = _filled("init", result, element, _INFINITY[element][largest]) + (
        f"  %r = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = {kinds}}} "
        f"ins(%a0 : {source}) outs(%init : {result}) {{\n"
        f"  ^bb0(%in: {element} LOC, %out: {element} LOC):\n"
        f"    %m = {combine} %in, %out : {element} LOC\n"
        f"    linalg.yield %m : {element} LOC\n"
        f"  }} -> {result} LOC\n"
    )
    value = "%r"
    if keepdim and dims:
        body += _kept("%r", shape, dims, element, "%k")
        value = "%k"
        result = tensor_type([1 if d in dims else s for d, s in enumerate(shape)], element)
    return Outlined([x], [result], _function([source], [result], body, value))


def _amax(largest: bool) -> Callable[[Node], Outlined]:
    def write(node: Node) -> Outlined:
        dims = normal_dims(node.args[0].meta["val"], _argument(node, 1, "dim", []))
        return _extremum(node, dims, bool(_argument(node, 2, "keepdim", False)), largest)

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
    shape, element = _shape(x), element_type(x.meta["val"].dtype)
    rank, source = len(shape), tensor_type(shape, element)
    keepdim = bool(_argument(node, 2, "keepdim", False))
    dims = normal_dims(x.meta["val"], _argument(node, 1, "dim", 0))
    if not dims:  # a scalar is its own maximum
        body = "  %z = arith.constant dense<0> : tensor<i64> LOC\n"
        return Outlined(
            [x],
            [source, "tensor<i64>"],
            _function([source], [source, "tensor<i64>"], body, "%a0, %z"),
        )
    outer = [d for d in range(rank) if d not in dims]
    results = [tensor_type([shape[d] for d in outer], kind) for kind in (element, "i64")]
    maps = [_map(rank, _dims(range(rank)))] + [_map(rank, _dims(outer))] * 2
    kinds = _iterators(["reduction" if d in dims else "parallel" for d in range(rank)])
    body = (
        _filled("init", results[0], element, _INFINITY[element][largest])
        + _filled("zero", results[1], "i64", "0")
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
        body += _kept("%r#0", shape, dims, element, "%k0") + _kept(
            "%r#1", shape, dims, "i64", "%k1"
        )
        full = [1 if d in dims else s for d, s in enumerate(shape)]
        results, values = [tensor_type(full, element), tensor_type(full, "i64")], "%k0, %k1"
    return Outlined([x], results, _function([source], results, body, values))


def _max(largest: bool) -> Callable[[Node], Outlined | None]:
    def write(node: Node) -> Outlined | None:
        overload = getattr(node.target, "_overloadname", "")
        if overload == "default":
            return _extremum(node, range(len(_shape(node.args[0]))), False, largest)
        return _with_index(node, largest) if overload == "dim" else None

    return write


# -- elementwise
# --------------------------------------------------------------------------------------
def _elementwise(combine: str) -> Callable[[Node], Outlined]:
    """``maximum``/``minimum`` of equal types (legalise.py sees to that): ties get a half each."""

    def write(node: Node) -> Outlined:
        shape = _shape(node)
        element = element_type(node.meta["val"].dtype)
        kind, rank = tensor_type(shape, element), len(shape)
        identity = _map(rank, _dims(range(rank)))
        body = (
            f"  %e = tensor.empty() : {kind} LOC\n"
            f"  %r = linalg.generic {{indexing_maps = [{identity}, {identity}, {identity}], "
            f"iterator_types = {_iterators(['parallel'] * rank)}}} "
            f"ins(%a0, %a1 : {kind}, {kind}) outs(%e : {kind}) {{\n"
            f"  ^bb0(%x: {element} LOC, %y: {element} LOC, %out: {element} LOC):\n"
            f"    %m = {combine} %x, %y : {element} LOC\n"
            f"    linalg.yield %m : {element} LOC\n"
            f"  }} -> {kind} LOC\n"
        )
        return Outlined(list(node.args[:2]), [kind], _function([kind, kind], [kind], body, "%r"))

    return write


# -- pooling
# ------------------------------------------------------------------------------------------
def _pair(value: Any, default: Sequence[int]) -> tuple[int, int]:
    value = list(value) or list(default)
    return (value[0], value[-1])


def _max_pool2d(node: Node) -> Outlined:
    """Value and window index of the maximum, then the flat input index that PyTorch returns."""
    x = node.args[0]
    shape, element = _shape(x), element_type(x.meta["val"].dtype)
    kernel = _pair(node.args[1], ())
    stride = _pair(_argument(node, 2, "stride", ()), kernel)
    padding = _pair(_argument(node, 3, "padding", ()), (0, 0))
    dilation = _pair(_argument(node, 4, "dilation", ()), (1, 1))
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
    low_infinity = _INFINITY[element][True]
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
    reads = _dims(range(k)) + [
        f"d{k + axis} * {stride[axis]} + d{k + 2 + axis} * {dilation[axis]}" for axis in (0, 1)
    ]
    maps = [_map(rank, reads), _map(rank, _dims([k + 2, k + 3]))] + [
        _map(rank, _dims(range(k + 2)))
    ] * 2
    kinds = _iterators(["parallel"] * (k + 2) + ["reduction"] * 2)
    body += (
        _filled("init", results[0], element, low_infinity)
        + _filled("zero", results[1], "i64", "0")
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
    return Outlined([x], results, _function([source], results, body, "%r#0, %flat"))


def _flat_index(
    kind: str, k: int, kernel: tuple, stride: tuple, padding: tuple, dilation: tuple, width: int
) -> str:
    """Window index -> position in the unpadded input plane."""
    identity = _map(k + 2, _dims(range(k + 2)))
    text = (
        f"  %flat_e = tensor.empty() : {kind} LOC\n"
        f"  %flat = linalg.generic {{indexing_maps = [{identity}, {identity}], "
        f"iterator_types = {_iterators(['parallel'] * (k + 2))}}} "
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
    "max_pool2d_with_indices": _max_pool2d,
}
