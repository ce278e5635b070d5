"""The arguments that a transform differentiates, and gradients in their structure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.utils._pytree as pytree

from .errors import InputError
from .frontend.ops import is_floating

Argnums = int | Sequence[int]


def describe(fn: Callable) -> str:
    """A name of ``fn`` for messages."""
    return getattr(fn, "__qualname__", None) or type(fn).__name__


def normalise(argnums: Argnums) -> tuple[int, ...]:
    """``argnums`` as a tuple; raises ``InputError`` for anything but distinct integers."""
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    if not numbers or any(not isinstance(n, int) or isinstance(n, bool) for n in numbers):
        raise InputError(
            f"argnums is {argnums!r}; it has to be an int or a non-empty sequence of ints"
        )
    if len(set(numbers)) != len(numbers):
        raise InputError(f"argnums {argnums!r} names an argument twice")
    return numbers


def check_position(fn: Callable, args: Sequence[Any], number: int) -> None:
    """Raises ``InputError`` unless there is an argument ``number``."""
    if not -len(args) <= number < len(args):
        raise InputError(
            f"argnums names argument {number}, but {describe(fn)} was called with "
            f"{len(args)} positional arguments",
            hint="pass differentiated arguments by position",
        )


def trainable(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """The parameters of ``module`` that require a gradient, by name."""
    return {
        name: parameter for name, parameter in module.named_parameters() if parameter.requires_grad
    }


def parameters_of(module: torch.nn.Module, where: str) -> dict[str, torch.Tensor]:
    """What stands for ``module``, which has to be something; ``where`` says in messages which
    argument it is."""
    named = trainable(module)
    if not named:
        raise InputError(f"{where} is a module none of whose parameters requires a gradient")
    return named


def user_name(name: str) -> str:
    """The name of a parameter in the module that the user wrote: ``torch.compile`` wraps it in
    another one."""
    return name.replace("_orig_mod.", "")


def check_differentiable(fn: Callable, args: Sequence[Any], numbers: Sequence[int]) -> None:
    """Raises ``InputError`` unless the arguments ``numbers`` are modules, or pytrees of tensors
    that can have a gradient."""
    for number in numbers:
        check_position(fn, args, number)
        if isinstance(args[number], torch.nn.Module):
            parameters_of(args[number], f"argument {number} of {describe(fn)}")
            continue
        for leaf in pytree.tree_leaves(args[number]):
            check_leaf(leaf, f"argument {number} of {describe(fn)}")


def check_leaf(leaf: Any, where: str) -> None:
    """Raises ``InputError`` unless ``leaf`` is a tensor that can have a gradient."""
    if not isinstance(leaf, torch.Tensor):
        raise InputError(
            f"{where} contains a {type(leaf).__name__}, which has no gradient",
            hint="pass a floating-point tensor, or choose other arguments with argnums=",
        )
    if not is_floating(leaf):
        raise InputError(
            f"{where} is or contains a tensor of {leaf.dtype}; "
            "gradients exist for floating point only",
            hint="convert it with .float() or .double(), or choose other arguments with argnums=",
        )


class Roots:
    """The differentiated arguments of one call.

    A tensor is replaced by a fresh leaf that shares its memory: the same tensor passed twice counts
    as two arguments, and a captured tensor that is also an argument stays a constant. The
    parameters of a module are used as they are.
    """

    def __init__(self, fn: Callable, args: tuple, argnums: tuple[int, ...]) -> None:
        self.leaves: list[torch.Tensor] = []
        self.originals: list[torch.Tensor] = []
        self._rebuild: list[Callable[[list[torch.Tensor]], Any]] = []
        replaced = list(args)
        for number in argnums:
            check_position(fn, args, number)
            where = f"argument {number} of {describe(fn)}"
            replaced[number] = self._add(args[number], where)
        self.args = tuple(replaced)

    def _add(self, value: Any, where: str) -> Any:
        start = len(self.leaves)
        if isinstance(value, torch.nn.Module):
            named = parameters_of(value, where)
            self.leaves += named.values()
            self.originals += named.values()
            names = [user_name(name) for name in named]
            self._rebuild.append(
                lambda gradients: dict(
                    zip(names, gradients[start : start + len(names)], strict=True)
                )
            )
            return value
        leaves, spec = pytree.tree_flatten(value)
        fresh = [self._leaf(leaf, where) for leaf in leaves]

        def rebuild(gradients: list[torch.Tensor]) -> Any:
            remaining = iter(gradients[start:])
            return pytree.tree_unflatten(
                [None if f is None else next(remaining) for f in fresh], spec
            )

        self._rebuild.append(rebuild)
        return pytree.tree_unflatten(fresh, spec)

    def _leaf(self, leaf: Any, where: str) -> torch.Tensor | None:
        if leaf is None:
            return None
        check_leaf(leaf, where)
        # Nothing outside of inference mode can write into an inference tensor: a copy is as good.
        fresh = (leaf.clone() if leaf.is_inference() else leaf.detach()).requires_grad_()
        self.leaves.append(fresh)
        self.originals.append(leaf)
        return fresh

    def gradients(self, values: Sequence[torch.Tensor | None]) -> list[Any]:
        """One entry an argument, in its structure; None (no path) becomes zeros."""
        dense = [
            torch.zeros_like(leaf, memory_format=torch.contiguous_format)
            if value is None
            else value
            for leaf, value in zip(self.originals, values, strict=True)
        ]
        return [rebuild(dense) for rebuild in self._rebuild]

    def restore(self, output: Any) -> Any:
        """``output`` with the fresh leaves exchanged for the tensors that the caller passed."""
        known = {id(f): o for f, o in zip(self.leaves, self.originals, strict=True) if f is not o}
        return pytree.tree_map(lambda leaf: known.get(id(leaf), leaf), output)
