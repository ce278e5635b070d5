"""gradc as a TorchDynamo backend: ``torch.compile(fn, backend="gradc")``.

Dynamo hands over a graph for each set of guards; `CompiledGraph` compiles it when it is first
called, when the inputs are known for what they are.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import torch
from torch.fx import GraphModule

from . import bridge, config, recurrent
from .compiler import Mode, Stages, build
from .dump import dump
from .errors import GradcError
from .frontend import ImportedProgram, import_graph
from .locks import compile_lock
from .program import Program
from .signature import Signature, check_inputs, is_static, name_inputs, signature, with_constants


def compile_graph(
    gm: GraphModule, inputs: Sequence[torch.Tensor], mode: Mode, name: str, views: bool = False
) -> Program:
    """Compiles ``gm`` for the shapes, dtypes and ``requires_grad`` of ``inputs``. With ``views``
    outputs that are views in eager execution are views.

    Raises:
        GradcError: when the graph can not be captured, differentiated or lowered. The stages up to
            the failing one are dumped all the same where ``GRADC_DUMP`` is set.
    """
    check_inputs(gm, inputs)
    # The modes around the call are none of the program's business.
    with compile_lock, torch.inference_mode(False), torch.enable_grad():
        imported: ImportedProgram = import_graph(gm, inputs, views=views)
    folder = config.dump_folder()
    try:
        native, stages = build(imported.mlir, mode)
    except GradcError:
        if folder is not None:
            dump(Stages(imported.mlir, mode, gm.print_readable(print_output=False)), name, folder)
        raise
    stages.captured = gm.print_readable(print_output=False)
    if folder is not None:
        dump(stages, name, folder)
    return Program(imported, native, stages)


class CompiledGraph:
    """One graph of Dynamo, callable on its inputs; compiled once a signature, safe under
    threads."""

    def __init__(
        self, gm: GraphModule, example_inputs: Sequence[Any], name: str, transform: bool = False
    ) -> None:
        name_inputs(gm)
        recurrent.note(gm)
        self.gm = gm
        self.name = name
        #: A transform's graph holds derivatives already; its own are made when they are asked for.
        self._transform = transform
        self._call = bridge.call_transformed if transform else bridge.call
        self.programs: list[Program] = []
        self._static = is_static(example_inputs)
        self._only: Program | None = None
        self._known: dict[Signature, tuple[Program, list[int]]] = {}
        self._lock = threading.RLock()

    def __call__(self, *inputs: Any) -> list[Any]:
        if self._only is not None:
            return self._call(self._only, inputs)
        key = (torch.is_grad_enabled(), torch.is_inference_mode_enabled(), *signature(inputs))
        found = self._known.get(key)
        if found is None:
            found = self._specialise(key, inputs)
        program, kept = found
        return self._call(program, [inputs[position] for position in kept])

    def _specialise(self, key: Signature, inputs: Sequence[Any]) -> tuple[Program, list[int]]:
        with self._lock:
            if key in self._known:
                return self._known[key]
            gm, kept = with_constants(self.gm, inputs)
            tensors = [inputs[position] for position in kept]
            mode = Mode.TAPE
            if (
                self._transform
                or torch.is_inference_mode_enabled()
                or not any(t.requires_grad for t in tensors)
            ):
                mode = Mode.PLAIN
            elif not torch.is_grad_enabled():
                gm = under_no_grad(gm)
            program = compile_graph(gm, tensors, mode, self.name, views=True)
            self.programs.append(program)
            found = self._known[key] = (program, kept)
            # Dynamo's guards pin shapes, dtypes, requires_grad and the grad mode: nothing is left
            # to look up.
            if self._static:
                self._only = program
            return found


def under_no_grad(gm: GraphModule) -> GraphModule:
    """``gm`` as it runs when grad mode is off around it: the capture itself starts with grad mode
    on."""
    graph = torch.fx.Graph()
    values: dict[torch.fx.Node, torch.fx.Node] = {}
    switched = False
    for node in gm.graph.nodes:
        if node.op != "placeholder" and not switched:
            graph.call_function(torch._C._set_grad_enabled, (False,))
            switched = True
        values[node] = graph.node_copy(node, values.__getitem__)
    return GraphModule(gm, graph)


def backend_into(
    graphs: list[CompiledGraph], name: str, transform: bool = False
) -> Callable[..., Callable]:
    """A Dynamo backend that appends what it compiles to ``graphs``."""

    def gradc(gm: GraphModule, example_inputs: Sequence[Any], **options: Any) -> Callable:
        if unknown := {key: value for key, value in options.items() if value}:
            return _refusing(unknown)
        graph = CompiledGraph(gm, example_inputs, name, transform)
        graphs.append(graph)
        return graph

    return gradc


def _refusing(options: dict[str, Any]) -> Callable:
    """What a graph with unknown ``options`` is compiled to: Dynamo would wrap an error that is
    raised while it compiles."""
    given = ", ".join(f"{key}={value!r}" for key, value in sorted(options.items()))

    def refuse(*inputs: Any) -> NoReturn:
        raise GradcError(
            f"the gradc backend takes no options, got {given}",
            hint="call torch.compile without mode= and options=",
        )

    return refuse


def backend(gm: GraphModule, example_inputs: Sequence[Any], **options: Any) -> Callable:
    """The entry point ``torch_dynamo_backends``: what ``torch.compile(fn, backend="gradc")``
    calls."""
    return backend_into([], "graph")(gm, example_inputs, **options)
