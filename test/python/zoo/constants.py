"""Barriers behind the values of a module whose types say that they need no gradient."""

from __future__ import annotations

import itertools
import random

from mlir import ir

from gradc._lib import _gradc
from gradc.compiler import parse


def is_constant(value: ir.Value) -> bool:
    """Whether ``value`` could require a gradient by its type, and does not."""
    if not isinstance(value.type, ir.RankedTensorType):
        return False
    floating = isinstance(value.type.element_type, ir.FloatType | ir.ComplexType)
    return floating and not _gradc.has_requires_grad(value.type)


def _values(op: ir.Operation):
    """The values of the bodies of functions, branches and loops, each with the place behind it."""
    for region in op.regions:
        for block in region:
            first = block.operations[0]
            for argument in block.arguments:
                yield argument, ir.InsertionPoint(first)
            operations = list(block.operations)
            for inner, after in itertools.pairwise(operations):
                for result in inner.operation.results:
                    yield result, ir.InsertionPoint(after)
            for inner in operations:
                if not inner.operation.name.startswith("linalg."):
                    yield from _values(inner.operation)


def with_barriers(text: str, chosen: random.Random | None) -> str:
    """``text``, a module with inferred types, with a barrier behind each constant that is not
    written out, or behind one that ``chosen`` draws among all."""
    module = parse(text)
    places = [(value, place) for value, place in _values(module.operation) if is_constant(value)]
    if chosen is None:
        places = [(value, place) for value, place in places if not _is_literal(value)]
    elif places:
        places = [chosen.choice(places)]
    for value, place in places:
        with place, ir.Location.unknown():
            barrier = ir.Operation.create(
                "grad.stop_gradient", results=[value.type], operands=[value]
            )
        value.replace_all_uses_except(barrier.result, barrier)
    return str(module)


def _is_literal(value: ir.Value) -> bool:
    literals = ("arith.constant", "tensor.empty")
    return not isinstance(value, ir.BlockArgument) and value.owner.name in literals


def fingerprint(op: ir.Operation, known: dict[ir.Value, int], depth: int = 0) -> int:
    """A number for what ``op`` and its regions compute, whatever the order of what does not depend
    on each other; ``known`` has the numbers of the values that it reads."""
    regions = []
    for region in op.regions:
        for block in region:
            known.update({a: hash((depth, n, str(a.type))) for n, a in enumerate(block.arguments)})
            inner = [fingerprint(inner.operation, known, depth + 1) for inner in block.operations]
            regions.append(inner[-1])
    attributes = tuple(sorted((name, str(op.attributes[name])) for name in op.attributes))
    operands = tuple(known[operand] for operand in op.operands)
    whole = hash((op.name, attributes, operands, tuple(regions)))
    known.update({result: hash((whole, n)) for n, result in enumerate(op.results)})
    return whole
