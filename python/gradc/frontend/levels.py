"""What Dynamo sees of a level of differentiation: its roots require a gradient.

A function reads ``x.requires_grad``, Dynamo takes a ``torch.autograd.Function`` by its rule only
where an argument requires a gradient, and refuses to write into a leaf. So while Dynamo captures,
the roots that ``gradc::enter`` makes are leaves that require a gradient, and what
``gradc::leave`` lets out requires one only if something outside of the level does. The graph is
the same; what it means is read from it later (barriers.py, nested.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from .ops import ENTER, IMPLEMENT, LEAVE, Tensors, is_floating

_LEVEL = "_gradc_level"
_OUTSIDE = "_gradc_outside"


def leaving(values: Tensors, roots: Tensors) -> list[torch.Tensor]:
    """``values`` as they look outside of the level of ``roots``."""
    # A root among the values says which level it is that is left.
    return LEAVE([*values, *roots[:1]])[: len(values)]


def _in_dynamo() -> bool:
    return torch._guards.TracingContext.try_get() is not None


def _below(op: Any, values: Tensors) -> list[torch.Tensor]:
    with torch._C._AutoDispatchBelowAutograd():
        return op(values)


def _enter(xs: Tensors) -> list[torch.Tensor]:
    roots = _below(ENTER, xs)
    if _in_dynamo() and not torch.is_inference_mode_enabled():
        level = object()
        for x, root in zip(xs, roots, strict=True):
            setattr(root, _LEVEL, level)
            if is_floating(x):
                root.requires_grad_()
                setattr(root, _OUTSIDE, x)
    return roots


def _leave(values: Tensors) -> list[torch.Tensor]:
    left = _below(LEAVE, values)
    if not _in_dynamo() or not torch.is_grad_enabled():
        return left
    # See `leaving`.
    level = getattr(values[-1], _LEVEL, None)
    return [
        _connected(new, _outside(value, level)) for value, new in zip(values, left, strict=True)
    ]


def _connected(value: torch.Tensor, sources: Iterator[torch.Tensor]) -> torch.Tensor:
    for source in sources:
        value = value + 0 * source.sum().to(value.dtype)
    return value


def _outside(value: torch.Tensor, level: Any) -> Iterator[torch.Tensor]:
    """The tensors outside of ``level`` through which ``value`` requires a gradient."""
    pending: list[Any] = [value if value.grad_fn is None else value.grad_fn]
    seen: set[Any] = set()
    while pending:
        item = pending.pop()
        if item is None or item in seen:
            continue
        seen.add(item)
        if not isinstance(item, torch.Tensor):
            leaf = getattr(item, "variable", None)
            pending += [leaf] if leaf is not None else [node for node, _ in item.next_functions]
        elif level is not None and getattr(item, _LEVEL, None) is level:
            outside = getattr(item, _OUTSIDE)
            if outside.requires_grad:
                yield outside
        elif item.requires_grad:
            yield item


IMPLEMENT("enter", _enter, "Autograd")
IMPLEMENT("leave", _leave, "Autograd")
