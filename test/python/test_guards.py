"""What a function depends on is an input or a guard; nothing is baked in silently."""

from __future__ import annotations

import torch
from torch import nn

import gradc


def test_python_scalar_in_a_closure(double):
    x, scale = double(3), 2.0

    def f(x):
        return (x * scale).sum()

    compiled = gradc.grad(f)
    assert torch.equal(compiled(x), torch.full_like(x, 2.0))
    scale = 3.0
    assert torch.equal(compiled(x), torch.full_like(x, 3.0))


def test_python_scalar_as_an_argument(double):
    x = double(3)
    compiled = gradc.compile(lambda x, n: x * n)
    for n in (2, 3, 0.5):
        torch.testing.assert_close(compiled(x, n), x * n)


def test_captured_tensor(double):
    x, w = double(3), double(3)
    compiled = gradc.grad(lambda x: (x * w).sum())
    torch.testing.assert_close(compiled(x), w)
    w.add_(1)
    torch.testing.assert_close(compiled(x), w)
    w = double(3)
    torch.testing.assert_close(compiled(x), w)


def test_captured_tensor_on_the_tape(double):
    x, w = double(3), double(3).requires_grad_()
    gradc.compile(lambda x: (x * w).sum())(x).backward()
    torch.testing.assert_close(w.grad, x)


def test_training_flag(double):
    model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(1.0)).double()
    compiled = gradc.compile(model)
    x = double(2, 3)
    assert torch.equal(compiled(x).detach(), torch.zeros(2, 3, dtype=torch.float64))
    model.eval()
    torch.testing.assert_close(compiled(x), model[0](x))


def test_shapes_and_dtypes(double):
    compiled = gradc.grad(lambda x: (x * x).sum())
    for shape in ((3,), (2, 2), (5,), ()):
        for dtype in (torch.float32, torch.float64):
            x = torch.randn(shape, dtype=dtype)
            torch.testing.assert_close(compiled(x), 2 * x)


def test_more_signatures_than_dynamo_allows_by_default(double):
    compiled = gradc.grad(lambda x: x.exp().sum())
    for size in range(1, 12):
        x = double(size)
        torch.testing.assert_close(compiled(x), x.exp())


def test_one_compilation_a_signature(double):
    compiled = gradc.compile(lambda x: x * 2)
    for _ in range(3):
        compiled(double(4))
    assert len(compiled.programs()) == 1
    compiled(double(5))
    compiled(double(4).requires_grad_())
    assert len(compiled.programs()) == 3


def test_a_lambda_in_a_loop_is_compiled_once(double):
    x = double(3)
    functions = [gradc.grad(lambda x: x.exp().sum()) for _ in range(3)]
    for function in functions:
        function(x)
    assert functions[0].ir("imported") == functions[2].ir("imported")


def test_global_flag_of_the_module_is_guarded(double):
    class Switch(nn.Module):
        def __init__(self):
            super().__init__()
            self.negate = False

        def forward(self, x):
            return -x if self.negate else x * 1

    model, x = Switch(), double(3)
    compiled = gradc.compile(model)
    torch.testing.assert_close(compiled(x), x)
    model.negate = True
    torch.testing.assert_close(compiled(x), -x)


def test_size_marked_as_dynamic(double):
    compiled = gradc.compile(lambda x: x.view(-1, 2).sum(0) * x.shape[0])
    for size in (4, 6):
        x = double(size)
        torch._dynamo.mark_dynamic(x, 0)
        torch.testing.assert_close(compiled(x), x.view(-1, 2).sum(0) * size)
