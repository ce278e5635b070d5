"""The lit tests under test/, as one pytest test a file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILES = sorted(
    path.relative_to(ROOT)
    for path in ROOT.rglob("*.mlir")
    if not {"python", "lib", "Inputs", "Output"} & set(path.relative_to(ROOT).parts)
)


@pytest.fixture(scope="session")
def lit_results(tmp_path_factory) -> dict[str, str]:
    """Runs all files in one lit process, which is far faster than one a file."""
    report = tmp_path_factory.mktemp("lit") / "report.json"
    lit = Path(sys.executable).parent / "lit"
    done = subprocess.run(
        [lit, "-v", "--output", report, ROOT],
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": f"{lit.parent}{os.pathsep}{os.environ['PATH']}"},
    )
    assert report.exists(), done.stdout + done.stderr
    tests = json.loads(report.read_text())["tests"]
    return {t["name"].split(" :: ")[-1]: f"{t['code']}\n{t['output']}" for t in tests}


@pytest.mark.parametrize("path", FILES, ids=str)
def test_file(path, lit_results):
    assert lit_results[str(path)].startswith("PASS"), lit_results[str(path)]
