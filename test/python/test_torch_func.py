"""``torch.func`` inside captured functions: the values of eager PyTorch, or a refusal."""

from __future__ import annotations

import pytest
import torch

import gradc

F = torch.func


def f(x):
    return (x.sin() * x).sum()


def h(x):
    return x.sin() * x.flip(0)


def under_no_grad(x):
    with torch.no_grad():
        slope = F.grad(f)(x)
    return slope * x


def pulled_twice(x):
    output, pullback = F.vjp(lambda x: (x.sin(), x.sum()), x)
    return pullback((x, x[0])), pullback((x * 2, x[1] * 3)), output


CASES = {
    "grad": F.grad(f),
    "grad_and_value": F.grad_and_value(lambda x: (f(x), x * 2), has_aux=True),
    "grad of grad": F.grad(lambda x: (F.grad(f)(x) ** 2).sum()),
    "closure": lambda x: F.grad(lambda y: f(y * x) * f(x))(x.cos()),
    "dict": lambda x: F.grad(lambda p: f(p["a"]) * p["b"].cos().sum())({"a": x, "b": x * 2}),
    "barrier": F.grad(lambda x: (x * x.detach()).sum()),
    "no_grad": under_no_grad,
    "levels": F.grad(lambda x: x[0] * F.grad(lambda y: (x + y).sum())(x * 1).sum()),
    "vjp": pulled_twice,
    "jacrev": F.jacrev(h),
    "vmap": lambda x: torch.vmap(lambda a: h(a) @ x)(x.outer(x)),
    "vmap dims": lambda x: torch.vmap(torch.mul, in_dims=(1, None), out_dims=1)(x.outer(x), x),
    "vmap of grad": lambda x: torch.vmap(F.grad(lambda w, y: torch.tanh(w @ y)), (None, 0))(
        x, x.outer(x)
    ),
    "vmap of vmap": lambda x: torch.vmap(lambda a: torch.vmap(lambda b: (a * b).sin())(x))(x),
}


def total(fn):
    return lambda x: sum(leaf.cos().sum() for leaf in torch.utils._pytree.tree_leaves(fn(x)))


@pytest.mark.parametrize("name", CASES)
def test_value_is_that_of_eager(double, name):
    fn, x = CASES[name], double(3)
    torch.testing.assert_close(gradc.compile(fn, fullgraph=True)(x), fn(x))


@pytest.mark.parametrize("name", CASES)
def test_gradient_is_that_of_eager(double, name):
    fn, x = total(CASES[name]), double(3)
    torch.testing.assert_close(gradc.grad(fn)(x), F.grad(fn)(x))


@pytest.mark.parametrize("name", ["grad", "jacrev", "vmap of grad"])
def test_forward_mode_over_it(double, name):
    fn, x, t = total(CASES[name]), double(3), double(3)
    torch.testing.assert_close(gradc.jvp(fn, (x,), (t,)), F.jvp(fn, (x,), (t,)))


@pytest.mark.parametrize("name", ["jvp", "jacfwd", "hessian"])
def test_forward_mode_of_torch_func_is_refused(double, name):
    def inner(x):
        if name == "jvp":
            return F.jvp(f, (x,), (x,))[1]
        return getattr(F, name)(f)(x).sum()

    with pytest.raises(gradc.UnsupportedError, match=r"gradc\.jvp, gradc\.jacfwd"):
        gradc.grad(inner)(double(3))


def test_write_into_a_mapped_argument_is_refused(double):
    with pytest.raises(gradc.UnsupportedError, match="writes in place to an argument"):
        gradc.compile(torch.vmap(lambda a: a.mul_(2)), fullgraph=True)(double(2, 3))


def test_random_draws_in_a_mapped_function_are_refused(double):
    mapped = torch.vmap(lambda a: a * torch.rand_like(a), randomness="different")
    with pytest.raises(gradc.GradcError, match=r"random"):
        gradc.compile(mapped, fullgraph=True)(double(2, 3))


@pytest.mark.parametrize(
    "inner",
    [
        lambda x: torch.autograd.grad(f(x), x)[0].sum(),
        lambda x: (f(x).backward(), f(x))[1],
        lambda x: torch.autograd.functional.hessian(f, x).sum(),
        lambda x: F.linearize(f, x)[1](x),
    ],
)
def test_other_ways_to_differentiate_name_gradc(double, inner):
    with pytest.raises(gradc.CaptureError, match=r"gradc\.grad, gradc\.vjp"):
        gradc.grad(inner)(double(3))
