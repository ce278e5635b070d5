"""Compiled functions on PyTorch's tape behave as eager ones do."""

from __future__ import annotations

import threading

import pytest
import torch
from torch import nn

import gradc


def test_backend_is_found_by_name(double):
    x = double(3).requires_grad_()
    torch.compile(lambda x: (x * x).sum(), backend="gradc", dynamic=False, fullgraph=True)(
        x
    ).backward()
    torch.testing.assert_close(x.grad, 2 * x.detach())


def test_backend_refuses_options(double):
    compiled = torch.compile(lambda x: x * 2, backend="gradc", options={"max_autotune": True})
    with pytest.raises(
        Exception, match=r"the gradc backend takes no options, got options=.*max_autotune"
    ):
        compiled(double(3))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_two_forwards_before_two_backwards(double, order):
    compiled = gradc.compile(lambda x, w: torch.tanh(x * w).exp().sum())
    w = double(50)
    xs = [double(50).requires_grad_(), double(50).requires_grad_()]
    losses = [compiled(x, w) for x in xs]
    for n in order:
        losses[n].backward()
    for x in xs:
        leaf = x.detach().requires_grad_()
        torch.tanh(leaf * w).exp().sum().backward()
        torch.testing.assert_close(x.grad, leaf.grad)


def test_outputs_of_two_calls_are_apart(double):
    compiled = gradc.compile(lambda x: x * 2)
    x = double(8)
    first = compiled(x)
    kept = first.clone()
    compiled(x + 1)
    assert torch.equal(first, kept)
    assert first.data_ptr() != x.data_ptr()


def test_retain_graph_and_freed_buffers(double):
    x = double(6).requires_grad_()
    loss = gradc.compile(lambda x: (x.exp() * x).sum())(x)
    once = torch.autograd.grad(loss, x, retain_graph=True)[0]
    assert torch.equal(torch.autograd.grad(loss, x)[0], once)
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        torch.autograd.grad(loss, x)


def test_change_in_place_before_backward_is_noticed(double):
    x = double(6).requires_grad_()
    scale = double(6)
    loss = gradc.compile(lambda x, s: (x * s).sum())(x, scale)
    scale.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_threads(double):
    compiled = gradc.compile(lambda x: (torch.sin(x) * x).sum())
    inputs = [double(1000) for _ in range(8)]
    found: list[torch.Tensor | None] = [None] * len(inputs)

    def work(n: int) -> None:
        for _ in range(5):
            x = inputs[n].clone().requires_grad_()
            compiled(x).backward()
            found[n] = x.grad

    threads = [threading.Thread(target=work, args=(n,)) for n in range(len(inputs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for x, gradient in zip(inputs, found, strict=True):
        torch.testing.assert_close(gradient, x.cos() * x + x.sin())


def test_no_path_gives_none(double):
    x, y = double(3).requires_grad_(), double(3).requires_grad_()
    loss = gradc.compile(lambda x, y: (x * y.detach()).sum())(x, y)
    gx, gy = torch.autograd.grad(loss, (x, y), allow_unused=True)
    torch.testing.assert_close(gx, y.detach())
    assert gy is None


def test_connected_zero_gradient_is_zeros(double):
    x = double(3).requires_grad_()
    (gx,) = torch.autograd.grad(gradc.compile(lambda x: x.floor().sum())(x), x)
    assert torch.equal(gx, torch.zeros(3, dtype=torch.float64))


def test_outputs_without_gradient_do_not_require_it(double):
    def f(x, y):
        with torch.no_grad():
            frozen = x * 2
        return x * y, frozen, x.detach() + 1, y * 3, (x > 0)

    outputs = gradc.compile(f)(double(3).requires_grad_(), double(3))
    assert [out.requires_grad for out in outputs] == [True, False, False, False, False]


def test_only_one_of_several_outputs_is_used(double):
    x = double(3).requires_grad_()
    a, _b = gradc.compile(lambda x: (x.exp(), x.sin()))(x)
    a.sum().backward()
    torch.testing.assert_close(x.grad, x.detach().exp())


def test_inputs_and_repetitions_keep_their_identity(double):
    def f(x, y):
        product = x * y
        return product, x, product, 3, None

    x, y = double(3).requires_grad_(), double(3)
    first, same, again, three, nothing = gradc.compile(f)(x, y)
    assert same is x and first is again and three == 3 and nothing is None
    (first + again).sum().backward()
    torch.testing.assert_close(x.grad, 2 * y)


def test_same_tensor_passed_twice(double):
    x = double(3).requires_grad_()
    gradc.compile(lambda a, b: (a * a * b).sum())(x, x).backward()
    torch.testing.assert_close(x.grad, 3 * x.detach() ** 2)


def test_views_and_strides(double):
    base = double(6, 4)
    cases = [base.t(), base[::2], base[1:, 1:], base[:1].expand(5, 4), base.flip(0).t()]
    compiled = gradc.compile(lambda x: (x.exp() * 2).sum(0))
    for view in cases:
        x = view.detach().requires_grad_()
        compiled(x).sum().backward()
        torch.testing.assert_close(x.grad, 2 * view.exp())


def test_expanded_cotangent(double):
    x = double(3, 4).requires_grad_()
    gradc.compile(lambda x: x.t() * 2)(x).backward(
        torch.ones(1, 1, dtype=torch.float64).expand(4, 3)
    )
    assert torch.equal(x.grad, torch.full((3, 4), 2.0, dtype=torch.float64))


def test_buffers_are_written_back():
    torch.manual_seed(0)
    eager = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)).double()
    model = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)).double()
    model.load_state_dict(eager.state_dict())
    compiled = gradc.compile(model)
    x = torch.randn(5, 4, dtype=torch.float64)
    version = model[1].running_mean._version
    for module in (eager, compiled):
        module(x).pow(2).sum().backward()
    assert model[1].running_mean._version > version
    for mine, theirs in zip(model.buffers(), eager.buffers(), strict=True):
        torch.testing.assert_close(mine, theirs)
        assert not mine.requires_grad
    for mine, theirs in zip(model.parameters(), eager.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, theirs.grad)
    model.eval(), eager.eval()
    torch.testing.assert_close(compiled(x), eager(x))


