"""Barriers at random places of a captured function, as the source text of another one."""

from __future__ import annotations

import functools
import linecache
import random
import re
from collections.abc import Callable

import torch
from torch.fx import Node
from zoo import ZOO

import gradc

#: What may be done to a variable ``v`` in between.
_STATEMENTS = (
    ("v = v.detach()",),
    ("v = gradc.stop_gradient(v)",),
    ("v = v.data",),
    ("v = v + (v.round() - v).detach()",),
    ("v = v * 1.0", "with torch.no_grad():", "    v.mul_(0.5)"),
    ("v = v.clone()", "v.detach().add_(1.0)"),
    ("v = v * 2.0", "v.detach_()"),
)
_REGIONS = (
    "with torch.no_grad():",
    "with torch.no_grad():",
    "with torch.enable_grad():",
    "with torch.set_grad_enabled(False):",
    "with torch.set_grad_enabled(True):",
)


@functools.cache
def captured(name: str) -> tuple[list[str], dict[int, list[str]], str, list[torch.Tensor]]:
    """The statements of an animal's graph; the floating-point variables that each of them leaves;
    what it returns; and its inputs, which are the first variables."""
    animal = next(animal for animal in ZOO if animal.name == name)
    fn, runs = animal.make()
    seen = []

    def backend(gm: torch.fx.GraphModule, inputs: list) -> Callable:
        seen.append((gm, inputs))
        return gm.forward

    torch._dynamo.reset()
    torch.compile(fn, backend=backend, fullgraph=True, dynamic=False)(*runs[0])
    ((gm, inputs),) = seen
    statements, floats, known = [], {}, []
    lines = [line.strip() for line in gm.code.splitlines() if line.startswith("    ")]
    lines = [line for line in lines if line and not re.match(r"\w+ = L_\w+$", line)]
    for node in gm.graph.nodes:
        if node.op in ("placeholder", "output"):
            known += [node.name] if node.op == "placeholder" and _is_float(node) else []
            continue
        text = re.sub(r";  (\w+ = )+None$", "", lines.pop(0))
        if _is_part(node):  # a line of the user's has the parts as well
            statements[-1] += "; " + text
        else:
            statements.append(text)
        known += [node.name] if _is_float(node) else []
        floats[len(statements) - 1] = list(known)
    names = ", ".join(node.name for node in gm.graph.find_nodes(op="placeholder"))
    returned = lines.pop(0).removeprefix("return ")
    return [names, *statements], floats, returned, inputs


def _is_float(node: Node) -> bool:
    value = node.meta.get("example_value")
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def _is_part(node: Node) -> bool:
    source = node.args[0] if node.args else None
    value = source.meta.get("example_value") if isinstance(source, Node) else None
    return isinstance(value, tuple | list) and node.op == "call_function"


def sprinkled(name: str, choose: random.Random) -> tuple[Callable, list[torch.Tensor], str]:
    """The animal ``name`` with barriers that ``choose`` draws, its arguments, and its text."""
    (names, *statements), floats, returned, inputs = captured(name)
    body = []
    for number, statement in enumerate(statements):
        body.append(statement)
        if choose.random() < 0.2:
            variable = choose.choice(floats[number] or floats[max(floats)])
            lines = choose.choice(_STATEMENTS)
            body += [re.sub(r"\bv\b", variable, line) for line in lines]
    for _ in range(choose.randint(0, 3)):
        body = _within_region(body, choose)
    text = "\n".join([f"def f({names}):", *("    " + line for line in body)])
    text += f"\n    return {returned}\n"
    arguments = [
        x.detach().clone().requires_grad_(x.is_floating_point() and choose.random() < 0.7)
        for x in inputs
    ]
    return _function(text), arguments, text


def _within_region(body: list[str], choose: random.Random) -> list[str]:
    """``body`` with some neighbouring statements of one depth under a gradient mode."""
    start = choose.randrange(len(body))
    depth = _depth(body[start])
    if body[start].strip().startswith("with"):
        return body
    end = start + choose.randint(1, 6)
    while end > start + 1 and (
        end > len(body) or any(_depth(line) < depth for line in body[start:end])
        or (end < len(body) and _depth(body[end]) > depth)
    ):  # fmt: skip
        end -= 1
    if end < len(body) and _depth(body[end]) > depth:
        return body
    inside = ["    " + line for line in body[start:end]]
    return [*body[:start], " " * depth + choose.choice(_REGIONS), *inside, *body[end:]]


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


_count = iter(range(10**9))


def _function(text: str) -> Callable:
    file = f"<sprinkled {next(_count)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope = {"torch": torch, "gradc": gradc, "device": torch.device, "inf": float("inf")}
    exec(compile(text, file, "exec"), scope)
    return scope["f"]
