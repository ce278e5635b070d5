"""A captured graph in the user's terms: which tensors it has, what they are called, which line made
them, and which line turned gradients off.

Names of variables and the lines of ``with torch.no_grad()`` are not in the graph. Dynamo calls a
node after the variable that it is stored in; whether a name is such a one, and which statement
encloses a line, is read from the source.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import operator
import os
import re
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass

import torch
from torch.fx import GraphModule, Node

from .errors import SourceLocation
from .frontend.autograd_function import INSIDE
from .frontend.diagnostics import op_name, readable_name
from .frontend.ops import (
    CHOOSE,
    CUSTOM_JVP,
    CUSTOM_VJP,
    ENTER_CHECKPOINT,
    LEAVE,
    LEAVE_CHECKPOINT,
    LOOP,
    REGION,
)

_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
# Frames that a user's line is never found in: PyTorch, and the parts of this package that call the
# function or are called by it.
_FOREIGN = (
    os.path.dirname(torch.__file__) + os.sep,
    _HERE + "capture.py",
    _HERE + "traced.py",
    _HERE + "transforms.py",
)
# What a checkpoint adds of its own is no value of the function.
_CHECKPOINTS = _HERE + "checkpointing.py"
#: Operations whose results are values of the function -> what the user calls them.
_RESULTS = {CHOOSE: "cond", LOOP: "while_loop", LEAVE: "transform"}
_SWITCHES = ("no_grad", "inference_mode", "set_grad_enabled")


def frames(node: Node) -> list[SourceLocation]:
    """The user's lines that led to ``node``, innermost first."""
    found = _FRAME.findall(node.meta.get("stack_trace") or "")
    return [
        SourceLocation(file, int(line))
        for file, line in reversed(found)
        if not file.startswith(_FOREIGN)
    ]


def is_stop_gradient(node: Node) -> bool:
    """Whether ``node`` comes from ``gradc.stop_gradient``."""
    return f'"{_HERE}transforms.py"' in (node.meta.get("stack_trace") or "")


def _is_inside(node: Node) -> bool:
    """Whether ``node`` comes from the function that a transform differentiates, from one with a
    rule, or from the rule, or stands for an argument of a branch or an iteration; the results of
    all these do not count."""
    source = node.args[0] if node.target is operator.getitem else node
    if source is not node and source.target in _RESULTS:
        return False
    trace = node.meta.get("stack_trace") or ""
    return (
        INSIDE in node.meta
        or source.target is REGION
        or any(f'"{_HERE}{file}"' in trace for file in ("traced.py", "custom.py"))
    )


# -- source
@functools.lru_cache(maxsize=64)
def _parsed(file: str) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return None


def _enclosing(where: SourceLocation) -> Iterator[ast.AST]:
    """The statements and functions around a line, innermost first."""
    tree = _parsed(where.file)
    if tree is None:
        return
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= where.line <= (node.end_lineno or 0)
    ]
    yield from sorted(around, key=lambda node: (-node.lineno, node.end_lineno))


