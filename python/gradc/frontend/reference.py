"""What every convention is, for the reference page: ``python -m gradc.frontend.reference``."""

from __future__ import annotations

from collections.abc import Iterator

from .conventions import CONVENTIONS, REFUSED, UNLOWERED


def page() -> Iterator[str]:
    """The lines of ``docs/reference/conventions.md``."""
    yield "# Values and derivatives at kinks and edges"
    yield ""
    yield "Made from `python/gradc/frontend/conventions.py`. Wherever this page is silent, values,"
    yield "derivatives and dtypes are those of eager PyTorch 2.13."
    for title, rows in CONVENTIONS.items():
        yield ""
        yield f"## {title}"
        yield ""
        yield "| Operation | Convention |"
        yield "| --- | --- |"
        for operation, convention in rows:
            yield f"| {operation} | {convention} |"
    yield ""
    yield "## Refused"
    yield ""
    yield "| Operation | With | Why | Instead |"
    yield "| --- | --- | --- | --- |"
    for when, table in (("a gradient", REFUSED), ("or without", UNLOWERED)):
        for name, (reason, hint) in sorted(table.items()):
            yield f"| `{name}` | {when} | {reason} | {hint} |"
    yield ""
    yield "With a gradient, an operation that is in no table of that module is refused as well."


if __name__ == "__main__":
    print("\n".join(page()))
