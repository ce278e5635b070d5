"""One engine on one row, in a process of its own: ``peer.py ENGINE ROW``.

Prints a JSON line after the first call, then one for each line ``time SECONDS`` on standard input.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable

THREADS = 2
os.environ.pop("OPENBLAS_CORETYPE", None)
os.environ.update(OMP_NUM_THREADS=str(THREADS), OPENBLAS_NUM_THREADS=str(THREADS))

import numpy as np  # noqa: E402  (after the environment is set)
from rows import ROWS, Row, jax_namespace, torch_namespace  # noqa: E402


def jax_step(row: Row, arrays: list[np.ndarray]) -> Callable:
    os.environ["XLA_FLAGS"] = (
        f"--xla_cpu_multi_thread_eigen=true intra_op_parallelism_threads={THREADS}"
    )
    import jax

    m = jax_namespace()
    inputs = [jax.numpy.asarray(array) for array in arrays]
    step = jax.jit(jax.value_and_grad(lambda *args: row.loss(m, *args), argnums=row.argnums))
    return lambda: jax.block_until_ready(step(*inputs))


def torch_step(engine: str, row: Row, arrays: list[np.ndarray]) -> Callable:
    import torch

    torch.set_num_threads(THREADS)
    m = torch_namespace()
    inputs = [torch.from_numpy(array) for array in arrays]

    def loss(*args):
        return row.loss(m, *args)

    if engine == "gradc":
        import gradc

        step = gradc.value_and_grad(loss, argnums=row.argnums)
        return lambda: step(*inputs)
    for number in row.argnums:
        inputs[number].requires_grad_()
    roots = [inputs[number] for number in row.argnums]
    forward = torch.compile(loss) if engine == "inductor" else loss

    def step():
        value = forward(*inputs)
        return value, torch.autograd.grad(value, roots)

    return step


def checksums(result: tuple) -> list[float]:
    """The loss and the norm of each gradient, to compare engines with."""
    value, gradients = result
    norms = [float(np.linalg.norm(np.asarray(g).astype(np.float64))) for g in gradients]
    return [float(value), *norms]


def main() -> None:
    engine, name = sys.argv[1:]
    row = ROWS[name]
    arrays = row.inputs(np.random.default_rng(0))
    step = jax_step(row, arrays) if engine == "jax" else torch_step(engine, row, arrays)
    start = time.perf_counter()
    result = step()
    first = time.perf_counter() - start
    print(json.dumps({"first": first, "checksums": checksums(result)}), flush=True)
    for _ in range(3):
        step()
    for line in sys.stdin:
        end = time.perf_counter() + float(line.split()[1])
        times: list[float] = []
        while time.perf_counter() < end or len(times) < 3:
            start = time.perf_counter()
            step()
            times.append(time.perf_counter() - start)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"times": times, "peak_mib": peak}), flush=True)


if __name__ == "__main__":
    main()
