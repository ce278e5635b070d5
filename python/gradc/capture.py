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
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch._dynamo import exc
from torch.fx import GraphModule, Node

from .errors import CaptureError, GradcError, InputError, SourceLocation
from .frontend.diagnostics import location_of
from .locks import waiting

_library = torch.library.Library("gradc", "FRAGMENT")
_library.define("output(Tensor x, int index) -> Tensor")
_library.impl("output", lambda x, index: x.clone(), "CompositeExplicitAutograd")
torch.library.register_fake("gradc::output", lambda x, index: torch.empty_like(x), lib=_library)

MARK = torch.ops.gradc.output
_OWN = (
    os.path.dirname(torch.__file__) + os.sep,
    os.path.dirname(os.path.abspath(__file__)) + os.sep,
)
_MARKS = (torch.ops.gradc.output, torch.ops.gradc.output.default)


def _traced(fn: Callable, has_aux: bool, args: tuple, kwargs: dict) -> Any:
    result = fn(*args, **kwargs)
    output = result
    if has_aux:
        if not (isinstance(result, tuple) and len(result) == 2):
            return result
        output = result[0]
    index = 0
    for leaf in pytree.tree_leaves(output):
        if isinstance(leaf, torch.Tensor):
            MARK(leaf, index)
            index += 1
    return result


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
    marks: list[tuple[int, Node]] = []
    layout: list[int] = []
    for node in gm.graph.nodes:
        if node.op == "call_function" and node.target in _MARKS:
            marks.append((node.args[1], node.args[0]))
        elif node.op == "output":
            marks.sort(key=lambda mark: mark[0])
            marked = [value for _, value in marks]
            others = [out for out in node.args[0] if out not in marked]
            # A copy, because a marked input would otherwise have no result of its own to
            # differentiate.
            copies = [graph.call_method("clone", (values[value],)) for value in marked]
            layout = [
                len(others) + marked.index(out) if out in marked else others.index(out)
                for out in node.args[0]
            ]
            graph.output((*[_barred(graph, out, values) for out in others], *copies))
        else:
            values[node] = graph.node_copy(node, values.__getitem__)
    return Marked(GraphModule(gm, graph), layout, [value for _, value in marks])


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
    if where is not None and not where.file.startswith(_OWN):
        return where
    code = getattr(fn, "__code__", None)
    return SourceLocation(code.co_filename, code.co_firstlineno) if code else None


@contextmanager
def capture_errors(what: str) -> Iterator[None]:
    """Turns Dynamo's exceptions into errors of gradc that name the user's line; ``what`` names the
    caller."""
    try:
        yield
    except exc.BackendCompilerFailed as error:
        if isinstance(error.inner_exception, GradcError):
            raise error.inner_exception from None
        raise
    except (exc.TorchDynamoException, exc.FailOnRecompileLimitHit) as error:
        raise _capture_error(error, what) from error


_WAYS_OUT = {
    "Data-dependent": "compute both sides and choose with torch.where; a Python `if` or `while` "
    "on a tensor's value has no fixed graph",
    "making fake tensor call": "the same call fails when it is not compiled",
    "torch.compiler.disable": "call it outside: a gradc transform or a disabled function "
    "can not be part of a graph",
    "FailOnRecompileLimitHit": "too many different shapes or Python values; pass changing "
    "numbers as tensors",
}


def _capture_error(error: Exception, what: str) -> GradcError:
    text = str(error)
    lines = text.splitlines() or [type(error).__name__]
    title = lines[0]
    explanation = next(
        (line.split(":", 1)[1] for line in lines if "Explanation:" in line), ""
    ).strip()
    context = next(
        (line.split(":", 1)[1] for line in lines if "Developer debug context:" in line), ""
    ).strip()
    detail = context if title == "Observed exception" and context else explanation
    if failure := re.search(r"got \w+\(['\"](.*)['\"]\)", explanation):
        title, detail = "an operation fails on these shapes or dtypes", failure.group(1)
    hint = next(
        (way for key, way in _WAYS_OUT.items() if key in lines[0] or key in type(error).__name__),
        next((line.split(":", 1)[1].strip() for line in lines if "Hint:" in line), None),
    )
    stack = list(getattr(error, "real_stack", None) or ())
    frames = [frame for frame in stack if not frame.filename.startswith(_OWN)]
    where = SourceLocation(frames[-1].filename, frames[-1].lineno) if frames else None
    own = stack and stack[-1].filename.startswith(_OWN[1])
    if own and (refusal := re.search(r"raised exception \w+\((['\"])(.*)\1\)", context)):
        return InputError(refusal.group(2), location=where)
    message = f"{what} needs the whole function as one graph: {title}"
    return CaptureError(f"{message}: {detail}" if detail else message, location=where, hint=hint)


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
