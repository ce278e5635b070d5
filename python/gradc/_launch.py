"""Console scripts for the native tools of the package."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn


def _exec(tool: str) -> NoReturn:
    path = Path(__file__).parent / "_bin" / tool
    try:
        os.execv(path, [tool, *sys.argv[1:]])
    except FileNotFoundError:
        sys.exit(f"{tool}: {path} is missing; install the package with `pip install .`")


def opt() -> NoReturn:
    """Runs gradc-opt."""
    _exec("gradc-opt")


def run() -> NoReturn:
    """Runs gradc-run."""
    _exec("gradc-run")


def lsp_server() -> NoReturn:
    """Runs gradc-lsp-server."""
    _exec("gradc-lsp-server")
