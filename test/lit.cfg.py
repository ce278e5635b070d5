"""Configuration of lit for the MLIR tests.

Run it with `lit test`. The tools of gradc come from the first that exists of the folder
GRADC_TOOLS, the build folder of this checkout and the installed package; FileCheck is that of the
LLVM package. Output goes to GRADC_TEST_OUTPUT or to the build folder.
"""

import importlib.util
import os
import sys
from pathlib import Path

import lit.formats

# ruff: noqa: F821 (lit defines `config`)

config.name = "gradc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["python", "lib", "Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.environ.get(
    "GRADC_TEST_OUTPUT",
    os.path.join(os.path.dirname(config.test_source_root), "build", "test-output"),
)


def package_folder(name):
    spec = importlib.util.find_spec(name)
    return Path(next(iter(spec.submodule_search_locations))) if spec else None


def tool_folders():
    root = Path(config.test_source_root).parent
    if "GRADC_TOOLS" in os.environ:
        yield Path(os.environ["GRADC_TOOLS"])
    yield root / "build" / "tools"
    # Without importing it: the tests of the tools need no PyTorch.
    if package := package_folder("gradc"):
        yield package / "_bin"
    for name in ("mlir", "llvm"):
        if package := package_folder(name):
            yield package / "bin"


folders = [str(folder) for folder in tool_folders() if folder.is_dir()]
config.environment["PATH"] = os.pathsep.join(
    [*folders, os.path.dirname(sys.executable), os.environ["PATH"]]
)
config.environment["HOME"] = os.environ.get("HOME", "/")
