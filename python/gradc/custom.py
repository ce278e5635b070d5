"""``custom_vjp`` and ``custom_jvp``: functions with a derivative rule of the user's.

Under Dynamo the function, its rule and the boundary between them become ops (frontend/ops.py) that
nested.py outlines. Outside a captured function such a function is compiled by itself. A ValueError
raised here becomes an InputError in capture.py: Dynamo knows Python's own exceptions only.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.utils._pytree as pytree

from .api import compile as compile_function
from .errors import InputError
from .frontend.levels import leaving
from .frontend.ops import CUSTOM_JVP, CUSTOM_VJP, ENTER, SEEDS, is_floating


class _Arguments:
    """The arguments of one call, with fresh tensors for those that are tensors."""

    def __init__(self, args: tuple) -> None:
        self.leaves, self.spec = pytree.tree_flatten(args)
        tensors = [leaf for leaf in self.leaves if isinstance(leaf, torch.Tensor)]
        self.roots = list(ENTER(tensors)) if tensors else []
        self.entered = self.filled(self.roots)

    def filled(self, tensors: Sequence[Any]) -> tuple:
        """The arguments with ``tensors`` in place of their tensors."""
        remaining = iter(tensors)
        return pytree.tree_unflatten(
            [next(remaining) if isinstance(x, torch.Tensor) else x for x in self.leaves], self.spec
        )


def _flat(name: str, result: Any) -> tuple[list[torch.Tensor], Any]:
    leaves, spec = pytree.tree_flatten(result)
    if not leaves or not all(isinstance(leaf, torch.Tensor) for leaf in leaves):
        raise ValueError(f"{name} has to return tensors")
    return leaves, spec


def _like(name: str, what: str, given: Any, value: torch.Tensor) -> torch.Tensor:
    if not isinstance(given, torch.Tensor):
        raise ValueError(f"{name} returned a {type(given).__name__} as {what}")
    if given.shape != value.shape or given.dtype != value.dtype:
        raise ValueError(
            f"{name} returned {what} of {given.dtype}{list(given.shape)}; "
            f"it has to be {value.dtype}{list(value.shape)}"
        )
    return given


def _pulled(name: str, fwd: Callable, bwd: Callable, args: tuple) -> Any:
    arguments = _Arguments(args)
    with torch.enable_grad():
        result = fwd(*arguments.entered)
        if not (isinstance(result, tuple) and len(result) == 2):
            raise ValueError(f"the forward rule of {name} has to return (output, residuals)")
        outputs, spec = _flat(f"the forward rule of {name}", result[0])
        seeds = list(SEEDS([output for output in outputs if is_floating(output)]))
        remaining = iter(seeds)
        cotangent = pytree.tree_unflatten(
            [next(remaining) if is_floating(output) else None for output in outputs], spec
        )
        gradients = bwd(result[1], cotangent)
        found = _by_root(name, args, arguments, gradients)
        if any(gradient is not None for _, gradient in found):
            # An argument without a gradient is still one that the rule may read, and that has a
            # second derivative.
            roots = [root for root, _ in found]
            gradients = [torch.zeros_like(r) if g is None else g for r, g in found]
            without = [n for n, (_, g) in enumerate(found) if g is None]
            outputs = CUSTOM_VJP(outputs, roots, seeds, gradients, name, without)
        else:
            outputs = [output.detach() for output in outputs]
    return pytree.tree_unflatten(leaving(list(outputs), arguments.roots), spec)


def _by_root(
    name: str, args: tuple, arguments: _Arguments, gradients: Any
) -> list[tuple[torch.Tensor, torch.Tensor | None]]:
    """Each floating-point argument tensor with its gradient; None where the rule gives none."""
    rule = f"the backward rule of {name}"
    if not isinstance(gradients, (tuple, list)) or len(gradients) != len(args):
        count = len(gradients) if isinstance(gradients, (tuple, list)) else 1
        raise ValueError(f"{rule} returned {count} gradients for {len(args)} arguments")
    found: list[tuple[torch.Tensor, torch.Tensor | None]] = []
    for number, (argument, gradient) in enumerate(zip(arguments.entered, gradients, strict=True)):
        leaves = pytree.tree_leaves(argument)
        if gradient is None:
            given = [None] * len(leaves)
        else:
            given = pytree.tree_leaves(gradient, is_leaf=lambda leaf: leaf is None)
            if len(given) != len(leaves):
                raise ValueError(
                    f"{rule} returned a gradient of argument {number} in another structure"
                )
        for leaf, value in zip(leaves, given, strict=True):
            if not is_floating(leaf):
                continue
            if value is not None:
                value = _like(rule, f"the gradient of argument {number} a tensor", value, leaf)
            found.append((leaf, value))
    return found


def _pushed(name: str, fn: Callable, rule: Callable, args: tuple) -> Any:
    arguments = _Arguments(args)
    with torch.enable_grad():
        outputs, spec = _flat(name, fn(*arguments.entered))
        floats = [root for root in arguments.roots if is_floating(root)]
        seeds = list(SEEDS(floats))
        remaining = iter(seeds)
        tangents = arguments.filled(
            [next(remaining) if is_floating(root) else None for root in arguments.roots]
        )
        result = rule(arguments.entered, tangents)
        if not (isinstance(result, tuple) and len(result) == 2):
            raise ValueError(f"the rule of {name} has to return (output, tangent)")
        again, _ = _flat(f"the rule of {name}", result[0])
        pushed = pytree.tree_leaves(result[1], is_leaf=lambda leaf: leaf is None)
        if len(again) != len(outputs) or len(pushed) != len(outputs):
            raise ValueError(
                f"the rule of {name} returned {len(again)} results and {len(pushed)} tangents; "
                f"the function returns {len(outputs)}"
            )
        values = [
            _like(f"the rule of {name}", "a result", a, o)
            for a, o in zip(again, outputs, strict=True)
        ]
        values += [
            torch.zeros_like(o) if t is None else _like(f"the rule of {name}", "a tangent", t, o)
            for t, o in zip(pushed, outputs, strict=True)
            if is_floating(o)
        ]
        if seeds:
            outputs = CUSTOM_JVP(outputs, arguments.roots, seeds, values, name)
    return pytree.tree_unflatten(leaving(list(outputs), arguments.roots), spec)


class _Ruled:
    """A function and its rule; callable as the function."""

    def __init__(self, fn: Callable, kind: str) -> None:
        if not callable(fn):
            raise InputError(f"gradc.{kind} takes a function, got a {type(fn).__name__}")
        self.fn = fn
        self.kind = kind
        self.name = getattr(fn, "__qualname__", type(fn).__name__)
        self.rule: tuple[Callable, ...] = ()
        self._compiled: Callable | None = None
        functools.update_wrapper(self, fn)

    def _no_rule(self) -> str:
        what = "defvjp" if self.kind == "custom_vjp" else "defjvp"
        return f"{self.name} has no rule yet: give it one with {what}"

    def _traced(self, *args: Any) -> Any:
        if not self.rule:
            raise ValueError(self._no_rule())
        if self.kind == "custom_vjp":
            return _pulled(self.name, *self.rule, args)
        return _pushed(self.name, self.fn, *self.rule, args)

    def __call__(self, *args: Any) -> Any:
        if torch.compiler.is_dynamo_compiling():
            return self._traced(*args)
        return self._outside(*args)

    @torch._dynamo.disable(reason="a function with a rule outside a captured function")
    def _outside(self, *args: Any) -> Any:
        if not self.rule:
            raise InputError(self._no_rule())
        if self._compiled is None:
            self._compiled = compile_function(self._traced, fullgraph=True)
        return self._compiled(*args)


class custom_vjp(_Ruled):
    """A function whose reverse-mode derivative is given by a rule.

    ::

        @gradc.custom_vjp
        def clipped(x):
            return x * 1.0

        clipped.defvjp(lambda x: (x * 1.0, None), lambda residuals, ct: (ct.clamp(-1, 1),))

    The rule is differentiated in turn for second derivatives. Forward mode through such a function
    is an error: give it a `custom_jvp`, which serves both modes.
    """

    def __init__(self, fn: Callable) -> None:
        super().__init__(fn, "custom_vjp")

    def defvjp(self, fwd: Callable, bwd: Callable) -> None:
        """Sets the rule.

        Args:
            fwd: takes the arguments of the function, returns ``(output, residuals)``; residuals are
                any pytree.
            bwd: takes ``(residuals, cotangent)``, the latter in the structure of the output;
                returns a tuple with one gradient an argument, in its structure, shapes and dtypes,
                or None for no gradient: None on the tape, zeros in a transform.
        """
        if not callable(fwd) or not callable(bwd):
            raise InputError("defvjp takes two functions")
        self.rule = (fwd, bwd)


class custom_jvp(_Ruled):
    """A function whose derivative, in both modes, is given by one rule.

    ::

        @gradc.custom_jvp
        def f(x):
            return torch.log1p(torch.exp(x))

        @f.defjvp
        def rule(primals, tangents):
            (x,), (t,) = primals, tangents
            return f.fn(x), torch.sigmoid(x) * t

    Reverse mode transposes the rule, which has to be linear in the tangents.
    """

    def __init__(self, fn: Callable) -> None:
        super().__init__(fn, "custom_jvp")

    def defjvp(self, rule: Callable) -> Callable:
        """Sets the rule: takes ``(primals, tangents)``, two tuples with one entry an argument, and
        returns ``(output, tangent)``. Entries of ``tangents`` for integer tensors are None. Returns
        the rule, so that it can be used as a decorator."""
        if not callable(rule):
            raise InputError("defjvp takes a function")
        self.rule = (rule,)
        return rule
