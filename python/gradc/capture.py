"""Dynamo capture of a whole function for the transforms.

Dynamo sees the user's function through `_traced`, so Python scalars, closures, captured tensors and
``.training`` become guards or inputs, and the graph is rebuilt when they change. The outputs that a
transform differentiates are marked with ``gradc::output`` and found again in the graph.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

import torch
import torch.utils._pytree as pytree
from torch._dynamo import exc
from torch.fx import GraphModule, Node

from .errors import CaptureError, GradcError, InputError, SourceLocation
from .frontend.diagnostics import is_users, location_of
from .locks import waiting


def _without_path(x: torch.Tensor, index: int) -> torch.Tensor:
    with torch._C._AutoDispatchBelowAutograd():
        return torch.ops.gradc.output(x, index)


_library = torch.library.Library("gradc", "FRAGMENT")
_library.define("output(Tensor x, int index) -> Tensor")
_library.impl("output", lambda x, index: x.clone(), "CompositeExplicitAutograd")
# What the captured function itself returns is on no path: Dynamo refuses to return a value that
# depends on a leaf made inside, and the transform has the gradient anyway.
_library.impl("output", _without_path, "Autograd")
torch.library.register_fake("gradc::output", lambda x, index: torch.empty_like(x), lib=_library)

MARK = torch.ops.gradc.output
_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_MARKS = (torch.ops.gradc.output, torch.ops.gradc.output.default)


def _traced(fn: Callable, has_aux: bool, args: tuple, kwargs: dict) -> Any:
    result = fn(*args, **kwargs)
    if not has_aux:
        return _marked(result)
    if not (isinstance(result, tuple) and len(result) == 2):
        return result
    return _marked(result[0]), result[1]


def _marked(output: Any) -> Any:
    leaves, spec = pytree.tree_flatten(output)
    marked, index = [], 0
    for leaf in leaves:
        if isinstance(leaf, torch.Tensor):
            leaf = MARK(leaf, index)
            index += 1
        marked.append(leaf)
    return pytree.tree_unflatten(marked, spec)


@dataclass(frozen=True)
class Marked:
    """A graph whose last outputs are the marked values, in the order of their marks.

    ``layout`` has one entry an output of Dynamo's graph: which output of ``gm`` it is. ``nodes``
    are the marked nodes of Dynamo's graph.
    """

    gm: GraphModule
    layout: list[int]
    nodes: list[Node]

    @property
    def first(self) -> int:
        """The number of the first marked output of ``gm``."""
        return len(next(iter(self.gm.graph.find_nodes(op="output"))).args[0]) - len(self.nodes)


def split_marks(gm: GraphModule) -> Marked:
    """Finds the marks of ``gm``. Outputs without a mark are barred from gradients."""
    graph = torch.fx.Graph()
    values: dict[Node, Node] = {}
    marks: dict[Node, Node] = {}
    layout: list[int] = []
    for node in gm.graph.nodes:
        if node.op == "call_function" and node.target in _MARKS:
            marks[node] = node.args[0]
        elif node.op == "output":
            ordered = sorted(marks, key=lambda mark: mark.args[1])
            marked = [marks[mark] for mark in ordered]
            # A value that is returned under a mark may be returned without it too.
            returned = [
                marks.get(out, out) if isinstance(out, Node) else out for out in node.args[0]
            ]
            others = [out for out in returned if out not in marked]
            # A copy, because a marked input would otherwise have no result of its own to
            # differentiate.
            copies = [graph.call_method("clone", (values[value],)) for value in marked]
            layout = [
                len(others) + marked.index(out) if out in marked else others.index(out)
                for out in returned
            ]
            graph.output((*[_barred(graph, out, values) for out in others], *copies))
        else:
            values[node] = graph.node_copy(node, values.__getitem__)
    return Marked(GraphModule(gm, graph), layout, marked)


def _barred(graph: torch.fx.Graph, out: Any, values: dict[Node, Node]) -> Any:
    example = out.meta.get("example_value") if isinstance(out, Node) else None
    if (
        isinstance(example, torch.Tensor)
        and out.op != "placeholder"
        and example.is_floating_point()
    ):
        return graph.call_method("detach", (values[out],))
    return values[out] if isinstance(out, Node) else out


def user_location(node: Node, fn: Callable) -> SourceLocation | None:
    """The user's source line that computed ``node``, or where ``fn`` is defined."""
    where = location_of(node)
    if where is not None and is_users(where.file):
        return where
    code = getattr(fn, "__code__", None)
    return SourceLocation(code.co_filename, code.co_firstlineno) if code else None


@contextmanager
def capture_errors(what: str) -> Iterator[None]:
    """Turns Dynamo's exceptions into errors of gradc that name the user's line; ``what`` says what
    can not be done, for example that a transform needs one graph."""
    try:
        yield
    except CAPTURE_ERRORS as error:
        raise_translated(error, what)


#: What Dynamo raises where it can not capture a function.
CAPTURE_ERRORS = (exc.TorchDynamoException, exc.FailOnRecompileLimitHit)


def raise_translated(error: Exception, what: str) -> NoReturn:
    """Raises ``error``, one of ``CAPTURE_ERRORS``, as an error of gradc."""
    if isinstance(error, exc.BackendCompilerFailed):
        if isinstance(error.inner_exception, GradcError):
            raise error.inner_exception from None
        raise error
    raise _capture_error(error, what) from error


