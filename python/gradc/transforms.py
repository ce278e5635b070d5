"""``grad``, ``value_and_grad``, ``vjp`` and ``stop_gradient``.

A transform captures the whole function through Dynamo and compiles it together with its derivative.
It ignores the grad mode around it and obeys the modes inside the function. transformed.py does the
work; here arguments are checked and results are put into the caller's structure. Inside a captured
function a transform is part of that function's graph: see traced.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.utils._pytree as pytree

from . import traced
from .arguments import Argnums, describe, normalise
from .compiler import Mode
from .doors import by_code, check_function, dispatching
from .errors import InputError
from .transformed import Transform


def _transform(
    fn: Callable, name: str, argnums: tuple[int, ...], has_aux: bool, mode: Mode
) -> Transform:
    key = (name, argnums, has_aux, mode)
    return by_code(fn, key, lambda: Transform(fn, name, argnums, has_aux, mode))


def value_and_grad(fn: Callable, argnums: Argnums = 0, has_aux: bool = False) -> Callable:
    """The function that returns ``(fn(*args), gradient)``, compiled.

    Args:
        fn: returns a floating-point scalar, or ``(scalar, aux)`` with ``has_aux``. Captured whole
            by TorchDynamo.
        argnums: position or positions of the differentiated arguments. An argument may be a tensor,
            a pytree of floating-point tensors, or an ``nn.Module``, which stands for its parameters
            that require a gradient.
        has_aux: ``fn`` returns something else besides; the value is then ``(value, aux)``.

    Returns:
        A function with the signature of ``fn``. A gradient has the structure, shapes and dtypes of
        its argument; for a module it is a dict from parameter name to gradient. With a tuple
        ``argnums`` the gradient is a tuple. Zeros where there is no path. Its ``.ir(stage)`` gives
        the text of each stage.

    Raises:
        InputError: (at call) a result that is not a scalar, an integer argument.
        CaptureError: (at call) data-dependent control flow, or anything else that breaks the graph.
        CompileError, UnsupportedError: (at call) an op that is not supported or has no derivative.
    """
    return _value_and_grad(
        fn, argnums, has_aux, "gradc.value_and_grad", lambda value, gradient: (value, gradient)
    )


def grad(fn: Callable, argnums: Argnums = 0, has_aux: bool = False) -> Callable:
    """The gradient of ``fn``, compiled: as `value_and_grad`, without the value.

    With ``has_aux`` the result is ``(gradient, aux)``.
    """

    def arrange(value: Any, gradient: Any) -> Any:
        return (gradient, value[1]) if has_aux else gradient

    return _value_and_grad(fn, argnums, has_aux, "gradc.grad", arrange)


def _value_and_grad(
    fn: Callable, argnums: Argnums, has_aux: bool, name: str, arrange: Callable
) -> Callable:
    check_function(name, fn)
    numbers = normalise(argnums)
    chosen = numbers[0] if isinstance(argnums, int) else numbers

    def inside(*args: Any, **kwargs: Any) -> Any:
        return arrange(*traced.value_and_grad(name, fn, chosen, has_aux, args, kwargs))

    if torch.compiler.is_dynamo_compiling():
        return inside
    transform = _transform(fn, name, numbers, has_aux, Mode.JOINT)

    @torch._dynamo.disable(reason=f"{name} outside a captured function")
    def outside(*args: Any, **kwargs: Any) -> Any:
        result, request = transform.run(fn, args, kwargs)
        loss, aux = result if has_aux else (result, None)
        if not isinstance(loss, torch.Tensor):
            raise InputError(
                f"{name} differentiates {describe(fn)}, which has to return a scalar tensor; "
                f"it returned a {type(loss).__name__}"
            )
        gradients = request.roots.gradients(request.gradients)
        value = request.marked[0]
        value = (value, request.roots.restore(aux)) if has_aux else value
        return arrange(value, gradients[0] if isinstance(argnums, int) else tuple(gradients))

    transformed = dispatching(fn, inside, outside)
    transformed.ir = transform.ir
    transformed.programs = lambda: list(transform.programs)
    return transformed


def vjp(fn: Callable, *primals: Any, has_aux: bool = False) -> tuple:
    """``fn(*primals)`` and the function that pulls cotangents back to the primals.

    Args:
        fn: returns a pytree of tensors, or ``(pytree, aux)`` with ``has_aux``.
        primals: tensors, pytrees of floating-point tensors or modules, all differentiated.

    Returns:
        ``(output, pullback)``, with ``has_aux`` ``(output, pullback, aux)``. ``pullback`` takes a
        cotangent in the structure of ``output`` (None for zeros; entries for integer outputs are
        ignored) and returns a tuple with one gradient a primal. It may be called any number of
        times.

    Raises:
        InputError, CaptureError, CompileError, UnsupportedError: as `value_and_grad`; an output
            that is not a tensor; (in ``pullback``) a cotangent of another structure, shape or dtype
            than its output.
    """
    check_function("gradc.vjp", fn)
    if torch.compiler.is_dynamo_compiling():
        return traced.vjp(fn, primals, has_aux)
    return _vjp(fn, primals, has_aux)


@torch._dynamo.disable(reason="gradc.vjp outside a captured function")
def _vjp(fn: Callable, primals: tuple, has_aux: bool) -> tuple:
    transform = _transform(fn, "gradc.vjp", tuple(range(len(primals))), has_aux, Mode.TAPE)
    result, request = transform.run(fn, primals, {})
    output, aux = result if has_aux else (result, None)
    leaves, spec = pytree.tree_flatten(output)
    if not leaves or any(not isinstance(leaf, torch.Tensor) for leaf in leaves):
        raise InputError(f"gradc.vjp: every output of {describe(fn)} has to be a tensor")
    shapes = [(leaf.shape, leaf.dtype) for leaf in leaves]

    def pullback(cotangent: Any) -> tuple:
        given = _cotangents(cotangent, spec, shapes)
        return tuple(request.roots.gradients(request.pullback(given)))

    output = pytree.tree_unflatten(request.marked, spec)
    return (output, pullback, request.roots.restore(aux)) if has_aux else (output, pullback)


def _cotangents(cotangent: Any, spec: Any, shapes: Sequence[tuple]) -> list[torch.Tensor | None]:
    """``cotangent`` as one entry an output, checked; None for zeros and for integer outputs."""
    given = (
        [cotangent] if len(shapes) == 1 and not isinstance(cotangent, (tuple, list, dict)) else None
    )
    if given is None:
        given, structure = pytree.tree_flatten(cotangent)
        if structure != spec:
            raise InputError(f"the cotangent has structure {structure}, the output {spec}")
    checked: list[torch.Tensor | None] = []
    for index, (value, (shape, dtype)) in enumerate(zip(given, shapes, strict=True)):
        if value is None or not (dtype.is_floating_point or dtype.is_complex):
            checked.append(None)
        elif not isinstance(value, torch.Tensor) or value.shape != shape or value.dtype != dtype:
            found = (
                f"{value.dtype}{list(value.shape)}"
                if isinstance(value, torch.Tensor)
                else type(value).__name__
            )
            raise InputError(f"cotangent {index} is {found}, the output is {dtype}{list(shape)}")
        else:
            checked.append(value)
    return checked


def stop_gradient(tree: Any) -> Any:
    """``tree`` with every tensor in it detached: same values, constants for every transform around.

    Takes any pytree; leaves that are not tensors are returned as they are. Works in compiled and in
    eager code.
    """
    return pytree.tree_map(
        lambda leaf: leaf.detach() if isinstance(leaf, torch.Tensor) else leaf, tree
    )
