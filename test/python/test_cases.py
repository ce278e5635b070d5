"""Every case through every door: the tape, the transforms, forward mode and the second order.

None may come out wrong. What gradc refuses is listed here with the reason, and nothing else may be
refused: a case that starts working leaves the table.
"""

from __future__ import annotations

import threading
import time
import warnings

import case_runner
import pytest
import torch
from case_runner import Mismatch, close, expect, numbers, outputs_of

import gradc

#: Case: what its refusal says.
REFUSED: dict[str, str] = {}

NAMES = case_runner.names()


def loaded(name):
    case = case_runner.load(name)
    if hasattr(case, "GRAD"):
        case.GRAD = gradc.grad
    return case


def skip_refused(name):
    """A case that is refused has one test, `test_refusal`."""
    return pytest.param(name, marks=()) if name not in REFUSED else None


def with_field(*fields):
    return [n for n in NAMES if any(hasattr(case_runner.load(n), f) for f in fields)]


ERRORS = with_field("EXPECT_ERROR")
RUN = [name for name in NAMES if name not in ERRORS and name not in REFUSED]


def run_tape(case):
    compiled = gradc.compile(case.f)
    value, gradients, outputs = case_runner.tape(case, compiled, case.ARGS, case.ARGNUMS)
    expect(case, "tape", [value, *map(numbers, gradients)], *case_runner.answers(case))
    if hasattr(case, "RG"):
        assert [out.requires_grad for out in outputs] == case.RG
    if hasattr(case, "SHAPES"):
        assert [tuple(gradient.shape) for gradient in gradients] == case.SHAPES
    if hasattr(case, "DTYPES"):
        assert [gradient.dtype for gradient in gradients] == case.DTYPES
    for number, (args, expected, *argnums) in enumerate(getattr(case, "SEQUENCE", [])):
        argnums = argnums[0] if argnums else case.ARGNUMS
        value, gradients, _ = case_runner.tape(case, compiled, args, argnums)
        expect(case, f"call {number}", [value, *map(numbers, gradients)], expected)
    if hasattr(case, "THREADS"):
        run_threads(case, compiled)


def run_threads(case, compiled):
    right = []

    def work():
        for _ in range(5):
            value, gradients, _ = case_runner.tape(case, compiled, case.ARGS, case.ARGNUMS)
            found = [value, *map(numbers, gradients)]
            right.append(any(close(found, answer) for answer in case_runner.answers(case)))

    def elsewhere():
        with torch.no_grad():
            time.sleep(0.05)
            right.append(not torch.is_grad_enabled())

    threads = [threading.Thread(target=work) for _ in range(case.THREADS)]
    threads.append(threading.Thread(target=elsewhere))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * (5 * case.THREADS + 1)


def run_grad(case):
    """``gradc.grad`` of the summed output, under ``no_grad``, which it ignores."""
    memo = {id(a): a.clone() for a in case.ARGS if isinstance(a, torch.Tensor)}
    args = [memo.get(id(a), a) for a in case.ARGS]
    with torch.no_grad():
        gradients = gradc.grad(case_runner.summed(case, case.f), argnums=tuple(case.ARGNUMS))(*args)
    wanted = [
        case_runner.zeros_for_none(a[1:], case.ARGS, case.ARGNUMS)
        for a in case_runner.answers(case)
    ]
    expect(case, "gradc.grad", numbers(gradients), *wanted)
    for what, field in (("SHAPES", "shape"), ("DTYPES", "dtype")):
        if hasattr(case, what):
            assert [getattr(gradient, field) for gradient in gradients] == getattr(case, what)


def of_chosen(case):
    """``f`` of the arguments of ``ARGNUMS`` alone, and these."""

    def function(*chosen):
        args = list(case.ARGS)
        for number, value in zip(case.ARGNUMS, chosen):
            args[number] = value
        return case.f(*args)

    return function, [case.ARGS[number].clone() for number in case.ARGNUMS]


def run_vjp(case):
    function, chosen = of_chosen(case)
    result, pullback = gradc.vjp(function, *chosen)
    outputs = outputs_of(result)
    given = case_runner.cotangents(case, outputs)
    gradients = pullback(tuple(given) if isinstance(result, tuple) else given[0])
    wanted = [
        [a[0], *case_runner.zeros_for_none(a[1:], case.ARGS, case.ARGNUMS)]
        for a in case_runner.answers(case)
    ]
    expect(case, "gradc.vjp", [numbers(result), *map(numbers, gradients)], *wanted)


@pytest.mark.parametrize("name", RUN)
def test_tape(name):
    run_tape(loaded(name))


@pytest.mark.parametrize("name", RUN)
def test_grad(name):
    run_grad(loaded(name))


@pytest.mark.parametrize("name", RUN)
def test_vjp(name):
    run_vjp(loaded(name))
