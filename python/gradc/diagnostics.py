"""MLIR's diagnostics as Python exceptions that point at the user's source line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from mlir import ir

from .errors import CompileError, SourceLocation

_OP = re.compile(r"^'([\w.$-]+)' op (.*)", re.DOTALL)

_HINTS = (
    (
        "custom rule for reverse mode only",
        "give the function a gradc.custom_jvp, which serves both modes",
    ),
    (
        "derivative rule",
        "stop the gradient with gradc.stop_gradient if none should pass, or use other ops",
    ),
    ("does not refer to a registered pass", "gradc-opt --help lists the passes and pipelines"),
)


def source_location(location: ir.Location) -> SourceLocation | None:
    """The first file and line in ``location``, looking through fused, named and call-site
    locations."""
    if location.is_a_file():
        return SourceLocation(location.filename, location.start_line)
    if location.is_a_fused():
        found = (source_location(part) for part in location.locations)
        return next((where for where in found if where is not None), None)
    if location.is_a_name():
        return source_location(location.child_loc)
    if location.is_a_callsite():
        return source_location(location.callee) or source_location(location.caller)
    return None


def _in_users_words(message: str) -> str:
    """``message`` with the user's names of functions that the frontend named (emitter.py)."""
    return re.sub(r"'grad\.function\.\d+\.([\w.]+)'", r"`\1`", message)


def _hint(message: str) -> str | None:
    return next((hint for key, hint in _HINTS if key in message), None)


def compile_error(error: ir.MLIRError, what: str) -> CompileError:
    """``error`` as a ``CompileError``; ``what`` says what was being done, for errors without
    diagnostics."""
    failures = [d for d in error.error_diagnostics if d.severity == ir.DiagnosticSeverity.ERROR]
    if not failures:
        return CompileError(f"{what} failed: {error}")
    first = failures[0]
    message, op = _in_users_words(first.message), None
    if match := _OP.match(message):
        op, message = match.groups()
    lines = [message]
    for note in first.notes:
        if note.message.startswith("see current operation"):
            continue
        where = source_location(note.location)
        lines.append(f"  note: {note.message}" + (f" ({where})" if where else ""))
    return CompileError(
        "\n".join(lines),
        op=f"'{op}' op" if op else None,
        location=source_location(first.location),
        hint=_hint(first.message),
    )


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Turns MLIR errors raised in the block into ``CompileError``."""
    try:
        yield
    except ir.MLIRError as error:
        raise compile_error(error, what) from error
    except ValueError as error:
        # PassManager.parse reports an unknown pass or option this way.
        raise CompileError(f"{what} failed: {error}", hint=_hint(str(error))) from error
