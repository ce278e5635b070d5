"""The text of every stage, and the folder of dumps."""

from __future__ import annotations

import re

import pytest
import torch
from torch import nn

import gradc


def model_and_loss():
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    model[0].requires_grad_(False)
    return model, torch.randn(5, 3), lambda model, x: model(x).pow(2).sum()


def test_stages_of_the_tape():
    model, x, _ = model_and_loss()
    compiled = gradc.compile(model)
    compiled(x).sum().backward()
    texts = {stage: compiled.ir(stage) for stage in gradc.STAGES}
    assert "torch._C._nn.linear" in texts["captured"]
    assert "linalg.matmul" in texts["imported"] and "#grad.requires_grad>" not in texts["imported"]
    assert "#grad.requires_grad>" in texts["inferred"]
    assert "@main.joint" in texts["differentiated"]
    assert "@main.forward" in texts["forward"] and "@main.backward" in texts["backward"]
    assert not re.search(r"#grad\.|= grad\.", texts["lowered"])
    assert "llvm.func" in texts["llvm"]


def test_types_say_what_requires_a_gradient():
    model, x, _ = model_and_loss()
    compiled = gradc.compile(model)
    compiled(x)
    header = next(
        line for line in compiled.ir("inferred").splitlines() if "func.func @main" in line
    )
    arguments = header.split("->")[0].split("%arg")[1:]
    named = {text.split('grad.name = "')[1].split('"')[0]: text for text in arguments}
    assert [name for name, text in named.items() if "#grad.requires_grad>" in text] == [
        "2.weight",
        "2.bias",
    ]


def test_stages_of_a_transform():
    model, x, loss = model_and_loss()
    transform = gradc.grad(loss)
    transform(model, x)
    assert "@main.joint" in transform.ir("differentiated")
    assert "llvm.func" in transform.ir("llvm")
    with pytest.raises(ValueError, match="no stage 'forward' here"):
        transform.ir("forward")


def test_locations_are_the_users_lines():
    def f(x):
        return x.exp().sum()  # the exponential

    transform = gradc.grad(f)
    transform(torch.ones(3))
    line = f.__code__.co_firstlineno + 1
    assert f'"{__file__}":{line}:' in transform.programs()[-1].imported.mlir


def test_dump(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADC_DUMP", str(tmp_path / "dumps"))
    gradc.compile(lambda x: (x * 2).sum())(torch.ones(3, requires_grad=True))
    gradc.compile(lambda x: (x * 2).sum())(torch.ones(3))
    tape, plain = sorted(
        (tmp_path / "dumps").iterdir(), key=lambda folder: folder.stat().st_mtime_ns
    )
    assert [path.name for path in sorted(tape.iterdir())] == [
        "0-captured.py", "1-imported.mlir", "2-inferred.mlir", "3-differentiated.mlir",
        "4-forward.mlir", "5-backward.mlir", "6-lowered.mlir", "7-llvm.mlir",
    ]  # fmt: skip
    assert "5-backward.mlir" not in {path.name for path in plain.iterdir()}
    assert "llvm.func" in (tape / "7-llvm.mlir").read_text()


def test_dump_of_a_program_that_does_not_compile(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADC_DUMP", str(tmp_path))
    from gradc import backend, compiler

    def refuse(*args):
        raise gradc.CompileError("no")

    monkeypatch.setattr(backend, "build", refuse)
    with pytest.raises(gradc.CompileError):
        gradc.compile(lambda x: x * 2)(torch.ones(3))
    (folder,) = tmp_path.iterdir()
    assert (folder / "1-imported.mlir").read_text() and compiler.STAGES
