"""``gradc.compile``: gradc as a TorchDynamo backend, with the compiled programs at hand."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from . import capture, config
from .backend import CompiledGraph, backend_into
from .errors import InputError
from .locks import waiting
from .program import Program, Saved
from .transformed import compiled_at


def compile(fn: Callable | None = None, *, fullgraph: bool = False) -> Any:
    """``torch.compile(fn, backend="gradc")``: forward and backward run as native code, autograd
    stays PyTorch's.

    Args:
        fn: a function or an ``nn.Module``. Without it, a decorator is returned.
        fullgraph: raise where the function can not be captured as one graph, instead of running the
            part between two graphs in Python.

    Returns:
        A function or module that behaves as ``fn``: its results take part in ``.backward()``, with
        None gradients where there is no path. It is compiled once for each signature (shapes,
        dtypes, ``requires_grad``, grad mode, and the Python values it depends on). Its ``.ir(stage,
        index=-1)`` gives the text of a stage (see ``gradc.STAGES``) of the ``index``-th program
        compiled; its ``.residuals(index=-1)`` lists what that program keeps for the backward pass.

    Raises:
        GradcError: (at call) an op that is not supported or has no derivative, an input that native
            code can not read.

    ``create_graph=True`` gives gradients that can be differentiated again, to any order; each
    further derivative is compiled when it is first asked for.
    """
    if fn is None:
        return lambda function: compile(function, fullgraph=fullgraph)
    if not callable(fn):
        raise InputError(f"gradc.compile takes a function or a module, got a {type(fn).__name__}")
    graphs: list[CompiledGraph] = []
    compiled = torch.compile(
        fn,
        backend=backend_into(graphs, getattr(fn, "__name__", None) or type(fn).__name__),
        fullgraph=fullgraph,
        dynamic=False,
        isolate_recompiles=True,
        recompile_limit=config.RECOMPILE_LIMIT,
    )

    def programs() -> list[Program]:
        return [program for graph in graphs for program in graph.programs]

    def ir(stage: str, index: int = -1) -> str:
        return compiled_at(programs(), index).stages.text(stage)

    def residuals(index: int = -1) -> list[Saved]:
        return compiled_at(programs(), index).saved()

    what = (
        capture.one_graph("gradc.compile with fullgraph=True")
        if fullgraph
        else "gradc.compile can not capture the function"
    )
    if isinstance(compiled, torch.nn.Module):
        compiled.forward = _translating(waiting(compiled.forward), what)
    else:
        compiled = _translating(waiting(compiled), what)
    # A compiled module forwards attributes to the module it wraps; these are its own.
    object.__setattr__(compiled, "ir", ir)
    object.__setattr__(compiled, "residuals", residuals)
    object.__setattr__(compiled, "programs", programs)
    return compiled


def _translating(compiled: Callable, what: str) -> Callable:
    """``compiled`` with errors of gradc in place of Dynamo's."""

    @functools.wraps(compiled)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return compiled(*args, **kwargs)
        except capture.CAPTURE_ERRORS as error:
            capture.raise_translated(error, what)

    return call
