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

    def encode(self, x):
        hidden = self.layer(x); active = hidden.relu()
        if True: doubled = active * 2
        return doubled

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
    assert status == 0 and "depends on `w` through mul at explained_file.py:22" in out
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


@pytest.mark.parametrize("name", ["Net.encode", "net.encode"])
def test_command_on_a_method(command, name):
    status, out, _ = command(f"explained_file.py:{name}", "--json", "--args", "torch.ones(5, 3)")
    explanation = gradc.Explanation.from_json(out)
    assert status == 0 and explanation.find("layer.weight").needed
    # Statements that share a line each give their value its name.
    places = {explanation.find(n).line for n in ("hidden", "active")}
    assert len(places) == 1 and explanation.find("doubled").outputs == ("output",)


def test_command_says_why_nothing_requires_grad(command):
    status, out, _ = command("explained_file.py:f", "--args", "torch.ones(3), torch.ones(3)")
    assert status == 0 and "No argument requires grad, so nothing does" in out


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


def _process(tmp_path, *arguments):
    (tmp_path / "explained_file.py").write_text(SOURCE)
    return subprocess.Popen(
        [sys.executable, "-m", "gradc", "explain", *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(gradc.__file__).parents[1])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_command_as_a_process(tmp_path):
    out, err = _process(tmp_path, "explained_file.py:f").communicate()
    assert "where gradients stop" not in out and "what backward needs" in out and err == ""


def test_command_whose_reader_has_seen_enough(tmp_path):
    process = _process(tmp_path, "explained_file.py:f")
    process.stdout.close()
    assert process.stderr.read() == "" and process.wait() == 1


def test_command_logs_nothing_beside_the_error(tmp_path):
    process = _process(tmp_path, "explained_file.py:f", "--args", "torch.ones(3), torch.ones(2)")
    out, err = process.communicate()
    assert process.returncode == 1 and out == ""
    assert err.startswith("gradc: ") and "E1" not in err and len(err.splitlines()) < 6
