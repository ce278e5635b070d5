"""The ``requires_grad`` of every intermediate of the zoo is eager PyTorch's, the types that
inference writes pass their check, and barriers behind constants change no gradient."""

from __future__ import annotations

import random
import sys

import pytest
import torch
from compare import assert_like_eager
from constants import with_barriers
from zoo import ZOO, Animal

import gradc
from gradc._lib import _gradc
from gradc.compiler import Mode, find_function, new_context, parse, run_pipeline
from gradc.frontend import ImportedProgram, import_graph
from gradc.testing import run_mlir


def test_there_are_forty_in_the_zoo():
    assert len({animal.name for animal in ZOO}) >= 40


@pytest.fixture
def imported(monkeypatch) -> list[tuple[ImportedProgram, list]]:
    """The programs that are imported during the test, with their inputs."""
    found = []

    def recording(gm, inputs, **options):
        found.append((import_graph(gm, inputs, **options), inputs))
        return found[-1][0]

    monkeypatch.setattr(sys.modules[gradc.explain.__module__], "import_graph", recording)
    return found


@pytest.mark.parametrize("animal", ZOO, ids=lambda animal: animal.name)
def test_zoo(animal: Animal, imported: list) -> None:
    fn, runs = animal.make()
    explanation = gradc.explain(fn, *runs[0])
    assert_like_eager(explanation, fn, runs)
    _, (program, inputs) = imported  # the first has every intermediate as an output
    with new_context():
        inferred = parse(program.mlir)
        run_pipeline(inferred, "grad-infer-requires-grad")
        run_pipeline(inferred, "grad-check-requires-grad")
        types = find_function(inferred, "main").type.results
        results = [
            out
            for out, type_ in zip(program.outputs, types, strict=True)
            if _gradc.has_requires_grad(type_)
        ]
    arguments = _arguments(program, inputs)
    arguments += [torch.randn(out.shape, dtype=out.dtype) for out in results]
    assert_barriers_change_nothing(program.mlir, str(inferred), arguments)


def assert_barriers_change_nothing(text: str, inferred: str, arguments: list) -> None:
    """Barriers behind all constants of ``inferred``, which is ``text`` with types, and behind one
    of them, leave the function with gradients what it is, or at least what it computes of
    ``arguments``."""
    expected = _differentiated(text)
    gradients = None
    for chosen in (None, random.Random(0)):
        with new_context():
            stopped = with_barriers(inferred, chosen)
        if _differentiated(stopped) != expected:
            # A barrier keeps ops apart that are folded or merged otherwise.
            gradients = gradients or _gradients(text, arguments)
            torch.testing.assert_close(_gradients(stopped, arguments), gradients)


def _differentiated(text: str) -> str:
    """The program with its gradients, as it is lowered: barriers are no longer in it."""
    with new_context():
        module = parse(text)
        run_pipeline(module, Mode.JOINT.value)
        run_pipeline(module, "symbol-dce,grad-strip,canonicalize,cse")
        return str(module)


def _gradients(text: str, arguments: list[torch.Tensor]) -> list[torch.Tensor]:
    return run_mlir(text, Mode.JOINT.value)("main.joint", *arguments)


def _arguments(program: ImportedProgram, inputs: list) -> list[torch.Tensor]:
    return [
        inputs[spec.position].detach()
        if spec.kind == "input"
        else spec.tensor
        if spec.kind == "constant"
        else spec.generate()
        for spec in program.inputs
    ]
