"""The reference page of the rules is up to date, and says something of every op."""

from __future__ import annotations

from pathlib import Path

from gradc.rule_table import PARTS, WITHOUT_GRADIENT, all_ops, page
from gradc.rules import differentiable_ops


def test_page_is_what_the_compiler_registers() -> None:
    found = Path(__file__).resolve().parents[3] / "docs" / "reference" / "rules.md"
    assert found.read_text() == "\n".join(page()) + "\n", (
        "run: python -m gradc.rule_table > docs/reference/rules.md"
    )


def test_tables_name_ops_without_a_rule() -> None:
    for table in (WITHOUT_GRADIENT, PARTS):
        for dialect, names in table.items():
            rules = {name.split(".", 1)[1] for name in differentiable_ops(dialect)}
            assert set(names.split()) <= all_ops(dialect) - rules
