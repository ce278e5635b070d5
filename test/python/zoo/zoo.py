"""Functions and modules on which every intermediate's ``requires_grad`` is held against eager
PyTorch.

Branches and loops are written with `branch` and `loop`: captured, they are ``torch.cond`` and
``torch.while_loop``; run eagerly, Python's own, whose operations autograd sees.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import encoder
import explained
import functions
import test_custom_functions
import test_modes
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch._higher_order_ops.while_loop import while_loop
from torch.utils.checkpoint import checkpoint

import gradc
from gradc import demo


@dataclass(frozen=True)
class Animal:
    """``make()`` gives what is called and the arguments of each of its runs, which take different
    ways through the branches and loops."""

    name: str
    make: Callable[[], tuple[Callable, list[tuple]]]
    #: Whether the gradient path of a value may depend on the way that is taken.
    joins: bool = False


def branch(chosen: Tensor, first: Callable, second: Callable, operands: Sequence[Tensor]) -> Any:
    if torch.compiler.is_compiling():
        return torch.cond(chosen, first, second, operands)
    return first(*operands) if chosen else second(*operands)


def loop(condition: Callable, body: Callable, carried: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    if torch.compiler.is_compiling():
        return while_loop(condition, body, carried)
    while condition(*carried):
        carried = body(*carried)
    return carried


ZOO: list[Animal] = []


def _leaf(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64).requires_grad_()


def _constant(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


# -- functions that other tests have
NAMES = (
    "where_maximum max_index slice_cat gather_rows cross_entropy layer_norm lstm_cell mlp cnn_train"
).split()


def _function(entry: functions.Function) -> tuple[Callable, list[tuple]]:
    arguments = [
        torch.randint(entry.integers[k], shape) if k in entry.integers else _leaf(*shape)
        for k, shape in enumerate(entry.shapes(3, 4))
    ]
    # What does not require grad is as likely as what does.
    arguments[-1].requires_grad_(arguments[-1].requires_grad and len(arguments) in (1, 2))
    return lambda *given: entry.call(*given), [tuple(arguments)]


ZOO += [
    Animal(entry.name, lambda entry=entry: _function(entry))
    for entry in functions.FUNCTIONS
    if entry.name in NAMES
]
ZOO += [
    Animal(name, lambda form=form: (form, [(test_modes._values().requires_grad_(),)]))
    for name, form in test_modes.FORMS.items()
]


# -- models
def _demo():
    labels = torch.randint(10, (4,))
    return demo.Loss(demo.DigitNet()), [(torch.rand(4, 1, 8, 8), labels)]


def _block():
    return explained.Block(), [(torch.randint(11, (3, 4)), torch.randint(8, (3,)))]


def _step():
    return explained.step, [(_leaf(4, 4), _leaf(4), _constant(3, 4), torch.tensor(2))]


def _transformer():
    return encoder.Layer(16, 2).double(), [(_constant(2, 3, 16),)]


class Recurrent(nn.Module):
    """A cell unrolled, truncated in the middle."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(3, 4)

    def forward(self, steps: Tensor) -> Tensor:
        state = (steps.new_zeros(2, 4), steps.new_zeros(2, 4))
        for number, x in enumerate(steps):
            hidden, memory = self.cell(x, state)
            state = (hidden, memory.detach() if number == 0 else memory)
        return state[0].sum()


class Normed(nn.Module):
    """Running statistics, and an average of weights that follows them."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.weight = nn.Parameter(torch.randn(4))
        self.register_buffer("average", torch.zeros(4))

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(x) * self.weight
        with torch.no_grad():
            self.average.mul_(0.9)
            self.average.add_(self.weight * 0.1)
        return (y - self.average).square().mean()


class Frozen(nn.Module):
    """A frozen body, a trained head and a teacher that is run without gradients."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 4))
        self.body.requires_grad_(False)
        self.head = nn.Linear(4, 2)
        self.teacher = nn.Linear(3, 2)

    @torch.no_grad()
    def target(self, x: Tensor) -> Tensor:
        logits = self.teacher(x)
        return logits.softmax(-1)

    def forward(self, x: Tensor) -> Tensor:
        features = self.body(x)
        logits = self.head(features)
        return F.cross_entropy(logits, self.target(x))


ZOO += [
    Animal("demo", _demo),
    Animal("barriers", lambda: (explained.Barriers(), [(torch.randn(5, 6),)])),
    Animal("block", _block),
    Animal("step", _step),
    Animal("transformer_layer", _transformer),
    Animal("recurrent", lambda: (Recurrent(), [(torch.randn(2, 2, 3),)])),
    Animal("normed", lambda: (Normed(), [(torch.randn(5, 4),)])),
    Animal("frozen", lambda: (Frozen(), [(torch.randn(5, 3),)])),
]


# -- gradients that are written by hand
def custom_functions(x: Tensor, y: Tensor) -> Tensor:
    cube = test_custom_functions.Cube.apply(x, 2.0)
    rounded = test_custom_functions.Rounded.apply(y)
    product, total, largest = test_custom_functions.Pair.apply(cube, rounded)
    with torch.no_grad():
        level = test_custom_functions.Exponential.apply(product)
    return product * level + total + largest


