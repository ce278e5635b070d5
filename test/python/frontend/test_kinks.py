"""Values and gradients at kinks, poles, infinities and NaN are eager's, for one function at a
time."""

import pytest
import torch
import torch.nn.functional as F

import gradc

inf, nan = float("inf"), float("nan")
POINTS = [-1, -0.5, -0.0, 0.0, 0.5, 1, 1, 2, inf, -inf, nan, 3, 6, -3]
OTHERS = [0, 1, -0.5, 0, 0.5, 1, 2, -1, inf, 1, 1, -3, 6, 0]
UNARY = """abs sign sqrt rsqrt exp log log1p log2 expm1 sin tan asin acos atan sinh cosh asinh acosh
atanh tanh sigmoid relu erf erfc reciprocal square round floor ceil trunc frac sinc nan_to_num logit
exp2 log10""".split()
ACTIVATIONS = """relu6 hardtanh hardsigmoid hardswish leaky_relu elu celu selu silu gelu mish
softplus softsign softshrink hardshrink tanhshrink logsigmoid""".split()
BINARY = """maximum minimum fmax fmin atan2 hypot fmod pow xlogy logaddexp logaddexp2 copysign mul
div float_power""".split()
REDUCTIONS = {
    "max": lambda x: x.max(),
    "amax": lambda x: x.amax(0),
    "min along": lambda x: x.min(0)[0],
    "median": lambda x: x.median(),
    "median along": lambda x: x.median(0)[0],
    "cummax": lambda x: x.cummax(0)[0],
    "cumprod": lambda x: x.cumprod(0),
    "prod": lambda x: x.prod(),
    "std": lambda x: x.std(),
    "norm": lambda x: x.norm(),
    "1-norm": lambda x: x.norm(1),
    "3-norm": lambda x: x.norm(3),
    "infinity norm": lambda x: x.norm(inf),
    "half norm": lambda x: x.norm(0.5),
    "logsumexp": lambda x: x.logsumexp(0),
    "softmax": lambda x: x.softmax(0),
    "log_softmax": lambda x: x.log_softmax(0),
    "normalize": lambda x: F.normalize(x, dim=0),
    "quantile": lambda x: x.quantile(0.5),
    "nanmean": lambda x: x.nanmean(),
    "cosine": lambda x: F.cosine_similarity(x, x * 0, dim=0),
}
ROWS = [[2, 2, 1, -1, 2], [0, 0, 0], [0, 2, 0, 3], [1.5]]


def vector(values):
    return torch.tensor(values, dtype=torch.float64)


def assert_like_eager(function, *arguments):
    found = []
    for run in (function, gradc.compile(function)):
        leaves = [argument.clone().requires_grad_() for argument in arguments]
        value = run(*leaves)
        weights = torch.arange(1.0, value.numel() + 1, dtype=value.dtype).reshape(value.shape)
        gradients = [None] * len(leaves)
        if value.requires_grad:
            gradients = torch.autograd.grad(value, leaves, weights, allow_unused=True)
        found.append([value.detach(), *gradients])
    for eager, ours in zip(*found, strict=True):
        if eager is None:
            assert ours is None
        else:
            torch.testing.assert_close(ours, eager, equal_nan=True)


@pytest.mark.parametrize("name", UNARY + ACTIVATIONS)
def test_unary(name):
    assert_like_eager(getattr(torch if name in UNARY else F, name), vector(POINTS))


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    assert_like_eager(getattr(torch, name), vector(POINTS), vector(OTHERS))


def test_xlog1py():
    assert_like_eager(torch.special.xlog1py, vector(POINTS), vector(OTHERS))


@pytest.mark.parametrize("bounds", [(-1.0, 2.0), (2.0, -1.0), (None, nan), (nan, 1.0)])
def test_clamp(bounds):
    assert_like_eager(lambda x: x.clamp(*bounds), vector(POINTS))


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    def all_rows(x):
        parts = x.split([len(row) for row in ROWS])
        return torch.cat([REDUCTIONS[name](part).reshape(-1) for part in parts])

    assert_like_eager(all_rows, vector([number for row in ROWS for number in row]))
