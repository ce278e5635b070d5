"""Compiled functions against numpy: values, data types, calls, threads, errors."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
import torch
from mlir import ir
from mlir.passmanager import PassManager

from gradc._lib import _gradc

_gradc.register_passes()

DTYPES = {
    "f32": np.float32, "f64": np.float64, "f16": np.float16, "i64": np.int64, "i32": np.int32,
    "i8": np.int8, "i1": np.bool_, "complex<f32>": np.complex64,
}  # fmt: skip


def build(text: str) -> _gradc.Executable:
    with ir.Context() as context:
        _gradc.register_dialects(context)
        module = ir.Module.parse(textwrap.dedent(text))
        PassManager.parse("builtin.module(grad-to-llvm-cpu)").run(module.operation)
        return _gradc.Executable(module)


def run(text: str, *inputs: np.ndarray, name: str = "f") -> list[np.ndarray]:
    executable = build(text)
    _, outputs = executable.signature(name)
    results = [np.empty(shape, DTYPES[dtype]) for dtype, shape in outputs]
    executable.call_dlpack(name, inputs, results)
    return results


def elementwise(op: str, dtype: str, arity: int, shape: str = "5x7x") -> str:
    names = ["%a", "%b"][:arity]
    args = ", ".join(f"{n}: tensor<{shape}{dtype}>" for n in names)
    return f"""
    func.func @f({args}) -> tensor<{shape}{dtype}> {{
      %r = {op} {", ".join(names)} : tensor<{shape}{dtype}>
      return %r : tensor<{shape}{dtype}>
    }}"""


def erf(x):
    return torch.erf(torch.from_numpy(x)).numpy()


UNARY = {
    "math.exp": np.exp, "math.log": lambda x: np.log(x), "math.sin": np.sin, "math.cos": np.cos,
    "math.tanh": np.tanh, "math.erf": erf, "math.sqrt": np.sqrt, "math.rsqrt": lambda x: 1 / np.sqrt(x),
    "math.log1p": np.log1p, "math.expm1": np.expm1, "math.absf": np.abs, "math.floor": np.floor,
    "math.ceil": np.ceil, "math.atan": np.arctan, "math.cbrt": np.cbrt, "math.log2": np.log2,
    "math.exp2": np.exp2, "math.sinh": np.sinh, "math.cosh": np.cosh, "math.tan": np.tan,
    "math.roundeven": np.round, "math.trunc": np.trunc, "arith.negf": np.negative,
    "math.asinh": np.arcsinh, "math.log10": np.log10,
}  # fmt: skip


@pytest.mark.parametrize("op", UNARY)
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_unary(op, dtype):
    x = np.random.default_rng(0).uniform(0.1, 3, (5, 7)).astype(DTYPES[dtype])
    (got,) = run(elementwise(op, dtype, 1), x)
    want = UNARY[op](x.astype(np.float64))
    assert np.abs(got - want).max() <= 2 * np.spacing(np.abs(want).max().astype(DTYPES[dtype]))


@pytest.mark.parametrize("op", [
    "math.exp", "math.log", "math.tanh", "math.erf", "math.sin", "math.cos", "math.log1p",
    "math.expm1",
])  # fmt: skip
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_expanded_functions(op, dtype):
    """Accuracy over the whole range, and the special values."""
    rng = np.random.default_rng(12)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 88.7, 88.8, -87.4, -103.9, -104.1, 709.7,
               709.8, -745.1, -746.0, 1e-40, 1e-310, 5e-324, 1e38, 0.625, -0.624, 9.1,
               3.4e38, -2.5e33, 5e30, 7e22, 1.1e15, -1.2e15, 355.0, -5376.049]  # fmt: skip
    size = 7 * (6000 // 7)
    x = np.concatenate([
        special,
        rng.uniform(-10, 10, 2000),
        rng.uniform(-800, 800, 1000),
        np.exp(rng.uniform(-90, 88, 2000)),
        1 + rng.uniform(-1e-3, 1e-3, 2000),
    ])[:size].astype(DTYPES[dtype])  # fmt: skip
    (got,) = run(elementwise(op, dtype, 1, f"7x{size // 7}x"), x.reshape(7, -1))
    exact = getattr(torch, op.split(".")[1])(torch.from_numpy(x).double()).numpy()
    with np.errstate(over="ignore"):
        want = exact.astype(DTYPES[dtype])
    got = got.reshape(-1)
    finite = np.isfinite(want)
    np.testing.assert_array_equal(got[~finite], want[~finite])
    error = np.abs(got[finite].astype(np.float64) - exact[finite])
    assert (error / np.spacing(np.abs(want[finite])).astype(np.float64)).max() <= 2
    assert np.signbit(got[1]) == np.signbit(want[1])


def test_pow():
    """Against the same in twice the precision, and every pair of special values."""
    rng = np.random.default_rng(13)
    special = np.array([0.0, -0.0, 1, -1, 2, -2, 3, -3, 0.5, -0.5, np.inf, -np.inf, np.nan, 1e-40,
                        -1e-40, 3e38, 16777216, 16777215], dtype=np.float32)  # fmt: skip
    a, b = (pair.ravel() for pair in np.meshgrid(special, special))
    a = np.concatenate([a, rng.uniform(0, 20, 3000), rng.uniform(-5, 5, 1000)])
    b = np.concatenate([b, rng.uniform(-20, 20, 3000), np.round(rng.uniform(-9, 9, 1000))])
    a, b = a.astype(np.float32), b.astype(np.float32)
    (got,) = run(elementwise("math.powf", "f32", 2, f"1x{a.size}x"), a[None], b[None])
    with np.errstate(all="ignore"):
        exact = np.power(a.astype(np.float64), b.astype(np.float64))
        want = exact.astype(np.float32)
    got = got.ravel()
    finite = np.isfinite(want) & (want != 0)
    np.testing.assert_array_equal(got[~finite], want[~finite])
    np.testing.assert_array_equal(np.signbit(got[want == 0]), np.signbit(want[want == 0]))
    error = np.abs(got[finite].astype(np.float64) - exact[finite])
    assert (error / np.spacing(np.abs(want[finite])).astype(np.float64)).max() <= 1


@pytest.mark.parametrize("exponent", [-1, -2, -3, -7, 4, 7, 8, 100])
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_integer_powers(dtype, exponent):
    """To 4 units in the last place, from the least subnormal number to the largest."""
    info = np.finfo(DTYPES[dtype])
    lowest, highest = np.log10(float(info.smallest_subnormal)), np.log10(float(info.max))
    magnitude = np.linspace(lowest + 1, highest - 0.1, 3000) / exponent
    x = np.where(np.arange(3000) % 2, -1, 1) * 10.0 ** np.clip(magnitude, None, highest - 0.1)
    x = x.astype(DTYPES[dtype])
    text = f"""
    func.func @f(%a: tensor<{x.size}x{dtype}>) -> tensor<{x.size}x{dtype}> {{
      %n = arith.constant dense<{exponent}> : tensor<{x.size}xi64>
      %r = math.fpowi %a, %n : tensor<{x.size}x{dtype}>, tensor<{x.size}xi64>
      return %r : tensor<{x.size}x{dtype}>
    }}"""
    (got,) = run(text, x)
    exact = np.power(x.astype(np.longdouble), exponent)
    units = np.abs(got - exact) / np.spacing(np.abs(exact.astype(DTYPES[dtype])))
    assert units.max() <= 4


BINARY = {
    "arith.addf": np.add, "arith.subf": np.subtract, "arith.mulf": np.multiply,
    "arith.divf": np.divide, "arith.maximumf": np.maximum, "arith.minimumf": np.minimum,
    "math.powf": np.power, "math.atan2": np.arctan2, "math.copysign": np.copysign,
    "arith.remf": np.fmod,
}  # fmt: skip


@pytest.mark.parametrize("op", BINARY)
@pytest.mark.parametrize("dtype", ["f32", "f64", "f16"])
def test_binary(op, dtype):
    rng = np.random.default_rng(1)
    a, b = (rng.uniform(0.5, 2, (5, 7)).astype(DTYPES[dtype]) for _ in range(2))
    (got,) = run(elementwise(op, dtype, 2), a, b)
    want = BINARY[op](a.astype(np.float64), b.astype(np.float64)).astype(DTYPES[dtype])
    eps = np.finfo(DTYPES[dtype]).eps
    np.testing.assert_allclose(got, want, rtol=2 * eps)


@pytest.mark.parametrize("op, want", [
    ("arith.addi", np.add), ("arith.muli", np.multiply), ("arith.maxsi", np.maximum),
    ("arith.floordivsi", np.floor_divide), ("arith.andi", np.bitwise_and),
])  # fmt: skip
@pytest.mark.parametrize("dtype", ["i64", "i32"])
def test_integers(op, want, dtype):
    rng = np.random.default_rng(2)
    a = rng.integers(-50, 50, (5, 7)).astype(DTYPES[dtype])
    b = rng.integers(1, 9, (5, 7)).astype(DTYPES[dtype])
    np.testing.assert_array_equal(run(elementwise(op, dtype, 2), a, b)[0], want(a, b))


def test_nan_passes_through_maximum():
    x = np.array([1, np.nan, -1, np.inf, -np.inf, 0, -0.0, 2], np.float32)
    (got,) = run(elementwise("arith.maximumf", "f32", 2, "8x"), x, np.zeros(8, np.float32))
    np.testing.assert_array_equal(got, np.maximum(x, 0))


def test_bool_is_a_byte():
    text = """
    func.func @f(%a: tensor<70xi1>, %x: tensor<70xf32>, %y: tensor<70xf32>)
        -> (tensor<70xf32>, tensor<70xi1>, tensor<70xi1>) {
      %c = arith.constant dense<true> : tensor<70xi1>
      %s = arith.select %a, %x, %y : tensor<70xi1>, tensor<70xf32>
      %g = arith.cmpf ogt, %x, %y : tensor<70xf32>
      %n = arith.xori %a, %c : tensor<70xi1>
      return %s, %g, %n : tensor<70xf32>, tensor<70xi1>, tensor<70xi1>
    }"""
    rng = np.random.default_rng(3)
    a = rng.integers(0, 2, 70).astype(bool)
    x, y = rng.standard_normal((2, 70)).astype(np.float32)
    s, g, n = run(text, a, x, y)
    np.testing.assert_array_equal(s, np.where(a, x, y))
    np.testing.assert_array_equal(g, x > y)
    np.testing.assert_array_equal(n, ~a)


def matmul(dtype: str, m: int, n: int, k: int) -> str:
    return f"""
    func.func @f(%a: tensor<{m}x{k}x{dtype}>, %b: tensor<{k}x{n}x{dtype}>) -> tensor<{m}x{n}x{dtype}> {{
      %c = arith.constant 0.0 : {dtype}
      %e = tensor.empty() : tensor<{m}x{n}x{dtype}>
      %z = linalg.fill ins(%c : {dtype}) outs(%e : tensor<{m}x{n}x{dtype}>) -> tensor<{m}x{n}x{dtype}>
      %r = linalg.matmul ins(%a, %b : tensor<{m}x{k}x{dtype}>, tensor<{k}x{n}x{dtype}>)
                         outs(%z : tensor<{m}x{n}x{dtype}>) -> tensor<{m}x{n}x{dtype}>
      return %r : tensor<{m}x{n}x{dtype}>
    }}"""


@pytest.mark.parametrize("sizes", [
    (3, 4, 5), (64, 32, 48), (1, 40, 50), (40, 1, 50), (33, 17, 1), (0, 4, 5), (4, 5, 0), (1, 1, 900),
])  # fmt: skip
@pytest.mark.parametrize("dtype, rtol", [("f32", 1e-5), ("f64", 1e-12), ("f16", 2e-3)])
def test_matmul(sizes, dtype, rtol):
    m, n, k = sizes
    rng = np.random.default_rng(4)
    a, b = (rng.standard_normal(s).astype(DTYPES[dtype]) for s in ((m, k), (k, n)))
    (got,) = run(matmul(dtype, m, n, k), a, b)
    want = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * max(k, 1) ** 0.5)


def generic(maps: list[str], types: list[str], dims: str, iterators: str) -> str:
    a, b, c = types
    dtype = c.rsplit("x", 1)[-1]
    affine = ", ".join(f"affine_map<({dims}) -> ({m})>" for m in maps)
    return f"""
    func.func @f(%a: tensor<{a}>, %b: tensor<{b}>, %c: tensor<{c}>) -> tensor<{c}> {{
      %r = linalg.generic {{indexing_maps = [{affine}], iterator_types = [{iterators}]}}
          ins(%a, %b : tensor<{a}>, tensor<{b}>) outs(%c : tensor<{c}>) {{
      ^bb0(%x: {dtype}, %y: {dtype}, %s: {dtype}):
        %p = arith.mulf %x, %y : {dtype}
        %q = arith.addf %s, %p : {dtype}
        linalg.yield %q : {dtype}
      }} -> tensor<{c}>
      return %r : tensor<{c}>
    }}"""


@pytest.mark.parametrize("letters", [
    "mk,kn->mn", "km,kn->mn", "mk,nk->mn", "km,nk->nm", "bmk,bkn->bmn", "mbk,nbk->mbn",
    "bhqd,bhkd->bhqk", "bqhd,bkhd->bhqk", "mkl,lkn->mn", "mkl,kln->mn", "k,kn->n", "m,n->mn",
    "bm,bmk->bk", "mik,nik->min",
])  # fmt: skip
def test_contractions(letters):
    ins, out = letters.split("->")
    left, right = ins.split(",")
    sizes = dict(zip("bhmnkqdli", (2, 3, 12, 9, 10, 7, 8, 6, 5)))
    order = sorted(set(left + right + out))
    shape = {n: tuple(sizes[c] for c in n) for n in (left, right, out)}
    text = generic(
        [", ".join(n) for n in (left, right, out)],
        ["x".join(map(str, shape[n])) + "xf64" for n in (left, right, out)],
        ", ".join(order),
        ", ".join('"parallel"' if c in out else '"reduction"' for c in order),
    )
    rng = np.random.default_rng(5)
    a, b, c = (rng.standard_normal(shape[n]) for n in (left, right, out))
    (got,) = run(text, a, b, c)
    np.testing.assert_allclose(
        got, c + np.einsum(f"{left},{right}->{out}", a, b), rtol=1e-11, atol=1e-11
    )


CONV = """
func.func @f(%x: tensor<2x3x9x8xf32>, %w: tensor<10x3x3x2xf32>) -> tensor<2x10x4x7xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x10x4x7xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<2x10x4x7xf32>) -> tensor<2x10x4x7xf32>
  %r = linalg.conv_2d_nchw_fchw {strides = dense<[2, 1]> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<2x3x9x8xf32>, tensor<10x3x3x2xf32>) outs(%z : tensor<2x10x4x7xf32>) -> tensor<2x10x4x7xf32>
  return %r : tensor<2x10x4x7xf32>
}"""


def test_convolution():
    rng = np.random.default_rng(6)
    x = rng.standard_normal((2, 3, 9, 8)).astype(np.float32)
    w = rng.standard_normal((10, 3, 3, 2)).astype(np.float32)
    want = torch.nn.functional.conv2d(torch.from_numpy(x), torch.from_numpy(w), stride=(2, 1))
    np.testing.assert_allclose(run(CONV, x, w)[0], want.numpy(), rtol=1e-4, atol=1e-4)


def conv_gradient(which: str) -> str:
    maps = {
        "x": "d0, d1, d3 * 2 + d5, d4 + d6",
        "w": "d2, d1, d5, d6",
        "y": "d0, d2, d3, d4",
    }
    types = {"x": "2x3x9x8xf64", "w": "10x3x3x2xf64", "y": "2x10x4x7xf64"}
    names = [n for n in "xwy" if n != which] + [which]
    iterators = ", ".join(['"reduction"'] * 7)
    return generic([maps[n] for n in names], [types[n] for n in names],
                   "d0, d1, d2, d3, d4, d5, d6", iterators)  # fmt: skip


@pytest.mark.parametrize("which", "xw")
def test_convolution_gradients(which):
    generator = torch.Generator().manual_seed(0)
    make = lambda *s: torch.randn(*s, dtype=torch.float64, generator=generator)  # noqa: E731
    x, w, y = make(2, 3, 9, 8), make(10, 3, 3, 2), make(2, 10, 4, 7)
    kept = {"x": x, "w": w}
    target = kept.pop(which)
    (other,) = kept.values()
    got = run(conv_gradient(which), other.numpy(), y.numpy(), np.zeros(target.shape))[0]
    target.requires_grad_()
    torch.nn.functional.conv2d(x, w, stride=(2, 1)).backward(y)
    np.testing.assert_allclose(got, target.grad.numpy(), rtol=1e-10, atol=1e-10)


def reduction(axis: int, dtype: str, shape=(6, 50)) -> str:
    out = shape[1 - axis]
    full = f"tensor<{shape[0]}x{shape[1]}x{dtype}>"
    return f"""
    func.func @f(%x: {full}) -> tensor<{out}x{dtype}> {{
      %c = arith.constant 0.0 : {dtype}
      %e = tensor.empty() : tensor<{out}x{dtype}>
      %z = linalg.fill ins(%c : {dtype}) outs(%e : tensor<{out}x{dtype}>) -> tensor<{out}x{dtype}>
      %r = linalg.reduce {{ arith.addf }} ins(%x : {full}) outs(%z : tensor<{out}x{dtype}>) dimensions = [{axis}]
      return %r : tensor<{out}x{dtype}>
    }}"""


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", ["f32", "f64", "f16"])
def test_sums(axis, dtype):
    x = np.random.default_rng(7).standard_normal((6, 50)).astype(DTYPES[dtype])
    want = x.astype(np.float64).sum(axis)
    eps = float(np.finfo(DTYPES[dtype]).eps)
    np.testing.assert_allclose(
        run(reduction(axis, dtype), x)[0],
        want,
        rtol=4 * eps,
        atol=30 * eps if dtype != "f16" else eps,
    )


def test_half_sums_accumulate_in_single_precision():
    x = np.ones((1, 4096), np.float16)
    (got,) = run(reduction(1, "f16", (1, 4096)), x)
    assert got[0] == 4096


@pytest.mark.parametrize("op", ["arith.addf", "arith.mulf", "math.exp", "math.tanh"])
def test_bfloat16_rounds_like_torch(op):
    arity = 1 if op.startswith("math") else 2
    inputs = [torch.randn(8, 33).bfloat16() for _ in range(arity)]
    executable = build(elementwise(op, "bf16", arity, "8x33x"))
    out = torch.empty(8, 33, dtype=torch.bfloat16)
    executable.call_dlpack("f", inputs, [out])
    want = getattr(torch, {"addf": "add", "mulf": "mul"}.get(op.split(".")[1], op.split(".")[1]))
    assert torch.equal(out, want(*inputs))


SOFTMAX = """
func.func @f(%x: tensor<9x40xf32>) -> tensor<9x40xf32> {
  %e = tensor.empty() : tensor<9x40xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<9x40xf32>) outs(%e : tensor<9x40xf32>) -> tensor<9x40xf32>
  return %r : tensor<9x40xf32>
}"""


def test_softmax():
    x = np.random.default_rng(8).standard_normal((9, 40)).astype(np.float32)
    np.testing.assert_allclose(
        run(SOFTMAX, x)[0], torch.softmax(torch.from_numpy(x), 1).numpy(), rtol=1e-5
    )


LOOPS = """
func.func @f(%x: tensor<4xf64>, %y: tensor<4xf64>, %n: tensor<i64>) -> (tensor<4xf64>, tensor<4xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tensor.extract %n[] : tensor<i64>
  %count = arith.index_cast %v : i64 to index
  %r:2 = scf.for %i = %c0 to %count step %c1 iter_args(%a = %x, %b = %y) -> (tensor<4xf64>, tensor<4xf64>) {
    %s = arith.addf %a, %b : tensor<4xf64>
    scf.yield %b, %s : tensor<4xf64>, tensor<4xf64>
  }
  return %r#0, %r#1 : tensor<4xf64>, tensor<4xf64>
}"""


@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_loop_that_swaps_what_it_carries(count):
    a, b = x, y = np.arange(4.0), np.arange(4.0) + 10
    for _ in range(count):
        a, b = b, a + b
    got = run(LOOPS, x, y, np.array(count))
    np.testing.assert_array_equal(got[0], a)
    np.testing.assert_array_equal(got[1], b)


WHILE = """
func.func @f(%x: tensor<3xf64>) -> (tensor<3xf64>, tensor<i64>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %i0 = arith.constant 0 : index
  %limit = arith.constant 100.0 : f64
  %r:2 = scf.while (%n = %c0, %a = %x) : (i64, tensor<3xf64>) -> (tensor<3xf64>, i64) {
    %v = tensor.extract %a[%i0] : tensor<3xf64>
    %c = arith.cmpf olt, %v, %limit : f64
    scf.condition(%c) %a, %n : tensor<3xf64>, i64
  } do {
  ^bb0(%a: tensor<3xf64>, %n: i64):
    %s = arith.addf %a, %a : tensor<3xf64>
    %m = arith.addi %n, %c1 : i64
    scf.yield %m, %s : i64, tensor<3xf64>
  }
  %t = tensor.from_elements %r#1 : tensor<i64>
  return %r#0, %t : tensor<3xf64>, tensor<i64>
}"""


def test_while():
    got, count = run(WHILE, np.array([1.5, 2.0, -3.0]))
    np.testing.assert_array_equal(got, np.array([1.5, 2.0, -3.0]) * 2**7)
    assert count == 7


IF = """
func.func @f(%p: tensor<i1>, %x: tensor<5xf32>) -> tensor<5xf32> {
  %c = tensor.extract %p[] : tensor<i1>
  %r = scf.if %c -> tensor<5xf32> {
    %e = math.exp %x : tensor<5xf32>
    scf.yield %e : tensor<5xf32>
  } else {
    scf.yield %x : tensor<5xf32>
  }
  return %r : tensor<5xf32>
}"""


@pytest.mark.parametrize("taken", [True, False])
def test_if(taken):
    x = np.linspace(0, 1, 5, dtype=np.float32)
    np.testing.assert_allclose(run(IF, np.array(taken), x)[0], np.exp(x) if taken else x, rtol=1e-6)


GATHER = """
func.func @f(%t: tensor<10x4xf32>, %i: tensor<6xi64>) -> tensor<6x4xf32> {
  %e = tensor.empty() : tensor<6x4xf32>
  %c0 = arith.constant 0 : i64
  %c10 = arith.constant 10 : i64
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a, b)>],
      iterator_types = ["parallel", "parallel"]} ins(%i : tensor<6xi64>) outs(%e : tensor<6x4xf32>) {
  ^bb0(%row: i64, %o: f32):
    %low = arith.cmpi sge, %row, %c0 : i64
    %high = arith.cmpi slt, %row, %c10 : i64
    cf.assert %low, "index must be larger or equal to 0"
    cf.assert %high, "index must be smaller than dim size"
    %k = arith.index_cast %row : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %t[%k, %j] : tensor<10x4xf32>
    linalg.yield %v : f32
  } -> tensor<6x4xf32>
  return %r : tensor<6x4xf32>
}"""


def test_gather_and_its_range_check():
    executable = build(GATHER)
    table = np.random.default_rng(9).standard_normal((10, 4)).astype(np.float32)
    out = np.empty((6, 4), np.float32)
    rows = np.array([3, 9, 0, 3, 1, 5])
    executable.call_dlpack("f", [table, rows], [out])
    np.testing.assert_array_equal(out, table[rows])
    for bad in (10, -1):
        for _ in range(3):
            with pytest.raises(RuntimeError, match="index must be"):
                executable.call_dlpack("f", [table, np.array([0, 1, bad, 2, 3, 4])], [out])
    executable.call_dlpack("f", [table, rows], [out])
    np.testing.assert_array_equal(out, table[rows])


SCATTER = """
func.func @f(%rows: tensor<6xi64>, %ct: tensor<6x4xf64>) -> tensor<10x4xf64> {
  %zero = arith.constant dense<0.0> : tensor<10x4xf64>
  %r = grad.scatter_add bounds [6, 4] ins(%rows, %ct : tensor<6xi64>, tensor<6x4xf64>)
      maps [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>]
      into %zero : tensor<10x4xf64> {
  ^bb0(%row: i64, %value: f64):
    %i = arith.index_cast %row : i64 to index
    %j = grad.loop_index 1
    grad.yield %i, %j, %value : index, index, f64
  }
  return %r : tensor<10x4xf64>
}"""


def test_scatter_add():
    rows = np.array([3, 9, 0, 3, 3, 5])
    ct = np.random.default_rng(10).standard_normal((6, 4))
    want = np.zeros((10, 4))
    np.add.at(want, rows, ct)
    np.testing.assert_array_equal(run(SCATTER, rows, ct)[0], want)


PADDED = """
func.func @f(%x: tensor<2x3xf32>, %y: tensor<4x5xf32>) -> (tensor<4x5xf32>, tensor<2x3xf32>, tensor<6x5xf32>) {
  %c = arith.constant 7.0 : f32
  %p = tensor.pad %x low[1, 0] high[1, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<2x3xf32> to tensor<4x5xf32>
  %s = arith.addf %p, %y : tensor<4x5xf32>
  %t = tensor.extract_slice %s[1, 1] [2, 3] [1, 1] : tensor<4x5xf32> to tensor<2x3xf32>
  %u = tensor.extract_slice %y[0, 0] [2, 5] [1, 1] : tensor<4x5xf32> to tensor<2x5xf32>
  %k = tensor.concat dim(0) %s, %u : (tensor<4x5xf32>, tensor<2x5xf32>) -> tensor<6x5xf32>
  return %s, %t, %k : tensor<4x5xf32>, tensor<2x3xf32>, tensor<6x5xf32>
}"""


def test_pad_slice_concat():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    y = np.arange(20, dtype=np.float32).reshape(4, 5)
    s = np.pad(x, ((1, 1), (0, 2)), constant_values=7) + y
    got = run(PADDED, x, y)
    np.testing.assert_array_equal(got[0], s)
    np.testing.assert_array_equal(got[1], s[1:3, 1:4])
    np.testing.assert_array_equal(got[2], np.concatenate([s, y[:2]]))


ALIASES = """
func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>) {
  %y = math.exp %x : tensor<4xf32>
  %v = tensor.expand_shape %y [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  return %x, %y, %y, %v : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>
}"""


def test_results_have_memory_of_their_own():
    x = np.arange(4, dtype=np.float32)
    results = run(ALIASES, x)
    np.testing.assert_array_equal(results[0], x)
    for y in results[1:]:
        np.testing.assert_allclose(y.reshape(4), np.exp(x), rtol=1e-6)


def test_results_that_share_their_beginning():
    """Two products onto one fill, and a result that is an update of another one."""
    text = """
    func.func @f(%a: tensor<4x4xf64>, %b: tensor<4x4xf64>)
        -> (tensor<4x4xf64>, tensor<4x4xf64>, tensor<4x4xf64>, tensor<4x4xf64>) {
      %c = arith.constant 0.0 : f64
      %i = arith.constant 1 : index
      %e = tensor.empty() : tensor<4x4xf64>
      %z = linalg.fill ins(%c : f64) outs(%e : tensor<4x4xf64>) -> tensor<4x4xf64>
      %x = linalg.matmul ins(%a, %b : tensor<4x4xf64>, tensor<4x4xf64>) outs(%z : tensor<4x4xf64>) -> tensor<4x4xf64>
      %y = linalg.matmul ins(%b, %a : tensor<4x4xf64>, tensor<4x4xf64>) outs(%z : tensor<4x4xf64>) -> tensor<4x4xf64>
      %u = tensor.insert %c into %x[%i, %i] : tensor<4x4xf64>
      %v = linalg.matmul ins(%a, %a : tensor<4x4xf64>, tensor<4x4xf64>) outs(%x : tensor<4x4xf64>) -> tensor<4x4xf64>
      return %x, %y, %u, %v : tensor<4x4xf64>, tensor<4x4xf64>, tensor<4x4xf64>, tensor<4x4xf64>
    }"""
    a, b = np.random.default_rng(13).standard_normal((2, 4, 4))
    x, y, u, v = run(text, a, b)
    np.testing.assert_allclose(x, a @ b, rtol=1e-12)
    np.testing.assert_allclose(y, b @ a, rtol=1e-12)
    np.testing.assert_allclose(v, a @ b + a @ a, rtol=1e-12)
    want = a @ b
    want[1, 1] = 0
    np.testing.assert_allclose(u, want, rtol=1e-12)


def test_convolution_over_a_large_batch():
    """Windows of one image at a time, for the convolution and both gradients."""
    x, w, y = torch.randn(5, 16, 34, 34), torch.randn(24, 16, 3, 3), torch.randn(5, 24, 32, 32)
    maps = {"x": "d0, d1, d3 + d5, d4 + d6", "w": "d2, d1, d5, d6", "y": "d0, d2, d3, d4"}
    tensors = {"x": x, "w": w, "y": y}
    types = {n: "x".join(map(str, t.shape)) + "xf32" for n, t in tensors.items()}
    inputs = {n: t.clone().requires_grad_() for n, t in tensors.items() if n != "y"}
    value = torch.nn.functional.conv2d(inputs["x"], inputs["w"])
    value.backward(y)
    want = {"y": value.detach(), "x": inputs["x"].grad, "w": inputs["w"].grad}
    for which in "ywx":
        names = [n for n in "xwy" if n != which] + [which]
        text = generic([maps[n] for n in names], [types[n] for n in names],
                       "d0, d1, d2, d3, d4, d5, d6", ", ".join(['"reduction"'] * 7))  # fmt: skip
        init = np.zeros(tensors[which].shape, np.float32)
        (got,) = run(text, *(tensors[n].numpy() for n in names[:2]), init)
        np.testing.assert_allclose(got, want[which].numpy(), rtol=2e-3, atol=2e-3)


def test_reused_and_overlapping_intermediates():
    text = """
    func.func @f(%x: tensor<64xf64>) -> tensor<64xf64> {
      %a = math.exp %x : tensor<64xf64>
      %s = tensor.extract_slice %a[0] [32] [1] : tensor<64xf64> to tensor<32xf64>
      %t = tensor.extract_slice %a[32] [32] [1] : tensor<64xf64> to tensor<32xf64>
      %b = arith.addf %s, %t : tensor<32xf64>
      %c = tensor.insert_slice %b into %a[16] [32] [1] : tensor<32xf64> into tensor<64xf64>
      %d = arith.mulf %c, %a : tensor<64xf64>
      return %d : tensor<64xf64>
    }"""
    x = np.linspace(-1, 1, 64)
    a = np.exp(x)
    c = a.copy()
    c[16:48] = a[:32] + a[32:]
    np.testing.assert_allclose(run(text, x)[0], c * a, rtol=1e-14)


def test_complex():
    x, y = (
        np.random.default_rng(k).standard_normal(6).astype(np.complex64) * (1 + 2j) for k in (1, 2)
    )
    text = """
    func.func @f(%x: tensor<6xcomplex<f32>>, %y: tensor<6xcomplex<f32>>) -> tensor<6xcomplex<f32>> {
      %e = tensor.empty() : tensor<6xcomplex<f32>>
      %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
          iterator_types = ["parallel"]} ins(%x, %y : tensor<6xcomplex<f32>>, tensor<6xcomplex<f32>>)
          outs(%e : tensor<6xcomplex<f32>>) {
      ^bb0(%a: complex<f32>, %b: complex<f32>, %o: complex<f32>):
        %p = complex.mul %a, %b : complex<f32>
        linalg.yield %p : complex<f32>
      } -> tensor<6xcomplex<f32>>
      return %r : tensor<6xcomplex<f32>>
    }"""
    np.testing.assert_allclose(run(text, x, y)[0], x * y, rtol=1e-5)


@pytest.mark.parametrize("shape", ["", "1x", "0x", "3x0x2x"])
def test_small_shapes(shape):
    dims = [int(d) for d in shape.split("x") if d]
    x = np.full(dims, 0.5, np.float32)
    (got,) = run(elementwise("math.exp", "f32", 1, shape), x)
    np.testing.assert_allclose(got, np.exp(x), rtol=1e-6)


def test_signature_and_arena():
    executable = build(matmul("f32", 4, 5, 6))
    assert executable.functions == ["f"]
    assert executable.signature("f") == (
        [("f32", (4, 6)), ("f32", (6, 5))],
        [("f32", (4, 5))],
    )
    assert executable.arena_bytes("f") == 0
    with pytest.raises(KeyError, match="no function 'g'"):
        executable.function("g")


def test_calls_by_address():
    function = build(elementwise("arith.addf", "f64", 2, "4x")).function("f")
    a, b, out = np.arange(4.0), np.ones(4), np.empty(4)
    function([a.ctypes.data, b.ctypes.data], [out.ctypes.data])
    np.testing.assert_array_equal(out, a + b)
    with pytest.raises(ValueError, match="takes 2 inputs, got 1"):
        function([a.ctypes.data], [out.ctypes.data])
    with pytest.raises(TypeError):
        function(["x", 1], [2])


@pytest.mark.parametrize("bad, message", [
    (np.zeros(4, np.float32), r"input 0 is f32\(4\), expected f64\(4\)"),
    (np.zeros(5), r"input 0 is f64\(5\), expected f64\(4\)"),
    (np.zeros(8)[::2], "not contiguous"),
])  # fmt: skip
def test_dlpack_checks(bad, message):
    executable = build(elementwise("math.exp", "f64", 1, "4x"))
    with pytest.raises((TypeError, ValueError), match=message):
        executable.call_dlpack("f", [bad], [np.empty(4)])


def test_functions_outlive_their_executable():
    function = build(elementwise("math.exp", "f64", 1, "4x")).function("f")
    x, out = np.arange(4.0), np.empty(4)
    function([x.ctypes.data], [out.ctypes.data])
    np.testing.assert_allclose(out, np.exp(x))


def test_threads_have_arenas_of_their_own():
    text = """
    func.func @f(%x: tensor<64x64xf64>) -> tensor<64x64xf64> {
      %c = arith.constant 0.0 : f64
      %e = tensor.empty() : tensor<64x64xf64>
      %z = linalg.fill ins(%c : f64) outs(%e : tensor<64x64xf64>) -> tensor<64x64xf64>
      %a = linalg.matmul ins(%x, %x : tensor<64x64xf64>, tensor<64x64xf64>) outs(%z : tensor<64x64xf64>) -> tensor<64x64xf64>
      %b = linalg.matmul ins(%a, %x : tensor<64x64xf64>, tensor<64x64xf64>) outs(%z : tensor<64x64xf64>) -> tensor<64x64xf64>
      return %b : tensor<64x64xf64>
    }"""
    executable = build(text)
    assert executable.arena_bytes("f") > 0
    function = executable.function("f")
    failures = []

    def work(seed: int) -> None:
        x = np.random.default_rng(seed).standard_normal((64, 64))
        want, out = x @ x @ x, np.empty((64, 64))
        for _ in range(50):
            out[:] = 0
            function([x.ctypes.data], [out.ctypes.data])
            if not np.allclose(out, want):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_same_bits_every_time():
    executable = build(reduction(1, "f32", (64, 1001)))
    x = np.random.default_rng(11).standard_normal((64, 1001)).astype(np.float32)
    results = []
    for _ in range(5):
        out = np.empty(64, np.float32)
        executable.call_dlpack("f", [x], [out])
        results.append(out.tobytes())
    assert len(set(results)) == 1


@pytest.mark.parametrize("text, message", [
    ("func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }", "dynamic shape"),
    ("func.func @f(%x: f32) -> f32 { return %x : f32 }", "public functions take and return ranked tensors"),
    ("func.func @f(%x: tensor<*xf32>) { return }", "ranked tensors"),
    ("""func.func private @g(tensor<2xf32>) -> tensor<2xf32>
        func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
          %r = call @g(%x) : (tensor<2xf32>) -> tensor<2xf32>
          return %r : tensor<2xf32> }""", "cannot be inlined"),
    ("""func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
          %r = tosa.exp %x : (tensor<2xf32>) -> tensor<2xf32>
          return %r : tensor<2xf32> }""", "is not supported by the CPU pipeline"),
])  # fmt: skip
def test_refusals(text, message):
    with pytest.raises(ir.MLIRError, match=message):
        build(text)


@pytest.mark.parametrize(
    "first", ["import torch_mlir.ir", "import jax.numpy, jax; jax.jit(lambda x: x + 1)(1.0)", ""]
)
@pytest.mark.parametrize(
    "last", ["import torch_mlir.ir", "import jax.numpy, jax; jax.jit(lambda x: x + 1)(1.0)", ""]
)
def test_other_compilers_in_the_process(first, last):
    """Another LLVM in the process must not spoil the names of library calls."""
    program = f"""
{first}
import sys
sys.path.insert(0, {str(__file__).rsplit("/", 1)[0]!r})
import numpy as np
from test_runtime import build, elementwise
{last}
for op, want in (("exp", np.exp), ("sin", np.sin), ("cos", np.cos), ("tanh", np.tanh), ("log", np.log)):
    x, out = np.linspace(0.1, 2, 33), np.empty(33)
    build(elementwise("math." + op, "f64", 1, "33x")).call_dlpack("f", [x], [out])
    np.testing.assert_allclose(out, want(x), rtol=1e-14)
build(elementwise("math.powf", "f64", 2, "33x")).call_dlpack("f", [x, x], [out])
np.testing.assert_allclose(out, x**x, rtol=1e-14)
build(elementwise("arith.remf", "f64", 2, "33x")).call_dlpack("f", [x, x * 0.3], [out])
np.testing.assert_allclose(out, np.fmod(x, x * 0.3), rtol=1e-13)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
