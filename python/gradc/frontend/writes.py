"""Which tensors an op writes in place, and whether anything of them is left."""

from __future__ import annotations

import torch
from torch.fx import Node

aten = torch.ops.aten

# Writes that leave nothing of what was there.
_OVERWRITES = {
    aten.zero_,
    aten.fill_,
    aten.copy_,
    aten.normal_,
    aten.uniform_,
    aten.bernoulli_,
    aten.exponential_,
}


def written_by(node: Node) -> list[Node]:
    """The tensors an ATen op writes in place, by its schema."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return []
    written = []
    for index, parameter in enumerate(node.target._schema.arguments):
        if parameter.alias_info is None or not parameter.alias_info.is_write:
            continue
        arg = node.args[index] if index < len(node.args) else node.kwargs.get(parameter.name)
        written += [n for n in (arg if isinstance(arg, (list, tuple)) else [arg]) if n is not None]
    return written


def overwrites(node: Node, tensor: torch.Tensor) -> bool:
    """Whether ``node`` leaves nothing of ``tensor`` that has a path of its own. What is left around
    a part that is overwritten has."""
    packet = getattr(node.target, "overloadpacket", None)
    whole = tensor._base if tensor._is_view() else tensor
    return packet in _OVERWRITES and tensor.numel() == whole.numel()