def test_write_into_an_argument(double):
    def f(x, log):
        log.add_(x.detach())
        return (x * log).sum()

    x, log = double(3).requires_grad_(), double(3)
    wanted = log + x.detach()
    gradc.compile(f)(x, log).backward()
    torch.testing.assert_close(log, wanted)
    torch.testing.assert_close(x.grad, wanted)


def test_write_that_carries_a_gradient(double):
    def f(x, out):
        out.mul_(x)
        return out

    x, start = double(3).requires_grad_(), double(3)
    out = start.clone()
    result = gradc.compile(f)(x, out)
    assert result is out and out.requires_grad
    out.sum().backward()
    torch.testing.assert_close(x.grad, start)


def test_update_of_a_leaf_under_no_grad(double):
    def step(w, g):
        with torch.no_grad():
            w.sub_(0.1 * g)
        return (w * w).sum()

    w, g = double(3).requires_grad_(), double(3)
    wanted = w.detach() - 0.1 * g
    gradc.compile(step)(w, g).backward()
    assert w.is_leaf
    torch.testing.assert_close(w.detach(), wanted)
    torch.testing.assert_close(w.grad, 2 * wanted)


def test_frozen_parameters(double):
    model = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 2)).double()
    model[0].requires_grad_(False)
    compiled = gradc.compile(model)
    x = double(3, 4)
    compiled(x).sum().backward()
    assert model[0].weight.grad is None and model[2].weight.grad is not None
    # Frozen after the first call: the flag is part of the signature.
    model[2].requires_grad_(False)
    assert not compiled(x).requires_grad
    assert "requires_grad>" not in compiled.ir("inferred")


def test_tied_weights_are_summed(double):
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(3, 3, bias=False).double()
            self.second = nn.Linear(3, 3, bias=False).double()
            self.second.weight = self.first.weight

        def forward(self, x):
            return self.second(torch.tanh(self.first(x)))

    model, x = Tied(), double(2, 3)
    gradc.compile(model)(x).sum().backward()
    mine = model.first.weight.grad.clone()
    model.zero_grad()
    model(x).sum().backward()
    torch.testing.assert_close(mine, model.first.weight.grad)


def test_graph_break_is_crossed(double):
    def f(x):
        y = x.exp()
        torch._dynamo.graph_break()
        return (y * x).sum()

    x = double(3).requires_grad_()
    gradc.compile(f)(x).backward()
    torch.testing.assert_close(x.grad, x.detach().exp() * (x.detach() + 1))


def test_in_place_across_a_graph_break(double):
    def f(x):
        y = x * x
        torch._dynamo.graph_break()
        y.mul_(2)
        return y.sum()

    x = double(3).requires_grad_()
    gradc.compile(f)(x).backward()
    torch.testing.assert_close(x.grad, 4 * x.detach())


def test_grad_mode_around_the_call(double):
    compiled = gradc.compile(lambda x: x * 2)
    x = double(3).requires_grad_()
    with torch.no_grad():
        assert not compiled(x).requires_grad
    with torch.inference_mode():
        assert not compiled(x).requires_grad
    assert compiled(x).requires_grad


