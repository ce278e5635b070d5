"""Transforms as Dynamo sees them: plain Python around the level ops of frontend/ops.py.

Every function here runs under Dynamo only, on behalf of a transform that a captured function calls
or that is captured as a whole. The ops say where a level of differentiation begins and ends; what
they mean is frontend/nested.py's business. A transform ignores the grad mode around it and obeys
the modes inside its function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch.nn.utils.stateless import _reparametrize_module

from .arguments import trainable, user_name
from .frontend.levels import leaving
from .frontend.ops import ENTER, PULL, PUSH, is_floating

# What is raised here is raised under Dynamo, which knows Python's own exceptions only; capture.py
# makes an InputError of it.


@dataclass
class Level:
    """A function, evaluated on fresh roots.

    Attributes:
        roots: the differentiated tensors, flat, and their ``structure``.
        results: what the function returned, flat, and its ``spec``.
        outputs: the floating-point results, flat; those of the differentiated part only.
    """

    roots: list[torch.Tensor]
    structure: Any
    results: list[torch.Tensor]
    spec: Any
    outputs: list[torch.Tensor]
    aux: Any

    def gradients(self, cotangents: Sequence[torch.Tensor], rows: int = -1) -> list[torch.Tensor]:
        """One gradient a root; the leading dimension of ``cotangents`` is theirs too if ``rows`` is
        not negative."""
        if not self.outputs:
            return [_zeros(root, rows) for root in self.roots]
        with torch.enable_grad():
            gradients = PULL(self.outputs, self.roots, list(cotangents), rows)
        return leaving(gradients, self.roots)

    def tangents(self, tangents: Sequence[torch.Tensor], rows: int = -1) -> list[torch.Tensor]:
        """One tangent an entry of ``outputs``."""
        if not self.outputs:
            return []
        with torch.enable_grad():
            pushed = PUSH(self.outputs, self.roots, list(tangents), rows)
        return leaving(pushed, self.roots)

    def left(self, tree: Any) -> Any:
        """``tree`` as it looks outside the level."""
        leaves, spec = pytree.tree_flatten(tree)
        inside = [leaf for leaf in leaves if is_floating(leaf)]
        outside = iter(leaving(inside, self.roots) if inside else [])
        return pytree.tree_unflatten(
            [next(outside) if is_floating(leaf) else leaf for leaf in leaves], spec
        )

    def value(self) -> Any:
        """The results of the function, in their structure."""
        return self.left(pytree.tree_unflatten(self.results, self.spec))


def _entered(value: Any) -> Any:
    """What is differentiated of an argument: for a module, its parameters."""
    if not isinstance(value, torch.nn.Module):
        return value
    return {user_name(name): parameter for name, parameter in trainable(value).items()}


def _call(
    fn: Callable, args: Sequence[Any], kwargs: dict, modules: Sequence[tuple[torch.nn.Module, dict]]
) -> Any:
    """``fn(*args, **kwargs)`` with the given tensors in place of the parameters of ``modules`` that
    require a gradient."""
    if not modules:
        return fn(*args, **kwargs)
    module, values = modules[0]
    given = dict(zip(trainable(module), values.values(), strict=True))
    with _reparametrize_module(module, given, tie_weights=True):
        return _call(fn, args, kwargs, modules[1:])


def _evaluate(
    name: str, fn: Callable, args: tuple, kwargs: dict, argnums: Sequence[int], has_aux: bool
) -> Level:
    # The object is made when all is there: Dynamo forgets what control flow inside ``fn`` finds
    # half made.
    leaves, structure = pytree.tree_flatten([_entered(args[n]) for n in argnums])
    for leaf in leaves:
        _check_leaf(name, leaf)
    with torch.enable_grad():
        roots = ENTER(leaves)
        chosen = pytree.tree_unflatten(roots, structure)
        entered, modules = list(args), []
        for number, value in zip(argnums, chosen, strict=True):
            if isinstance(args[number], torch.nn.Module):
                modules.append((args[number], value))
            else:
                entered[number] = value
        result = _call(fn, entered, kwargs, modules)
    aux: Any = None
    if has_aux:
        if not (isinstance(result, tuple) and len(result) == 2):
            raise ValueError(f"{name}: with has_aux=True the function returns (result, aux)")
        result, aux = result
    results, spec = pytree.tree_flatten(result)
    if not results or not all(isinstance(r, torch.Tensor) for r in results):
        raise ValueError(f"{name}: every result of the function has to be a tensor")
    outputs = [r for r in results if is_floating(r)]
    return Level(roots, structure, results, spec, outputs, aux)


def _zeros(like: torch.Tensor, rows: int) -> torch.Tensor:
    return like.new_zeros(like.shape if rows < 0 else (rows, *like.shape))


def _check_leaf(name: str, leaf: Any) -> None:
    if not isinstance(leaf, torch.Tensor):
        raise ValueError(
            f"{name}: a differentiated argument contains a {type(leaf).__name__}, which has no "
            "gradient"
        )
    if not is_floating(leaf):
        raise ValueError(
            f"{name}: a differentiated argument is or contains a tensor of {leaf.dtype}; gradients "
            "exist for floating point only"
        )


def value_and_grad(
    name: str,
    fn: Callable,
    argnums: int | tuple[int, ...],
    has_aux: bool,
    args: tuple,
    kwargs: dict,
) -> tuple[Any, Any]:
    """``(value, gradient)`` as `gradc.value_and_grad` returns them."""
    level = _evaluate(name, fn, args, kwargs, _numbers(argnums), has_aux)
    if len(level.results) != 1:
        raise ValueError(
            f"{name} differentiates a function that returns one tensor; it returned "
            f"{len(level.results)} tensors"
        )
    loss = level.results[0]
    if loss.dim() != 0 or not is_floating(loss):
        raise ValueError(
            f"{name} differentiates a function that returns a floating-point scalar; it returned "
            f"{loss.dtype}{list(loss.shape)}"
        )
    gradients = pytree.tree_unflatten(level.gradients([torch.ones_like(loss)]), level.structure)
    value = level.value()
    if has_aux:
        value = (value, level.left(level.aux))
    return value, gradients[0] if isinstance(argnums, int) else tuple(gradients)


def vjp(fn: Callable, primals: tuple, has_aux: bool) -> tuple:
    """What `gradc.vjp` returns, inside a captured function."""
    level = _evaluate("gradc.vjp", fn, primals, {}, tuple(range(len(primals))), has_aux)

    def pullback(cotangent: Any) -> tuple:
        given = pytree.tree_leaves(cotangent, is_leaf=lambda leaf: leaf is None)
        if len(given) != len(level.results):
            raise ValueError(
                f"gradc.vjp: the cotangent has {len(given)} tensors, the output has "
                f"{len(level.results)}"
            )
        seeds = [
            _seed(f"gradc.vjp: cotangent {index}", cotangent, result, "the output")
            for index, (cotangent, result) in enumerate(zip(given, level.results, strict=True))
            if is_floating(result)
        ]
        return tuple(pytree.tree_unflatten(level.gradients(seeds), level.structure))

    value = level.value()
    return (value, pullback, level.left(level.aux)) if has_aux else (value, pullback)


def _seed(what: str, given: Any, result: torch.Tensor, of: str) -> torch.Tensor:
    """``given``, the cotangent or tangent called ``what`` of the value ``of``; None for zeros."""
    if given is None:
        return torch.zeros_like(result)
    if not isinstance(given, torch.Tensor):
        raise ValueError(f"{what} is a {type(given).__name__}, it has to be a tensor")
    if given.shape != result.shape or given.dtype != result.dtype:
        raise ValueError(
            f"{what} is {given.dtype}{list(given.shape)}, {of} is "
            f"{result.dtype}{list(result.shape)}"
        )
    return given


def _tangents(name: str, primals: tuple, tangents: tuple) -> list[torch.Tensor]:
    """One tangent a differentiated tensor of ``primals``, with their structure."""
    flat = []
    for number, (primal, tangent) in enumerate(zip(primals, tangents, strict=True)):
        entered = _entered(primal)
        if isinstance(primal, torch.nn.Module) and isinstance(tangent, dict):
            if set(tangent) != set(entered):
                raise ValueError(
                    f"{name}: tangent {number} has entries {sorted(tangent)}; the parameters "
                    f"are {sorted(entered)}"
                )
            tangent = {name: tangent[name] for name in entered}
        leaves, structure = pytree.tree_flatten(entered)
        given, found = pytree.tree_flatten(tangent)
        if structure != found:
            raise ValueError(
                f"{name}: tangent {number} does not have the structure of primal {number}"
            )
        for value, leaf in zip(given, leaves, strict=True):
            _check_leaf(name, leaf)
            flat.append(_seed(f"{name}: tangent {number}", value, leaf, f"primal {number}"))
    return flat


def jvp(
    fn: Callable, primals: tuple, tangents: tuple, has_aux: bool, name: str = "gradc.jvp"
) -> tuple:
    """What `gradc.jvp` returns."""
    seeds = _tangents(name, primals, tangents)
    level = _evaluate(name, fn, primals, {}, tuple(range(len(primals))), has_aux)
    pushed = iter(level.tangents(seeds))
    # An integer result has no tangent: zeros of its own dtype stand for it.
    flat = [next(pushed) if is_floating(r) else torch.zeros_like(r) for r in level.results]
    value = level.value()
    tangent = pytree.tree_unflatten(flat, level.spec)
    return (value, tangent, level.left(level.aux)) if has_aux else (value, tangent)


def _basis(like: Sequence[torch.Tensor]) -> tuple[list[torch.Tensor], int]:
    """The unit vectors of the space of ``like``, as rows of tensors shaped like its members."""
    total = sum(value.numel() for value in like)
    rows, start = [], 0
    for value in like:
        size = value.numel()
        block = torch.zeros(total, size, dtype=value.dtype)
        if size:
            eye = torch.eye(size, dtype=value.dtype)
            above, below = (
                torch.zeros(n, size, dtype=value.dtype) for n in (start, total - start - size)
            )
            block = torch.cat([above, eye, below])
        rows.append(block.reshape(total, *value.shape))
        start += size
    return rows, total


def _jacobian_of(level: Level, argnums: int | tuple[int, ...], blocks: list[list[Any]]) -> Any:
    """``blocks[output][root]`` in the structure of the results, then of the arguments."""
    per_output = []
    for row in blocks:
        arguments = pytree.tree_unflatten(row, level.structure)
        per_output.append(arguments[0] if isinstance(argnums, int) else tuple(arguments))
    return pytree.tree_unflatten(per_output, level.spec)


def _numbers(argnums: int | tuple[int, ...]) -> tuple[int, ...]:
    return (argnums,) if isinstance(argnums, int) else argnums


def _checked_level(
    name: str, fn: Callable, argnums: int | tuple[int, ...], has_aux: bool, args: tuple, kw: dict
) -> Level:
    level = _evaluate(name, fn, args, kw, _numbers(argnums), has_aux)
    if len(level.outputs) != len(level.results):
        raise ValueError(f"{name}: every result of the function has to be floating point")
    return level


def jacrev(
    fn: Callable, argnums: int | tuple[int, ...], has_aux: bool, args: tuple, kwargs: dict
) -> Any:
    """What `gradc.jacrev` returns: one pullback a row of the results' basis."""
    level = _checked_level("gradc.jacrev", fn, argnums, has_aux, args, kwargs)
    cotangents, rows = _basis(level.outputs)
    gradients = level.gradients(cotangents, rows)
    blocks, start = [], 0
    for output in level.outputs:
        stop = start + output.numel()
        blocks.append(
            [
                g[start:stop].reshape((*output.shape, *root.shape))
                for g, root in zip(gradients, level.roots, strict=True)
            ]
        )
        start = stop
    jacobian = _jacobian_of(level, argnums, blocks)
    return (jacobian, level.left(level.aux)) if has_aux else jacobian


