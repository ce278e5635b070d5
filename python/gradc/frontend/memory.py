"""Which memory tensors lie in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch


def storage(tensor: torch.Tensor) -> int:
    """What tensors have in common that share memory, as long as one of them lives."""
    return tensor.untyped_storage()._cdata


def tensors(value: Any) -> Iterator[torch.Tensor]:
    """The tensors in a value of an op: itself, or those in lists."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors(item)


def common_storage(value: Any) -> int | None:
    """The storage that the tensors in ``value`` share; None if there is none, or several."""
    found = {storage(tensor) for tensor in tensors(value)}
    return found.pop() if len(found) == 1 else None
