"""The command ``gradc``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs ``gradc`` with ``arguments`` (the process's by default); returns the exit status."""
    parser = argparse.ArgumentParser(prog="gradc", description="A gradient compiler.")
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser(
        "demo", help="train a small convolutional net on images of digits and compare with PyTorch"
    )
    demo.add_argument("--epochs", type=int, default=12, help="passes over the training images")
    demo.add_argument("--threads", type=int, default=None, help="threads for PyTorch and gradc")
    options = parser.parse_args(arguments)
    from .demo import run

    return run(epochs=options.epochs, threads=options.threads)


if __name__ == "__main__":
    sys.exit(main())
