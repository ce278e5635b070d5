"""Every case through every door: the tape, the transforms, forward mode and the second order.

None may come out wrong. What gradc refuses is listed with the reason, and nothing else may be
refused: a case that starts working leaves the list.
"""

from __future__ import annotations

import threading
import time

import case_runner
import pytest
import torch
from case_runner import answers, close, expect, numbers, outputs_of, summed, zeros_for_none
from cases import nan

import gradc

#: Case: what its refusal says, by the tape and by the transforms alike.
REFUSED = {
    "complex_gradient_convention": "aten._conj.default: cannot be lowered",
    "real_input_through_complex_intermediate": "has an argument of type complex",
}

#: Refused by the transforms, which need the function as one graph; the tape breaks the graph.
NO_GRAPH = {
    "loop_bounds_depend_on_differentiated_args": "needs the whole function as one graph",
}

#: Eight thousand ops written out, whose backward function reads all of them: compilation takes
#: minutes. `torch.while_loop` writes them as a loop.
TOO_LONG = {"long_loop_memory"}

#: Six thousand ops, most of a minute of tracing: run by the tape alone.
TAPE_ONLY = {"deep_chain_of_ops"}

#: Forward mode differentiates 0 / 0; PyTorch's does as well.
UNDEFINED_VALUE = {"cross_entropy_ignore_index"}

NAMES = case_runner.names()
LOADED = {name: case_runner.load(name) for name in NAMES}
ERRORS = [name for name in NAMES if hasattr(LOADED[name], "EXPECT_ERROR")]
RUN = [name for name in NAMES if name not in {*ERRORS, *REFUSED, *TOO_LONG}]
WHOLE = [name for name in RUN if name not in {*NO_GRAPH, *TAPE_ONLY}]


def with_field(*fields):
    return [name for name in WHOLE if any(hasattr(LOADED[name], field) for field in fields)]


def loaded(name):
    """A fresh copy of the case that uses gradc's transforms."""
    case = case_runner.load(name)
    if hasattr(case, "GRAD"):
        case.GRAD = gradc.grad
    return case


@pytest.mark.parametrize("name", NAMES)
def test_expectation_is_pytorchs(name):
    case = LOADED[name]
    if name in ERRORS:
        with pytest.raises(RuntimeError, match=case.ERROR_MATCH):
            case_runner.tape(case, case.f, case.ARGS, case.ARGNUMS)
        return
    value, gradients, _ = case_runner.tape(case, case.f, case.ARGS, case.ARGNUMS)
    expect(case, "eager", [value, *map(numbers, gradients)], case.EXPECTED)
    if getattr(case, "FD", False) or getattr(case, "FD_RECOMMENDED", False):
        wanted = zeros_for_none(answers(case)[0][1:], case.ARGS, case.ARGNUMS)
        assert close(case_runner.differences(case), wanted, 2e-6, 2e-7)


def run_tape(case):
    compiled = gradc.compile(case.f)
    value, gradients, outputs = case_runner.tape(case, compiled, case.ARGS, case.ARGNUMS)
    expect(case, "tape", [value, *map(numbers, gradients)], *answers(case))
    if hasattr(case, "RG"):
        assert [out.requires_grad for out in outputs] == case.RG
    check_types(case, gradients)
    for number, (args, expected, *argnums) in enumerate(getattr(case, "SEQUENCE", [])):
        argnums = argnums[0] if argnums else case.ARGNUMS
        value, gradients, _ = case_runner.tape(case, compiled, args, argnums)
        expect(case, f"call {number}", [value, *map(numbers, gradients)], expected)
    if hasattr(case, "THREADS"):
        run_threads(case, compiled)


def check_types(case, gradients):
    if hasattr(case, "SHAPES"):
        assert [tuple(gradient.shape) for gradient in gradients] == case.SHAPES
    if hasattr(case, "DTYPES"):
        assert [gradient.dtype for gradient in gradients] == case.DTYPES


def run_threads(case, compiled):
    right = []

    def work():
        for _ in range(5):
            value, gradients, _ = case_runner.tape(case, compiled, case.ARGS, case.ARGNUMS)
            found = [value, *map(numbers, gradients)]
            right.append(any(close(found, answer) for answer in answers(case)))

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
    """``gradc.grad`` of the summed output, under a ``no_grad`` that it ignores."""
    memo = {id(a): a.clone() for a in case.ARGS if isinstance(a, torch.Tensor)}
    args = [memo.get(id(a), a) for a in case.ARGS]
    with torch.no_grad():
        gradients = gradc.grad(summed(case, case.f), argnums=tuple(case.ARGNUMS))(*args)
    wanted = [zeros_for_none(a[1:], case.ARGS, case.ARGNUMS) for a in answers(case)]
    expect(case, "gradc.grad", numbers(gradients), *wanted)
    check_types(case, gradients)


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
    given = case_runner.cotangents(case, outputs_of(result))
    gradients = pullback(tuple(given) if isinstance(result, tuple) else given[0])
    wanted = [[a[0], *zeros_for_none(a[1:], case.ARGS, case.ARGNUMS)] for a in answers(case)]
    expect(case, "gradc.vjp", [numbers(result), *map(numbers, gradients)], *wanted)


