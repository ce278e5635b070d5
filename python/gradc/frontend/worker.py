"""The lowering process: torch dialect text in, linalg-on-tensors text out.

Run as ``python worker.py MEMORY_BYTES``; imports torch-mlir and nothing else of weight. Frames on
stdin and stdout are a length of eight bytes, then JSON. A request has ``module``, ``definitions``,
``transforms`` (see emitter.py), ``seconds`` and possibly ``merge``: false keeps operations apart
that compute the same. The answer has ``mlir``, or ``error`` with ``diagnostics`` (pairs of location
and message).
"""

from __future__ import annotations

import json
import os
import resource
import struct
import sys
from typing import Any, BinaryIO

ALLOWED = {
    "builtin",
    "func",
    "linalg",
    "tensor",
    "arith",
    "math",
    "scf",
    "cf",
    "complex",
    "affine",
    "grad",
}
_CONTRACT = "torch-verify-linalg-on-tensors-backend-contract"


def read_frame(stream: BinaryIO) -> Any | None:
    """The next frame, or None at the end of the stream."""
    header = stream.read(8)
    if len(header) < 8:
        return None
    (size,) = struct.unpack("<Q", header)
    payload = stream.read(size)
    return json.loads(payload) if len(payload) == size else None


def write_frame(stream: BinaryIO, message: Any) -> None:
    """Send one frame."""
    payload = json.dumps(message).encode()
    stream.write(struct.pack("<Q", len(payload)) + payload)
    stream.flush()


class _Failure(Exception):
    def __init__(self, message: str, diagnostics: list[tuple[str, str]]) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics


def _lower(request: dict[str, str]) -> str:
    from torch_mlir import ir
    from torch_mlir.dialects import torch as torch_dialect
    from torch_mlir.passmanager import PassManager

    context = ir.Context()
    context.enable_multithreading(False)
    context.allow_unregistered_dialects = True
    torch_dialect.register_dialect(context)
    diagnostics: list[tuple[str, str]] = []

    def note(diagnostic: Any) -> bool:
        diagnostics.append((str(diagnostic.location), str(diagnostic.message)))
        return True

    context.attach_diagnostic_handler(note)
    stage, module = "parse", None
    try:
        with context:
            module = ir.Module.parse(request["module"])
            stage = "lower"
            front = "builtin.module(torchdynamo-export-to-torch-backend-pipeline{ extra-library=})"
            PassManager.parse(front).run(module.operation)
            back = str(
                PassManager.parse(
                    "builtin.module(torch-backend-to-linalg-on-tensors-backend-pipeline"
                    "{allow-non-finites=true})"
                )
            )
            # The contract's verifier refuses calls, which carry barriers and outlined ops here.
            back = back.replace(f",{_CONTRACT}", "")
            if not request.get("merge", True):
                back = back.replace(",func.func(cse)", "")
            PassManager.parse(back).run(module.operation)
            stage = "finish"
            _finish(ir, module, request["definitions"], request["transforms"])
            module.operation.verify()
            _check(ir, module)
            return module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    except ir.MLIRError as error:
        found = [(str(d.location), str(d.message)) for d in error.error_diagnostics]
        left = _left_over(ir, module) if stage == "lower" else []
        raise _Failure(stage, left + found + diagnostics) from error
    except RuntimeError as error:
        raise _Failure(f"{stage}: {error}", diagnostics) from error


def _left_over(ir: Any, module: Any) -> list[tuple[str, str]]:
    """The torch ops that a failed lowering has not got rid of: the first is the one it could not
    do."""
    left: list[tuple[str, str]] = []

    def visit(operation: Any) -> Any:
        if operation.name.startswith("torch.aten.") or operation.name == "torch.operator":
            name = operation.name
            if name == "torch.operator":
                name = ir.StringAttr(operation.attributes["name"]).value
            left.append((str(operation.location), f"failed to legalize operation '{name}'"))
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return left


def _attributes(ir: Any, kind: str, words: list[str]) -> dict[str, Any]:
    """The attributes of a ``grad`` op, from the words of the name it was called by."""
    if kind == "enter_checkpoint":
        return {**_attributes(ir, "leave_checkpoint", words), "policy": ir.StringAttr.get(words[1])}
    if kind == "leave_checkpoint":
        return {"id": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), int(words[0]))}
    return {}


