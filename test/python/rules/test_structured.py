"""Derivatives of reductions, loop nests, linalg ops, complex numbers and ops that stand for others,
in both modes and to second order, against PyTorch."""

from __future__ import annotations

import re

import complex_programs
import control_flow_programs
import dynamic_programs
import named_ops
import product_programs
import pytest
import structured_programs
from derivatives_of import Program, check_derivatives

from gradc.rules import differentiable_ops

PROGRAMS = [
    *structured_programs.PROGRAMS,
    *product_programs.PROGRAMS,
    *dynamic_programs.PROGRAMS,
    *named_ops.PROGRAMS,
    *complex_programs.PROGRAMS,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_program(program: Program) -> None:
    check_derivatives(program)


#: Ops of integers, whose operands are cast, and what cannot be compiled.
WITHOUT_A_PROGRAM = {
    "complex.atan2",
    "complex.powi",
    "linalg.fill_rng_2d",
    "linalg.quantized_batch_matmul",
    "linalg.quantized_matmul",
}


def test_every_rule_has_a_program() -> None:
    text = "".join(program.text for program in [*PROGRAMS, *control_flow_programs.PROGRAMS])
    used = set(re.findall(r"(?:linalg|tensor|scf|complex)\.[a-z_0-9]+", text))
    rules = set(differentiable_ops("linalg", "tensor", "scf", "complex"))
    quantized = {name for name in rules if name.endswith(("_q", "_unsigned"))}
    assert rules - used - quantized == WITHOUT_A_PROGRAM
