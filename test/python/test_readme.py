"""What README.md and examples/ show works as it stands."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
GUIDE = (ROOT / "docs" / "getting-started.md").read_text()
BIN = Path(sys.executable).parent


def block(language: str, page: str = README) -> str:
    return re.search(rf"```{language}\n(.*?)```", page, re.DOTALL).group(1)


def test_two_commands_set_everything_up():
    commands = [line for line in README.splitlines() if line.startswith("pip install")]
    assert len(commands) == 2
    assert all("-c constraints.txt" in command for command in commands)


def test_python_example(tmp_path):
    (tmp_path / "readme.py").write_text(block("python"))
    subprocess.run([sys.executable, tmp_path / "readme.py"], check=True)


def test_gradc_opt_example(tmp_path):
    (tmp_path / "scale.mlir").write_text(block("mlir"))
    for flag, wanted in (
        ("--grad-infer-requires-grad", "-> tensor<4xf32, #grad.requires_grad>"),
        ("--grad-tape", "@scale.backward"),
    ):
        done = subprocess.run(
            [BIN / "gradc-opt", flag, tmp_path / "scale.mlir"],
            check=True,
            capture_output=True,
            text=True,
        )
        assert wanted in done.stdout


def test_gradc_run_example(tmp_path):
    (tmp_path / "square.mlir").write_text(block("mlir", GUIDE))
    command = next(line for line in GUIDE.splitlines() if line.startswith("gradc-run "))
    tool, *arguments = shlex.split(command)
    done = subprocess.run(
        [BIN / tool, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert done.stdout and f"```\n{done.stdout}```" in GUIDE


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_python_examples_run(path):
    done = subprocess.run([sys.executable, path], check=True, capture_output=True, text=True)
    assert done.stdout


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.mlir")), ids=lambda p: p.name)
def test_mlir_examples_differentiate(path):
    flags = ["--grad-tape", "--grad-check-requires-grad"]
    subprocess.run([BIN / "gradc-opt", *flags, path], check=True, capture_output=True)


def test_tools_start():
    for tool in ("gradc", "gradc-opt", "gradc-run", "gradc-lsp-server"):
        done = subprocess.run([BIN / tool, "--help"], capture_output=True, text=True)
        assert done.returncode == 0 and tool.split("-")[0] in done.stdout + done.stderr
