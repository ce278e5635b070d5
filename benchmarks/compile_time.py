"""``python benchmarks/compile_time.py [LENGTH ...]``: how compile time grows with program size.

Compiles a chain of elementwise ops in MLIR with its gradient, from text to machine code, and prints
the median of three for each length and the ratio to the length before. Linear is the goal.
"""

from __future__ import annotations

import argparse
import statistics
import time

from gradc.testing import run_mlir

OPS = ("math.tanh %a : f32", "arith.mulf %a, %a : f32", "math.sin %a : f32", "arith.negf %a : f32")


def chain(length: int, size: int = 1024) -> str:
    """A function of ``length`` elementwise ops on tensor<{size}xf32>, and its VJP."""
    t = f"tensor<{size}xf32>"
    lines = [f"func.func private @f(%v0: {t}) -> {t} {{"]
    for i in range(length):
        lines += [
            f"%e{i} = tensor.empty() : {t}",
            f"%v{i + 1} = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, "
            f'affine_map<(i) -> (i)>], iterator_types = ["parallel"]}} ins(%v{i} : {t}) '
            f"outs(%e{i} : {t}) {{",
            "^bb0(%a: f32, %out: f32):",
            f"%y = {OPS[i % len(OPS)]}",
            "linalg.yield %y : f32",
            f"}} -> {t}",
        ]
    lines += [
        f"return %v{length} : {t}",
        "}",
        f"func.func @vjp(%x: {t}, %ct: {t}) -> {t} {{",
        f"%y, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0] : ({t}, {t}) -> ({t}, {t})",
        f"return %dx : {t}",
        "}",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lengths", nargs="*", type=int, default=[1000, 2000])
    previous = None
    for length in parser.parse_args().lengths:
        text = chain(length)
        times = []
        for _ in range(3):
            start = time.perf_counter()
            run_mlir(text)
            times.append(time.perf_counter() - start)
        median = statistics.median(times)
        ratio = f", {median / previous:.2f} times the length before" if previous else ""
        print(f"{length} ops: {median:.2f} s{ratio}")
        previous = median


if __name__ == "__main__":
    main()
