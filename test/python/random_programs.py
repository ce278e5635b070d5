"""Random programs with barriers, branches and loops, as MLIR text and as numpy.

The numpy side is run with complex numbers: a step of 1e-20 along the imaginary axis gives the
derivative to the last bit (complex-step differentiation), and a barrier is the real part, which is
its value at the base point.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

N = 3
TYPES = {"v": f"tensor<{N}xf64>", "m": f"tensor<{N}x{N}xf64>"}
STEP = 1e-20

UNARY: dict[str, Callable] = {
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "exp": lambda x: np.exp(np.tanh(x)),
    "negf": lambda x: -x,
}
BINARY: dict[str, Callable] = {
    "addf": lambda x, y: x + y,
    "subf": lambda x, y: x - y,
    "mulf": lambda x, y: x * y,
}


def _stopped(x: np.ndarray) -> np.ndarray:
    return x.real + 0j


@dataclass
class Step:
    """``target = op(sources)``; branches and loops have bodies."""

    op: str
    target: str
    kind: str
    sources: list[str]
    bodies: list[Body] = field(default_factory=list)
    trips: int = 0


@dataclass
class Body:
    steps: list[Step]
    result: str


class Program:
    """``@f(%x: vector, %w: matrix) -> scalar``, with ``count`` random steps."""

    def __init__(self, seed: int, count: int) -> None:
        self.choose = random.Random(seed)
        self._next = 0
        known = {"x": "v", "w": "m"}
        self.body = self._body(known, count, depth=0)
        self.kind = known[self.body.result]

    def _name(self) -> str:
        self._next += 1
        return f"t{self._next}"

    def _body(self, known: dict[str, str], count: int, depth: int) -> Body:
        steps = []
        for _ in range(count):
            steps.append(self._step(known, depth))
            known[steps[-1].target] = steps[-1].kind
        return Body(steps, steps[-1].target)

    def _pick(self, known: dict[str, str], kind: str) -> str:
        # Late values are read more often, so that programs are deep.
        names = [name for name, k in known.items() if k == kind]
        return names[-1] if self.choose.random() < 0.5 else self.choose.choice(names)

    def _step(self, known: dict[str, str], depth: int) -> Step:
        kind = self.choose.choice("vvm")
        weights = {"unary": 4, "binary": 5, "stop": 1, "value_of": 1, "matvec": 1, "matmul": 1}
        weights |= {"sum": 1, "spread": 1, "transpose": 1}
        if depth < 2:
            weights |= {"if": 1, "for": 1}
        op = self.choose.choices(list(weights), list(weights.values()))[0]
        kind = {"matvec": "v", "matmul": "m", "sum": "v", "spread": "m", "transpose": "m"}.get(
            op, kind
        )
        pick = lambda k: self._pick(known, k)  # noqa: E731
        if op == "unary":
            return Step(self.choose.choice(list(UNARY)), self._name(), kind, [pick(kind)])
        if op == "binary":
            name = self.choose.choice(list(BINARY))
            return Step(name, self._name(), kind, [pick(kind), pick(kind)])
        if op == "if":
            bodies = [
                self._body(dict(known), self.choose.randint(1, 3), depth + 1) for _ in range(2)
            ]
            return self._branch(known, bodies)
        if op == "for":
            carried = self._name()
            inner = {**known, carried: kind}
            body = self._body(inner, self.choose.randint(1, 3), depth + 1)
            if inner[body.result] != kind:
                body.steps.append(Step("negf", self._name(), kind, [carried]))
                body.result = body.steps[-1].target
            trips = self.choose.randint(0, 3)
            return Step(op, self._name(), kind, [pick(kind), carried], [body], trips)
        sources = {"value_of": kind * 2, "matvec": "mv", "matmul": "mm", "sum": "m"}
        wanted = sources.get(op) or {"spread": "v", "transpose": "m"}.get(op, kind)
        return Step(op, self._name(), kind, [pick(k) for k in wanted])

    def _branch(self, known: dict[str, str], bodies: list[Body]) -> Step:
        kind = "v"
        for body in bodies:
            inside = {step.target: step.kind for step in body.steps}
            if inside[body.result] != kind:
                body.steps.append(Step("sum", self._name(), kind, [body.result]))
                body.result = body.steps[-1].target
        return Step("if", self._name(), kind, [self._pick(known, kind)], bodies)

    # -- numpy
    def run(self, x: np.ndarray, w: np.ndarray) -> complex:
        """The value at complex ``x`` and ``w``."""
        return _run(self.body, {"x": x, "w": w}).sum()

    # -- MLIR
    def text(self) -> str:
        """``@f`` and what is made of it: ``@vjp``, ``@jvp`` and ``@hvp``."""
        result = TYPES[self.kind]
        lines = _text(self.body, "  ")
        reduced = "[0, 1]" if self.kind == "m" else "[0]"
        v, m = TYPES["v"], TYPES["m"]
        arguments = f"%x: {v}, %w: {m}"
        both, four = f"{v}, {m}", f"{v}, {m}, {v}, {m}"
        return f"""
