"""Errors that gradc raises on purpose. Every one says what happened, where in the user's source,
and the way out."""

from __future__ import annotations

import linecache
from dataclasses import dataclass


@dataclass(frozen=True)
class SourceLocation:
    """A line of the user's Python source."""

    file: str
    line: int

    @property
    def text(self) -> str:
        """The line itself, stripped; empty when the file cannot be read."""
        return linecache.getline(self.file, self.line).strip()

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class GradcError(RuntimeError):
    """Base of all errors of this package.

    ``op`` names the operation at fault (for example ``aten.median.default``), ``location`` is the
    source line it comes from, ``hint`` says what the user can do about it. Each may be None.
    """

    def __init__(
        self,
        message: str,
        *,
        op: str | None = None,
        location: SourceLocation | None = None,
        hint: str | None = None,
    ) -> None:
        self.op = op
        self.location = location
        self.hint = hint
        parts = [f"{op}: {message}" if op else message]
        if location is not None:
            text = f"  `{location.text}`" if location.text else ""
            parts.append(f"  at {location}{text}")
        if hint:
            parts.append(f"  hint: {hint}")
        # torch.fx appends to ``args`` of whatever passes through it; what the user reads stays as
        # it is.
        self._text = "\n".join(parts)
        super().__init__(self._text)

    def __str__(self) -> str:
        return self._text


class UnsupportedError(GradcError):
    """The program uses something gradc does not do, or would not do faithfully."""


class CaptureError(GradcError):
    """The program could not be turned into MLIR: a broken graph, a failed trace or a lost
    worker."""


class CompileError(GradcError):
    """A pass refused the program: an op without a derivative rule, an op that can not be lowered,
    bad MLIR."""


class InputError(GradcError):
    """A call with arguments that the function or transform can not take."""
