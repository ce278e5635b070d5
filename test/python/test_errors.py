"""Bad input gives an exception that names the op or argument, the user's line, and a way out."""

from __future__ import annotations

import re

import pytest
import torch

import gradc


def message(error: pytest.ExceptionInfo) -> str:
    return str(error.value)


def assert_points_here(error: pytest.ExceptionInfo, marker: str) -> None:
    """The message shows this file, a line number, and the text of the line with ``marker``."""
    assert re.search(re.escape(__file__) + r":\d+", message(error)), message(error)
    assert marker in message(error), message(error)
    assert "hint: " in message(error), message(error)


def test_integer_argument():
    with pytest.raises(gradc.InputError, match=r"argument 0 of .*torch.int64.*floating point only"):
        gradc.grad(lambda x: x.sum())(torch.arange(3))


def test_python_number_as_differentiated_argument():
    with pytest.raises(gradc.InputError, match="contains a float, which has no gradient"):
        gradc.grad(lambda x: x * 2)(3.0)


def test_argnums(double):
    with pytest.raises(
        gradc.InputError, match=r"names argument 2, but .* was called with 1 positional"
    ):
        gradc.grad(lambda x: x.sum(), argnums=2)(double(3))
    with pytest.raises(gradc.InputError, match="names an argument twice"):
        gradc.grad(lambda x: x.sum(), argnums=(0, 0))
    with pytest.raises(gradc.InputError, match="an int or a non-empty sequence"):
        gradc.grad(lambda x: x.sum(), argnums=())
    with pytest.raises(gradc.InputError, match="takes a function, got a Tensor"):
        gradc.grad(double(3))
    with pytest.raises(gradc.InputError, match="takes a function or a module, got a int"):
        gradc.compile(3)


def test_output_that_is_not_a_scalar(double):
    def f(x):
        return x * 2  # a vector

    with pytest.raises(gradc.InputError, match=r"has to return a scalar.*shape \[3\]") as error:
        gradc.grad(f)(double(3))
    assert_points_here(error, "# a vector")


def test_output_that_is_not_a_floating_tensor(double):
    with pytest.raises(gradc.InputError, match=r"floating-point scalar; it returned torch.int64"):
        gradc.grad(lambda x: x.argmax())(double(3))
    with pytest.raises(gradc.InputError, match="has to return a scalar tensor; it returned a int"):
        gradc.grad(lambda x: 3)(double(3))
    with pytest.raises(gradc.InputError, match="one tensor; it returned 2 tensors"):
        gradc.grad(lambda x: (x.sum(), x.sum()))(double(3))
    with pytest.raises(gradc.InputError, match="has to return a tuple"):
        gradc.grad(lambda x: x.sum(), has_aux=True)(double(3))
    with pytest.raises(gradc.InputError, match=r"every output of .* has to be a tensor"):
        gradc.vjp(lambda x: (x, 3), double(3))


def test_cotangent_that_does_not_fit(double):
    _, pullback = gradc.vjp(lambda x: (x * 2, x.sum()), double(3))
    one = torch.ones((), dtype=torch.float64)
    with pytest.raises(gradc.InputError, match="the cotangent has structure"):
        pullback(one)
    with pytest.raises(
        gradc.InputError, match=r"cotangent 0 is torch.float64\[4\], the output is .*\[3\]"
    ):
        pullback((double(4), one))
    with pytest.raises(gradc.InputError, match=r"cotangent 1 is torch.float32"):
        pullback((double(3), one.float()))


def test_control_flow_on_data(double):
    def f(x):
        if x.sum() > 0:  # depends on the data
            return x.sum()
        return x.prod()

    with pytest.raises(gradc.CaptureError, match=r"[Dd]ata-dependent") as error:
        gradc.grad(f)(double(3))
    assert_points_here(error, "# depends on the data")
    assert "torch.where" in message(error)
    assert "torch.cond" in message(error)


def test_loop_on_data(double):
    def f(x):
        while x.sum() < 10:  # loops
            x = x * x + 1
        return x.sum()

    with pytest.raises(gradc.CaptureError, match=r"[Dd]ata-dependent") as error:
        gradc.grad(f)(double(3))
    assert_points_here(error, "# loops")
    assert "torch.while_loop" in message(error)


def test_truth_value_of_a_tensor(double):
    def f(x):
        return x.sum() if bool((x > 0).any()) else x.prod()  # asks

    with pytest.raises(gradc.CaptureError, match=r"[Dd]ata-dependent") as error:
        gradc.grad(f)(double(3))
    assert_points_here(error, "# asks")


def test_item_in_a_transform(double):
    def f(x):
        return x.sum() * x.max().item()  # item

    with pytest.raises(gradc.GradcError) as error:
        gradc.grad(f)(double(3))
    assert_points_here(error, "# item")


