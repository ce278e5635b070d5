"""From graph nodes to the user's source lines, and errors that point there."""

from __future__ import annotations

import ast
import functools
import linecache
import os
import re

import torch
from torch.fx import Node

from ..errors import SourceLocation

_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
# Frames inside torch and this package say nothing to the user; the innermost frame outside is the
# line they wrote. The demo is a user.
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_OWN = (os.path.dirname(torch.__file__) + os.sep, _PACKAGE)
_DEMO = _PACKAGE + "demo.py"


def is_users(file: str) -> bool:
    """Whether ``file`` is source that the user wrote or chose to run."""
    return file == _DEMO or not file.startswith(_OWN)


def location_of(node: Node) -> SourceLocation | None:
    """The innermost line of user code that made ``node``, or None if it carries no trace."""
    frames = _FRAME.findall(node.meta.get("stack_trace") or "")
    users = [frame for frame in frames if is_users(frame[0])] or frames
    return SourceLocation(users[-1][0], int(users[-1][1])) if users else None


def class_source(node: Node) -> str:
    """The source of the innermost class of the user's whose method made ``node``, or nothing."""
    for file, line in reversed(_FRAME.findall(node.meta.get("stack_trace") or "")):
        spans = [span for span in _classes(file) if span[0] <= int(line) <= span[1]]
        if is_users(file) and spans:
            first, last = max(spans)
            return "".join(linecache.getlines(file)[first - 1 : last])
    return ""


@functools.cache
def _classes(file: str) -> list[tuple[int, int]]:
    """The first and the last line of every class in ``file``."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return []
    return [(n.lineno, n.end_lineno) for n in ast.walk(tree) if isinstance(n, ast.ClassDef)]


def origin(node: Node) -> str:
    """The name of the node that ``node`` was traced from, in the first of all graphs."""
    name, sources = node.name, node.meta.get("from_node")
    while sources:
        name, sources = sources[0].name, sources[0].from_node
    return name


def op_name(node: Node) -> str:
    """The node's operation as the user would look it up, for example ``aten.sum.dim_IntList``."""
    target = node.target
    if isinstance(target, (str, torch._ops.OpOverload)):
        return str(target)
    return getattr(target, "__name__", str(target))


def mlir_location(node: Node, ordinal: int = 0) -> str:
    """``loc("file":line:ordinal)``; the operation's name and line 0 when there is no trace.

    The column, which nobody knows, carries ``ordinal`` through the lowering so that a complaint can
    be traced to its node.
    """
    where = location_of(node)
    file, line = (where.file, where.line) if where else (op_name(node), 0)
    return f"loc({quote(file)}:{line}:{ordinal})"


def without_ordinals(text: str) -> str:
    """MLIR text with every location's column 0 again."""
    return re.sub(r'("(?:[^"\\\n]|\\.)*":\d+):\d+(?=\))', r"\1:0", text)


def quote(text: str) -> str:
    """An MLIR string literal."""
    out = []
    for byte in text.encode():
        plain = 32 <= byte < 127 and byte not in (34, 92)
        out.append(chr(byte) if plain else f"\\{byte:02X}")
    return '"' + "".join(out) + '"'


def readable_name(target: str) -> str:
    """Dynamo's placeholder target as a person would write it.

    ``L_self_modules_fc1_parameters_weight_`` -> ``fc1.weight``, ``L_x_`` -> ``x``.
    """
    # A leading local that holds the module ("self", "model") is no part of the parameter's name.
    name = re.sub(r"^[LG]_(?:\w+?_)?(?=modules_|parameters_|buffers_)", "", target)
    if name == target:
        return re.sub(r"^[LG]_(.*?)_?$", r"\1", target) or target
    name = re.sub(r"(?:^|(?<=_))(?:modules|parameters|buffers)_", "\0", name)
    parts = [part.strip("_") for part in name.split("\0")]
    return ".".join(part for part in parts if part) or target