def one_graph(name: str) -> str:
    """The ``what`` of a transform or function ``name`` that is captured whole."""
    return f"{name} needs the whole function as one graph"


_OURS = "gradc.grad, gradc.vjp, gradc.jvp, gradc.jacrev, gradc.jacfwd or gradc.hessian"

#: A part of Dynamo's message, and what to do about it; the first that fits.
_WAYS_OUT = (
    (
        "leaf Variable that requires grad",
        "the function writes into an argument that is differentiated: write into x.clone()",
    ),
    (
        "making fake tensor call",
        "the same call fails when it is not compiled",
    ),
    ("torch.autograd.grad", f"differentiate a function with {_OURS}, which nest"),
    ("backward()", f"differentiate a function with {_OURS}, which nest"),
    (
        "`print`",
        "print outside of the function; a transform returns more with has_aux=True",
    ),
    ("sparse", "convert it with .to_dense()"),
    ("Observed exception", "the function raises this itself, compiled or not"),
    ("Failed to find name", "the same call fails when it is not compiled"),
    ("failed to bind arguments", "give it the arguments that the function takes"),
    (
        "Dynamic shape operator",
        "use operations whose result has a fixed shape, or call it outside of the function",
    ),
    (
        "torch.compiler.disable",
        "call it outside: a gradc transform or a disabled function can not be part of a graph",
    ),
    (
        "FailOnRecompileLimitHit",
        "too many different shapes or Python values; pass changing numbers as tensors",
    ),
    ("setattr() on Tensor.requires_grad", "use x = x.detach().requires_grad_()"),
    ("requires_grad flags of leaf variables", "use x = x.detach()"),
    (
        "returning intermediate with requires_grad_()",
        "return y.detach() where only the value is wanted, or make the leaf outside",
    ),
)

#: Transforms of PyTorch's that Dynamo does not know, by a frame or by the user's line.
_THEIRS = ("torch/_functorch/", "autograd.functional")

_ON_DATA = (
    "Data-dependent",
    "data-dependent expression",
    "Unsupported Tensor.item() call",
)


def _way_out(text: str, where: SourceLocation | None, frames: str) -> str | None:
    if any(key in text for key in _ON_DATA):
        loop = where is not None and where.text.startswith(("while", "for"))
        op = "torch.while_loop" if loop else "torch.cond"
        return (
            f"Python's `if`, `while` and `range` on a tensor's value have no fixed graph: use "
            f"{op}, or compute both sides and choose with torch.where"
        )
    if way := next((way for key, way in _WAYS_OUT if key in text), None):
        return way
    seen = f"{frames} {where.text if where is not None else ''}"
    return f"use {_OURS}" if any(key in seen for key in _THEIRS) else None


def _after(lines: list[str], label: str) -> str:
    """What follows ``label`` in a message of Dynamo's."""
    return next((line.split(":", 1)[1] for line in lines if label in line), "").strip()


def _capture_error(error: Exception, what: str) -> GradcError:
    lines = str(error).splitlines() or [type(error).__name__]
    title = lines[0]
    explanation, context = _after(lines, "Explanation:"), _after(lines, "Developer debug context:")
    detail = context if title == "Observed exception" and context else explanation
    stack = list(getattr(error, "real_stack", None) or ())
    users = [frame for frame in stack if is_users(frame.filename)]
    where = SourceLocation(users[-1].filename, users[-1].lineno) if users else None
    own = stack and stack[-1].filename.startswith(_PACKAGE)
    if own and (refusal := re.search(r"raised exception \w+\((['\"])(.*)\1\)", context)):
        return InputError(refusal.group(2), location=where)
    files = " ".join(frame.filename for frame in stack)
    hint = _way_out(f"{type(error).__name__} {title} {explanation}", where, files)
    if "leaf Variable that requires grad" in explanation:
        title, detail = "it changes a differentiated argument in place", ""
    elif failure := re.search(r"got \w+\(['\"](.*)['\"]\)", explanation):
        title, detail = "an operation fails on these shapes or dtypes", failure.group(1)
    elif "making fake tensor call" in title:
        title, detail = "an operation does not take these arguments", explanation
    elif "data-dependent expression" in title:
        title, detail = "Data-dependent: a Python number or truth value of a tensor decides", ""
    elif "returning intermediate with requires_grad_()" in title:
        title, detail = "it returns a value that depends on a leaf that it made itself", ""
    message = f"{what}: {title}"
    return CaptureError(
        f"{message}: {detail}" if detail else message,
        location=where,
        hint=hint or _after(lines, "Hint:") or None,
    )


def captured(fn: Callable, backend: Callable, limit: int) -> Callable:
    """``fn`` under Dynamo, as one graph for ``backend``, which may be compiled ``limit`` times."""
    return waiting(
        torch.compile(
            fn,
            backend=backend,
            fullgraph=True,
            dynamic=False,
            isolate_recompiles=True,
            recompile_limit=limit,
        )
    )


def compiled(backend: Callable, limit: int) -> Callable:
    """`_traced` under Dynamo: called with ``(fn, has_aux, args, kwargs)``, returns what ``fn``
    returns."""
    return captured(_traced, backend, limit)
