"""The command ``gradc explain``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gradc

SOURCE = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, x, scale=1):
        return self.layer(x).relu() * scale

net = Net()
number = 3

def f(w, x):
    y = w * x
    return y.sum()

def f_args():
    return torch.ones(3, requires_grad=True), torch.ones(3)

def without():
    return torch.ones(2) * 2

example_args = {"x": torch.ones(1, 3)}
"""


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    (tmp_path / "explained_file.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    from gradc.__main__ import main

    def run(*arguments):
        status = main(["explain", *arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


def test_command(command):
    status, out, _ = command("explained_file.py:f")
    assert status == 0 and "depends on `w` through mul at explained_file.py:17" in out
    status, out, _ = command("explained_file.py:net", "--json")
    assert status == 0
    explanation = gradc.Explanation.from_json(out)
    assert explanation.find("layer.weight").needed
    status, out, _ = command(
        "explained_file.py:Net", "--json", "--args", "torch.ones(5, 3), scale=2"
    )
    assert status == 0
    assert gradc.Explanation.from_json(out).find("x").shape == (5, 3)
    assert command("explained_file:f")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explained_file.py"], "names no function"),
        (["missing.py:f"], "there is no file missing.py"),
        (["missing_module:f"], "importing missing_module fails: ModuleNotFoundError"),
        (["explained_file.py:g"], "has no 'g'"),
        (["explained_file.py:ne"], "did you mean net"),
        (["explained_file.py:number"], "is a int, which can not be called"),
        (
            ["explained_file.py:f", "--args", "torch.ones("],
            "--args 'torch.ones(' fails: SyntaxError",
        ),
        (["explained_file.py:f", "--args", "1 / 0"], "ZeroDivisionError"),
    ],
)
def test_command_errors(command, arguments, message):
    status, out, err = command(*arguments)
    assert status == 1 and out == "" and err.startswith("gradc: ") and message in err


def test_command_without_arguments(command, tmp_path):
    (tmp_path / "bare.py").write_text("def f(x):\n    return x\n")
    status, _, err = command("bare.py:f")
    assert status == 1 and "has neither `f_args` nor `example_args`" in err and "--args" in err
    (tmp_path / "broken.py").write_text("raise KeyError('k')\n")
    assert "importing broken.py fails: KeyError" in command("broken.py:f")[2]


def test_command_as_a_process(tmp_path):
    (tmp_path / "explained_file.py").write_text(SOURCE)
    done = subprocess.run(
        [sys.executable, "-m", "gradc", "explain", "explained_file.py:f"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(gradc.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "where gradients stop" not in done.stdout and "what backward needs" in done.stdout
