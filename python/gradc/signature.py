"""What a graph is specialised on, and which inputs are refused before any work is done."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node

from .errors import InputError, SourceLocation, UnsupportedError
from .frontend.diagnostics import location_of, readable_name

Signature = tuple[Any, ...]


def name_inputs(gm: GraphModule) -> None:
    """Notes in each placeholder's ``meta`` what the user would call it, from where Dynamo found it.

    ``L['self']._modules['fc']._parameters['weight']`` is ``fc.weight``, ``L['x']`` is ``x``.
    """
    for node in gm.graph.find_nodes(op="placeholder"):
        source = getattr(getattr(node, "_dynamo_source", None), "name", None)
        if isinstance(source, str):
            node.meta["gradc_name"] = _readable(source)


def _readable(source: str) -> str:
    text = re.sub(r"\.__dict__\['(_modules|_parameters|_buffers)'\]", r".\1", source)
    if owned := re.search(r"\._(?:modules|parameters|buffers)\[", text):
        return ".".join(re.findall(r"\['([^']*)'\]", text[owned.start() :]))
    return re.sub(r"^[LG]\['(\w+)'\]", r"\1", text)


def signature(inputs: Sequence[Any]) -> Signature:
    """A hashable key: shape, dtype and requires_grad of tensors, other inputs by value."""
    return tuple(
        (tuple(x.shape), x.dtype, x.requires_grad) if isinstance(x, torch.Tensor) else (type(x), x)
        for x in inputs
    )


def is_static(example_inputs: Sequence[Any]) -> bool:
    """Whether Dynamo's guards already pin every shape, so that one program serves all calls."""
    return all(
        isinstance(x, torch.Tensor) and all(type(size) is int for size in x.shape)
        for x in example_inputs
    )


def check_inputs(gm: GraphModule, inputs: Sequence[Any]) -> None:
    """Raises ``InputError`` or ``UnsupportedError`` for an input that native code can not read."""
    for node, value in zip(gm.graph.find_nodes(op="placeholder"), inputs, strict=True):
        if not isinstance(value, torch.Tensor):
            continue
        name = node.meta.get("gradc_name") or readable_name(str(node.target))
        where = _first_use(node)
        if value.device.type != "cpu":
            raise InputError(
                f"input `{name}` is on device {value.device}; compiled code runs on the CPU",
                location=where,
                hint=f"move it with {name}.cpu()",
            )
        if value.layout is not torch.strided:
            raise UnsupportedError(
                f"input `{name}` has layout {value.layout}",
                location=where,
                hint="convert it with .to_dense()",
            )
        if value.is_quantized:
            raise UnsupportedError(
                f"input `{name}` is quantized", location=where, hint="convert it with .dequantize()"
            )
        if type(value) not in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer):
            raise UnsupportedError(
                f"input `{name}` is a {type(value).__name__}, a subclass of Tensor",
                location=where,
                hint="pass a plain tensor, for example with .as_subclass(torch.Tensor)",
            )


def _first_use(node: Node) -> SourceLocation | None:
    return next((where for user in node.users if (where := location_of(user)) is not None), None)


def with_constants(gm: GraphModule, inputs: Sequence[Any]) -> tuple[GraphModule, list[int]]:
    """``gm`` with its non-tensor inputs (sizes, numbers) replaced by their values.

    Returns the new graph module and the positions of ``inputs`` that remain.
    """
    kept = [index for index, value in enumerate(inputs) if isinstance(value, torch.Tensor)]
    if len(kept) == len(inputs):
        return gm, kept
    graph = torch.fx.Graph()
    values: dict[Node, Any] = {}
    remaining = iter(inputs)
    for node in gm.graph.nodes:
        if node.op == "placeholder" and not isinstance(value := next(remaining), torch.Tensor):
            values[node] = value
            continue
        new = graph.node_copy(node, values.__getitem__)
        values[node] = new
    return GraphModule(gm, graph), kept
