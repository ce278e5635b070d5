"""What is kept between forward and backward: the report against what PyTorch is given to keep, and
checkpoints against eager PyTorch."""

from __future__ import annotations

import functools
import inspect

import pytest
import torch
from encoder import Encoder
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint as torch_checkpoint

import gradc
from gradc.frontend.ops import POLICIES


def plain(layer, x):
    return layer(x)


def with_policy(policy: str):
    return functools.partial(gradc.checkpoint, policy=policy)


def with_torch(layer, x):
    return torch_checkpoint(layer, x, use_reentrant=False)


def encoder(run, dropout: float = 0.0) -> Encoder:
    torch.manual_seed(3)
    return Encoder(run, layers=3, width=16, heads=2, dropout=dropout)


@pytest.fixture
def x() -> Tensor:
    return torch.randn(2, 16, 16, generator=torch.Generator().manual_seed(4))


def loss_and_gradients(step, model: nn.Module, x: Tensor) -> list[Tensor]:
    torch.manual_seed(5)
    loss = step(x)
    return [loss.detach(), *torch.autograd.grad(loss, list(model.parameters()))]


def kept_by_pytorch(step, x: Tensor) -> list[Tensor]:
    kept: list[Tensor] = []

    def pack(tensor: Tensor) -> Tensor:
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        step(x)
    return kept


@pytest.mark.parametrize("dropout", [0.0, 0.25])
def test_report_is_what_is_kept(x, dropout):
    model = encoder(plain, dropout)
    step = gradc.compile(model, fullgraph=True)
    step(x)
    kept, report = kept_by_pytorch(step, x), step.residuals()
    assert [(tuple(t.shape), t.dtype, t.nbytes) for t in kept] == [
        (saved.shape, saved.dtype, saved.bytes) for saved in report
    ]
    given = {t.data_ptr(): name for name, t in [("x", x), *model.named_parameters()]}
    for tensor, saved in zip(kept, report, strict=True):
        assert (saved.kind == "argument") == (tensor.data_ptr() in given)
        assert saved.allocated == (0 if saved.kind in ("argument", "result") else saved.bytes)
        if saved.kind == "argument":
            assert saved.name.endswith(given[tensor.data_ptr()].split(".", 1)[-1])
        else:
            assert saved.kind == "random" or saved.location.file == inspect.getfile(Encoder)


def allocated(step) -> int:
    return sum(saved.allocated for saved in step.residuals())


def test_checkpoints_halve_what_is_kept(x):
    found = {}
    for name, run in {
        "plain": plain,
        "torch": with_torch,
        **{policy: with_policy(policy) for policy in POLICIES},
    }.items():
        model = encoder(run)
        step = gradc.compile(model, fullgraph=True)
        found[name] = (loss_and_gradients(step, model, x), allocated(step))
    values, bytes_ = found["plain"]
    for other, _ in found.values():
        assert all(map(torch.equal, values, other))
    assert found["everything"][1] == bytes_
    assert found["nothing"][1] == found["torch"][1] < bytes_ / 4
    assert found["nothing"][1] < found["dots"][1] < bytes_
    # What is left are the inputs of the layers but the first.
    assert found["nothing"][1] == 3 * x.nbytes


