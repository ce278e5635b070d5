"""``python benchmarks/compile_time.py [--program NAME] [LENGTH ...]``: how compile time grows with
program size.

Compiles a program in MLIR with its gradient, from text to machine code, and prints the median of
three for each length and the ratio to the length before. Linear is the goal.
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


def sums(number: int) -> str:
    """``number`` steps of ``y = sin(y) + x``, whose gradient is a sum of as many terms."""
    t = "tensor<64xf64>"
    steps = "\n".join(
        f"  %s{i} = math.sin %y{i} : {t}\n  %y{i + 1} = arith.addf %s{i}, %y0 : {t}"
        for i in range(number)
    )
    return f"""
func.func private @f(%y0: {t}) -> {t} {{
{steps}
  return %y{number} : {t}
}}
func.func @gradient(%x: {t}, %ct: {t}) -> {t} {{
  %y, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : ({t}, {t}) -> ({t}, {t})
  return %dx : {t}
}}
"""


def layers(number: int) -> str:
    """A multilayer perceptron whose layers share their weights, and its gradient."""
    matrix = "tensor<16x16xf32>"
    steps = "\n".join(
        f"""
  %z{i} = linalg.fill ins(%zero : f32) outs(%e : {matrix}) -> {matrix}
  %m{i} = linalg.matmul ins(%y{i}, %w : {matrix}, {matrix}) outs(%z{i} : {matrix}) -> {matrix}
  %y{i + 1} = math.tanh %m{i} : {matrix}"""
        for i in range(number)
    )
    return f"""
func.func private @f(%y0: {matrix}, %w: {matrix}) -> {matrix} {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {matrix}
{steps}
  return %y{number} : {matrix}
}}
func.func @gradient(%x: {matrix}, %w: {matrix}, %ct: {matrix}) -> {matrix} {{
  %y, %dw = grad.vjp @f(%x, %w) cotangents(%ct) wrt [1]
      : ({matrix}, {matrix}, {matrix}) -> ({matrix}, {matrix})
  return %dw : {matrix}
}}
"""


PROGRAMS = {"chain": chain, "sums": sums, "layers": layers}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", choices=PROGRAMS, default="chain")
    parser.add_argument("lengths", nargs="*", type=int, default=[1000, 2000])
    previous = None
    arguments = parser.parse_args()
    for length in arguments.lengths:
        text = PROGRAMS[arguments.program](length)
        times = []
        for _ in range(3):
            start = time.perf_counter()
            run_mlir(text)
            times.append(time.perf_counter() - start)
        median = statistics.median(times)
        ratio = f", {median / previous:.2f} times the length before" if previous else ""
        print(f"{arguments.program} of {length}: {median:.2f} s{ratio}")
        previous = median


if __name__ == "__main__":
    main()