def run_jvp(case):
    """Forward mode agrees with the gradient, also through barriers."""
    function, chosen = of_chosen(case)
    field = getattr(case, "JVP", None)
    if field is None:
        tangents = [(torch.arange(c.numel()) + 1.0).reshape(c.shape).to(c.dtype) for c in chosen]
    else:
        tangents = [torch.tensor(q, dtype=c.dtype) for q, c in zip(field["tangents"], chosen)]
    _, tangent = gradc.jvp(summed(case, function), tuple(chosen), tuple(tangents))
    if field is not None:
        wanted = [getattr(case, "JVP_RECOMMENDED", field["out"])]
    elif case.__name__.removeprefix("case_") in UNDEFINED_VALUE:
        wanted = [nan]
    else:
        wanted = [pushed(case, answer, tangents) for answer in answers(case)]
    expect(case, "gradc.jvp", tangent.item(), *wanted)


def pushed(case, answer, tangents):
    """What the gradients of ``answer`` say about ``tangents``."""
    gradients = zeros_for_none(answer[1:], case.ARGS, case.ARGNUMS)
    return sum(
        float((tangent.double() * torch.tensor(gradient, dtype=torch.float64)).sum())
        for tangent, gradient in zip(tangents, gradients)
    )


def hessian_on_tape(case):
    """Row by row through ``create_graph``."""
    compiled = gradc.compile(summed(case, case.f))
    inputs = case_runner.leaves(case.ARGS, case.ARGNUMS)
    x = inputs[case.ARGNUMS[0]]
    (slope,) = torch.autograd.grad(compiled(*inputs), x, create_graph=True)
    rows = [
        torch.autograd.grad(part, x, retain_graph=True)[0].reshape(-1) for part in slope.reshape(-1)
    ]
    return torch.stack(rows).tolist()


def run_hessian(case):
    wanted = getattr(case, "HESSIAN_RECOMMENDED", case.HESSIAN)
    allowed = [wanted, *getattr(case, "HESSIAN_ALSO_OK", [])]
    number = case.ARGNUMS[0]
    size = case.ARGS[number].numel()
    expect(case, "create_graph", hessian_on_tape(case), *allowed)
    found = gradc.hessian(summed(case, case.f), argnums=number)(*case.ARGS)
    expect(case, "gradc.hessian", found.reshape(size, size).tolist(), *allowed)


@pytest.mark.parametrize("name", RUN)
def test_tape(name):
    run_tape(loaded(name))


@pytest.mark.parametrize("name", WHOLE)
def test_grad(name):
    run_grad(loaded(name))


@pytest.mark.parametrize("name", WHOLE)
def test_vjp(name):
    run_vjp(loaded(name))


@pytest.mark.parametrize("name", WHOLE)
def test_jvp(name):
    run_jvp(loaded(name))


@pytest.mark.parametrize("name", with_field("HESSIAN"))
def test_hessian(name):
    run_hessian(loaded(name))


@pytest.mark.parametrize("name", ERRORS)
def test_error(name):
    case = loaded(name)
    with pytest.raises(RuntimeError):
        case_runner.tape(case, gradc.compile(case.f), case.ARGS, case.ARGNUMS)
    implicit = getattr(case, "IMPLICIT_COTANGENT", False)
    function = case.f if implicit else summed(case, case.f)
    with pytest.raises(gradc.GradcError, match=r"leaf|floating-point scalar"):
        gradc.grad(function, argnums=tuple(case.ARGNUMS))(*case.ARGS)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    case = loaded(name)
    for run in (run_tape, run_grad, run_vjp, run_jvp):
        with pytest.raises(gradc.GradcError) as caught:
            run(case)
        assert REFUSED[name] in str(caught.value)
        assert caught.value.location is not None


@pytest.mark.parametrize("name", NO_GRAPH)
def test_needs_one_graph(name):
    case = loaded(name)
    for run in (run_grad, run_vjp, run_jvp):
        with pytest.raises(gradc.CaptureError, match=NO_GRAPH[name]):
            run(case)
