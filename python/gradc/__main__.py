"""The command ``gradc``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from .errors import GradcError


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs ``gradc`` with ``arguments`` (the process's by default); returns the exit status."""
    parser = argparse.ArgumentParser(prog="gradc", description="A gradient compiler.")
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser(
        "demo", help="train a small convolutional net on images of digits and compare with PyTorch"
    )
    demo.add_argument(
        "--epochs", type=int, default=None, help="passes over the training images, 12 by default"
    )
    demo.add_argument("--threads", type=int, default=None, help="threads for PyTorch and gradc")
    explain = commands.add_parser(
        "explain", help="say which values require grad and why, and what is saved for backward"
    )
    explain.add_argument(
        "function", help="FILE.py:FUNCTION or MODULE:FUNCTION; a method is CLASS.METHOD"
    )
    explain.add_argument(
        "--args",
        metavar="PYTHON",
        help="what to call the function with, as between parentheses; "
        "by default FUNCTION_args or example_args of the file",
    )
    explain.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args(arguments)
    try:
        status = _run(options)
        sys.stdout.flush()
        return status
    except GradcError as error:
        print(f"gradc: {error}", file=sys.stderr)
    except BrokenPipeError:
        # Whoever reads has seen enough; the interpreter flushes once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def _run(options: argparse.Namespace) -> int:
    if options.command == "explain":
        from .command import run_explain

        return run_explain(options.function, options.args, options.json)
    from .demo import run

    return run(epochs=options.epochs, threads=options.threads)


if __name__ == "__main__":
    sys.exit(main())
