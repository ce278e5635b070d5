"""The gradient ops that the frontend puts into ATen graphs.

``gradc::stop_gradient(x)`` is the identity on values and stops every gradient.
``gradc::value_of(value, path)`` has the value of its first operand and the gradient path of its
second. ``gradc::enter_checkpoint`` and ``gradc::leave_checkpoint`` are the identity on the inputs
and results of a checkpointed function. All become ops of the ``grad`` dialect.

``gradc::probe(x)`` is a copy of ``x`` with the gradient path that ``x`` has, whatever the mode.

A transform inside a captured function is written with four more:

* ``gradc::enter(xs)``: the arguments that a new level of differentiation differentiates.
* ``gradc::pull(outputs, roots, cotangents, rows)``: the gradients of ``outputs`` for the ``roots``,
  which one ``enter`` made. With ``rows >= 0`` every cotangent has a leading dimension of that
  length, and so has every gradient: one pullback a row.
* ``gradc::push(outputs, roots, tangents, rows)``: the tangents of ``outputs``, likewise.
* ``gradc::leave(values)``: values that leave the level. A gradient mode around the transform
  applies to them, not to what is inside.

A function that is mapped over rows is written with two:

* ``gradc::rows(xs)``: what stands for a row of the ``xs``, along their leading dimension.
* ``gradc::map(outputs, roots, rows)``: the ``outputs`` for every row of the ``roots``, which
  ``rows`` made, along a new leading dimension of length ``rows``.

A derivative rule of the user's is written between ``enter`` and one of

* ``gradc::custom_vjp(outputs, roots, seeds, gradients, name, without)``: the ``outputs`` of ops on
  the ``roots``, whose cotangents ``seeds`` (made by ``gradc::seeds``) lead to ``gradients`` of the
  roots. ``name`` is what the user calls the function. Gradients of the roots numbered in
  ``without`` are zeros that stand for None.
* ``gradc::custom_jvp(outputs, roots, seeds, results, name)``: likewise with tangents of the roots,
  which lead to ``results``, the outputs once more and then their tangents.

Control flow is written with

* ``gradc::region(xs, loops)``: what stands for the ``xs`` in a branch, or in any iteration.
* ``gradc::choose(predicate, roots, taken, others, otherwise)``: the values ``taken``, computed from
  the ``roots``, or ``otherwise``, from the ``others``.
* ``gradc::loop(roots, predicate, next)``: the first ``roots``, replaced by ``next`` while
  ``predicate`` holds, both of which are computed from the ``roots``.

nested.py makes functions and ``grad.vjp``, ``grad.jvp``, ``grad.vmap``, ``scf.if`` and
``scf.while`` of them.

All return fresh tensors, so functionalisation needs no rule for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

Tensors = Sequence[torch.Tensor]

_library = torch.library.Library("gradc", "DEF")
#: Adds a kernel to one of the ops: its name, the function, the dispatch key.
IMPLEMENT = _library.impl


def is_floating(value: Any) -> bool:
    """Whether ``value`` is a tensor that can have a gradient."""
    return isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex())


def define(schema: str, run: Callable, fake: Callable) -> Any:
    """The op of ``schema``; ``run`` is what it does eagerly, ``fake`` the shape of its result."""
    name = schema.split("(")[0]
    _library.define(schema)
    _library.impl(name, run, "CompositeExplicitAutograd")
    # Under make_fx the composite kernels would be traced through; a fake kernel keeps the ops
    # whole.
    torch.library.register_fake(f"gradc::{name}", fake, lib=_library)
    return getattr(torch.ops.gradc, name).default


def _fresh(xs: Tensors) -> list[torch.Tensor]:
    return [torch.empty_like(x) for x in xs]


def _uncaptured(*args: Any) -> Any:
    raise NotImplementedError("only exists inside a captured graph")


def _with_rows(xs: Tensors, rows: int) -> list[torch.Tensor]:
    return [x.new_empty(x.shape if rows < 0 else (rows, *x.shape)) for x in xs]


STOP = define(
    "stop_gradient(Tensor x) -> Tensor", lambda x: x.clone(), lambda x: torch.empty_like(x)
)
VALUE_OF = define(
    "value_of(Tensor value, Tensor path) -> Tensor",
    lambda value, path: value.clone(),
    lambda value, path: torch.empty_like(value),
)
PROBE = define("probe(Tensor x) -> Tensor", lambda x: x.clone(), lambda x: torch.empty_like(x))
ENTER = define("enter(Tensor[] xs) -> Tensor[]", _uncaptured, _fresh)
LEAVE = define("leave(Tensor[] values) -> Tensor[]", _uncaptured, _fresh)
PULL = define(
    "pull(Tensor[] outputs, Tensor[] roots, Tensor[] cotangents, int rows) -> Tensor[]",
    _uncaptured,
    lambda outputs, roots, cotangents, rows: _with_rows(roots, rows),
)
PUSH = define(
    "push(Tensor[] outputs, Tensor[] roots, Tensor[] tangents, int rows) -> Tensor[]",
    _uncaptured,
    lambda outputs, roots, tangents, rows: _with_rows(outputs, rows),
)
ROWS = define(
    "rows(Tensor[] xs) -> Tensor[]",
    _uncaptured,
    lambda xs: [x.new_empty(x.shape[1:]) for x in xs],
)
MAP = define(
    "map(Tensor[] outputs, Tensor[] roots, int rows) -> Tensor[]",
    _uncaptured,
    lambda outputs, roots, rows: _with_rows(outputs, rows),
)
SEEDS = define("seeds(Tensor[] like) -> Tensor[]", _uncaptured, _fresh)
CUSTOM_VJP = define(
    "custom_vjp(Tensor[] outputs, Tensor[] roots, Tensor[] seeds, Tensor[] gradients, str name,"
    " int[] without) -> Tensor[]",
    _uncaptured,
    lambda outputs, roots, seeds, gradients, name, without: _fresh(outputs),
)
CUSTOM_JVP = define(
    "custom_jvp(Tensor[] outputs, Tensor[] roots, Tensor[] seeds, Tensor[] results, str name)"
    " -> Tensor[]",
    _uncaptured,
    lambda outputs, roots, seeds, results, name: _fresh(outputs),
)
ENTER_CHECKPOINT = define(
    "enter_checkpoint(Tensor x, int id, str policy) -> Tensor",
    lambda x, id, policy: x.clone(),
    lambda x, id, policy: torch.empty_like(x),
)
LEAVE_CHECKPOINT = define(
    "leave_checkpoint(Tensor x, int id) -> Tensor",
    lambda x, id: x.clone(),
    lambda x, id: torch.empty_like(x),
)
#: Stands in a checkpointed function for its policy; no value depends on it.
POLICY = define(
    "checkpoint_policy(Tensor x, str policy) -> Tensor",
    lambda x, policy: x.clone(),
    lambda x, policy: torch.empty_like(x),
)

REGION = define(
    "region(Tensor[] xs, bool loops) -> Tensor[]", _uncaptured, lambda xs, loops: _fresh(xs)
)
CHOOSE = define(
    "choose(Tensor predicate, Tensor[] roots, Tensor[] taken, Tensor[] others, Tensor[] otherwise)"
    " -> Tensor[]",
    _uncaptured,
    lambda predicate, roots, taken, others, otherwise: _fresh(taken),
)
LOOP = define(
    "loop(Tensor[] roots, Tensor predicate, Tensor[] next) -> Tensor[]",
    _uncaptured,
    lambda roots, predicate, next: _fresh(next),
)


def _connection(*groups: Tensors) -> torch.Tensor | None:
    """A zero that depends on every tensor of ``groups`` that has a gradient path."""
    parts = [t.sum().double() for g in groups for t in g if t.grad_fn is not None]
    return sum(parts) * 0 if parts else None


def _joined(values: Tensors, connection: torch.Tensor | None) -> list[torch.Tensor]:
    return [v if connection is None else v + connection.to(v.dtype) for v in values]


def _entered(xs: Tensors) -> list[torch.Tensor]:
    with torch.enable_grad():
        return [x.detach().requires_grad_(is_floating(x)).clone() for x in xs]


def _ruled(outputs: Tensors, roots: Tensors, *rest: Any) -> list[torch.Tensor]:
    return _on_path([x.detach() for x in outputs], _connection(roots))


def _in_region(xs: Tensors, loops: bool) -> list[torch.Tensor]:
    # In a loop what an iteration starts from may have any path that an earlier one has met.
    return _on_path([x.clone() for x in xs], _connection(xs) if loops else None)


def _on_path(values: Tensors, connection: torch.Tensor | None) -> list[torch.Tensor]:
    return [_joined([v], connection if is_floating(v) else None)[0] for v in values]


def _chosen(
    predicate: torch.Tensor, roots: Tensors, taken: Tensors, others: Tensors, otherwise: Tensors
) -> list[torch.Tensor]:
    return [
        _on_path([x.detach()], _connection([x], [y]))[0]
        for x, y in zip(taken, otherwise, strict=True)
    ]


#: What an op does to gradient paths in PyTorch's terms, for the run that finds barriers. A path of
#: the level inside counts as one: barriers are the same for all levels.
PATHS: dict[Any, Callable] = {
    ENTER: _entered,
    LEAVE: lambda values: [v.clone() for v in values],
    SEEDS: _entered,
    REGION: _in_region,
    CHOOSE: _chosen,
    LOOP: lambda roots, predicate, next: _on_path(
        [x.detach() for x in next], _connection(roots, next)
    ),
    ROWS: lambda xs: [x[0].clone() for x in xs],
    MAP: lambda outputs, roots, rows: _on_path(
        _with_rows(outputs, rows), _connection(outputs, roots)
    ),
    CUSTOM_VJP: _ruled,
    CUSTOM_JVP: _ruled,
    PULL: lambda outputs, roots, cotangents, rows: _joined(
        _with_rows(roots, rows), _connection(outputs, roots, cotangents)
    ),
    PUSH: lambda outputs, roots, tangents, rows: _joined(
        _with_rows(outputs, rows), _connection(outputs, roots, tangents)
    ),
}

#: What a checkpoint may save besides its inputs; the first is the default.
POLICIES = ("nothing", "dots", "everything")