def checkpoints(x: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    def block(v, w):
        scale = v.detach().abs()
        hidden = v @ w
        return hidden.tanh() / scale.sum(), scale * 2

    first, scale = checkpoint(block, x, w, use_reentrant=False)
    second, _ = gradc.checkpoint(block, first, w)
    return second * scale, scale


def writes(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    total = torch.zeros_like(x)
    total[0] = y[1]
    total[:, 1:].mul_(2)
    early = total.sum()
    total.add_(x.detach())
    with torch.no_grad():
        copy = total.clone()
        copy[1].add_(y[0])
    row = total[2]
    row += x[0]
    flags = total > 0
    total.masked_fill_(flags, 0.5)
    fresh = torch.empty_like(x)
    fresh.copy_(y)
    fresh.zero_()
    return total, early + fresh.sum(), copy


def views(x: Tensor, y: Tensor) -> Tensor:
    flat = x.detach().view(-1)
    head, tail = x.chunk(2, 1)
    rows = y.unbind(0)
    with torch.no_grad():
        turned = y.t()
        rest = turned[1:] * 2
    joined = torch.cat([head, rows[0][None, :2].expand(3, 2)])
    halves = flat.unfold(0, 4, 4)
    return joined.sum() * tail.sum() + rest.sum() * halves.sum()


ZOO += [
    Animal("custom_functions", lambda: (custom_functions, [(_leaf(3), _leaf(3))])),
    Animal("checkpoints", lambda: (checkpoints, [(_leaf(3, 3), _leaf(3, 3))])),
    Animal("writes", lambda: (writes, [(_leaf(3, 4), _leaf(3, 4))])),
    Animal("views", lambda: (views, [(_leaf(3, 4), _leaf(3, 4))])),
]


# -- branches and loops
def two_ways(x: Tensor, w: Tensor) -> Tensor:
    level = x.sum()

    def first(a, b):
        c = a * b
        d = c.detach()
        return c * d

    def second(a, b):
        e = a.sin()
        return e * e

    y = branch(level > 0, first, second, (x, w))
    return y * 2


def path_on_one_side(x: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    def first(a, b):
        with torch.no_grad():
            c = a * b
        return c * 2, a.detach() + 1

    def second(a, b):
        d = a + b
        return d.exp(), b * 1.5

    y, z = branch(w.sum() > 0, first, second, (x, w))
    mixed = y * z
    with torch.no_grad():
        norm = y.norm()
    return mixed / norm, z * 2


def path_on_no_side(x: Tensor, w: Tensor) -> Tensor:
    def first(a, b):
        c = a.detach()
        return c * b

    def second(a, b):
        with torch.no_grad():
            d = a.exp()
        return d + b

    y = branch(w.sum() > 0, first, second, (x, w))
    z = y.tanh()
    return z + x


def branch_in_branch(x: Tensor, w: Tensor) -> Tensor:
    def inner(a, b):
        c = a * 2

        def deep(v):
            e = v.exp()
            return e * b

        def other(v):
            f = v.detach()
            return f * b

        return branch(b[0] > 0, deep, other, (c,))

    def outer(a, b):
        return a + b

    y = branch(w.sum() > 0, inner, outer, (x, w))
    return y.sum()


def power_iteration(x: Tensor, w: Tensor, count: Tensor) -> Tensor:
    def body(i, y, z):
        scaled = y / y.detach().norm()
        product = w @ scaled
        with torch.no_grad():
            level = product.norm()
        return i + 1, product + x, z + level

    start = torch.zeros((), dtype=torch.int64)
    level = torch.ones((), dtype=torch.float64)
    guess = x.detach() + 1
    _, y, z = loop(lambda i, y, z: i < count, body, (start, guess, level))
    return (y * z).sum()


def becomes_active_later(x: Tensor, count: Tensor) -> tuple[Tensor, Tensor]:
    """A gradient enters ``c`` in the first turn, ``b`` in the second, ``a`` in the third."""

    def body(i, a, b, c, fixed):
        d = b * 2
        e = c.sin()
        f = c * x
        return i + 1, d.clone(), e.clone(), f.clone(), fixed * 0.5

    start = torch.zeros((), dtype=torch.int64)
    one = torch.ones(3, dtype=torch.float64)
    carried = (start, one.clone(), one.clone(), one.clone(), one.clone())
    _, a, b, c, fixed = loop(lambda i, *_: i < count, body, carried)
    return a + b + c, fixed * 2


def branch_in_loop(x: Tensor, w: Tensor, count: Tensor) -> Tensor:
    def body(i, y):
        def later(v):
            return v * x

        def first(v):
            return v.detach() * 2

        z = branch(i > 0, later, first, (y,))
        return i + 1, z.tanh()

    start = torch.zeros((), dtype=torch.int64)
    y = x * w
    _, y = loop(lambda i, y: i < count, body, (start, y))
    return y.sum()


def _ways(function: Callable) -> Callable:
    def make():
        x, w = _leaf(3), _constant(3).abs()
        return function, [(x, w), (x, -w), (x, w * torch.tensor([-0.1, 1, 1]))]

    return make


def _both_leaves(function: Callable) -> Callable:
    def make():
        x, w = _constant(3).abs().requires_grad_(), _leaf(3)
        return function, [(x, w), (x.detach().neg().requires_grad_(), w)]

    return make


def _counts(function: Callable, *leaves: Callable[[], Tensor]) -> Callable:
    def make():
        tensors = [leaf() for leaf in leaves]
        return function, [(*tensors, torch.tensor(count)) for count in (0, 1, 2, 4)]

    return make


ZOO += [
    Animal("two_ways", _both_leaves(two_ways), joins=True),
    Animal("path_on_one_side", _ways(path_on_one_side), joins=True),
    Animal("path_on_no_side", _ways(path_on_no_side), joins=True),
    Animal("branch_in_branch", _ways(branch_in_branch), joins=True),
    Animal(
        "power_iteration",
        _counts(power_iteration, lambda: _leaf(3), lambda: _leaf(3, 3)),
        joins=True,
    ),
    Animal("becomes_active_later", _counts(becomes_active_later, lambda: _leaf(3)), joins=True),
    Animal(
        "branch_in_loop",
        _counts(branch_in_loop, lambda: _leaf(3), lambda: _constant(3)),
        joins=True,
    ),
]
