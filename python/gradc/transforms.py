"""``grad``, ``value_and_grad``, ``vjp`` and ``stop_gradient``.

A transform captures the whole function through Dynamo and compiles it together with its derivative. It
ignores the grad mode around it and obeys the modes inside the function. What Dynamo calls back into is a
`TransformedGraph`; the `Request` of the running call tells it which tensors are differentiated, and takes
what the function itself does not return.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch.fx import GraphModule

from . import capture, config
from .arguments import Argnums, Roots, describe, normalise
from .backend import compile_graph
from .bridge import out_of_reach
from .compiler import Mode
from .errors import GradcError, InputError
from .program import Program


class Request:
    """One call of a transform: what goes in besides the arguments, what comes out besides the results."""

    def __init__(self, roots: Roots) -> None:
        self.roots = roots
        self.gradients: list[torch.Tensor | None] = []
        self.sources: list[torch.Tensor] = []
        self.pullback: Callable[[Sequence[torch.Tensor | None]], list[torch.Tensor | None]] | None = None
        self.marked: list[torch.Tensor] = []


class TransformedGraph:
    """A graph of Dynamo and its derivative for the marked outputs; compiled at its first call."""

    def __init__(self, owner: Transform, gm: GraphModule) -> None:
        self.marks = capture.split_marks(gm)
        self.owner = owner
        self.program: Program | None = None
        self.closures: list[int] = []
        #: for each root, the positions of the graph's inputs that are it
        self.positions: list[list[int]] = []
        self._lock = threading.RLock()

    def __call__(self, *inputs: torch.Tensor) -> list[Any]:
        request: Request = self.owner.active.request
        if self.program is None:
            with self._lock:
                if self.program is None:
                    self._compile(inputs, request.roots)
        program = self.program
        request.sources = [inputs[position] for position in self.closures]
        arguments = program.arguments(inputs)
        if program.native.mode is Mode.JOINT:
            results = program.run(arguments, self._seeds)
            request.gradients = self._by_root(results[len(program.native.results) :])
        else:
            results = program.run(arguments)
            if self.owner.mode is Mode.TAPE:
                request.pullback = self._pullback(program, arguments, inputs, results)
            else:
                request.gradients = [None] * len(self.positions)
        program.write_back(inputs, results)
        outputs = program.outputs(inputs, results)
        request.marked = outputs[self.marks.first :]
        return [outputs[slot] for slot in self.marks.layout]

    def _compile(self, inputs: Sequence[torch.Tensor], roots: Roots) -> None:
        if self.owner.mode is Mode.JOINT:
            self._check_loss()
        self.positions = [
            [position for position, tensor in enumerate(inputs) if tensor is leaf] for leaf in roots.leaves
        ]
        chosen = {position for positions in self.positions for position in positions}
        self.closures = [p for p, t in enumerate(inputs) if p not in chosen and t.requires_grad]
        # Only the roots require a gradient in this program, whatever else does outside.
        seen = [
            tensor if position in chosen or not tensor.requires_grad else tensor.detach()
            for position, tensor in enumerate(inputs)
        ]
        program = compile_graph(self.marks.gm, seen, self.owner.mode, self.owner.name)
        loss = program.result_of.get(self.marks.first)
        # A value that is written into an input may carry a gradient too: its cotangent is zero.
        self._seeds = [
            (torch.ones if k == loss else torch.zeros)(type_.shape, dtype=type_.dtype)
            for k in program.native.cotangents
            for type_ in (program.native.results[k],)
        ]
        self.program = program
        self.owner.programs.append(program)

    def _check_loss(self) -> None:
        what = f"{self.owner.name} differentiates {describe(self.owner.fn)}, which has to return"
        if len(self.marks.nodes) != 1:
            raise InputError(
                f"{what} one tensor{', followed by aux' if self.owner.has_aux else ''}; it returned "
                f"{len(self.marks.nodes)} tensors",
                hint="return (loss, aux) and pass has_aux=True to return more" if not self.owner.has_aux
                else "return a tuple of two: the loss, and anything else",
            )  # fmt: skip
        loss = self.marks.nodes[0].meta["example_value"]
        where = capture.user_location(self.marks.nodes[0], self.owner.fn)
        if loss.dim() != 0:
            raise InputError(
                f"{what} a scalar; it returned a tensor of shape {list(loss.shape)}",
                location=where,
                hint="reduce it with .sum() or .mean(), or use gradc.vjp",
            )
        if not loss.is_floating_point():
            raise InputError(f"{what} a floating-point scalar; it returned {loss.dtype}", location=where)

    def _by_root(self, values: Sequence[torch.Tensor]) -> list[torch.Tensor | None]:
        found: dict[int, torch.Tensor] = {}
        for position, value in zip(self.program.gradient_positions, values, strict=True):
            found[position] = found[position] + value if position in found else value
        gradients: list[torch.Tensor | None] = []
        for positions in self.positions:
            parts = [found[position] for position in positions if position in found]
            gradients.append(functools.reduce(torch.add, parts) if parts else None)
        return gradients

    def _pullback(
        self, program: Program, arguments: list[torch.Tensor], inputs: Sequence[torch.Tensor], results: list
    ) -> Callable[[Sequence[torch.Tensor | None]], list[torch.Tensor | None]]:
        if not program.differentiable:
            return lambda cotangents: [None] * len(self.positions)
        kept = [residual.detach() for residual in program.residuals(arguments, inputs, results)]
        versions = [residual._version for residual in kept]
        def pullback(cotangents: Sequence[torch.Tensor | None]) -> list[torch.Tensor | None]:
            if [residual._version for residual in kept] != versions:
                raise GradcError(
                    f"a tensor that the gradient of {describe(self.owner.fn)} needs was changed in place "
                    "after the call",
                    hint="pass a clone, or call the function returned by vjp before the change",
                )
            given = {
                program.result_of[self.marks.first + index]: cotangent
                for index, cotangent in enumerate(cotangents)
            }
            values = program.run_backward(kept, [given.get(k) for k in program.native.cotangents])
            return self._by_root(values)

        return pullback


class Transform:
    """A captured function, compiled once for each set of Dynamo's guards; safe under threads."""

    def __init__(self, fn: Callable, name: str, argnums: tuple[int, ...], has_aux: bool, mode: Mode) -> None:
        self.fn = fn
        self.name = name
        self.argnums = argnums
        self.has_aux = has_aux
        self.mode = mode
        self.programs: list[Program] = []
        self.active = threading.local()
        self._compiled = capture.compiled(
            lambda gm, example_inputs: TransformedGraph(self, gm), config.RECOMPILE_LIMIT
        )

    def run(self, fn: Callable, args: tuple, kwargs: dict) -> tuple[Any, Request]:
        """Calls ``fn`` and returns what it returns, and the request with the derivative."""
        request = Request(Roots(fn, args, self.argnums))
        outer, self.active.request = getattr(self.active, "request", None), request
        try:
            with torch.inference_mode(False), torch.enable_grad(), capture.capture_errors(self.name):
                result = self._compiled(fn, self.has_aux, request.roots.args, kwargs)
        finally:
            self.active.request = outer
        if self.has_aux and not (isinstance(result, tuple) and len(result) == 2):
            raise InputError(f"has_aux=True: {describe(fn)} has to return a tuple (output, aux)")
        return result, request

    def ir(self, stage: str, index: int = -1) -> str:
        """The text of ``stage`` (see `gradc.STAGES`) of the ``index``-th program compiled, the latest by default.

        Raises:
            ValueError: before the first call, or when there is no such stage.
        """
        return ir_of(self.programs, stage, index)