def test_enable_grad_inside_no_grad(double):
    def f(x):
        constant = x * 3
        with torch.enable_grad():
            return constant, x * 2

    x = double(3).requires_grad_()
    with torch.no_grad():
        constant, value = gradc.compile(f)(x)
    assert not constant.requires_grad
    (gradient,) = torch.autograd.grad(value.sum(), x)
    assert torch.equal(gradient, torch.full((3,), 2.0, dtype=torch.float64))


def test_dropout_draws_what_eager_draws(double):
    x = double(100).requires_grad_()

    def f(x):
        return torch.nn.functional.dropout(x, 0.5) * x

    compiled = gradc.compile(f)
    for call in (f, compiled):
        torch.manual_seed(5)
        out = call(x)
        (gradient,) = torch.autograd.grad(out.sum(), x)
        if call is f:
            wanted = (out.detach(), gradient)
    torch.testing.assert_close((out.detach(), gradient), wanted)


def test_same_step_twice_gives_the_same_bits():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.LayerNorm(64), nn.Linear(64, 10))
    compiled = gradc.compile(model)
    x, labels = torch.randn(32, 64), torch.randint(10, (32,))
    runs = []
    for _ in range(2):
        model.zero_grad()
        nn.functional.cross_entropy(compiled(x), labels).backward()
        runs.append([p.grad.clone() for p in model.parameters()])
    assert all(torch.equal(a, b) for a, b in zip(*runs, strict=True))


def _gradients(f, outputs, *inputs):
    """The gradients of the results ``outputs`` of ``f``, each None without a path."""
    results = f(*inputs)
    loss = sum(results[k].sum() for k in outputs)
    return torch.autograd.grad(loss, inputs, allow_unused=True)


@pytest.mark.parametrize("outputs", [(0,), (1,), (2,), (0, 2), (1, 2)])
@pytest.mark.parametrize("create_graph", [False, True])
def test_results_that_are_not_used_leave_no_gradient(double, outputs, create_graph):
    def f(x, y, z):
        return x.exp() * y, (y * z.detach()).sin(), z.floor()

    inputs = [double(3).requires_grad_() for _ in range(3)]
    found, wanted = [], []
    for g, into in ((gradc.compile(f), found), (f, wanted)):
        results = g(*inputs)
        loss = sum(results[k].sum() for k in outputs)
        into += torch.autograd.grad(loss, inputs, allow_unused=True, create_graph=create_graph)
    assert [g is None for g in found] == [g is None for g in wanted]
    for mine, theirs in zip(found, wanted, strict=True):
        if theirs is not None:
            torch.testing.assert_close(mine, theirs)


def test_results_that_are_not_used_leave_no_nan(double):
    # The derivative of the square root at 0 is infinite: zero times it would be NaN.
    def f(x, y):
        return x.exp() * y, x.sqrt() * y

    x, y = torch.tensor([0.0, 1.0, 4.0], dtype=torch.double), double(3)
    inputs = x.requires_grad_(), y.requires_grad_()
    found, wanted = _gradients(gradc.compile(f), [0], *inputs), _gradients(f, [0], *inputs)
    assert all(g.isfinite().all() for g in wanted)
    torch.testing.assert_close(found, wanted)


class Scaled(torch.autograd.Function):
    """A product whose second factor gets no gradient."""

    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(factor)
        return x * factor

    @staticmethod
    def backward(ctx, cotangent):
        (factor,) = ctx.saved_tensors
        return cotangent * factor, None


def test_none_from_a_rule_is_none_on_the_tape(double):
    def f(x, y, z):
        return Scaled.apply(x, y.exp()) + Scaled.apply(z, x.sin())

    inputs = [double(3).requires_grad_() for _ in range(3)]
    found = _gradients(gradc.compile(f), [...], *inputs)
    wanted = _gradients(f, [...], *inputs)
    assert found[1] is None and wanted[1] is None
    torch.testing.assert_close((found[0], found[2]), (wanted[0], wanted[2]))
    gx, gy, gz = gradc.grad(lambda *xs: f(*xs).sum(), argnums=(0, 1, 2))(*inputs)
    torch.testing.assert_close((gx, gy, gz), (wanted[0], torch.zeros_like(gy), wanted[2]))


def test_none_from_a_custom_vjp_is_none_on_the_tape(double):
    @gradc.custom_vjp
    def scaled(x, factor):
        return x * factor

    scaled.defvjp(lambda x, f: (x * f, f), lambda f, cotangent: (cotangent * f, None))
    x, y = double(3).requires_grad_(), double(3).requires_grad_()
    gx, gy = _gradients(gradc.compile(lambda x, y: scaled(x, y)), [...], x, y)
    torch.testing.assert_close(gx, y.detach())
    assert gy is None