def test_graph_break_in_a_transform(double):
    def f(x):
        print(x)  # a side effect
        return x.sum()

    with pytest.raises(gradc.CaptureError, match="needs the whole function as one graph") as error:
        gradc.grad(f)(double(3))
    assert_points_here(error, "# a side effect")
    assert "has_aux=True" in error.value.hint
    with pytest.raises(gradc.CaptureError, match="fullgraph=True needs the whole function"):
        gradc.compile(f, fullgraph=True)(double(3))


def test_shapes_that_do_not_fit(double):
    def f(x, w):
        return (x @ w).sum()  # product

    with pytest.raises(gradc.CaptureError, match="fails on these shapes") as error:
        gradc.grad(f)(double(2, 3), double(4, 5))
    assert_points_here(error, "# product")


def test_dtypes_that_do_not_fit(double):
    def f(x, w):
        return (x @ w).sum()  # product

    with pytest.raises(gradc.GradcError, match=r"mm|dtype") as error:
        gradc.grad(f)(double(2, 3), torch.ones(3, 2))
    assert_points_here(error, "# product")


@pytest.mark.parametrize("door", ["transform", "compile"])
def test_unsupported_op(double, door):
    def f(x):
        return torch.linalg.eigvalsh(x).sum()  # eigenvalues

    x = double(3, 3)
    with pytest.raises(gradc.GradcError, match="linalg_eigh") as error:
        gradc.grad(f)(x) if door == "transform" else gradc.compile(f)(x.requires_grad_())
    assert_points_here(error, "# eigenvalues")
    assert "gradc.custom_vjp" in error.value.hint


def test_error_of_the_user_function(double):
    def f(x):
        raise ValueError("no such luck")  # raises

    with pytest.raises(gradc.CaptureError, match="no such luck") as error:
        gradc.grad(f)(double(3))
    assert_points_here(error, "# raises")


def test_device(double):
    with pytest.raises(gradc.InputError, match="on device meta; compiled code runs on the CPU"):
        gradc.compile(lambda x: x * 2)(double(3).to("meta"))


def test_sparse(double):
    with pytest.raises(gradc.CaptureError, match="sparse") as error:
        gradc.compile(lambda x: x * 2, fullgraph=True)(double(3, 3).to_sparse())
    assert "to_dense" in error.value.hint


def test_write_into_one_of_two_overlapping_inputs(double):
    def f(x, y):
        x.add_(1)
        return y * 2

    base = double(6)
    with pytest.raises(gradc.GradcError, match=r"shares? memory|overlap"):
        gradc.compile(f)(base[:4], base[2:])


@pytest.mark.parametrize("index", [7, -8])
def test_index_out_of_range(double, index):
    x = double(5, 2).requires_grad_()
    compiled = gradc.compile(lambda x, i: x[i].sum())  # indexes
    compiled(x, torch.tensor([1, -1])).backward()
    with pytest.raises(gradc.GradcError, match=r"aten.index.Tensor: index") as error:
        compiled(x, torch.tensor([1, index]))
    assert_points_here(error, "# indexes")


def test_hooks_are_refused(double):
    def hooked(x):
        y = x * 2
        y.register_hook(lambda g: g * 10)
        return y.sum()

    with pytest.raises(gradc.GradcError):
        gradc.grad(hooked)(double(3))


def test_nothing_compiled_yet(double):
    with pytest.raises(ValueError, match="nothing is compiled yet"):
        gradc.compile(lambda x: x).ir("llvm")
    compiled = gradc.compile(lambda x: x * 2)
    compiled(double(3))
    with pytest.raises(ValueError, match=r"no stage 'nonsense' here; there are captured, imported"):
        compiled.ir("nonsense")


def test_mixed_dtypes_in_a_product(double):
    def f(a, b):
        doubled = a * 2
        return (doubled @ b).sum()  # mixed

    for call in (gradc.grad(f), gradc.compile(f)):
        with pytest.raises(gradc.CaptureError, match="float32 and float64") as error:
            call(torch.ones(2, 2), double(2, 2))
        assert_points_here(error, "# mixed")


def test_mistakes_of_the_function_are_called_so():
    def raising(x):
        raise ValueError("own check")

    def unnamed(x):
        return x * missing  # noqa: F821

    x = torch.ones(2)
    for call in (
        lambda: gradc.grad(raising)(x),
        lambda: gradc.grad(unnamed)(x),
        lambda: gradc.explain(raising),
    ):
        with pytest.raises(gradc.CaptureError) as error:
            call()
        assert "torch.compile" not in message(error) and "Dynamo" not in message(error)
        assert "hint: " in message(error)
