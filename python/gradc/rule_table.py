"""What the derivative of every op of MLIR's tensor world is, for the reference page:
``python -m gradc.rule_table``."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from .rules import differentiable_ops

DIALECTS = ("arith", "math", "tensor", "linalg", "scf", "complex")

#: Ops without floats, or between floats and something else: no gradient passes.
WITHOUT_GRADIENT = {
    "arith": "addi addui_extended andi ceildivsi ceildivui cmpf cmpi constant divsi divui extsi"
    " extui floordivsi fptosi fptoui index_cast index_castui maxsi maxui minsi minui muli"
    " mulsi_extended mului_extended ori remsi remui shli shrsi shrui sitofp subi trunci uitofp"
    " xori",
    "math": "absi ctlz ctpop cttz ipowi isfinite isinf isnan isnormal",
    "tensor": "dim empty rank",
    "linalg": "index",
    "complex": "constant eq neq",
}

#: Ops in the regions of others, which are differentiated with those.
PARTS = {
    "tensor": "parallel_insert_slice yield",
    "linalg": "yield",
    "scf": "condition forall.in_parallel reduce reduce.return yield",
}


def all_ops(dialect: str) -> set[str]:
    """The names of the ops of a dialect, without its own."""
    module = importlib.import_module(f"mlir.dialects._{dialect}_ops_gen")
    names = (getattr(item, "OPERATION_NAME", "") for item in vars(module).values())
    return {name.removeprefix(dialect + ".") for name in names if name.startswith(dialect + ".")}


def refused_ops(dialect: str) -> list[str]:
    """The ops whose derivative is an error."""
    rest = all_ops(dialect) - {name.split(".", 1)[1] for name in differentiable_ops(dialect)}
    for table in (WITHOUT_GRADIENT, PARTS):
        rest -= set(table.get(dialect, "").split())
    return sorted(rest)


def page() -> Iterator[str]:
    """The lines of ``docs/reference/rules.md``."""
    yield "# Which ops have a derivative"
    yield ""
    yield "Made from the rules that the compiler registers: `python -m gradc.rule_table`. A rule"
    yield "serves reverse mode, forward mode and derivatives of any order. Values at kinks are in"
    yield "[conventions](conventions.md)."
    for dialect in DIALECTS:
        yield ""
        yield f"## {dialect}"
        yield ""
        yield "| | |"
        yield "| --- | --- |"
        rows = {
            "Differentiable": [name.split(".", 1)[1] for name in differentiable_ops(dialect)],
            "No gradient passes": WITHOUT_GRADIENT.get(dialect, "").split(),
            "Parts of others": PARTS.get(dialect, "").split(),
            "An error": refused_ops(dialect),
        }
        for title, names in rows.items():
            if names:
                yield f"| {title} | {' '.join(f'`{name}`' for name in names)} |"


if __name__ == "__main__":
    print("\n".join(page()))