def ir_of(programs: Sequence[Program], stage: str, index: int) -> str:
    """The text of ``stage`` of ``programs[index]``; raises ``ValueError`` when nothing was compiled yet."""
    if not programs:
        raise ValueError("nothing is compiled yet: call the function first")
    return programs[index].stages.text(stage)


def _tie(outer_grad: bool, values: list[torch.Tensor], *depends: Sequence[Any]) -> list[torch.Tensor]:
    """Makes differentiating ``values`` raise when they depend on something that requires a gradient."""
    sources = [t for group in depends for t in group if isinstance(t, torch.Tensor) and t.requires_grad]
    if not (outer_grad and sources and values):
        return values
    return out_of_reach(values, sources)


_cache: dict[Any, Transform] = {}
_cache_lock = threading.Lock()


def _transform(fn: Callable, name: str, argnums: tuple[int, ...], has_aux: bool, mode: Mode) -> Transform:
    """One `Transform` a code object, so that a lambda written in a loop is compiled once.

    Dynamo guards on the function's code and closure, therefore functions that share code may share it.
    """
    code = getattr(fn, "__code__", None)
    if code is None:
        return Transform(fn, name, argnums, has_aux, mode)
    key = (code, name, argnums, has_aux, mode)
    with _cache_lock:
        if key not in _cache:
            _cache[key] = Transform(fn, name, argnums, has_aux, mode)
        return _cache[key]


