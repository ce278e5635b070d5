"""The frontend alone: these tests run without the native part of the package."""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[3] / "python" / "gradc"

try:
    importlib.import_module("gradc")
except ImportError:
    # The package's __init__ needs the compiler; its frontend does not.
    for name in [name for name in sys.modules if name.split(".")[0] == "gradc"]:
        del sys.modules[name]
    package = types.ModuleType("gradc")
    package.__path__ = [str(_PACKAGE)]
    sys.modules["gradc"] = package