def _targets(where: SourceLocation) -> set[str]:
    """The variables that the statements at a line assign to; more than one may begin there."""
    around = list(_enclosing(where))
    names: set[str] = set()
    for statement in around:
        if statement.lineno < around[0].lineno:
            break
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
            targets = [statement.target]
        else:
            targets = []
        names |= {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
        names |= {n.target.id for n in ast.walk(statement) if isinstance(n, ast.NamedExpr)}
    return names


def _switch(expression: ast.expr) -> str | None:
    """The name of the grad mode that a context manager or decorator turns on."""
    callee = expression.func if isinstance(expression, ast.Call) else expression
    name = callee.attr if isinstance(callee, ast.Attribute) else getattr(callee, "id", None)
    return name if name in _SWITCHES else None


def mode_switch(node: Node) -> tuple[str, SourceLocation | None]:
    """What turned gradients off for ``node``, which runs without: the kind of switch and its line.

    The line of the node itself when the switch is out of sight.
    """
    lines = frames(node)
    for where in lines:
        for statement in _enclosing(where):
            if isinstance(statement, ast.With | ast.AsyncWith):
                around = [item.context_expr for item in statement.items]
            elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                around = statement.decorator_list
            else:
                continue
            for expression in around:
                if kind := _switch(expression):
                    return kind, SourceLocation(where.file, expression.lineno)
    return "no_grad", lines[0] if lines else None


# -- names
def argument_name(source: str, fn: Callable) -> str:
    """What the user calls an input that Dynamo found at ``source`` of a call ``fn(*args,
    **kwargs)``; ``source`` is as `signature.name_inputs` leaves it."""
    function = getattr(fn, "forward", fn) if isinstance(fn, torch.nn.Module) else fn
    if match := re.match(r"^args\[(\d+)\](.*)$", source):
        return _parameter(function, int(match.group(1))) + match.group(2)
    if match := re.match(r"^kwargs\['(\w+)'\](.*)$", source):
        return match.group(1) + match.group(2)
    if match := re.match(r"^fn\.__closure__\[(\d+)\]\.cell_contents(.*)$", source):
        return function.__code__.co_freevars[int(match.group(1))] + match.group(2)
    if match := re.match(r"^fn\.__globals__\['(\w+)'\](.*)$", source):
        return match.group(1) + match.group(2)
    return re.sub(r"^fn\.(__self__\.)?", "", source)


def _parameter(function: Callable, index: int) -> str:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return f"args[{index}]"
    for position, parameter in enumerate(parameters):
        if parameter.kind is parameter.VAR_POSITIONAL:
            return f"{parameter.name}[{index - position}]"
        if position == index:
            return parameter.name
    return f"args[{index}]"


def note_kinds(gm: GraphModule) -> None:
    """Notes in each placeholder's ``meta``, from where Dynamo found it, whether it is a
    ``parameter``, a ``buffer``, an ``argument`` or ``captured``."""
    for node in gm.graph.find_nodes(op="placeholder"):
        source = getattr(getattr(node, "_dynamo_source", None), "name", "")
        if "_parameters'" in source or "._parameters[" in source:
            kind = "parameter"
        elif "_buffers'" in source or "._buffers[" in source:
            kind = "buffer"
        else:
            kind = "argument" if re.match(r"^L\['(args|kwargs)'\]", source) else "captured"
        node.meta["gradc_kind"] = kind


def operation(node: Node) -> str:
    """``node``'s operation as PyTorch calls it, for example ``matmul``."""
    target = node.target
    # The frontend has made a detach of it.
    if node.name.startswith("_get_data_attr"):
        return "data"
    if target is operator.getitem and node.args[0].target in _RESULTS:
        return operation(node.args[0])
    if target is LEAVE:
        rules = {value.args[0].target for value in node.args[0] if value.target is operator.getitem}
        return "custom rule" if rules & {CUSTOM_JVP, CUSTOM_VJP} else "transform"
    if target in _RESULTS:
        return _RESULTS[target]
    if isinstance(target, torch._ops.OpOverload):
        return target._schema.name.split("::")[1]
    name = target if isinstance(target, str) else op_name(node)
    if name == "getitem" and isinstance(node.args[0], Node) and _is_tuple(node.args[0]):
        return operation(node.args[0])
    return name.strip("_") if name.startswith("_") else name


def _variable(node: Node, where: SourceLocation | None) -> str | None:
    """The variable that the result of ``node`` was assigned to, if that is known."""
    if where is None:
        return None
    targets = _targets(where)
    return next((n for n in (node.name, re.sub(r"_\d+$", "", node.name)) if n in targets), None)


# -- values
def example(node: Node) -> object:
    """The fake value of ``node``."""
    return node.meta.get("example_value", node.meta.get("val"))


def unmarked(node: Node) -> Node:
    """The value that ``node`` is, which may be a mark at the edge of a checkpoint."""
    while node.target in (ENTER_CHECKPOINT, LEAVE_CHECKPOINT):
        node = node.args[0]
    return node


def _is_tuple(node: Node) -> bool:
    return isinstance(example(node), list | tuple)


@dataclass(frozen=True)
class Row:
    """A tensor of the graph that an operation makes."""

    node: Node
    name: str
    op: str
    where: SourceLocation | None
    grad_mode: bool


def rows(gm: GraphModule) -> list[Row]:
    """The tensors that ``gm`` (as the frontend's ``prepare`` returns it) computes, in order.

    What is inside a transform or a function with a rule is left out: it has a level of
    differentiation of its own.
    """
    found = []
    grad_mode = True
    for node in gm.graph.nodes:
        if node.target is torch._C._set_grad_enabled:
            grad_mode = bool(node.args[0])
        elif (
            node.op in ("call_function", "call_method")
            and isinstance(example(node), torch.Tensor)
            and unmarked(node) is node
            and not _is_inside(node)
        ):
            where = next(iter(frames(node)), None)
            if where is not None and where.file == _CHECKPOINTS:
                continue
            op = operation(node)
            found.append(Row(node, _variable(node, where) or op, op, where, grad_mode))
    return found


def sources(node: Node, known: Container[Node]) -> list[Node]:
    """The nodes of ``known`` that ``node`` reads, seen through those that are not in ``known``."""
    found: dict[Node, None] = {}
    seen = set()
    pending = [node]
    while pending:
        for operand in pending.pop().all_input_nodes:
            if operand in known:
                found[operand] = None
            elif operand not in seen:
                seen.add(operand)
                pending.append(operand)
    return list(found)


def placeholder_name(node: Node, fn: Callable) -> str:
    """What the user calls the tensor that a placeholder stands for."""
    known = node.meta.get("gradc_name")
    return argument_name(known, fn) if known else readable_name(str(node.target))
