"""What Dynamo hands over that the traces would drop without a word: made explicit, or refused.

``prepare`` returns a copy of the graph in which inference mode is a grad-mode switch, ``x.data`` is
a detach, checkpointed parts are inlined, with marks (checkpoints.py), custom autograd functions are
written out with their rule, control flow with its subgraphs, and the levels of ``torch.func`` as
those of gradc's transforms (functorch.py). Hooks and other higher-order ops raise
``UnsupportedError``.
"""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch.fx import GraphModule, Node

from ..errors import UnsupportedError
from . import checkpoints, functorch
from .autograd_function import expand
from .control import expand_cond, expand_while
from .diagnostics import location_of
from .inline import erase_call, inline

_HIGHER_ORDER: dict[str, tuple[str, str]] = {
    "register_hook": (
        "a hook on a gradient cannot run inside a compiled function",
        "apply the hook's effect to the gradients that come out",
    ),
    "map_impl": ("map is not supported yet", "batch the operations over a dimension"),
    "scan": ("scan is not supported yet", "use a Python loop with a fixed count"),
}

# Higher-order ops that only run a piece of graph.
_INLINED = {"wrap", "invoke_subgraph"} | checkpoints.HIGHER_ORDER

_CONTROL = {"cond": expand_cond, "while_loop": expand_while}


def prepare(gm: GraphModule) -> GraphModule:
    """A copy of the Dynamo graph that the traces will not misread."""
    gm = copy.copy(gm)
    gm.graph = copy.deepcopy(gm.graph)
    for node in list(gm.graph.nodes):
        _visit(gm, node)
    gm.graph.lint()
    gm.recompile()
    return gm


def _visit(gm: GraphModule, node: Node) -> None:
    if functorch.is_level_op(node):
        functorch.rewrite(gm, node, _mode_before(gm, node))
    elif node.op == "call_function":
        _function(gm, node)
    elif node.op == "call_method" and node.target in ("item", "tolist"):
        raise UnsupportedError(
            "makes Python numbers out of tensor data",
            op=str(node.target),
            location=location_of(node),
            hint="keep the tensor: x.detach() behaves as the number in arithmetic",
        )
    elif node.op == "call_method" and node.target in ("requires_grad_", "register_hook"):
        _method(gm, node)


def _function(gm: GraphModule, node: Node) -> None:
    target = node.target
    name = getattr(target, "__name__", str(target))
    if isinstance(target, torch._ops.HigherOrderOperator):
        if name in _INLINED:
            _inline(gm, node)
            return
        if name == "autograd_function_apply":
            expand(gm, node, _mode_before(gm, node), _visit)
            return
        if name in _CONTROL:
            _CONTROL[name](gm, node, _visit)
            return
        reason, hint = _HIGHER_ORDER.get(
            name,
            (
                "is a higher-order operation that is not supported",
                "express it with plain operations",
            ),
        )
        raise UnsupportedError(reason, op=name, location=location_of(node), hint=hint)
    if name == "_enter_inference_mode":
        _switch(gm, node)
    elif name == "_exit_inference_mode":
        with gm.graph.inserting_before(node):
            before = getattr(node.args[0], "meta", {}).get("gradc_mode_before", True)
            gm.graph.call_function(torch._C._set_grad_enabled, (before,))
        gm.graph.erase_node(node)
        if isinstance(entered := node.args[0] if node.args else None, Node) and not entered.users:
            gm.graph.erase_node(entered)
    elif checkpoints.is_policy(node):
        gm.graph.erase_node(node)
    elif name == "_get_data_attr":
        node.target = torch.ops.aten.detach.default


def _mode_before(gm: GraphModule, node: Node) -> bool:
    """The grad mode in which ``node`` runs."""
    mode = True  # both traces start with gradients on
    for earlier in gm.graph.nodes:
        if earlier is node:
            break
        if earlier.target is torch._C._set_grad_enabled:
            mode = bool(earlier.args[0])
    return mode


def _switch(gm: GraphModule, node: Node) -> None:
    """Inference mode stops gradients as no_grad does; leaving it restores the mode before."""
    node.meta["gradc_mode_before"] = _mode_before(gm, node)
    # inference_mode(False) does the opposite: it turns gradients on.
    with gm.graph.inserting_before(node):
        gm.graph.call_function(torch._C._set_grad_enabled, (node.args[0] is False,))


def _method(gm: GraphModule, node: Node) -> None:
    if node.target == "register_hook":
        reason, hint = _HIGHER_ORDER["register_hook"]
        raise UnsupportedError(reason, op="register_hook", location=location_of(node), hint=hint)
    wanted = node.args[1] if len(node.args) > 1 else node.kwargs.get("requires_grad", True)
    source: Any = node.args[0]
    if not wanted and isinstance(source, Node) and source.op == "placeholder":
        raise UnsupportedError(
            "turns off the gradient of an argument from inside",
            op="requires_grad_",
            location=location_of(node),
            hint="use x = x.detach()",
        )
    # A fresh leaf has no path to any argument: nothing to record.
    node.replace_all_uses_with(source)
    gm.graph.erase_node(node)


def _inline(gm: GraphModule, node: Node) -> None:
    """Replace a call of a subgraph by the subgraph's nodes."""
    body_at = next(i for i, a in enumerate(node.args) if isinstance(a, Node) and a.op == "get_attr")
    body = getattr(gm, node.args[body_at].target)
    operands = [
        a for a in node.args[body_at + 1 :] if isinstance(a, Node) or not isinstance(a, str)
    ]
    marks = checkpoints.Marks(gm.graph, node, body.graph)
    with gm.graph.inserting_before(node):
        result = inline(gm, body, [marks.enter(operand) for operand in operands], _visit)
        result = torch.fx.map_arg(result, marks.leave)
    values = list(result) if isinstance(result, (list, tuple)) else [result]
    for user in list(node.users):
        if getattr(user.target, "__name__", "") == "getitem":
            user.replace_all_uses_with(values[user.args[1]])
            gm.graph.erase_node(user)
    if node.users:
        node.replace_all_uses_with(values[0])
    erase_call(gm, node, [node.args[body_at]])