def _finish(ir: Any, module: Any, definitions: str, transforms: dict[str, dict]) -> None:
    """Calls to barriers and transforms become ``grad`` ops; declarations of outlined ops get their
    bodies."""
    calls: list[Any] = []

    def collect(operation: Any) -> Any:
        if operation.name == "func.call":
            calls.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(collect)
    for call in calls:
        callee = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
        if callee.startswith("grad.outline."):
            continue
        operands, types = list(call.operands), [r.type for r in call.results]
        with call.location, ir.InsertionPoint(call):
            if callee in transforms:
                new = _transform(ir, module, callee, transforms[callee], operands, types)
            else:
                dialect, kind, _, *words = callee.split(".")
                new = ir.Operation.create(
                    f"{dialect}.{kind}", types, operands, _attributes(ir, kind, words)
                )
        for old, result in zip(call.results, new.results, strict=True):
            old.replace_all_uses_with(result)
        call.erase()
    for operation in list(module.body.operations):
        if operation.operation.name == "func.func":
            attributes = operation.operation.attributes
            symbol = ir.StringAttr(attributes["sym_name"]).value
            if symbol.startswith("grad.function."):
                with operation.operation.location:
                    attributes["sym_visibility"] = ir.StringAttr.get("private")
            elif symbol.startswith("grad."):
                operation.operation.erase()
    if definitions:
        parsed = ir.Module.parse(definitions)
        for operation in parsed.body.operations:
            operation.operation.clone(ir.InsertionPoint.at_block_begin(module.body))


def _transform(
    ir: Any, module: Any, name: str, spec: dict, operands: list[Any], types: list[Any]
) -> Any:
    """The op for a call of a declaration that stands for a transform, at the insertion point."""
    count, rows = spec["arguments"], spec["rows"]
    if spec["kind"] == "if":
        return _choice(ir, spec, operands, types)
    if spec["kind"] == "while":
        return _loop(ir, spec, operands, types)
    if spec["kind"] == "call":
        _attach_rule(ir, module, spec)
        return ir.Operation.create(
            "func.call",
            results=types,
            operands=operands,
            attributes={"callee": ir.FlatSymbolRefAttr.get(spec["function"])},
        )
    if spec["kind"] == "map":
        return _mapped(ir, spec["function"], operands, list(range(spec["roots"])), rows, types)
    if rows < 0:
        return _derivative(ir, spec, operands, types)
    # One row's derivative is a function of its own, mapped over the rows.
    row = name.replace("grad.transform.", "grad.function.row.")
    kinds = [o.type for o in operands[:count]]
    kinds += [_without_rows(ir, o.type) for o in operands[count:]]
    plain = _primal_types(ir, module, spec["function"])
    results = [_without_rows(ir, type_) for type_ in types]
    with ir.InsertionPoint(module.body):
        function = ir.Operation.create(
            "func.func",
            attributes={
                "sym_name": ir.StringAttr.get(row),
                "function_type": ir.TypeAttr.get(ir.FunctionType.get(kinds, results)),
            },
            regions=1,
        )
    block = function.regions[0].blocks.append(*kinds, arg_locs=[o.location for o in operands])
    with ir.InsertionPoint(block):
        inner = _derivative(ir, spec, list(block.arguments), [*plain, *results])
        ir.Operation.create("func.return", operands=list(inner.results)[len(plain) :])
    return _mapped(ir, row, operands, list(range(count, len(operands))), rows, types)


def _mapped(
    ir: Any, callee: str, operands: list[Any], batched: list[int], size: int, types: list[Any]
) -> Any:
    return ir.Operation.create(
        "grad.vmap",
        results=types,
        operands=operands,
        attributes={
            "callee": ir.FlatSymbolRefAttr.get(callee),
            "batched": ir.DenseI64ArrayAttr.get(batched),
            "size": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), size),
        },
    )


def _choice(ir: Any, spec: dict, operands: list[Any], types: list[Any]) -> Any:
    predicate, first = operands[0], operands[1 : 1 + spec["arguments"]]
    second = operands[1 + spec["arguments"] :]
    choice = ir.Operation.create(
        "scf.if", results=types, operands=[_truth(ir, predicate)], regions=2
    )
    names = (spec["function"], *spec["rule"])
    for region, name, given in zip(choice.regions, names, (first, second), strict=True):
        with ir.InsertionPoint(region.blocks.append()):
            ir.Operation.create("scf.yield", operands=_results(ir, name, given, types))
    return choice


