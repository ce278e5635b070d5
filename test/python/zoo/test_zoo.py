"""The ``requires_grad`` of every intermediate of the zoo is eager PyTorch's, the types that
inference writes pass their check, and barriers behind constants change no gradient."""

from __future__ import annotations

import random
import sys

import pytest
from compare import assert_like_eager
from constants import fingerprint, with_barriers
from zoo import ZOO, Animal

import gradc
from gradc.compiler import Mode, find_function, new_context, parse, run_pipeline
from gradc.frontend import ImportedProgram, import_graph


def test_there_are_forty_in_the_zoo():
    assert len({animal.name for animal in ZOO}) >= 40


@pytest.fixture
def imported(monkeypatch) -> list[ImportedProgram]:
    """The programs that are imported during the test."""
    found = []

    def recording(*args, **options):
        found.append(import_graph(*args, **options))
        return found[-1]

    monkeypatch.setattr(sys.modules[gradc.explain.__module__], "import_graph", recording)
    return found


@pytest.mark.parametrize("animal", ZOO, ids=lambda animal: animal.name)
def test_zoo(animal: Animal, imported: list) -> None:
    fn, runs = animal.make()
    explanation = gradc.explain(fn, *runs[0])
    assert_like_eager(explanation, fn, runs)
    _, program = imported  # the first has every intermediate as an output
    with new_context():
        inferred = parse(program.mlir)
        run_pipeline(inferred, "grad-infer-requires-grad")
        run_pipeline(inferred, "grad-check-requires-grad")
        plain = _differentiated(program.mlir)
        for chosen in (None, random.Random(0), random.Random(1)):
            assert _differentiated(with_barriers(str(inferred), chosen)) == plain


def _differentiated(text: str) -> int:
    """What the program computes with its gradients, barriers no longer in it."""
    module = parse(text)
    run_pipeline(module, Mode.JOINT.value)
    run_pipeline(module, "symbol-dce,grad-strip,canonicalize,cse")
    function = find_function(module, "main.joint") or find_function(module, "main")
    return fingerprint(function.operation, {})


def test_a_barrier_on_the_path_changes_gradients():
    text = """
      func.func @main(%x: tensor<3xf64> {grad.requires_grad}) -> tensor<3xf64> {
        %0 = math.sin %x : tensor<3xf64>
        %1 = "BARRIER"(%0) : (tensor<3xf64>) -> tensor<3xf64>
        %2 = arith.mulf %0, %1 : tensor<3xf64>
        return %2 : tensor<3xf64>
      }"""
    with new_context():
        through = _differentiated(text.replace("BARRIER", "tensor.cast"))
        assert _differentiated(text.replace("BARRIER", "grad.stop_gradient")) != through
