"""``jvp``, ``jacfwd``, ``jacrev``, ``hessian`` and ``hvp``.

Each is a captured function in which a transform is called (traced.py): Dynamo sees the transform
and the user's function together, and the graph is compiled as it is. Results take part in PyTorch's
tape where grad mode is on and an input requires a gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from . import capture, config, traced
from .arguments import Argnums, check_differentiable, normalise
from .backend import CompiledGraph, backend_into
from .doors import by_code, check_function, dispatching
from .errors import InputError
from .transformed import compiled_at


class _Door:
    """One kind of transform of functions that share code, compiled once for each set of Dynamo's
    guards."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.graphs: list[CompiledGraph] = []
        backend = backend_into(self.graphs, name, transform=True)
        self._compiled = capture.captured(_call, backend, config.RECOMPILE_LIMIT)

    def __call__(self, body: Callable, *arguments: Any) -> Any:
        with capture.capture_errors(capture.one_graph(self.name)):
            return self._compiled(body, arguments)

    def ir(self, stage: str, index: int = -1) -> str:
        """The text of ``stage`` of the ``index``-th program compiled; see `gradc.STAGES`."""
        programs = [program for graph in self.graphs for program in graph.programs]
        return compiled_at(programs, index).stages.text(stage)


def _call(body: Callable, arguments: tuple) -> Any:
    return body(*arguments)


def _door(name: str, fn: Callable, *key: Any) -> _Door:
    return by_code(fn, (name, *key), lambda: _Door(name))


@torch._dynamo.disable(reason="a transform outside a captured function")
def _run(name: str, body: Callable, fn: Callable, *arguments: Any) -> Any:
    return _door(name, fn)(body, fn, *arguments)


def _over_arguments(
    name: str, body: Callable, fn: Callable, argnums: Argnums, has_aux: bool
) -> Callable:
    """The transformed function of a transform that takes ``argnums``."""
    check_function(name, fn)
    numbers = normalise(argnums)
    chosen = numbers[0] if isinstance(argnums, int) else numbers

    def inside(*args: Any, **kwargs: Any) -> Any:
        return body(fn, chosen, has_aux, args, kwargs)

    if torch.compiler.is_dynamo_compiling():
        return inside
    door = _door(name, fn, chosen, has_aux)

    @torch._dynamo.disable(reason=f"{name} outside a captured function")
    def outside(*args: Any, **kwargs: Any) -> Any:
        check_differentiable(fn, args, numbers)
        return door(body, fn, chosen, has_aux, args, kwargs)

    transformed = dispatching(fn, inside, outside)
    transformed.ir = door.ir
    return transformed


def jacrev(fn: Callable, argnums: Argnums = 0, has_aux: bool = False) -> Callable:
    """The Jacobian of ``fn`` by reverse mode: one pullback for each element of the results.

    Args:
        fn: returns a pytree of floating-point tensors, or ``(pytree, aux)`` with ``has_aux``.
        argnums: position or positions of the differentiated arguments: pytrees of tensors, or
            modules, which stand for their parameters that require a gradient.
        has_aux: ``fn`` returns something else besides.

    Returns:
        A function with the signature of ``fn``. Its result has the structure of ``fn``'s result; in
        place of each tensor stands the structure of the argument (a tuple of these with a tuple
        ``argnums``) with Jacobians of shape ``[*result.shape, *argument.shape]``. All rows are
        computed together. With ``has_aux`` the result is ``(jacobian, aux)``.

    Raises:
        InputError, CaptureError, CompileError, UnsupportedError: (at call) as `value_and_grad`.
    """
    return _over_arguments("gradc.jacrev", traced.jacrev, fn, argnums, has_aux)


def jacfwd(fn: Callable, argnums: Argnums = 0, has_aux: bool = False) -> Callable:
    """The Jacobian of ``fn`` by forward mode: one tangent for each element of the arguments.

    Arguments and results as `jacrev`. The better choice where ``fn`` has more results than
    arguments.
    """
    return _over_arguments("gradc.jacfwd", traced.jacfwd, fn, argnums, has_aux)


def hessian(fn: Callable, argnums: Argnums = 0, has_aux: bool = False) -> Callable:
    """The second derivatives of ``fn``, forward over reverse: ``jacfwd(jacrev(fn))``.

    Returns:
        A function with the signature of ``fn``. For a scalar ``fn`` of one tensor its result has
        shape ``[*x.shape, *x.shape]``; structures nest as those of `jacrev` do.
    """
    return _over_arguments("gradc.hessian", traced.hessian, fn, argnums, has_aux)


def jvp(fn: Callable, primals: tuple, tangents: tuple, *, has_aux: bool = False) -> tuple:
    """``fn(*primals)`` and its Jacobian-vector product, in one pass of forward mode.

    Args:
        fn: returns a pytree of tensors, or ``(pytree, aux)`` with ``has_aux``.
        primals: tensors, pytrees of floating-point tensors or modules, all differentiated.
        tangents: one entry a primal, with its structure, shapes and dtypes; for a module a dict by
            the names of its parameters that require a gradient.

    Returns:
        ``(output, tangent)``, with ``has_aux`` ``(output, tangent, aux)``. ``tangent`` has the
        structure of ``output``; zeros where there is no path, and for integer outputs.

    A gradient barrier stops a tangent as it stops a cotangent: ``no_grad`` inside ``fn`` counts in
    forward mode too.

    Raises:
        InputError: primals and tangents that do not match.
        CaptureError, CompileError, UnsupportedError: as `value_and_grad`.
    """
    check_function("gradc.jvp", fn)
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise InputError("gradc.jvp: primals and tangents are tuples, one entry an argument")
    if len(primals) != len(tangents):
        raise InputError(
            f"gradc.jvp: {len(primals)} primals, but {len(tangents)} tangents were given"
        )
    if torch.compiler.is_dynamo_compiling():
        return traced.jvp(fn, tuple(primals), tuple(tangents), has_aux)
    check_differentiable(fn, primals, range(len(primals)))
    return _run("gradc.jvp", traced.jvp, fn, tuple(primals), tuple(tangents), has_aux)


def hvp(fn: Callable, primals: tuple, tangents: tuple) -> tuple:
    """``fn(*primals)``, its gradient, and the product of its Hessian with ``tangents``.

    Forward over reverse, without forming the Hessian.

    Args:
        fn: returns a floating-point scalar.
        primals: tensors, pytrees of floating-point tensors or modules, all differentiated.
        tangents: one entry a primal, as `jvp` takes them.

    Returns:
        ``(value, gradients, products)``; the last two are tuples with one entry a primal.
    """
    check_function("gradc.hvp", fn)
    if len(primals) != len(tangents):
        raise InputError(
            f"gradc.hvp: {len(primals)} primals, but {len(tangents)} tangents were given"
        )
    if torch.compiler.is_dynamo_compiling():
        return traced.hvp(fn, tuple(primals), tuple(tangents))
    check_differentiable(fn, primals, range(len(primals)))
    return _run("gradc.hvp", traced.hvp, fn, tuple(primals), tuple(tangents))
