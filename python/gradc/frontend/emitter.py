"""The functional ATen graph as text in torch-mlir's ``torch`` dialect.

Written out here rather than through torch-mlir's own importer, so that torch-mlir (another LLVM,
with hangs and aborts of its own) is never loaded into the user's process. Barriers and outlined ops
are calls to private declarations; the worker gives them their bodies once everything else is
lowered. One op a line, so a complaint of the parser can be traced to its node.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import Graph, Node

from ..errors import UnsupportedError
from .diagnostics import location_of, mlir_location, op_name, quote
from .mlir_types import dtype_number, vtensor
from .nested import Nested, nested_of, placeholders_of, results_of
from .ops import ENTER_CHECKPOINT, LEAVE_CHECKPOINT, STOP, VALUE_OF
from .outline import outline

aten = torch.ops.aten

_MEMORY_FORMATS = {
    torch.contiguous_format: 0,
    torch.preserve_format: 1,
    torch.channels_last: 2,
    torch.channels_last_3d: 3,
}

# PyTorch passes Python numbers to these tensor overloads; torch-mlir wants the scalar ones.
_SCALAR_OVERLOADS = {
    aten.mul.Tensor: aten.mul.Scalar,
    aten.div.Tensor: aten.div.Scalar,
    aten.add.Tensor: aten.add.Scalar,
    aten.sub.Tensor: aten.sub.Scalar,
    aten.eq.Tensor: aten.eq.Scalar,
    aten.ne.Tensor: aten.ne.Scalar,
    aten.lt.Tensor: aten.lt.Scalar,
    aten.le.Tensor: aten.le.Scalar,
    aten.gt.Tensor: aten.gt.Scalar,
    aten.ge.Tensor: aten.ge.Scalar,
    aten.remainder.Tensor: aten.remainder.Scalar,
    aten.fmod.Tensor: aten.fmod.Scalar,
}


@dataclass
class Emitted:
    """``module``: torch-dialect text. ``definitions``: the outlined functions.

    ``transforms`` says for each declaration that stands for a transform what it is: the function,
    ``kind``, ``wrt``, ``rows``, ``rule``, ``without``, ``roots`` and the number of the function's
    arguments. For
    control flow ``rule`` has the other function.
    ``lines`` and ``ordinals`` find the node of a line of the text and of a location's column.
    """

    module: str
    definitions: str
    transforms: dict[str, dict[str, Any]]
    lines: dict[int, Node]
    ordinals: dict[int, Node]


@dataclass
class _Module:
    """What the functions of one module share."""

    functions: list[_Writer] = field(default_factory=list)
    ordinals: dict[int, Node] = field(default_factory=dict)
    declarations: list[str] = field(default_factory=list)
    definitions: list[str] = field(default_factory=list)
    transforms: dict[str, dict[str, Any]] = field(default_factory=dict)
    #: name of the function of each graph that is written already
    written: dict[Graph, str] = field(default_factory=dict)


@dataclass
class _Writer:
    """One function. ``owners`` has the node of each line."""

    module: _Module
    names: dict[Node, str] = field(default_factory=dict)
    parts: dict[Node, list[str]] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    owners: list[Node | None] = field(default_factory=list)
    constants: dict[tuple[str, str], str] = field(default_factory=dict)
    counter: int = 0


def emit(graph: Graph, results: list[Node], names: list[str]) -> Emitted:
    """``@main`` over the placeholders of ``graph`` (called ``names``), returning ``results``."""
    module = _Module()
    _emit_function(module, "main", graph, results, names)
    text = ["module {", *module.declarations]
    lines: dict[int, Node] = {}
    for writer in module.functions:
        for line, owner in zip(writer.lines, writer.owners, strict=True):
            text.append(line)
            if owner is not None:
                lines[len(text)] = owner
    text.append("}")
    return Emitted(
        "\n".join(text),
        "\n".join(module.definitions),
        module.transforms,
        lines,
        module.ordinals,
    )


def _emit_function(
    module: _Module, symbol: str, graph: Graph, results: list[Node], names: list[str]
) -> None:
    writer = _Writer(module)
    arguments = []
    for index, node in enumerate(n for n in graph.nodes if n.op == "placeholder"):
        writer.names[node] = f"%arg{index}"
        arguments.append(f"%arg{index}: {vtensor(node.meta['val'])} loc({quote(names[index])})")
    kinds = ", ".join(vtensor(node.meta["val"]) for node in results)
    _line(writer, f"func.func @{symbol}({', '.join(arguments)}) -> ({kinds}) {{")
    for node in graph.nodes:
        if node.op == "call_function":
            module.ordinals[len(module.ordinals) + 1] = node
            _emit_call(writer, node)
        elif node.op == "get_attr":
            raise UnsupportedError(
                f"constant {node.target} was not lifted", location=location_of(node)
            )
    values = ", ".join(writer.names[node] for node in results)
    _line(writer, f"func.return {values} : {kinds}" if values else "func.return")
    _line(writer, "}")
    module.functions.append(writer)


def _line(w: _Writer, text: str, owner: Node | None = None) -> None:
    w.lines.append(text)
    w.owners.append(owner)


def _where(w: _Writer, node: Node) -> str:
    return mlir_location(node, len(w.module.ordinals))


def _fresh(w: _Writer) -> str:
    w.counter += 1
    return f"%v{w.counter}"


def _op(w: _Writer, node: Node, name: str, operands: list[tuple[str, str]], result: str) -> str:
    value = _fresh(w)
    values, kinds = ", ".join(v for v, _ in operands), ", ".join(k for _, k in operands)
    _line(w, f'{value} = "{name}"({values}) : ({kinds}) -> {result} {_where(w, node)}', node)
    return value


def _constant(w: _Writer, op: str, attribute: str, kind: str) -> tuple[str, str]:
    if (op, attribute) not in w.constants:
        value = _fresh(w)
        attributes = f" {{value = {attribute}}}" if attribute else ""
        _line(w, f'{value} = "torch.constant.{op}"(){attributes} : () -> {kind}')
        w.constants[op, attribute] = value
    return w.constants[op, attribute], kind


def _emit_call(w: _Writer, node: Node) -> None:
    if getattr(node.target, "__name__", "") == "getitem" and node.args[0] in w.parts:
        w.names[node] = w.parts[node.args[0]][node.args[1]]
        return
    if node.target in (STOP, VALUE_OF):
        kind = "stop_gradient" if node.target is STOP else "value_of"
        _call(
            w,
            node,
            f"grad.{kind}.{len(w.module.declarations)}",
            list(node.args),
            [node.meta["val"]],
        )
        return
    if (inner := nested_of(node)) is not None:
        _emit_nested(w, node, inner)
        return
    if node.target in (ENTER_CHECKPOINT, LEAVE_CHECKPOINT):
        kind = "enter_checkpoint" if node.target is ENTER_CHECKPOINT else "leave_checkpoint"
        words = ".".join(str(arg) for arg in node.args[1:])
        callee = f"grad.{kind}.{len(w.module.declarations)}.{words}"
        _call(w, node, callee, [node.args[0]], [node.meta["val"]])
        return
    outlined = outline(node)
    if outlined is not None:
        name = f"grad.outline.{len(w.module.declarations)}"
        value = node.meta["val"]
        values = list(value) if isinstance(value, (tuple, list)) else [value]
        text = outlined.text.replace("@NAME", f"@{name}").replace("LOC", _where(w, node))
        w.module.definitions.append(text)
        _call(w, node, name, outlined.operands, values)
        return
    _emit_aten(w, node)


def _written(module: _Module, graph: Graph, name: str = "") -> str:
    """The name of the function of ``graph``, which is written when it is first needed. It ends in
    the user's ``name``, if there is one."""
    if graph not in module.written:
        words = re.sub(r"[^\w.]+", "_", name.rsplit("<locals>.")[-1]).strip("_")
        module.written[graph] = f"grad.function.{len(module.written)}" + f".{words}" * bool(words)
        names = [node.name for node in placeholders_of(graph)]
        _emit_function(module, module.written[graph], graph, results_of(graph), names)
    return module.written[graph]


