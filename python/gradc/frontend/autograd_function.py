"""``torch.autograd.Function`` in user code: its backward is the derivative.

Dynamo hands over a forward and a backward graph. They are written out between the ops that frame a
rule (ops.py). As in eager mode, a value that the forward computed and saved is a constant for a
second derivative unless it is an argument or a result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from ..errors import UnsupportedError
from .diagnostics import class_source, location_of
from .inline import Writer, erase_call, inline, is_floating_node, is_tensor
from .ops import CUSTOM_VJP, ENTER, LEAVE, SEEDS, STOP

#: In the ``meta`` of nodes that belong to the function or its rule.
INSIDE = "gradc_inside"


def expand(
    gm: GraphModule, node: Node, grad_mode: bool, visit: Callable[[GraphModule, Node], None]
) -> None:
    """Replaces ``node``, a call of ``autograd_function_apply`` that runs in ``grad_mode``.
    ``visit`` is called with every node that is written out."""
    forward, backward = (getattr(gm, holder.target) for holder in node.args[:2])
    operands = list(node.args[2:])
    if node.kwargs.get("dirty_idx"):
        raise UnsupportedError(
            "changes an argument in place (ctx.mark_dirty)",
            op="torch.autograd.Function",
            location=location_of(node),
            hint="return a new tensor from forward",
        )
    _check_cotangents(node, forward, backward)
    for body in (forward, backward):
        _without_frame(body)
    with gm.graph.inserting_before(node):
        writer = _Writer(gm, node)
        first = writer.call(torch._C._set_grad_enabled, True)
        tensors = [i for i, operand in enumerate(operands) if is_tensor(operand)]
        roots = writer.parts(ENTER, [operands[i] for i in tensors])
        entered = list(operands)
        for i, root in zip(tensors, roots, strict=True):
            entered[i] = root
        output, saved = inline(gm, forward, entered, visit)
        single = isinstance(output, Node)
        outputs = [output] if single else list(output)
        constant = set(node.kwargs.get("non_differentiable_idx") or ())
        live = [k for k, out in enumerate(outputs) if is_floating_node(out) and k not in constant]
        seeds = writer.parts(SEEDS, [outputs[k] for k in live])
        cotangents: list[Any] = [
            seeds[live.index(k)] if k in live else writer.zeros(out)
            for k, out in enumerate(outputs)
        ]
        known = {*entered, *outputs}
        kept = [
            value if value in known or not is_floating_node(value) else writer.call(STOP, value)
            for value in saved
        ]
        gradients = inline(gm, backward, [*cotangents, *kept], visit)
        gradients = list(gradients) if isinstance(gradients, (tuple, list)) else [gradients]
        # An argument without a gradient is still one that the rule may read, and that has a second
        # derivative.
        floating = [i for i in tensors if is_floating_node(operands[i])]
        without = [n for n, i in enumerate(floating) if not isinstance(gradients[i], Node)]
        pairs = [
            (entered[i], writer.zeros(entered[i]) if n in without else gradients[i])
            for n, i in enumerate(floating)
        ]
        if len(without) == len(pairs):
            pairs = []
        results = [out if k in live else writer.detached(out) for k, out in enumerate(outputs)]
        if live and pairs:
            ruled = writer.parts(
                CUSTOM_VJP,
                [outputs[k] for k in live],
                [root for root, _ in pairs],
                seeds,
                [gradient for _, gradient in pairs],
                "torch.autograd.Function",
                without,
            )
            for k, value in zip(live, ruled, strict=True):
                results[k] = value
        else:
            results = [writer.detached(out) for out in outputs]
        first.meta[INSIDE] = True
        while (first := first.next) is not node:
            first.meta[INSIDE] = True
        writer.call(torch._C._set_grad_enabled, grad_mode)
        left = [k for k in range(len(results)) if is_floating_node(outputs[k])]
        for k, value in zip(left, writer.parts(LEAVE, [results[k] for k in left]), strict=True):
            results[k] = value
    _replace(gm, node, results, single)


def _check_cotangents(node: Node, forward: GraphModule, backward: GraphModule) -> None:
    """Dynamo loses that backward wants None for results that are not used, which only its source
    tells. A single result is used where backward is called at all."""
    results = next(iter(forward.graph.find_nodes(op="output"))).args[0][0]
    if not isinstance(results, (tuple, list)) or len(results) == 1:
        return
    inside = [*forward.graph.nodes, *backward.graph.nodes]
    if any("set_materialize_grads(False" in class_source(n) for n in inside):
        raise UnsupportedError(
            "takes None for results that are not used (ctx.set_materialize_grads)",
            op="torch.autograd.Function",
            location=next((where for n in [node, *inside] if (where := location_of(n))), None),
            hint="let backward take zeros, the default, or give each result a function of its own",
        )


class _Writer(Writer):
    def zeros(self, like: Any) -> Any:
        return self.call(torch.zeros_like, like) if isinstance(like, Node) else None

    def detached(self, value: Any) -> Any:
        if not is_floating_node(value):
            return value
        return self.call(torch.ops.aten.detach.default, value)


def _without_frame(body: GraphModule) -> None:
    """Drops the switch of the grad mode around a body, which Dynamo writes: forward runs without
    gradients for the tape's sake, and backward with them when a second derivative is wanted."""
    switches = [n for n in body.graph.nodes if n.target is torch._C._set_grad_enabled]
    for node in (switches[:1] + switches[-1:]) if len(switches) > 1 else []:
        body.graph.erase_node(node)


def _replace(gm: GraphModule, node: Node, results: list[Any], single: bool) -> None:
    if single:
        node.replace_all_uses_with(results[0])
    for user in list(node.users):
        user.replace_all_uses_with(results[user.args[1]])
        gm.graph.erase_node(user)
    erase_call(gm, node, node.args[:2])
