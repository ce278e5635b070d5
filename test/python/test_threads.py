"""Loops on several threads: the same bits on any number of them, and a pool that harms nobody."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
import torch
from torch.nn import functional as F

import gradc

#: More threads than there are CPUs in most places where tests run; odd, too.
THREADS = (1, 2, 3, 8)


@pytest.fixture(autouse=True)
def _restore_threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


#: Name -> function and the shapes of its inputs: big enough to be divided, and of sizes that
#: divide badly.
PROGRAMS = {
    "elementwise": (lambda x: torch.exp(x) * torch.sin(x), [(1009, 513)]),
    "rows": (lambda x: torch.softmax(x, -1), [(517, 1021)]),
    "columns": (lambda x: x.exp().sum(0), [(1021, 2053)]),
    "few columns": (lambda x: x.exp().sum(0), [(100003, 5)]),
    "everything": (lambda x: torch.tanh(x).sum(), [(1000003,)]),
    "mean of matrix": (lambda x, y: (x * y).mean(), [(1009, 997), (1009, 997)]),
    "largest": (lambda x: x.amax() - x.amin(), [(1000003,)]),
    "middle": (lambda x: x.square().sum(1), [(7, 1009, 129)]),
    "transposed": (lambda x: x.t().exp().contiguous() * 2, [(1009, 513)]),
    "broadcast": (lambda x, b: torch.sigmoid(x + b), [(1009, 513), (513,)]),
    "norm": (lambda x, w, b: F.layer_norm(x, (511,), w, b), [(2053, 511), (511,), (511,)]),
    "cross entropy": (
        lambda x: F.cross_entropy(x, torch.arange(301) % 2053),
        [(301, 2053)],
    ),
    "gather": (lambda x: x[torch.arange(300007) * 7919 % 10007].exp(), [(10007, 3)]),
}


def _value_and_gradients(function, inputs):
    def loss(*tensors):
        y = function(*tensors)
        return (y * torch.cos(torch.arange(y.numel(), dtype=y.dtype).reshape(y.shape))).sum()

    return loss, gradc.value_and_grad(loss, argnums=tuple(range(len(inputs))))


def _flat(result) -> list[torch.Tensor]:
    value, gradients = result
    return [value, *gradients]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["f64", "f32"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_results_do_not_depend_on_threads(name, dtype):
    function, shapes = PROGRAMS[name]
    inputs = [torch.randn(shape, dtype=torch.float64) for shape in shapes]
    leaves = [x.clone().requires_grad_() for x in inputs]
    loss, step = _value_and_gradients(function, inputs)
    value = loss(*leaves)
    want = [value.detach(), *torch.autograd.grad(value, leaves)]
    typed = [x.to(dtype) for x in inputs]
    results = []
    for threads in THREADS:
        torch.set_num_threads(threads)
        results += [_flat(step(*typed)) for _ in range(3)]
    tolerance = 1e-9 if dtype == torch.float64 else 1e-3
    for got, expected in zip(results[0], want, strict=True):
        scale = expected.abs().max().item()
        torch.testing.assert_close(
            got.double(), expected, rtol=tolerance, atol=tolerance * max(scale, 1)
        )
    for result in results[1:]:
        for got, first in zip(result, results[0], strict=True):
            assert torch.equal(got, first)


def test_python_threads():
    """Eight threads call two functions at once; the pool serves one of them at a time."""
    functions = [PROGRAMS["rows"], PROGRAMS["everything"]]
    jobs = []
    for function, shapes in functions:
        inputs = [torch.randn(shape, dtype=torch.float64) for shape in shapes]
        _, step = _value_and_gradients(function, inputs)
        jobs.append((step, inputs, _flat(step(*inputs))))
    failures = []

    def work(index: int) -> None:
        step, inputs, want = jobs[index % len(jobs)]
        for _ in range(20):
            got = _flat(step(*inputs))
            if not all(torch.equal(a, b) for a, b in zip(got, want, strict=True)):
                failures.append(index)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_number_of_threads_is_torchs():
    """No thread where one is allowed, no more than allowed, and all sleep when nothing is to do."""
    code = """
    import threading, time
    from pathlib import Path
    import torch
    import gradc

    x = torch.randn(1 << 20, dtype=torch.float64)
    step = gradc.grad(lambda x: torch.exp(x).sum())

    def run(threads):
        torch.set_num_threads(threads)
        step(x)
        names = [p.read_text().strip() for p in Path("/proc/self/task").glob("*/comm")]
        print(names.count("gradc"))

    run(1)
    run(3)
    time.sleep(0.2)
    before = time.process_time()
    time.sleep(0.5)
    print(int(10 * (time.process_time() - before)))
    callers = [threading.Thread(target=lambda: [step(x) for _ in range(5)]) for _ in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    run(2)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0", "2", "0", "2"]


def test_fork_after_use():
    """The child has none of the threads, and makes its own."""
    step = gradc.grad(lambda x: torch.exp(x).sum())
    x = torch.randn(1 << 20, dtype=torch.float64)
    torch.set_num_threads(2)
    want = step(x)
    torch.testing.assert_close(want, torch.exp(x))
    # In the child, PyTorch's own loops would wait for threads that it does not have.
    bits = want.numpy().tobytes()
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if all(step(x).numpy().tobytes() == bits for _ in range(3)) else 1)
        finally:
            os._exit(2)
    deadline = time.monotonic() + 60
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            pytest.fail("the child hangs")
        time.sleep(0.01)
    assert os.waitstatus_to_exitcode(ended[1]) == 0
    assert torch.equal(step(x), want)


def test_other_threads_of_python_run_meanwhile():
    step = gradc.grad(lambda x: torch.exp(torch.sin(torch.exp(torch.sin(x)))).sum())
    x = torch.randn(1 << 22, dtype=torch.float64)
    step(x)
    longest, running = 0.0, True

    def count() -> None:
        nonlocal longest
        last = time.perf_counter()
        while running:
            now = time.perf_counter()
            longest, last = max(longest, now - last), now

    thread = threading.Thread(target=count)
    thread.start()
    start = time.perf_counter()
    for _ in range(3):
        step(x)
    each = (time.perf_counter() - start) / 3
    running = False
    thread.join()
    assert longest < each / 2 or longest < 0.05


def test_failed_assertion_in_a_divided_loop():
    """It ends the call whichever thread it happens on, and the next call works."""
    step = gradc.value_and_grad(lambda table, rows: torch.exp(table[rows]).sum())
    table = torch.randn(1000, 4, dtype=torch.float64)
    rows = torch.randint(0, 1000, (200000,))
    torch.set_num_threads(3)
    value, _ = step(table, rows)
    for position in (0, 66666, 199999):
        broken = rows.clone()
        broken[position] = 1000
        with pytest.raises(gradc.GradcError, match="index out of range"):
            step(table, broken)
    assert torch.equal(step(table, rows)[0], value)


def test_subnormal_numbers_are_treated_as_the_caller_says():
    step = gradc.grad(lambda x: (x * x).sum() * 0.5)
    x = torch.full((1 << 20,), 1e-310, dtype=torch.float64)
    torch.set_num_threads(2)
    if not torch.set_flush_denormal(True):
        pytest.skip("this CPU cannot flush subnormal numbers")
    try:
        assert not step(x).any()
    finally:
        torch.set_flush_denormal(False)
    assert step(x).all()
