"""``GRADC_DUMP=folder``: every stage of every compiled program as a file."""

from __future__ import annotations

import itertools
import os
import tempfile
from pathlib import Path

from .compiler import Stages
from .errors import GradcError

_numbers = itertools.count()


def dump(stages: Stages, name: str, folder: Path) -> Path:
    """Writes the stages of one program into a new folder below ``folder`` and returns that folder.

    Files appear whole or not at all. A stage that fails is left out: its error is raised by the
    compilation itself.
    """
    target = folder / f"{name}-{os.getpid()}-{next(_numbers)}"
    target.mkdir(parents=True, exist_ok=True)
    for number, stage in enumerate(stages.available()):
        try:
            text = stages.text(stage)
        except GradcError:
            continue
        suffix = "py" if stage == "captured" else "mlir"
        _write(target / f"{number}-{stage}.{suffix}", text)
    return target


def _write(path: Path, text: str) -> None:
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".", delete=False) as file:
        file.write(text if text.endswith("\n") else text + "\n")
    os.replace(file.name, path)