def _emit_nested(w: _Writer, node: Node, inner: Nested) -> None:
    """A call of the function of ``inner``, or of a declaration that stands for a transform of
    it."""
    module = w.module
    function = _written(module, inner.graph, inner.name)
    rule = [_written(module, graph) for graph in inner.rule]
    if inner.other is not None:
        rule = [_written(module, inner.other)]
    name = f"grad.transform.{len(module.declarations)}"
    module.transforms[name] = {
        "roots": inner.roots,
        "function": function,
        "rule": rule,
        "without": inner.without,
        "kind": inner.kind,
        "wrt": inner.wrt,
        "rows": inner.rows,
        "arguments": len(placeholders_of(inner.graph)),
    }
    _call(w, node, name, list(node.args), list(node.meta["val"]), single=False)


def _call(
    w: _Writer,
    node: Node,
    callee: str,
    operands: list[Node],
    results: list[torch.Tensor],
    single: bool = True,
) -> None:
    """``single``: a call with one result is that result and not a list of it."""
    kinds = [vtensor(n.meta["val"]) for n in operands]
    outs = [vtensor(t) for t in results]
    signature = f"({', '.join(kinds)}) -> ({', '.join(outs)})"
    w.module.declarations.append(f"func.func private @{callee}{signature}")
    values = ", ".join(w.names[n] for n in operands)
    name = _fresh(w)
    left = name if len(outs) == 1 else f"{name}:{len(outs)}"
    _line(
        w,
        f'{left} = "func.call"({values}) <{{callee = @{callee}}}> : {signature} {_where(w, node)}',
        node,
    )
    w.names[node] = name
    if len(outs) > 1 or not single:
        w.parts[node] = [name] if len(outs) == 1 else [f"{name}#{i}" for i in range(len(outs))]


