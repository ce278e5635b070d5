"""What eager PyTorch says of every tensor that a function computes."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import torch
import torch.utils._pytree as pytree
from torch.overrides import TorchFunctionMode


def reached(function: Any) -> set:
    """The autograd functions that a gradient reaches from ``function`` on, itself included."""
    found, pending = set(), [function]
    while pending:
        function = pending.pop()
        if function is not None and function not in found:
            found.add(function)
            pending += [after for after, _ in function.next_functions]
    return found


@dataclass(frozen=True)
class Made:
    """A tensor as it was when an operation made it; one in place may change it later."""

    shape: tuple[int, ...]
    dtype: str
    function: object  # its grad_fn
    number: int  # which of the results of `function` it is
    is_leaf_with_grad: bool = False  # an argument, handed on as it is
    one_of_several: bool = False  # the operation has other results

    @classmethod
    def of(cls, tensor: torch.Tensor, leaf: bool = False, one_of_several: bool = False) -> Made:
        dtype = str(tensor.dtype).removeprefix("torch.")
        shape = tuple(tensor.shape)
        try:
            function, number = tensor.grad_fn, tensor.output_nr
        except RuntimeError:
            # A view made under no_grad whose base was written since has no function any more.
            function, number = None, 0
        return cls(shape, dtype, function, number, leaf, one_of_several)

    @property
    def requires_grad(self) -> bool:
        """Whether there is a gradient path. A view made under ``no_grad`` says True for its base,
        but no gradient goes further than the view."""
        leaves = [f.variable for f in reached(self.function) if hasattr(f, "variable")]
        return self.is_leaf_with_grad or not all(leaf._is_view() for leaf in leaves)


#: Functions that compute nothing.
_QUESTIONS = (torch.Tensor.requires_grad.__get__, torch.Tensor.requires_grad_)


class Recorder(TorchFunctionMode):
    """Every tensor that the user's code computes, by source line, as eager mode makes it.

    Of a ``torch.autograd.Function``, the results: what is inside has no gradient of its own.
    """

    def __init__(self, files: Iterable[str], leaves: Iterable[torch.Tensor] = ()) -> None:
        self.files = set(files)
        self.leaves = {id(leaf) for leaf in leaves if leaf.requires_grad}
        self.made: dict[tuple[str, int], list[Made]] = defaultdict(list)
        self.inside = False

    def __enter__(self) -> Recorder:
        self.patch = patch.object(torch.autograd.Function, "apply", classmethod(self._applied()))
        self.patch.__enter__()
        return super().__enter__()

    def __exit__(self, *raised: Any) -> None:
        super().__exit__(*raised)
        self.patch.__exit__(*raised)

    def _applied(self) -> Callable:
        apply = torch.autograd.Function.apply.__func__

        def recording(function: type, *args: Any) -> Any:
            # Without gradients it is a function like any other.
            self.inside = torch.is_grad_enabled()
            result = apply(function, *args)
            if self.inside:
                self.inside = False
                self._record(result)
            return result

        return recording

    def __torch_function__(
        self, function: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        if function not in _QUESTIONS and not self.inside:
            self._record(result)
        return result

    def _record(self, result: Any) -> None:
        frame = sys._getframe(2)
        while frame is not None and frame.f_code.co_filename not in self.files:
            frame = frame.f_back
        if frame is not None:
            where = (frame.f_code.co_filename, frame.f_lineno)
            tensors = [t for t in pytree.tree_leaves(result) if isinstance(t, torch.Tensor)]
            self.made[where] += [
                Made.of(t, id(t) in self.leaves, len(tensors) > 1) for t in tensors
            ]
