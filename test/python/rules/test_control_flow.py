"""Derivatives of control flow, in both modes and to second order, against PyTorch's eager mode,
which differentiates the iterations that ran."""

from __future__ import annotations

import pytest
from control_flow_programs import PROGRAMS
from derivatives_of import Program, check_derivatives


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_program(program: Program) -> None:
    check_derivatives(program)