def _emit_aten(w: _Writer, node: Node) -> None:
    target = node.target
    if not isinstance(target, torch._ops.OpOverload):
        raise UnsupportedError(
            "is not an operation that can be compiled",
            op=op_name(node),
            location=location_of(node),
            hint="move it out of the compiled function",
        )
    if target in _SCALAR_OVERLOADS and not isinstance(node.args[1], Node):
        target = _SCALAR_OVERLOADS[target]
    schema = target._schema
    operands = []
    for index, parameter in enumerate(schema.arguments):
        if index < len(node.args):
            value = node.args[index]
        else:
            value = node.kwargs.get(parameter.name, parameter.default_value)
        operands.append(_argument(w, node, value, str(parameter.type)))
    value = node.meta.get("val")
    if value is None:
        raise UnsupportedError(
            "only acts on the world outside, which a compiled function does not",
            op=op_name(node),
            location=location_of(node),
            hint="call it outside the compiled function",
        )
    if isinstance(value, (list, tuple)) and str(schema.returns[0].type).startswith("List"):
        raise UnsupportedError(
            "returns a list of tensors", op=op_name(node), location=location_of(node)
        )
    results = list(value) if isinstance(value, (list, tuple)) else [value]
    if not all(isinstance(v, torch.Tensor) for v in results):
        raise UnsupportedError(
            "makes a Python number out of tensor data",
            op=op_name(node),
            location=location_of(node),
            hint="keep the value a tensor",
        )
    name = schema.name.replace("::", ".") + (
        f".{schema.overload_name}" if schema.overload_name else ""
    )
    kinds = ", ".join(vtensor(v) for v in results)
    out = _op(w, node, f"torch.{name}", operands, f"({kinds})")
    w.names[node] = out
    if len(results) > 1:
        w.lines[-1] = w.lines[-1].replace(f"{out} =", f"{out}:{len(results)} =", 1)
        w.parts[node] = [f"{out}#{i}" for i in range(len(results))]


def _argument(w: _Writer, node: Node, value: Any, kind: str) -> tuple[str, str]:
    """One operand: an SSA name and its type, for a schema parameter of JIT type ``kind``."""
    optional = kind.startswith("Optional[")
    kind = kind[len("Optional[") : -1] if optional else kind
    if isinstance(value, Node):
        return w.names[value], vtensor(value.meta["val"])
    if value is None:
        return _constant(w, "none", "", "!torch.none")
    if kind.startswith("List["):
        return _list(w, node, value, kind[len("List[") : -1])
    if kind == "Tensor":
        return _number_as_tensor(w, node, value)
    if isinstance(value, bool):
        return _constant(w, "bool", "true" if value else "false", "!torch.bool")
    if isinstance(value, int) and kind != "float":
        return _constant(w, "int", f"{value} : i64", "!torch.int")
    if isinstance(value, (int, float)):
        return _constant(w, "float", _float(float(value)), "!torch.float")
    if isinstance(value, torch.dtype):
        return _constant(w, "int", f"{dtype_number(value)} : i64", "!torch.int")
    if isinstance(value, torch.layout):
        return _constant(w, "int", "0 : i64", "!torch.int")
    if isinstance(value, torch.memory_format):
        return _constant(w, "int", f"{_MEMORY_FORMATS[value]} : i64", "!torch.int")
    if isinstance(value, torch.device):
        return _constant(w, "device", '"cpu"', "!torch.Device")
    if isinstance(value, str):
        return _constant(w, "str", quote(value), "!torch.str")
    raise UnsupportedError(
        f"has an argument of type {type(value).__name__}",
        op=op_name(node),
        location=location_of(node),
    )


def _float(value: float) -> str:
    if value != value:
        return "0x7FF8000000000000 : f64"
    if value in (float("inf"), float("-inf")):
        return f"0x{'7' if value > 0 else 'F'}FF0000000000000 : f64"
    text = repr(value)
    mantissa, _, exponent = text.partition("e")
    mantissa = mantissa if "." in mantissa else mantissa + ".0"
    return mantissa + (f"e{exponent}" if exponent else "") + " : f64"


def _number_as_tensor(w: _Writer, node: Node, value: Any) -> tuple[str, str]:
    if isinstance(value, bool):
        element = "i1"
    else:
        element = "si64" if isinstance(value, int) else "f64"
    operand = _argument(w, node, value, "number")
    kind = f"!torch.vtensor<[],{element}>"
    return _op(w, node, "torch.prim.NumToTensor.Scalar", [operand], kind), kind


def _list(w: _Writer, node: Node, values: Any, element: str) -> tuple[str, str]:
    names = {"int": "int", "float": "float", "bool": "bool", "number": "float", "Tensor": "vtensor"}
    optional = element.startswith("Optional[")
    inner = element[len("Optional[") : -1] if optional else element
    kind = names[inner]
    kind = f"!torch.list<optional<{kind}>>" if optional else f"!torch.list<{kind}>"
    values = values if isinstance(values, (list, tuple)) else [values]
    operands = [_argument(w, node, value, element) for value in values]
    return _op(w, node, "torch.prim.ListConstruct", operands, kind), kind
