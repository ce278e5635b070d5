"""``python benchmarks/memory.py [--layers N]``: peak memory of a transformer's training step.

Runs one step (loss, backward) of an encoder with and without ``gradc.checkpoint`` around each
layer, each in a process of its own, and prints the peak of resident memory above what is there
without the step (arenas of compiled functions, which stay, count as the step's), the bytes that
``residuals()`` reports, the time of a step, and whether loss and gradients are equal.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import gc
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch
from encoder import Encoder

import gradc


def _memory(key: str) -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{key}:")[1].split()[0]) * 1024


def measure(policy: str, layers: int) -> dict:
    """Peak bytes, reported bytes and seconds of a step, in this process."""
    torch.manual_seed(0)
    model = Encoder(functools.partial(gradc.checkpoint, policy=policy), layers, 256, 4)
    x = torch.randn(4, 256, 256)
    step = gradc.compile(model, fullgraph=True)
    gradients = torch.autograd.grad(step(x), list(model.parameters()))
    loss = step(x).detach()
    total = [g.double().abs().sum().item() for g in gradients]
    del gradients
    gc.collect()
    # What the allocator holds back of freed memory would hide what the step needs.
    ctypes.CDLL(None).malloc_trim(0)
    native = step.programs()[-1].native
    before = _memory("VmRSS") - native.run.arena_bytes - native.backward.arena_bytes
    Path("/proc/self/clear_refs").write_text("5")
    torch.autograd.grad(step(x), list(model.parameters()))
    peak = _memory("VmHWM") - before
    times = []
    for _ in range(3):
        start = time.perf_counter()
        torch.autograd.grad(step(x), list(model.parameters()))
        times.append(time.perf_counter() - start)
    return {
        "peak": peak,
        "allocated": sum(saved.allocated for saved in step.residuals()),
        "seconds": statistics.median(times),
        "values": [loss.item(), *total],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--measure", metavar="POLICY", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure, options.layers)))
        return
    found = {}
    for policy in ("everything", "dots", "nothing"):
        command = [sys.executable, __file__, "--measure", policy, "--layers", str(options.layers)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found[policy] = row = json.loads(output.splitlines()[-1])
        base = found["everything"]
        print(
            f"{policy:10}: peak {row['peak'] / 2**20:7.1f} MiB ({row['peak'] / base['peak']:.2f}), "
            f"residuals {row['allocated'] / 2**20:7.1f} MiB, step {row['seconds'] * 1e3:.0f} ms, "
            f"values {'equal' if row['values'] == base['values'] else 'DIFFER'}",
            flush=True,
        )


if __name__ == "__main__":
    main()