def jacfwd(
    fn: Callable, argnums: int | tuple[int, ...], has_aux: bool, args: tuple, kwargs: dict
) -> Any:
    """What `gradc.jacfwd` returns: one tangent a row of the arguments' basis."""
    level = _checked_level("gradc.jacfwd", fn, argnums, has_aux, args, kwargs)
    tangents, rows = _basis(level.roots)
    pushed = level.tangents(tangents, rows)
    blocks: list[list[Any]] = []
    for output, columns in zip(level.outputs, pushed, strict=True):
        row, start = [], 0
        for root in level.roots:
            stop = start + root.numel()
            part = columns[start:stop].movedim(0, -1)
            row.append(part.reshape((*output.shape, *root.shape)))
            start = stop
        blocks.append(row)
    jacobian = _jacobian_of(level, argnums, blocks)
    return (jacobian, level.left(level.aux)) if has_aux else jacobian


def hessian(
    fn: Callable, argnums: int | tuple[int, ...], has_aux: bool, args: tuple, kwargs: dict
) -> Any:
    """What `gradc.hessian` returns: the forward-mode Jacobian of the reverse-mode one."""

    def inner(*inner_args: Any) -> Any:
        return jacrev(fn, argnums, has_aux, inner_args, kwargs)

    return jacfwd(inner, argnums, has_aux, args, {})


def hvp(fn: Callable, primals: tuple, tangents: tuple) -> Any:
    """What `gradc.hvp` returns: the tangent of the gradient."""
    numbers = tuple(range(len(primals)))

    def gradient(*args: Any) -> Any:
        return value_and_grad("gradc.hvp", fn, numbers, False, args, {})

    (value, grads), (_, products) = jvp(gradient, primals, tangents, False, "gradc.hvp")
    return value, grads, products
