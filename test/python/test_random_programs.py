"""Random programs: reverse mode, forward mode and complex-step differentiation agree, the barriers'
values frozen at the base point; second derivatives are symmetric.

``GRADC_EXAMPLES=2000`` runs as many instead of the 200 that run by default.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from random_programs import STEP, N, Program

from gradc.testing import run_mlir

EXAMPLES = int(os.environ.get("GRADC_EXAMPLES", "200"))


def _close(found, expected, tolerance):
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * scale)


def _check(seed: int, count: int) -> None:
    program = Program(seed, count)
    call = run_mlir(program.text())
    generator = np.random.default_rng(seed)
    x, w, dx, dw, ux, uw = (generator.normal(size=shape) for shape in ((N,), (N, N)) * 3)
    run = lambda name, *arrays: [  # noqa: E731
        t.numpy() for t in call(name, *(torch.from_numpy(a.copy()) for a in arrays))
    ]
    value, gx, gw = run("gradient", x, w)
    _close(value, program.run(x + 0j, w + 0j).real, 1e-12)
    expected = program.run(x + 1j * STEP * dx, w + 1j * STEP * dw).imag / STEP
    _, tangent = run("tangent", x, w, dx, dw)
    _close(tangent, expected, 1e-9)
    _close((gx * dx).sum() + (gw * dw).sum(), expected, 1e-9)
    for flat, gradient, perturb in (
        (N, gx, lambda e: program.run(x + 1j * STEP * e, w + 0j)),
        (N * N, gw, lambda e: program.run(x + 0j, w + 1j * STEP * e.reshape(N, N))),
    ):
        columns = [perturb(e).imag / STEP for e in np.eye(flat)]
        _close(gradient.reshape(-1), np.array(columns), 1e-9)
    hx, hw = run("product", x, w, dx, dw)
    kx, kw = run("product", x, w, ux, uw)
    along = (hx * ux).sum() + (hw * uw).sum()
    across = (kx * dx).sum() + (kw * dw).sum()
    if not _has_barrier(program):
        _close(along, across, 1e-9)


def _steps(body):
    for step in body.steps:
        yield step
        for inner in step.bodies:
            yield from _steps(inner)


def _has_barrier(program) -> bool:
    """A barrier makes second derivatives asymmetric: the gradient reads the stopped value, which
    the outer level does not differentiate either."""
    return any(step.op in ("stop", "value_of") for step in _steps(program.body))


@settings(max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES == 200, database=None)
@given(st.integers(0, 2**32), st.integers(3, 30))
def test_modes_agree_with_complex_steps(seed, count):
    _check(seed, count)


@pytest.mark.parametrize("seed", range(3))
def test_long_programs(seed):
    _check(seed, 60)
