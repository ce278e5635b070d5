"""Native code produced every gradient: PyTorch's derivatives raise while gradc works."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from unittest import mock

import pytest
import torch
import torch._functorch.aot_autograd as aot
from torch._functorch._aot_autograd import graph_capture, graph_capture_wrappers
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

import gradc

FORBIDDEN = [
    (torch.autograd, "_engine_run_backward"),
    (torch.func, "grad"),
    (torch.func, "grad_and_value"),
    (torch.func, "vjp"),
    (torch.func, "jvp"),
    (torch.func, "linearize"),
    (torch._functorch.eager_transforms, "vjp"),
    (torch._functorch.eager_transforms, "_autograd_grad"),
    (aot, "aot_function"),
    (aot, "aot_module"),
    (aot, "aot_module_simplified"),
    (graph_capture_wrappers, "create_joint"),
    (graph_capture, "create_joint"),
]

#: What a backward pass may do besides running native code: make, copy and hand over memory.
MEMORY_OPS = {
    "aten::empty.memory_format", "aten::detach", "aten::ones_like", "aten::zeros", "aten::clone",
    "aten::copy_", "aten::view", "aten::expand", "aten::empty_like", "aten::fill_.Scalar",
    "aten::new_empty_strided", "aten::zero_", "aten::alias",
}  # fmt: skip


@contextmanager
def derivatives_raise():
    with ExitStack() as stack:
        for owner, name in FORBIDDEN:
            error = AssertionError(f"{owner.__name__}.{name} was called")
            stack.enter_context(mock.patch.object(owner, name, side_effect=error))
        yield


class Recorder(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.add(func.name())
        return func(*args, **(kwargs or {}))


def tape_nodes(tensor: torch.Tensor) -> set[str]:
    seen, pending = set(), [tensor.grad_fn]
    while pending:
        node = pending.pop()
        if node is not None and node not in seen:
            seen.add(node)
            pending += [following for following, _ in node.next_functions]
    return {node.name() for node in seen}


def loss(x, w, b, labels):
    hidden = F.layer_norm(torch.tanh(x @ w + b), (5,))
    return F.cross_entropy(hidden, labels)


@pytest.fixture
def arguments(double):
    return double(4, 3), double(3, 5), double(5), torch.tensor([0, 1, 4, 2])


def test_the_guard_catches_pytorch(arguments):
    x = arguments[0].requires_grad_()
    with (
        derivatives_raise(),
        pytest.raises(AssertionError, match="_engine_run_backward was called"),
    ):
        loss(x, *arguments[1:]).backward()
    with derivatives_raise(), pytest.raises(AssertionError, match="was called"):
        torch.func.grad(loss)(*arguments)
    recorder = Recorder()
    with recorder:
        loss(x, *arguments[1:]).backward()
    assert not recorder.names <= MEMORY_OPS


def test_transforms(arguments):
    wanted = torch.func.grad(loss, argnums=(0, 1, 2))(*arguments)
    with derivatives_raise():
        actual = gradc.grad(loss, argnums=(0, 1, 2))(*arguments)
        _, pullback = gradc.vjp(lambda x, w, b: loss(x, w, b, arguments[3]), *arguments[:3])
        pulled = pullback(torch.ones((), dtype=torch.float64))
    torch.testing.assert_close(actual, wanted)
    torch.testing.assert_close(pulled, wanted)


def test_tape(arguments):
    leaves = [x.detach().requires_grad_(x.is_floating_point()) for x in arguments]
    with derivatives_raise():
        value = gradc.compile(loss, fullgraph=True)(*leaves)
    # All that PyTorch has to walk is our one function and the leaves.
    assert tape_nodes(value) == {"NativeFunctionBackward", "torch::autograd::AccumulateGrad"}
    recorder = Recorder()
    with recorder:
        value.backward()
    assert recorder.names <= MEMORY_OPS
    wanted = torch.func.grad(loss, argnums=(0, 1, 2))(*arguments)
    torch.testing.assert_close(tuple(leaf.grad for leaf in leaves[:3]), wanted)
