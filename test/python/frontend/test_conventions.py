"""The reference page of the conventions is up to date."""

from __future__ import annotations

from pathlib import Path

from gradc.frontend.reference import page


def test_page_is_what_the_tables_say():
    found = Path(__file__).resolve().parents[3] / "docs" / "reference" / "conventions.md"
    assert found.read_text() == "\n".join(page()) + "\n", (
        "run: python -m gradc.frontend.reference > docs/reference/conventions.md"
    )