def _tensor_leaves(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def _checked(fn: Any, name: str) -> None:
    if not callable(fn):
        raise InputError(f"{name} takes a function, got a {type(fn).__name__}")


def value_and_grad(fn: Callable, argnums: Argnums = 0, has_aux: bool = False) -> Callable:
    """The function that returns ``(fn(*args), gradient)``, compiled.

    Args:
        fn: returns a floating-point scalar, or ``(scalar, aux)`` with ``has_aux``. Captured whole by TorchDynamo.
        argnums: position or positions of the differentiated arguments. An argument may be a tensor, a pytree of
            floating-point tensors, or an ``nn.Module``, which stands for its parameters that require a gradient.
        has_aux: ``fn`` returns something else besides; the value is then ``(value, aux)``.

    Returns:
        A function with the signature of ``fn``. A gradient has the structure, shapes and dtypes of its argument;
        for a module it is a dict from parameter name to gradient. With a tuple ``argnums`` the gradient is a
        tuple. Zeros where there is no path. Its ``.ir(stage)`` gives the text of each stage.

    Raises:
        InputError: (at call) a result that is not a scalar, an integer argument.
        CaptureError: (at call) data-dependent control flow, or anything else that breaks the graph.
        CompileError, UnsupportedError: (at call) an op that is not supported or has no derivative.
    """
    return _value_and_grad(fn, argnums, has_aux, "gradc.value_and_grad", lambda value, gradient: (value, gradient))


def grad(fn: Callable, argnums: Argnums = 0, has_aux: bool = False) -> Callable:
    """The gradient of ``fn``, compiled: as `value_and_grad`, without the value.

    With ``has_aux`` the result is ``(gradient, aux)``.
    """

    def arrange(value: Any, gradient: Any) -> Any:
        return (gradient, value[1]) if has_aux else gradient

    return _value_and_grad(fn, argnums, has_aux, "gradc.grad", arrange)


@torch._dynamo.disable(reason="a gradc transform inside a compiled function")
def _value_and_grad(fn: Callable, argnums: Argnums, has_aux: bool, name: str, arrange: Callable) -> Callable:
    _checked(fn, name)
    numbers = normalise(argnums)
    transform = _transform(fn, name, numbers, has_aux, Mode.JOINT)

    @torch._dynamo.disable(reason=f"{name} inside a compiled function")
    def transformed(*args: Any, **kwargs: Any) -> Any:
        outer_grad = torch.is_grad_enabled()
        result, request = transform.run(fn, args, kwargs)
        loss, aux = result if has_aux else (result, None)
        if not isinstance(loss, torch.Tensor):
            raise InputError(
                f"{name} differentiates {describe(fn)}, which has to return a scalar tensor; it returned a "
                f"{type(loss).__name__}"
            )
        gradients = request.roots.gradients(request.gradients)
        values = [request.marked[0].detach(), *_tensor_leaves(gradients)]
        values = _tie(outer_grad, values, request.roots.originals, request.sources)
        rest = iter(values[1:])
        gradients = pytree.tree_map(lambda leaf: next(rest) if isinstance(leaf, torch.Tensor) else leaf, gradients)
        value = (values[0], request.roots.restore(aux)) if has_aux else values[0]
        return arrange(value, gradients[0] if isinstance(argnums, int) else tuple(gradients))

    if hasattr(fn, "__name__"):
        functools.update_wrapper(transformed, fn, assigned=("__name__", "__qualname__", "__doc__", "__module__"))
    transformed.ir = transform.ir
    return transformed


def vjp(fn: Callable, *primals: Any, has_aux: bool = False) -> tuple:
    """``fn(*primals)`` and the function that pulls cotangents back to the primals.

    Args:
        fn: returns a pytree of tensors, or ``(pytree, aux)`` with ``has_aux``.
        primals: tensors, pytrees of floating-point tensors or modules, all differentiated.

    Returns:
        ``(output, pullback)``, with ``has_aux`` ``(output, pullback, aux)``. ``pullback`` takes a cotangent in
        the structure of ``output`` (None for zeros; entries for integer outputs are ignored) and returns a
        tuple with one gradient a primal. It may be called any number of times.

    Raises:
        InputError, CaptureError, CompileError, UnsupportedError: as `value_and_grad`; an output that is not a
            tensor; (in ``pullback``) a cotangent of another structure, shape or dtype than its output.
    """
    return _vjp(fn, primals, has_aux)


@torch._dynamo.disable(reason="gradc.vjp inside a compiled function")
def _vjp(fn: Callable, primals: tuple, has_aux: bool) -> tuple:
    _checked(fn, "gradc.vjp")
    outer_grad = torch.is_grad_enabled()
    transform = _transform(fn, "gradc.vjp", tuple(range(len(primals))), has_aux, Mode.TAPE)
    result, request = transform.run(fn, primals, {})
    output, aux = result if has_aux else (result, None)
    leaves, spec = pytree.tree_flatten(output)
    if not leaves or any(not isinstance(leaf, torch.Tensor) for leaf in leaves):
        raise InputError(f"gradc.vjp: every output of {describe(fn)} has to be a tensor")
    shapes = [(leaf.shape, leaf.dtype) for leaf in leaves]
    depends = (request.roots.originals, request.sources)
    marked = _tie(outer_grad, [leaf.detach() for leaf in request.marked], *depends)

    def pullback(cotangent: Any) -> tuple:
        given = _cotangents(cotangent, spec, shapes)
        gradients = request.roots.gradients(request.pullback(given))
        flat, structure = pytree.tree_flatten(tuple(gradients))
        values = [g for g in flat if g is not None]
        tied = iter(_tie(torch.is_grad_enabled(), values, *depends, _tensor_leaves(cotangent)))
        return pytree.tree_unflatten([None if g is None else next(tied) for g in flat], structure)

    output = pytree.tree_unflatten(marked, spec)
    return (output, pullback, request.roots.restore(aux)) if has_aux else (output, pullback)


def _cotangents(cotangent: Any, spec: Any, shapes: Sequence[tuple]) -> list[torch.Tensor | None]:
    """``cotangent`` as one entry an output, checked; None for zeros and for integer outputs."""
    given = [cotangent] if len(shapes) == 1 and not isinstance(cotangent, (tuple, list, dict)) else None
    if given is None:
        given, structure = pytree.tree_flatten(cotangent)
        if structure != spec:
            raise InputError(f"the cotangent has structure {structure}, the output {spec}")
    checked: list[torch.Tensor | None] = []
    for index, (value, (shape, dtype)) in enumerate(zip(given, shapes, strict=True)):
        if value is None or not (dtype.is_floating_point or dtype.is_complex):
            checked.append(None)
        elif not isinstance(value, torch.Tensor) or value.shape != shape or value.dtype != dtype:
            found = f"{value.dtype}{list(value.shape)}" if isinstance(value, torch.Tensor) else type(value).__name__
            raise InputError(f"cotangent {index} is {found}, the output is {dtype}{list(shape)}")
        else:
            checked.append(value.detach())
    return checked


def stop_gradient(tree: Any) -> Any:
    """``tree`` with every tensor in it detached: same values, constants for every transform around.

    Takes any pytree; leaves that are not tensors are returned as they are. Works in compiled and in eager code.
    """
    return pytree.tree_map(lambda leaf: leaf.detach() if isinstance(leaf, torch.Tensor) else leaf, tree)