def test_values_are_those_of_eager(x):
    model = encoder(plain)
    expected = loss_and_gradients(model, model, x)
    for run in (plain, with_policy("nothing"), with_policy("dots")):
        model = encoder(run)
        step = gradc.compile(model, fullgraph=True)
        first = loss_and_gradients(step, model, x)
        assert all(map(torch.equal, first, loss_and_gradients(step, model, x)))
        for actual, wanted in zip(first, expected, strict=True):
            torch.testing.assert_close(actual, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("run", [with_policy("nothing"), with_policy("dots"), with_torch])
def test_draws_are_made_once(x, run):
    model = encoder(plain, 0.25)
    expected = loss_and_gradients(model, model, x)
    model = encoder(run, 0.25)
    actual = loss_and_gradients(gradc.compile(model, fullgraph=True), model, x)
    for value, wanted in zip(actual, expected, strict=True):
        torch.testing.assert_close(value, wanted, rtol=1e-4, atol=1e-5)


def test_nested(x):
    def run(layer, x):
        return gradc.checkpoint(lambda x: gradc.checkpoint(layer, x).sin(), x)

    model = encoder(lambda layer, x: layer(x).sin())
    expected = loss_and_gradients(model, model, x)
    model = encoder(run)
    actual = loss_and_gradients(gradc.compile(model, fullgraph=True), model, x)
    for value, wanted in zip(actual, expected, strict=True):
        torch.testing.assert_close(value, wanted, rtol=1e-4, atol=1e-5)


def test_transforms_compute_again():
    def f(w, x):
        return gradc.checkpoint(lambda w: torch.exp((x @ w).sin()), w).sum()

    w, x = torch.randn(5, 5), torch.randn(3, 5)
    gradient = gradc.grad(f)
    leaf = w.clone().requires_grad_()
    (expected,) = torch.autograd.grad(torch.exp((x @ leaf).sin()).sum(), leaf)
    torch.testing.assert_close(gradient(w, x), expected)
    text = gradient.ir("differentiated")
    assert "grad.after" in text
    assert text.count("math.exp") == 2


def test_derivatives_of_derivatives():
    w, x = torch.randn(5, 5, dtype=torch.float64), torch.randn(3, 5, dtype=torch.float64)

    def f(w):
        return gradc.checkpoint(lambda w: torch.exp((x @ w).sin()) @ w, w).square().sum(0)

    def same(w):
        return (torch.exp((x @ w).sin()) @ w).square().sum(0)

    torch.testing.assert_close(gradc.jacrev(f)(w), torch.func.jacrev(same)(w))
    torch.testing.assert_close(gradc.jacfwd(f)(w), torch.func.jacfwd(same)(w))
    torch.testing.assert_close(
        gradc.hessian(lambda w: f(w).sum())(w), torch.func.hessian(lambda w: same(w).sum())(w)
    )


SHARED = {
    "writes": lambda x: torch_checkpoint(lambda t: t.sin_() * t, x * 2, use_reentrant=False),
    "view": lambda x: torch_checkpoint(lambda t: t.view(-1), x * 2, use_reentrant=False).sin(),
    "write into view": lambda x: torch_checkpoint(
        lambda t: t.view(-1), x * 2, use_reentrant=False
    ).sin_(),
}


@pytest.mark.parametrize("name", SHARED)
def test_no_function_of_values(name):
    x = torch.randn(4, requires_grad=True)
    doubled = {
        "writes": lambda t: t.sin() * t.sin(),
        "view": torch.sin,
        "write into view": torch.sin,
    }
    expected = doubled[name](x * 2)
    actual = gradc.compile(SHARED[name], fullgraph=True)(x)
    torch.testing.assert_close(actual, expected)
    torch.testing.assert_close(
        *(torch.autograd.grad(y.sum(), x)[0] for y in (actual, expected)),
    )


def test_unknown_policy():
    with pytest.raises(gradc.InputError, match="no policy 'some'"):
        gradc.checkpoint(torch.sin, torch.ones(3), policy="some")


def test_outside_of_compiled_code(x):
    model = encoder(with_policy("dots"))
    expected = encoder(plain)
    for actual, wanted in zip(
        loss_and_gradients(model, model, x), loss_and_gradients(expected, expected, x), strict=True
    ):
        torch.testing.assert_close(actual, wanted)


def test_checkpoint_whose_input_is_used_elsewhere(double):
    x = double(4, 4).requires_grad_()
    result = gradc.compile(lambda x: x + gradc.checkpoint(torch.sin, x) * x)(x)
    (found,) = torch.autograd.grad(result.sum(), x)
    torch.testing.assert_close(found, 1 + x.cos() * x + x.sin())
