"""The functions of the ops that deal in positions: ``add_at``, ``last_writer`` and ``order``."""

from __future__ import annotations

from collections.abc import Callable

from torch.fx import Node

from .mlir_types import element_type, tensor_type
from .outlined_text import (
    INFINITY,
    Outlined,
    affine_map,
    dims_text,
    filled,
    function,
    iterators,
    shape_of,
)


def _add_at(node: Node) -> Outlined:
    """``grad.scatter_add``, whose derivative in the values is a gather."""
    x, positions, values = node.args
    shape, element = shape_of(values), element_type(x.meta["val"].dtype)
    kinds = [
        tensor_type(shape_of(x), element),
        tensor_type(shape[:1], "i64"),
        tensor_type(shape, element),
    ]
    rank = len(shape)
    rest = [f"%j{d}" for d in range(1, rank)]
    loops = "".join(
        f'    %j{d} = "grad.loop_index"() {{dim = {d} : i64}} : () -> index LOC\n'
        for d in range(1, rank)
    )
    yielded = ", ".join(["%i", *rest, "%v"])
    types = ", ".join(["index"] * rank + [element])
    maps = f"[{affine_map(rank, ['d0'])}, {affine_map(rank, dims_text(range(rank)))}]"
    body = (
        f'  %r = "grad.scatter_add"(%a1, %a2, %a0) ({{\n'
        f"  ^bb0(%p: i64 LOC, %v: {element} LOC):\n"
        "    %i = arith.index_cast %p : i64 to index LOC\n"
        f'{loops}    "grad.yield"({yielded}) : ({types}) -> () LOC\n'
        f"  }}) {{bounds = array<i64: {', '.join(map(str, shape))}>, indexing_maps = {maps}}} "
        f": ({kinds[1]}, {kinds[2]}, {kinds[0]}) -> {kinds[0]} LOC\n"
    )
    return Outlined([x, positions, values], [kinds[0]], function(kinds, [kinds[0]], body, "%r"))


def _last_writer(node: Node) -> Outlined:
    """A loop over the writers; each leaves its number."""
    (count,), (rows,) = shape_of(node.args[0]), shape_of(node)
    source, result = tensor_type([count], "i64"), tensor_type([rows], "i64")
    body = filled("none", result, "i64", "-1") + (
        "  %from = arith.constant 0 : index LOC\n"
        f"  %to = arith.constant {count} : index LOC\n"
        "  %step = arith.constant 1 : index LOC\n"
        f"  %r = scf.for %k = %from to %to step %step iter_args(%t = %none) -> ({result}) {{\n"
        f"    %p = tensor.extract %a0[%k] : {source} LOC\n"
        "    %i = arith.index_cast %p : i64 to index LOC\n"
        "    %n = arith.index_cast %k : index to i64 LOC\n"
        f"    %u = tensor.insert %n into %t[%i] : {result} LOC\n"
        f"    scf.yield %u : {result} LOC\n"
        "  } LOC\n"
    )
    return Outlined([node.args[0]], [result], function([source], [result], body, "%r"))


def _before(element: str, descending: bool, unsigned: bool) -> str:
    """Whether %y at %j stands before %x at %i; the order is stable and NaN is greatest."""
    if element not in INFINITY:
        sign = "u" if unsigned or element == "i1" else "s"
        less = f"{sign}gt" if descending else f"{sign}lt"
        text = (
            f"    %less = arith.cmpi {less}, %y, %x : {element} LOC\n"
            f"    %same = arith.cmpi eq, %y, %x : {element} LOC\n"
        )
    else:
        less, early, late = ("ogt", "%y", "%x") if descending else ("olt", "%x", "%y")
        text = (
            f"    %smaller = arith.cmpf {less}, %y, %x : {element} LOC\n"
            f"    %greatest = arith.cmpf uno, {early}, {early} : {element} LOC\n"
            f"    %number = arith.cmpf ord, {late}, {late} : {element} LOC\n"
            "    %past = arith.andi %greatest, %number : i1 LOC\n"
            "    %less = arith.ori %smaller, %past : i1 LOC\n"
            f"    %equal = arith.cmpf oeq, %y, %x : {element} LOC\n"
            f"    %nan = arith.cmpf uno, %y, %y : {element} LOC\n"
            f"    %both_c = arith.cmpf uno, %x, %x : {element} LOC\n"
            "    %both = arith.andi %nan, %both_c : i1 LOC\n"
            "    %same = arith.ori %equal, %both : i1 LOC\n"
        )
    return text + (
        "    %first = arith.cmpi ult, %j, %i : index LOC\n"
        "    %tie = arith.andi %same, %first : i1 LOC\n"
        "    %before = arith.ori %less, %tie : i1 LOC\n"
    )


def _order(node: Node) -> Outlined:
    """The rank of each element is the number of elements before it; the order is its inverse."""
    x, descending = node.args
    shape, dtype = shape_of(x), x.meta["val"].dtype
    element, rank = element_type(dtype), len(shape)
    source, result = tensor_type(shape, element), tensor_type(shape, "i64")
    lead = dims_text(range(rank - 1))
    one, other = f"d{rank - 1}", f"d{rank}"
    kinds = iterators(["parallel"] * rank + ["reduction"])
    here, there = affine_map(rank + 1, [*lead, one]), affine_map(rank + 1, [*lead, other])
    body = filled("zero", result, "i64", "0") + (
        f"  %rank = linalg.generic {{indexing_maps = [{here}, {there}, {here}], "
        f"iterator_types = {kinds}}} ins(%a0, %a0 : {source}, {source}) "
        f"outs(%zero : {result}) {{\n"
        f"  ^bb0(%x: {element} LOC, %y: {element} LOC, %out: i64 LOC):\n"
        f"    %i = linalg.index {rank - 1} : index LOC\n"
        f"    %j = linalg.index {rank} : index LOC\n"
        + _before(element, descending, not dtype.is_signed)
        + "    %one = arith.extui %before : i1 to i64 LOC\n"
        "    %sum = arith.addi %out, %one : i64 LOC\n"
        "    linalg.yield %sum : i64 LOC\n"
        f"  }} -> {result} LOC\n"
        f"  %r = linalg.generic {{indexing_maps = [{there}, {here}], "
        f"iterator_types = {kinds}}} ins(%rank : {result}) outs(%zero : {result}) {{\n"
        "  ^bb0(%n: i64 LOC, %out: i64 LOC):\n"
        f"    %i = linalg.index {rank - 1} : index LOC\n"
        f"    %j = linalg.index {rank} : index LOC\n"
        "    %wanted = arith.index_cast %i : index to i64 LOC\n"
        "    %at = arith.index_cast %j : index to i64 LOC\n"
        "    %hit = arith.cmpi eq, %n, %wanted : i64 LOC\n"
        "    %none = arith.constant 0 : i64 LOC\n"
        "    %add = arith.select %hit, %at, %none : i64 LOC\n"
        "    %sum = arith.addi %out, %add : i64 LOC\n"
        "    linalg.yield %sum : i64 LOC\n"
        f"  }} -> {result} LOC\n"
    )
    return Outlined([x], [result], function([source], [result], body, "%r"))


POSITIONS: dict[str, Callable[[Node], Outlined]] = {
    "add_at": _add_at,
    "last_writer": _last_writer,
    "order": _order,
}
