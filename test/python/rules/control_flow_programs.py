"""MLIR functions with control flow, and the same written with PyTorch and Python loops."""

from __future__ import annotations

import torch
from derivatives_of import Program


def d(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def s(value: float) -> torch.Tensor:
    return torch.tensor(value, dtype=torch.float64)


def n(value: int) -> torch.Tensor:
    return torch.tensor(value)


def _if(x, w):
    return x * w * w if x[0] > 0 else torch.sin(x)


IF = """
func.func private @f(%x: tensor<3xf64>, %w: tensor<3xf64>) -> tensor<3xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %e = tensor.extract %x[%c0] : tensor<3xf64>
  %p = arith.cmpf ogt, %e, %zero : f64
  %r = scf.if %p -> tensor<3xf64> {
    %a = arith.mulf %x, %w : tensor<3xf64>
    %b = arith.mulf %a, %w : tensor<3xf64>
    scf.yield %b : tensor<3xf64>
  } else {
    %a = math.sin %x : tensor<3xf64>
    scf.yield %a : tensor<3xf64>
  }
  return %r : tensor<3xf64>
}
"""


def _switch(x, which):
    if which == 0:
        return x * x
    if which == 5:
        return torch.exp(x)
    return x


SWITCH = """
func.func private @f(%x: tensor<3xf64>, %n: tensor<i64>) -> tensor<3xf64> {
  %i = tensor.extract %n[] : tensor<i64>
  %k = arith.index_cast %i : i64 to index
  %r = scf.index_switch %k -> tensor<3xf64>
  case 0 {
    %a = arith.mulf %x, %x : tensor<3xf64>
    scf.yield %a : tensor<3xf64>
  }
  case 5 {
    %a = math.exp %x : tensor<3xf64>
    scf.yield %a : tensor<3xf64>
  }
  default {
    scf.yield %x : tensor<3xf64>
  }
  return %r : tensor<3xf64>
}
"""


def _power(x, w):
    y = x
    for _ in range(4):
        y = torch.sin(y) * w
    return y


STATIC_FOR = """
func.func private @f(%x: tensor<3xf64>, %w: tensor<3xf64>) -> tensor<3xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%y = %x) -> tensor<3xf64> {
    %a = math.sin %y : tensor<3xf64>
    %b = arith.mulf %a, %w : tensor<3xf64>
    scf.yield %b : tensor<3xf64>
  }
  return %r : tensor<3xf64>
}
"""


def _strided(x, s0, count):
    b = x * x
    acc = s0
    for i in range(1, int(count), 2):
        acc = acc * torch.cos(acc) + x * i
    return acc * b


# The bounds are known at run time; %b is made before the loop and used after it.
DYNAMIC_FOR = """
func.func private @f(%x: tensor<f64>, %s: tensor<f64>, %n: tensor<i64>) -> tensor<f64> {
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %m = tensor.extract %n[] : tensor<i64>
  %b = arith.mulf %x, %x : tensor<f64>
  %x0 = tensor.extract %x[] : tensor<f64>
  %s0 = tensor.extract %s[] : tensor<f64>
  %acc = scf.for %i = %c1 to %m step %c2 iter_args(%a = %s0) -> f64 : i64 {
    %cos = math.cos %a : f64
    %p = arith.mulf %a, %cos : f64
    %k = arith.sitofp %i : i64 to f64
    %q = arith.mulf %x0, %k : f64
    %t = arith.addf %p, %q : f64
    scf.yield %t : f64
  }
  %accs = tensor.from_elements %acc : tensor<f64>
  %r = arith.mulf %accs, %b : tensor<f64>
  return %r : tensor<f64>
}
"""


def _quadrature(lower, upper):
    total, x = s(0.0), lower
    while x.item() <= upper.item():
        total = total + x * x * x * 0.25
        x = x + 0.25
    return total


# The condition depends on a differentiated argument, which only steers.
WHILE = """
func.func private @f(%lower: tensor<f64>, %upper: tensor<f64>) -> tensor<f64> {
  %zero = arith.constant 0.0 : f64
  %h = arith.constant 0.25 : f64
  %l = tensor.extract %lower[] : tensor<f64>
  %u = tensor.extract %upper[] : tensor<f64>
  %r:2 = scf.while (%x = %l, %t = %zero) : (f64, f64) -> (f64, f64) {
    %p = arith.cmpf ole, %x, %u : f64
    scf.condition(%p) %x, %t : f64, f64
  } do {
  ^bb0(%x: f64, %t: f64):
    %x2 = arith.mulf %x, %x : f64
    %x3 = arith.mulf %x2, %x : f64
    %a = arith.mulf %x3, %h : f64
    %b = arith.addf %t, %a : f64
    %y = arith.addf %x, %h : f64
    scf.yield %y, %b : f64, f64
  }
  %s = tensor.from_elements %r#1 : tensor<f64>
  return %s : tensor<f64>
}
"""


def _shifting_while(x, w):
    y, i = x, 0
    while True:
        z = y * w
        if not (i < 3 and z.sum() < 50):
            return z * torch.exp(z * 0.1)
        y, i = torch.sin(z) + x, i + 1


# The first region computes; what it passes on is not what it takes.
WHILE_BEFORE = """
func.func private @f(%x: tensor<3xf64>, %w: tensor<3xf64>) -> tensor<3xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c50 = arith.constant 50.0 : f64
  %zero = arith.constant dense<0.0> : tensor<f64>
  %tenth = arith.constant dense<0.1> : tensor<3xf64>
  %r:2 = scf.while (%y = %x, %i = %c0) : (tensor<3xf64>, index) -> (index, tensor<3xf64>) {
    %z = arith.mulf %y, %w : tensor<3xf64>
    %few = arith.cmpi slt, %i, %c3 : index
    %st = linalg.reduce ins(%z : tensor<3xf64>) outs(%zero : tensor<f64>) dimensions = [0]
      (%in: f64, %acc: f64) {
        %t = arith.addf %in, %acc : f64
        linalg.yield %t : f64
      }
    %s = tensor.extract %st[] : tensor<f64>
    %small = arith.cmpf olt, %s, %c50 : f64
    %p = arith.andi %few, %small : i1
    scf.condition(%p) %i, %z : index, tensor<3xf64>
  } do {
  ^bb0(%i: index, %z: tensor<3xf64>):
    %a = math.sin %z : tensor<3xf64>
    %b = arith.addf %a, %x : tensor<3xf64>
    %j = arith.addi %i, %c1 : index
    scf.yield %b, %j : tensor<3xf64>, index
  }
  %t = arith.mulf %r#1, %tenth : tensor<3xf64>
  %e = math.exp %t : tensor<3xf64>
  %q = arith.mulf %r#1, %e : tensor<3xf64>
  return %q : tensor<3xf64>
}
"""


def _late(x, a, c):
    ys = s(0.0)
    for i in range(3):
        c = a * c + x[i]
        ys = ys + c
    return ys + c * c


# The carry starts without a gradient; a parameter makes it active.
LATE_ACTIVE = """
func.func private @f(%x: tensor<3xf64>, %a: tensor<f64>, %c: tensor<f64>) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f64
  %a0 = tensor.extract %a[] : tensor<f64>
  %ct = tensor.extract %c[] : tensor<f64>
  %cs = grad.stop_gradient %ct : f64 -> f64
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%k = %cs, %y = %zero) -> (f64, f64) {
    %p = arith.mulf %a0, %k : f64
    %xi = tensor.extract %x[%i] : tensor<3xf64>
    %q = arith.addf %p, %xi : f64
    %z = arith.addf %y, %q : f64
    scf.yield %q, %z : f64, f64
  }
  %sq = arith.mulf %r#0, %r#0 : f64
  %t = arith.addf %r#1, %sq : f64
  %s = tensor.from_elements %t : tensor<f64>
  return %s : tensor<f64>
}
"""


def _store(y, w):
    x = d(1.0, 2.0, 3.0, 4.0)
    z = torch.zeros(4, dtype=torch.float64)
    parts = [x[i] * y[i] * y[i] for i in range(4)]
    return (torch.stack(parts) + z) * w


STORE = """
func.func private @f(%y: tensor<4xf64>, %w: tensor<4xf64>) -> tensor<4xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %x = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf64>
  %z0 = arith.constant dense<0.0> : tensor<4xf64>
  %z = scf.for %i = %c0 to %c4 step %c1 iter_args(%z = %z0) -> tensor<4xf64> {
    %xi = tensor.extract %x[%i] : tensor<4xf64>
    %yi = tensor.extract %y[%i] : tensor<4xf64>
    %a = arith.mulf %xi, %yi : f64
    %b = arith.mulf %a, %yi : f64
    %t = tensor.insert %b into %z[%i] : tensor<4xf64>
    scf.yield %t : tensor<4xf64>
  }
  %r = arith.mulf %z, %w : tensor<4xf64>
  return %r : tensor<4xf64>
}
"""


def _overwrite(x):
    v = [s(0.0), s(0.0)]
    for k in range(4):
        i = k % 2
        v[i] = v[i] * v[i] + x[k]
    return v[0] + 10 * v[1] * v[1]


# The same cells are overwritten again and again.
OVERWRITE = """
func.func private @f(%x: tensor<4xf64>) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %ten = arith.constant 10.0 : f64
  %v0 = arith.constant dense<0.0> : tensor<2xf64>
  %v = scf.for %k = %c0 to %c4 step %c1 iter_args(%v = %v0) -> tensor<2xf64> {
    %i = arith.remui %k, %c2 : index
    %u = tensor.extract %v[%i] : tensor<2xf64>
    %xk = tensor.extract %x[%k] : tensor<4xf64>
    %q = arith.mulf %u, %u : f64
    %t = arith.addf %q, %xk : f64
    %w = tensor.insert %t into %v[%i] : tensor<2xf64>
    scf.yield %w : tensor<2xf64>
  }
  %a = tensor.extract %v[%c0] : tensor<2xf64>
  %b = tensor.extract %v[%c1] : tensor<2xf64>
  %b2 = arith.mulf %b, %b : f64
  %c = arith.mulf %b2, %ten : f64
  %t = arith.addf %a, %c : f64
  %s = tensor.from_elements %t : tensor<f64>
  return %s : tensor<f64>
}
"""


def _passed_through(x, w):
    v = torch.ones(2, dtype=torch.float64)
    for _ in range(2):
        v = v * x
    return v * w[0]


# %u is carried and never changed, %t changes and is never used, %i is an integer.
PASSED_THROUGH = """
func.func private @f(%x: tensor<2xf64>, %w: tensor<3xf64>) -> tensor<2xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant dense<1.0> : tensor<2xf64>
  %r:4 = scf.for %k = %c0 to %c2 step %c1 iter_args(%v = %one, %u = %w, %t = %w, %i = %c0)
      -> (tensor<2xf64>, tensor<3xf64>, tensor<3xf64>, index) {
    %a = arith.mulf %v, %x : tensor<2xf64>
    %b = math.exp %t : tensor<3xf64>
    %j = arith.addi %i, %c1 : index
    scf.yield %a, %u, %b, %j : tensor<2xf64>, tensor<3xf64>, tensor<3xf64>, index
  }
  %w0 = tensor.extract %r#1[%c0] : tensor<3xf64>
  %ws = tensor.splat %w0 : tensor<2xf64>
  %s = arith.mulf %r#0, %ws : tensor<2xf64>
  return %s : tensor<2xf64>
}
"""


def _trips(x, w, count):
    y = x
    for i in range(int(count)):
        for _ in range(i):
            y = y * y * 0.1 + w if y.sum() > 0 else torch.sin(y * w)
        y = y + x
    return y


# A loop whose length is the outer loop's position, with a branch inside.
NESTED = """
func.func private @f(%x: tensor<2xf64>, %w: tensor<2xf64>, %n: tensor<i64>) -> tensor<2xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %tenth = arith.constant dense<0.1> : tensor<2xf64>
  %m = tensor.extract %n[] : tensor<i64>
  %k = arith.index_cast %m : i64 to index
  %r = scf.for %i = %c0 to %k step %c1 iter_args(%y = %x) -> tensor<2xf64> {
    %z = scf.for %j = %c0 to %i step %c1 iter_args(%z = %y) -> tensor<2xf64> {
      %z0 = tensor.extract %z[%c0] : tensor<2xf64>
      %z1 = tensor.extract %z[%c1] : tensor<2xf64>
      %s = arith.addf %z0, %z1 : f64
      %p = arith.cmpf ogt, %s, %zero : f64
      %t = scf.if %p -> tensor<2xf64> {
        %a = arith.mulf %z, %z : tensor<2xf64>
        %b = arith.mulf %a, %tenth : tensor<2xf64>
        %c = arith.addf %b, %w : tensor<2xf64>
        scf.yield %c : tensor<2xf64>
      } else {
        %a = arith.mulf %z, %w : tensor<2xf64>
        %b = math.sin %a : tensor<2xf64>
        scf.yield %b : tensor<2xf64>
      }
      scf.yield %t : tensor<2xf64>
    }
    %a = arith.addf %z, %x : tensor<2xf64>
    scf.yield %a : tensor<2xf64>
  }
  return %r : tensor<2xf64>
}
"""


def _early(x):
    val, done = s(1.0), False
    for k in range(7):
        new = val * x
        val = val if done else new
        done = done or k >= 3
    return val


# What happens after the exit is computed and thrown away.
EARLY_EXIT = """
func.func private @f(%x: tensor<f64>) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  %false = arith.constant false
  %one = arith.constant 1.0 : f64
  %x0 = tensor.extract %x[] : tensor<f64>
  %r:2 = scf.for %k = %c0 to %c7 step %c1 iter_args(%v = %one, %done = %false) -> (f64, i1) {
    %n = arith.mulf %v, %x0 : f64
    %t = arith.select %done, %v, %n : f64
    %late = arith.cmpi sge, %k, %c3 : index
    %e = arith.ori %done, %late : i1
    scf.yield %t, %e : f64, i1
  }
  %s = tensor.from_elements %r#0 : tensor<f64>
  return %s : tensor<f64>
}
"""


def _recurrent(w, h, xs):
    for t in range(3):
        h = torch.tanh(h @ w + xs[t])
    return h


RECURRENT = """
func.func private @f(%w: tensor<4x4xf64>, %h: tensor<2x4xf64>, %xs: tensor<3x2x4xf64>)
    -> tensor<2x4xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %t = %c0 to %c3 step %c1 iter_args(%h0 = %h) -> tensor<2x4xf64> {
    %x = tensor.extract_slice %xs[%t, 0, 0] [1, 2, 4] [1, 1, 1]
        : tensor<3x2x4xf64> to tensor<2x4xf64>
    %a = linalg.matmul ins(%h0, %w : tensor<2x4xf64>, tensor<4x4xf64>)
        outs(%x : tensor<2x4xf64>) -> tensor<2x4xf64>
    %b = math.tanh %a : tensor<2x4xf64>
    scf.yield %b : tensor<2x4xf64>
  }
  return %r : tensor<2x4xf64>
}
"""


def _swap(x, y):
    a, b = x, y
    for _ in range(3):
        a, b = b * x, a
    return a + 2 * b


# What is yielded changes places; one value is yielded twice.
SWAP = """
func.func private @f(%x: tensor<2xf64>, %y: tensor<2xf64>) -> tensor<2xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:3 = scf.for %k = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %y, %c = %y)
      -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) {
    %p = arith.mulf %b, %x : tensor<2xf64>
    scf.yield %p, %a, %a : tensor<2xf64>, tensor<2xf64>, tensor<2xf64>
  }
  %s = arith.addf %r#0, %r#1 : tensor<2xf64>
  %t = arith.addf %s, %r#2 : tensor<2xf64>
  return %t : tensor<2xf64>
}
"""


def _long(x, h):
    for _ in range(2100):
        x = x - h * x * x
    return x


# Saving each of the states would take more than the loop is worth.
LONG = """
func.func private @f(%x: tensor<1024xf64>, %h: tensor<1024xf64>) -> tensor<1024xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 2100 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> tensor<1024xf64> {
    %a = arith.mulf %h, %y : tensor<1024xf64>
    %b = arith.mulf %a, %y : tensor<1024xf64>
    %c = arith.subf %y, %b : tensor<1024xf64>
    scf.yield %c : tensor<1024xf64>
  }
  return %r : tensor<1024xf64>
}
"""


def _branching_body(x, w):
    y = torch.where(x > 0, torch.exp(x * w), w)
    total = s(0.0)
    for k in range(3):
        total = total + (y**k * w).sum()
    return total


# Control flow in the scalar body of a structured op, with a scalar read from outside.
IN_BODY = """
func.func private @f(%x: tensor<3xf64>, %w: tensor<f64>) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %z0 = arith.constant dense<0.0> : tensor<f64>
  %e = tensor.empty() : tensor<3xf64>
  %w0 = tensor.extract %w[] : tensor<f64>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<3xf64>) outs(%e : tensor<3xf64>) {
  ^bb0(%a: f64, %o: f64):
    %p = arith.cmpf ogt, %a, %zero : f64
    %r = scf.if %p -> f64 {
      %b = arith.mulf %a, %w0 : f64
      %c = math.exp %b : f64
      scf.yield %c : f64
    } else {
      scf.yield %w0 : f64
    }
    linalg.yield %r : f64
  } -> tensor<3xf64>
  %t = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
                       iterator_types = ["reduction"]}
      ins(%y : tensor<3xf64>) outs(%z0 : tensor<f64>) {
  ^bb0(%a: f64, %o: f64):
    %r:2 = scf.for %k = %c0 to %c3 step %c1 iter_args(%u = %zero, %v = %one) -> (f64, f64) {
      %b = arith.mulf %v, %w0 : f64
      %c = arith.addf %u, %b : f64
      %d = arith.mulf %v, %a : f64
      scf.yield %c, %d : f64, f64
    }
    %n = arith.addf %o, %r#0 : f64
    linalg.yield %n : f64
  } -> tensor<f64>
  return %t : tensor<f64>
}
"""

_X, _W = d(0.3, -0.7, 1.1), d(0.9, 1.2, -0.4)


def _matrix(*shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(11)
    return torch.randn(*shape, dtype=torch.float64, generator=generator) * 0.5


PROGRAMS = [
    Program("if_true", IF, _if, (_X, _W)),
    Program("if_false", IF, _if, (-_X, _W)),
    *(Program(f"switch_{k}", SWITCH, _switch, (_X, n(k))) for k in (0, 5, 1)),
    Program("static_for", STATIC_FOR, _power, (_X, _W)),
    *(
        Program(f"dynamic_for_{k}", DYNAMIC_FOR, _strided, (s(0.8), s(0.5), n(k)))
        for k in (-4, 1, 2, 3, 8)
    ),
    Program("while", WHILE, _quadrature, (s(1.0), s(2.125))),
    Program("while_zero", WHILE, _quadrature, (s(1.0), s(0.5))),
    Program("while_before", WHILE_BEFORE, _shifting_while, (_X, _W)),
    Program("while_before_early", WHILE_BEFORE, _shifting_while, (_X * 40, _W.abs())),
    Program(
        "late_active", LATE_ACTIVE, lambda x, a, c: _late(x, a, c.detach()), (_X, s(0.5), s(4.0))
    ),
    Program("store", STORE, _store, (d(5.0, 6.0, 7.0, 8.0), d(1.0, 10.0, 100.0, 1000.0))),
    Program("overwrite", OVERWRITE, _overwrite, (d(1.0, 2.0, 3.0, 4.0),)),
    Program("passed_through", PASSED_THROUGH, _passed_through, (d(1.0, 2.0), d(2.0, 3.0, 4.0))),
    *(
        Program(f"nested_{k}", NESTED, _trips, (d(0.5, 1.5), d(0.7, -2.0), n(k)))
        for k in (0, 1, 2, 5)
    ),
    Program("early_exit", EARLY_EXIT, _early, (s(3.0),)),
    Program(
        "recurrent", RECURRENT, _recurrent, (_matrix(4, 4), _matrix(2, 4) * 2, _matrix(3, 2, 4))
    ),
    Program("in_body", IN_BODY, _branching_body, (_X, s(0.6))),
    Program(
        "long",
        LONG,
        _long,
        (torch.linspace(0.1, 1, 1024).double(), torch.full((1024,), 1e-3).double()),
    ),
    Program("swap", SWAP, _swap, (d(1.5, -0.5), d(0.25, 2.0))),
]
