"""``torch.func`` inside a captured function: its levels are written as those of gradc's transforms.

Dynamo runs ``torch.func.grad`` and its relatives as Python and leaves what they do to levels in the
graph, op by op. `rewrite` replaces these ops one at a time: a wrapped argument that is
differentiated becomes an ``enter``, a call of autograd a ``pull``, an unwrapped result a ``leave``,
and what happens between two changes of ``vmap``'s nesting a ``map`` (ops.py).

Forward mode is refused: Dynamo takes a ``torch.autograd.Function`` there by its forward alone, and
a rule that it has would be lost.
"""

from __future__ import annotations

import operator

import torch
from torch.fx import GraphModule, Node

from ..errors import UnsupportedError
from .diagnostics import location_of
from .inline import Writer, is_floating_node
from .ops import ENTER, LEAVE, MAP, PULL, ROWS

_MODULES = (
    "torch._C._functorch",
    "torch._functorch.predispatch",
    "torch._functorch.eager_transforms",
)

# What only guards the state of PyTorch's own levels.
_DROPPED = {
    "_saved_tensors_hooks_disable",
    "_saved_tensors_hooks_enable",
    "set_inplace_requires_grad_allowed",
    "lazy_load_decompositions",
}

_OPENS = "_vmap_increment_nesting"
_OPENS_REVERSE = "_grad_increment_nesting"


def is_level_op(node: Node) -> bool:
    """Whether ``node`` is an op of ``torch.func``'s levels."""
    return node.op == "call_function" and (
        getattr(node.target, "__module__", None) in _MODULES or _name(node) in _DROPPED
    )


def rewrite(gm: GraphModule, node: Node, mode: bool) -> None:
    """Replaces ``node``, an op of a level, which runs in the grad mode ``mode``."""
    name = _name(node)
    if name in _DROPPED:
        gm.graph.erase_node(node)
    elif name in _REWRITTEN:
        with gm.graph.inserting_before(node):
            _REWRITTEN[name](gm, node, Writer(gm, node), mode)
    elif name == _OPENS_REVERSE:
        node.meta["gradc_mode"] = mode
    elif name != _OPENS:
        raise UnsupportedError(
            "is a level of torch.func that is not supported inside a captured function",
            op=_PUBLIC.get(name, f"torch.func ({name})"),
            location=location_of(node),
            hint="use gradc.jvp, gradc.jacfwd, gradc.hessian or gradc.hvp, which take the same "
            "arguments",
        )


_PUBLIC = {
    "_jvp_increment_nesting": "torch.func.jvp",
    "_func_increment_nesting": "torch.func.functionalize",
}


def _name(node: Node) -> str:
    return getattr(node.target, "__name__", "")


def _put(gm: GraphModule, node: Node, value: Node) -> None:
    node.replace_all_uses_with(value)
    gm.graph.erase_node(node)


def _wrapped(gm: GraphModule, node: Node, writer: Writer, mode: bool) -> None:
    value = node.args[0]
    if any(_name(user) == "_set_tensor_requires_grad" for user in node.users):
        # As in traced.py: the mode around a transform applies to what leaves it.
        writer.call(torch._C._set_grad_enabled, True)
        (value,) = writer.parts(ENTER, [value])
        writer.call(torch._C._set_grad_enabled, mode)
    _put(gm, node, value)


def _marked(gm: GraphModule, node: Node, writer: Writer, mode: bool) -> None:
    _put(gm, node, node.args[0])


def _unwrapped(gm: GraphModule, node: Node, writer: Writer, mode: bool) -> None:
    value = node.args[0]
    if is_floating_node(value):
        # PyTorch turns gradients on inside of a level.
        writer.call(torch._C._set_grad_enabled, _opening(node, _OPENS_REVERSE).meta["gradc_mode"])
        (value,) = writer.parts(LEAVE, [value])
        writer.call(torch._C._set_grad_enabled, mode)
    _put(gm, node, value)


def _opening(node: Node, name: str) -> Node:
    """Where the level begins in which ``node`` is; levels that are over are gone from the graph."""
    while _name(node) != name:
        node = node.prev
    return node


def _closed(gm: GraphModule, node: Node, writer: Writer, mode: bool) -> None:
    gm.graph.erase_node(_opening(node, _OPENS_REVERSE))
    gm.graph.erase_node(node)


def _pulled(gm: GraphModule, node: Node, writer: Writer, mode: bool) -> None:
    outputs, roots, *rest = node.args
    given = rest[0] if rest else node.kwargs.get("grad_outputs")
    given = [None] * len(outputs) if given is None else given
    pairs = [(o, g) for o, g in zip(outputs, given, strict=True) if is_floating_node(o)]
    if pairs:
        writer.call(torch._C._set_grad_enabled, True)
        seeds = [writer.call(torch.ones_like, o) if g is None else g for o, g in pairs]
        whole = writer.call(PULL, [o for o, _ in pairs], list(roots), seeds, -1)
        gradients = [writer.call(operator.getitem, whole, k) for k in range(len(roots))]
        for root, gradient in zip(roots, gradients, strict=True):
            gradient.meta["example_value"] = root.meta.get("example_value")
        writer.call(torch._C._set_grad_enabled, mode)
        gradients = writer.parts(LEAVE, gradients)
    else:
        gradients = [writer.call(torch.zeros_like, root) for root in roots]
    for user in list(node.users):
        _put(gm, user, gradients[user.args[1]])
    gm.graph.erase_node(node)


def _row(gm: GraphModule, node: Node, writer: Writer, mode: bool) -> None:
    value, dim, level = node.args
    if dim != 0:
        value = writer.call(torch.movedim, value, dim, 0)
    value.meta.setdefault("example_value", node.meta.get("example_value"))
    (row,) = writer.parts(ROWS, [value])
    row.meta["gradc_level"] = level
    _put(gm, node, row)


def _mapped(gm: GraphModule, node: Node, writer: Writer, mode: bool) -> None:
    """At the end of a level of ``vmap``: its results are one op."""
    opening = _opening(node, _OPENS)
    between: list[Node] = []
    earlier = opening.next
    while earlier is not node:
        between.append(earlier)
        earlier = earlier.next
    ends = [n for n in between if _name(n) == "_remove_batch_dim"]
    if ends:
        level, size = ends[0].args[1:3]
        roots = [n for n in between if n.meta.get("gradc_level") == level]
        with gm.graph.inserting_before(ends[-1]):
            whole = writer.call(MAP, [end.args[0] for end in ends], roots, size)
            for k, end in enumerate(ends):
                value = writer.call(operator.getitem, whole, k)
                if end.args[3] != 0:
                    value = writer.call(torch.movedim, value, 0, end.args[3])
                value.meta["example_value"] = end.meta.get("example_value")
                _put(gm, end, value)
    gm.graph.erase_node(opening)
    gm.graph.erase_node(node)


def _kept(gm: GraphModule, node: Node, writer: Writer, mode: bool) -> None:
    """Replaced by `_mapped`."""


_REWRITTEN = {
    "_wrap_for_grad": _wrapped,
    "_set_tensor_requires_grad": _marked,
    "_unwrap_for_grad": _unwrapped,
    "_autograd_grad": _pulled,
    "_grad_decrement_nesting": _closed,
    "_add_batch_dim": _row,
    "_remove_batch_dim": _kept,
    "_vmap_decrement_nesting": _mapped,
}