def _loop(ir: Any, spec: dict, operands: list[Any], types: list[Any]) -> Any:
    carried, roots, count = len(types), spec["roots"], spec["arguments"]
    shared = operands[carried:roots]
    loop = ir.Operation.create("scf.while", results=types, operands=operands[:carried], regions=2)
    places = [operand.location for operand in operands[:carried]]
    before = loop.regions[0].blocks.append(*types, arg_locs=places)
    state = list(before.arguments)
    truth = ir.RankedTensorType.get([], ir.IntegerType.get_signless(1))
    with ir.InsertionPoint(before):
        given = [*state, *shared, *operands[roots:count]]
        (predicate,) = _results(ir, spec["function"], given, [truth])
        ir.Operation.create("scf.condition", operands=[_truth(ir, predicate), *state])
    after = loop.regions[1].blocks.append(*types, arg_locs=places)
    with ir.InsertionPoint(after):
        given = [*after.arguments, *shared, *operands[count:]]
        ir.Operation.create("scf.yield", operands=_results(ir, spec["rule"][0], given, types))
    return loop


def _truth(ir: Any, predicate: Any) -> Any:
    bit = ir.IntegerType.get_signless(1)
    return ir.Operation.create("tensor.extract", results=[bit], operands=[predicate]).result


def _results(ir: Any, name: str, operands: list[Any], types: list[Any]) -> list[Any]:
    callee = {"callee": ir.FlatSymbolRefAttr.get(name)}
    call = ir.Operation.create("func.call", results=types, operands=operands, attributes=callee)
    return list(call.results)


def _attach_rule(ir: Any, module: Any, spec: dict) -> None:
    """Names the derivative of a function in its attributes."""
    names = [ir.FlatSymbolRefAttr.get(name) for name in spec["rule"]]
    attributes = _function_named(ir, module, spec["function"]).attributes
    if len(names) == 1:
        attributes["grad.custom_jvp"] = names[0]
    elif names:
        attributes["grad.custom_vjp"] = ir.ArrayAttr.get(names)
    if spec["without"]:
        marks = [
            ir.DictAttr.get({"grad.no_gradient": ir.UnitAttr.get()} if n in spec["without"] else {})
            for n in range(spec["arguments"])
        ]
        attributes["arg_attrs"] = ir.ArrayAttr.get(marks)


def _derivative(ir: Any, spec: dict, operands: list[Any], types: list[Any]) -> Any:
    count = spec["arguments"]
    return ir.Operation.create(
        f"grad.{spec['kind']}",
        results=types,
        operands=operands,
        attributes={
            "callee": ir.FlatSymbolRefAttr.get(spec["function"]),
            "wrt": ir.DenseI64ArrayAttr.get(spec["wrt"]),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([count, len(operands) - count]),
        },
    )


def _without_rows(ir: Any, type_: Any) -> Any:
    shaped = ir.RankedTensorType(type_)
    return ir.RankedTensorType.get(list(shaped.shape)[1:], shaped.element_type)


def _primal_types(ir: Any, module: Any, name: str) -> list[Any]:
    type_ = _function_named(ir, module, name).attributes["function_type"]
    return list(ir.FunctionType(ir.TypeAttr(type_).value).results)


def _function_named(ir: Any, module: Any, name: str) -> Any:
    for operation in module.body.operations:
        if ir.StringAttr(operation.operation.attributes["sym_name"]).value == name:
            return operation.operation
    raise _Failure(f"finish: no function {name}", [])


def _check(ir: Any, module: Any) -> None:
    """What must hold of the result instead of torch-mlir's own contract."""
    wrong: list[tuple[str, str]] = []

    def visit(operation: Any) -> Any:
        name = operation.name
        foreign = any("!torch" in str(r.type) for r in operation.results)
        if name.split(".")[0] not in ALLOWED or foreign:
            wrong.append((str(operation.location), name))
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    if wrong:
        raise _Failure("contract", wrong)


def _limit_cpu(seconds: float) -> None:
    """A run-away pass dies even if the parent is gone and nobody watches the clock."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime + seconds) + 2
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))


def main() -> None:
    """Serve requests until stdin ends."""
    memory = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Whatever a pass prints must not land in the answer stream.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while (request := read_frame(sys.stdin.buffer)) is not None:
        _limit_cpu(request["seconds"])
        try:
            answer: dict[str, Any] = {"mlir": _lower(request)}
        except _Failure as failure:
            answer = {"error": str(failure), "diagnostics": failure.diagnostics}
        except MemoryError:
            answer = {"error": "memory", "diagnostics": []}
        write_frame(out, answer)


if __name__ == "__main__":
    main()