func.func private @f({arguments}) -> tensor<f64> {{
  %zero = arith.constant dense<0.0> : tensor<f64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant 0.0 : f64
{lines}
  %r = linalg.reduce ins(%{self.body.result} : {result}) outs(%zero : tensor<f64>)
      dimensions = {reduced} (%a: f64, %b: f64) {{
    %s = arith.addf %a, %b : f64
    linalg.yield %s : f64
  }}
  return %r : tensor<f64>
}}
func.func @gradient({arguments}) -> (tensor<f64>, {both}) {{
  %one = arith.constant dense<1.0> : tensor<f64>
  %r:3 = grad.vjp @f(%x, %w) cotangents(%one) wrt [0, 1]
      : ({both}, tensor<f64>) -> (tensor<f64>, {both})
  return %r#0, %r#1, %r#2 : tensor<f64>, {both}
}}
func.func @tangent({arguments}, %dx: {v}, %dw: {m}) -> (tensor<f64>, tensor<f64>) {{
  %r:2 = grad.jvp @f(%x, %w) tangents(%dx, %dw) wrt [0, 1]
      : ({four}) -> (tensor<f64>, tensor<f64>)
  return %r#0, %r#1 : tensor<f64>, tensor<f64>
}}
func.func @product({arguments}, %dx: {v}, %dw: {m}) -> ({both}) {{
  %r:6 = grad.jvp @gradient(%x, %w) tangents(%dx, %dw) wrt [0, 1]
      : ({four}) -> (tensor<f64>, {both}, tensor<f64>, {both})
  return %r#4, %r#5 : {both}
}}
"""


def _run(body: Body, known: dict[str, np.ndarray]) -> np.ndarray:
    known = dict(known)
    for step in body.steps:
        known[step.target] = _value(step, known)
    return known[body.result]


def _value(step: Step, known: dict[str, np.ndarray]) -> np.ndarray:
    if step.op == "for":
        value = known[step.sources[0]]
        for _ in range(step.trips):
            value = _run(step.bodies[0], {**known, step.sources[1]: value})
        return value
    read = [known[name] for name in step.sources]
    if step.op in UNARY:
        return UNARY[step.op](*read)
    if step.op in BINARY:
        return BINARY[step.op](*read)
    if step.op == "if":
        return _run(step.bodies[0 if read[0][0].real > 0 else 1], known)
    return {
        "stop": _stopped,
        "value_of": lambda a, b: a.real + 1j * b.imag,
        "matvec": lambda a, b: a @ b / N,
        "matmul": lambda a, b: a @ b / N,
        "sum": lambda a: a.sum(1) / N,
        "spread": lambda a: np.broadcast_to(a[:, None], (N, N)) + 0j,
        "transpose": lambda a: a.T,
    }[step.op](*read)


def _text(body: Body, indent: str) -> str:
    return "\n".join(indent + line for step in body.steps for line in _lines(step))


def _lines(step: Step) -> list[str]:
    kind, t = TYPES[step.kind], step.target
    s = [f"%{name}" for name in step.sources]
    v, m = TYPES["v"], TYPES["m"]
    if step.op == "exp":  # bounded, so that long programs stay finite
        return [f"%{t}_h = math.tanh {s[0]} : {kind}", f"%{t} = math.exp %{t}_h : {kind}"]
    if step.op in UNARY:
        dialect = "arith" if step.op == "negf" else "math"
        return [f"%{t} = {dialect}.{step.op} {s[0]} : {kind}"]
    if step.op in BINARY:
        return [f"%{t} = arith.{step.op} {s[0]}, {s[1]} : {kind}"]
    if step.op == "stop":
        return [f"%{t} = grad.stop_gradient {s[0]} : {kind} -> {kind}"]
    if step.op == "value_of":
        return [f"%{t} = grad.value_of {s[0]}, {s[1]} : {kind}, {kind} -> {kind}"]
    if step.op in ("matvec", "matmul"):
        right = v if step.op == "matvec" else m
        return [
            f"%{t}_z = arith.constant dense<0.0> : {kind}",
            f"%{t}_p = linalg.{step.op} ins({s[0]}, {s[1]} : {m}, {right}) "
            f"outs(%{t}_z : {kind}) -> {kind}",
            *_scaled(t, kind),
        ]
    if step.op == "sum":
        return [
            f"%{t}_z = arith.constant dense<0.0> : {v}",
            f"%{t}_p = linalg.reduce ins({s[0]} : {m}) outs(%{t}_z : {v}) dimensions = [1] "
            "(%a: f64, %b: f64) {",
            "  %s = arith.addf %a, %b : f64",
            "  linalg.yield %s : f64",
            "}",
            *_scaled(t, kind),
        ]
    if step.op == "spread":
        return [
            f"%{t}_e = tensor.empty() : {m}",
            f"%{t} = linalg.broadcast ins({s[0]} : {v}) outs(%{t}_e : {m}) dimensions = [1]",
        ]
    if step.op == "transpose":
        return [
            f"%{t}_e = tensor.empty() : {m}",
            f"%{t} = linalg.transpose ins({s[0]} : {m}) outs(%{t}_e : {m}) permutation = [1, 0]",
        ]
    inner = [_text(body, "  ").split("\n") for body in step.bodies]
    if step.op == "if":
        return [
            f"%{t}_c = tensor.extract {s[0]}[%c0] : {v}",
            f"%{t}_p = arith.cmpf ogt, %{t}_c, %none : f64",
            f"%{t} = scf.if %{t}_p -> {kind} {{",
            *inner[0],
            f"  scf.yield %{step.bodies[0].result} : {kind}",
            "} else {",
            *inner[1],
            f"  scf.yield %{step.bodies[1].result} : {kind}",
            "}",
        ]
    return [
        f"%{t}_n = arith.constant {step.trips} : index",
        f"%{t} = scf.for %{t}_i = %c0 to %{t}_n step %c1 iter_args({s[1]} = {s[0]}) -> ({kind}) {{",
        *inner[0],
        f"  scf.yield %{step.bodies[0].result} : {kind}",
        "}",
    ]


def _scaled(t: str, kind: str) -> list[str]:
    return [
        f"%{t}_k = arith.constant dense<{float(N)}> : {kind}",
        f"%{t} = arith.divf %{t}_p, %{t}_k : {kind}",
    ]
