"""What would not be faithful is refused with the op, the user's line and a way out."""

from __future__ import annotations

import inspect

import pytest
import torch
from frontend_reference import imported

from gradc.errors import CaptureError, GradcError, UnsupportedError


def _hook(x):
    y = x * 2
    y.register_hook(lambda gradient: gradient)
    return y


def _item(x):
    return x * x.sum().item()


def _map(x):
    return torch._higher_order_ops.map(lambda t: t * 2, x)


def _mode(x):
    return x.mode(1).values


def _border(x):
    grid = torch.zeros(1, 2, 2, 2)
    return torch.nn.functional.grid_sample(x[None, None], grid, padding_mode="border")


def _as_strided(x):
    return x.t().as_strided((2, 2), (1, 2))


def _scatter(x):
    return x.scatter_reduce(0, torch.zeros(1, 4, dtype=torch.int64), x[:1], "prod")


def _long_sort(x):
    return x.expand(2000, 3, 4).reshape(-1).sort().values


def _determinant(x):
    return x[:, :3].det()


def _written_alias(x):
    y = x * 1
    y.detach().mul_(x)
    return y


def _data_dependent_draw(x):
    return torch.bernoulli(x.sigmoid()) * x


@pytest.mark.parametrize(
    ("function", "op", "line"),
    [
        (_hook, "register_hook", 2),
        (_item, "item", 1),
        (_map, "map_impl", 1),
        (_mode, "aten.mode", 1),
        (_long_sort, "aten.sort", 1),
        (_border, "aten.grid_sampler_2d", 2),
        (_as_strided, "aten.as_strided", 1),
        (_scatter, "aten.scatter_reduce", 1),
        (_determinant, "aten._linalg_det", 1),
        (_written_alias, "aten.mul_", 2),
        (_data_dependent_draw, "aten.bernoulli", 1),
    ],
)
def test_refused(function, op, line):
    with pytest.raises(UnsupportedError) as caught:
        imported(function, torch.randn(3, 4, requires_grad=True))
    error = caught.value
    first = inspect.getsourcelines(function)[1]
    assert error.op.startswith(op)
    assert error.hint
    assert (error.location.file, error.location.line) == (__file__, first + line)
    assert error.location.text in str(error)


def test_free_without_a_gradient():
    def function(x):
        return torch.nn.functional.max_pool3d(x[None, None, None], (1, 2, 2))

    imported(function, torch.randn(3, 4))
    with pytest.raises(UnsupportedError, match="ties would be lost"):
        imported(function, torch.randn(3, 4, requires_grad=True))


@pytest.mark.parametrize(
    ("function", "op"),
    [
        (lambda x: torch.mode(x.detach(), 1).indices, "aten.mode"),
        (lambda x: torch.special.i0(x.detach()), "aten.i0"),
    ],
)
def test_what_torch_mlir_cannot_lower_is_named(function, op):
    with pytest.raises(UnsupportedError) as caught:
        imported(function, torch.randn(3, 4, requires_grad=True))
    assert caught.value.op.startswith(op)
    assert caught.value.location.file == __file__


def test_data_dependent_shapes():
    gm = torch.fx.symbolic_trace(lambda x: x[x > 0].sum())
    from gradc.frontend import import_graph

    with pytest.raises(CaptureError, match="size depends on data"):
        import_graph(gm, [torch.randn(3)])


def test_errors_are_runtime_errors():
    assert issubclass(GradcError, RuntimeError)
    assert issubclass(UnsupportedError, GradcError) and issubclass(CaptureError, GradcError)
