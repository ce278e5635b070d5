"""Activations and elementwise ops with kinks, written so that every derivative is PyTorch's at the
kink.

``torch.where`` decides: the chosen branch alone has a gradient. A branch that would overflow where
it is not chosen gets a harmless operand there, because 0 * inf in its derivative would be NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .numerics import compute_in, constant_but_connected
from .ops import STOP, VALUE_OF

aten = torch.ops.aten
where = torch.where


def _elementwise(formula: Callable) -> Callable:
    """The formula in the precision eager computes in, rounded once."""

    def decomposition(x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if not x.is_floating_point():
            return NotImplemented
        return formula(compute_in(x), *args, **kwargs).to(x.dtype)

    decomposition.__doc__ = formula.__doc__
    return decomposition


def _gelu(x: Tensor, *, approximate: str = "none") -> Tensor:
    """torch-mlir rounds the constant of the tanh form."""
    if approximate == "tanh":
        inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * (x * x * x))
        return 0.5 * x * (1.0 + torch.tanh(inner))
    return x * 0.5 * (1.0 + torch.erf(x * math.sqrt(0.5)))


def _hardtanh(x: Tensor, low: float = -1.0, high: float = 1.0) -> Tensor:
    """0 at the bounds; a clamp would give 1."""
    return where(x <= low, low, where(x >= high, high, x))


_SIXTH = float(torch.tensor(1.0) / 6.0)


def _hardsigmoid(x: Tensor) -> Tensor:
    """0 at the bounds and for NaN; inside, eager's slope is the sixth of f32."""
    inside = (x > -3.0) & (x < 3.0)
    value = where(x <= -3.0, 0.0, where(x >= 3.0, 1.0, (x + 3.0) / 6.0))
    return VALUE_OF(value, where(inside, x, 0.0) * _SIXTH)


def _hardswish(x: Tensor) -> Tensor:
    """0 at -3, 1 at 3 and for NaN; the parabola never sees infinities."""
    low, inside = x <= -3.0, (x > -3.0) & (x < 3.0)
    part = where(inside, x, 0.0)
    path = where(low, 0.0, where(inside, part * (part + 3.0) / 6.0, x))
    return VALUE_OF(where(low, x * 0.0, path), path)


def _leaky_relu(x: Tensor, slope: float = 0.01) -> Tensor:
    """The slope at 0; torch-mlir makes a sum of maxima of it."""
    return where(x > 0, x, x * slope)


def _elu(x: Tensor, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Tensor:
    """The negative branch never sees large positive values; NaN takes the positive one."""
    negative = x <= 0
    curve = torch.expm1(where(negative, x, 0.0) * input_scale) * (alpha * scale)
    return where(negative, curve, x * scale)


_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


def _softplus(x: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """The logarithmic branch never sees values past the threshold."""
    linear = x * beta > threshold
    return where(linear, x, torch.log1p(torch.exp(where(linear, 0.0, x) * beta)) / beta)


def _mish(x: Tensor) -> Tensor:
    """exp of a large value would make the derivative NaN."""
    return x * torch.tanh(_softplus(x))


def log_sigmoid(x: Tensor) -> Tensor:
    """min(0, x) - log1p(exp(-|x|)) with derivative 1/2 at 0."""
    negative = x < 0
    return where(negative, x, 0.0) - torch.log1p(torch.exp(where(negative, x, -x)))


def _log_sigmoid_forward(x: Tensor) -> tuple[Tensor, Tensor]:
    """As ``log_sigmoid``; the second result is a buffer of the backward kernel, unused here."""
    return log_sigmoid(compute_in(x)).to(x.dtype), torch.zeros_like(x)


def _clamp(x: Tensor, low: Any = None, high: Any = None) -> Tensor:
    """1 at the bounds, 0 for NaN; NaN bounds win."""
    if not (x.is_floating_point() or isinstance(low, float) or isinstance(high, float)):
        return NotImplemented
    if not x.is_floating_point():
        x = x.to(torch.get_default_dtype())
    value, inside = x, None
    if any(bound is not None and bound != bound for bound in (low, high)):
        value = torch.full_like(x, math.nan)
    if low is not None:
        value, inside = where(value < low, low, value), x >= low
    if high is not None:
        below = x <= high
        value = where(value > high, high, value)
        inside = below if inside is None else inside & below
    return value if inside is None else VALUE_OF(value, where(inside, x, 0.0))


def _clamp_tensor(x: Tensor, low: Tensor | None = None, high: Tensor | None = None) -> Tensor:
    """1 at the bounds for the input, 0 for NaN; a bound has the gradient where it alone is the
    result, the lower one only where it is below the upper; NaN bounds win."""
    dtype = x.dtype
    for bound in (low, high):
        if bound is not None:
            dtype = torch.promote_types(dtype, bound.dtype)
    if not dtype.is_floating_point:
        return NotImplemented
    x = x.to(dtype)
    low, high = (None if bound is None else bound.to(dtype) for bound in (low, high))
    value, path, inside = x, 0.0, None
    if low is not None:
        value = where((value < low) | (low != low), low, value)
        inside, used = x >= low, x < low
        if high is not None:
            used = used & (low < high)
        path = path + where(used, low, 0.0)
    if high is not None:
        value = where((value > high) | (high != high), high, value)
        below, used = x <= high, x > high
        if low is not None:
            used = used | (high < low)
        inside = below if inside is None else inside & below
        path = path + where(used, high, 0.0)
    return value if inside is None else VALUE_OF(value, path + where(inside, x, 0.0))


def _softshrink(x: Tensor, lambd: float = 0.5) -> Tensor:
    """0 on the closed interval, 1 for NaN."""
    inside = (x >= -lambd) & (x <= lambd)
    return where(x > lambd, x - lambd, where(x < -lambd, x + lambd, where(inside, x * 0.0, x)))


def _sigmoid(x: Tensor) -> Tensor:
    """exp never overflows; the derivative of 1 / (1 + exp(-x)) would be inf / inf."""
    positive = x >= 0
    power = torch.exp(where(positive, -x, x))
    return where(positive, 1.0, power) / (1.0 + power)


def _threshold(x: Tensor, threshold: float, value: float) -> Tensor:
    """NaN passes; in torch-mlir's form it does not."""
    return where(x <= threshold, value, x)


def _silu(x: Tensor) -> Tensor:
    """x * sigmoid(x) in f32 for half precision."""
    return x * torch.sigmoid(x)


def _xlogy(x: Tensor, y: Tensor) -> Tensor:
    """In x the derivative is log y, but 0 at x = 0 where y <= 0; in y it is x / y, 0/0 at the
    origin."""
    value = where((x == 0) & (y == y), 0.0, x * torch.log(y))
    return VALUE_OF(value, where((x == 0) & (y <= 0), STOP(x), x) * torch.log(y))


def _xlog1py(x: Tensor, y: Tensor) -> Tensor:
    """As ``xlogy`` of 1 + y; PyTorch's form has no derivative in x at 0."""
    value = where((x == 0) & (y == y), 0.0, x * torch.log1p(y))
    return VALUE_OF(value, where((x == 0) & (y <= -1), STOP(x), x) * torch.log1p(y))


def _logaddexp(base: float) -> Callable:
    def logaddexp(x: Tensor, y: Tensor) -> Tensor:
        """Eager's value; the derivative is 1 / (1 + exp(y - x)), also at ties and infinities."""
        exp, unit = (torch.exp, 1.0) if base == math.e else (torch.exp2, 1.0 / math.log(base))
        x, y = torch.broadcast_tensors(x, y)
        a, b = STOP(x), STOP(y)
        greater = where((a >= b) | (a != a), a, b)
        same = (a == b) & (a.abs() == math.inf)
        gap = where(same, -math.inf, -(a - b).abs())
        swapped = a < b
        top, rest = where(swapped, y, x), where(swapped, x, y)
        path = top + torch.log1p(exp(rest - top)) * unit
        return VALUE_OF(greater + torch.log1p(exp(gap)) * unit, path)

    return logaddexp


def _first_or_number(better: Callable) -> Callable:
    def choice(x: Tensor, y: Tensor) -> Tensor:
        """The number if one is NaN; all of the gradient to the first of equal operands."""
        dtype = torch.promote_types(x.dtype, y.dtype)
        if not dtype.is_floating_point:
            return NotImplemented
        x, y = x.to(dtype), y.to(dtype)
        return where(better(x, y) | (y != y), x, y)

    return choice


def _logit(x: Tensor, eps: float | None = None) -> Tensor:
    """1 / (x (1 - x)), NaN outside of [0, 1]; with eps 0 past the bounds."""
    if eps is None:
        factor = where((x < 0.0) | (x > 1.0), math.nan, 1.0)
        path = (torch.log(x) - torch.log1p(-x)) * factor
        return VALUE_OF(torch.log(x / (1.0 - x)), path)
    low, high = eps, 1.0 - eps
    inside = (x >= low) & (x <= high)
    z = where(x < low, low, where(x > high, high, x))
    half = where(inside, x, 0.5)
    path = where(inside, torch.log(half) - torch.log1p(-half), 0.0)
    return VALUE_OF(torch.log(z / (1.0 - z)), path)


def _sign(x: Tensor) -> Tensor:
    """Connected, with derivative 0; 0 for NaN."""
    value = where(x > 0, 1.0, where(x < 0, -1.0, 0.0)).to(x.dtype)
    return constant_but_connected(value, x)


def _copysign(x: Tensor, y: Tensor) -> Tensor:
    """The result over x, 0 at x = 0; connected to y with derivative 0."""
    if not (x.is_floating_point() and y.is_floating_point()):
        return NotImplemented
    negative = (y < 0) | ((y == 0) & (1.0 / y < 0))
    size = torch.abs(x)
    value = where(negative, -size, size)
    ratio = STOP(where(x == 0, 0.0, value / x))
    return VALUE_OF(value, ratio * x + torch.floor(y))


def _reciprocal(x: Tensor) -> Tensor:
    """A division: torch-mlir's form ends the program at 0."""
    if not x.is_floating_point():
        x = x.to(torch.get_default_dtype())
    return torch.ones([], dtype=x.dtype, device=x.device) / x


def _isfinite(x: Tensor) -> Tensor:
    """torch-mlir takes NaN for finite."""
    if not x.is_floating_point():
        return torch.ones_like(x, dtype=torch.bool)
    return torch.abs(x) < math.inf


def _sinc(x: Tensor) -> Tensor:
    """1 with derivative 0 at 0, and no 0/0 in the other branch."""
    zero = x == 0
    angle = where(zero, 1.0, x) * math.pi
    # At 0 the series to second order: its derivatives there are the analytic ones.
    series = 1.0 - where(zero, x, 0.0) ** 2 * (math.pi**2 / 6.0)
    return where(zero, series, torch.sin(angle) / angle)


def _hypot(x: Tensor, y: Tensor) -> Tensor:
    """torch-mlir has no lowering."""
    return torch.sqrt(x * x + y * y)


def _rrelu(
    x: Tensor,
    noise: Tensor,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Any = None,
) -> Tensor:
    """Without training there is nothing random about it."""
    return NotImplemented if training else _leaky_relu(x, (lower + upper) / 2)


ACTIVATION_DECOMPOSITIONS: dict[Any, Callable] = {
    aten.gelu.default: _elementwise(_gelu),
    aten.hardtanh.default: _elementwise(_hardtanh),
    aten.relu6.default: _elementwise(lambda x: _hardtanh(x, 0.0, 6.0)),
    aten.hardsigmoid.default: _elementwise(_hardsigmoid),
    aten.hardswish.default: _elementwise(_hardswish),
    aten.leaky_relu.default: _elementwise(_leaky_relu),
    aten.elu.default: _elementwise(_elu),
    aten.celu.default: _elementwise(lambda x, alpha=1.0: _elu(x, alpha, 1.0, 1.0 / alpha)),
    aten.selu.default: _elementwise(lambda x: _elu(x, _SELU_ALPHA, _SELU_SCALE)),
    aten.rrelu_with_noise.default: _rrelu,
    aten.hypot.default: _hypot,
    aten.softplus.default: _elementwise(_softplus),
    aten.mish.default: _elementwise(_mish),
    aten.sigmoid.default: _elementwise(_sigmoid),
    aten.threshold.default: _elementwise(_threshold),
    aten.silu.default: _elementwise(_silu),
    aten.log_sigmoid_forward.default: _log_sigmoid_forward,
    aten.clamp.default: _clamp,
    aten.clamp_min.default: lambda x, low: _clamp(x, low),
    aten.clamp_max.default: lambda x, high: _clamp(x, None, high),
    aten.clamp.Tensor: _clamp_tensor,
    aten.clamp_min.Tensor: lambda x, low: _clamp_tensor(x, low),
    aten.clamp_max.Tensor: lambda x, high: _clamp_tensor(x, None, high),
    aten.softshrink.default: _elementwise(_softshrink),
    aten.xlogy.Tensor: _xlogy,
    aten.special_xlog1py.default: _xlog1py,
    aten.logaddexp.default: _logaddexp(math.e),
    aten.logaddexp2.default: _logaddexp(2.0),
    aten.fmax.default: _first_or_number(torch.ge),
    aten.fmin.default: _first_or_number(torch.le),
    aten.logit.default: _elementwise(_logit),
    aten.sign.default: _elementwise(_sign),
    aten.sgn.default: _elementwise(_sign),
    aten.copysign.Tensor: _copysign,
    aten.ldexp.Tensor: lambda x, y: x * torch.pow(2.0, y),
    aten.isfinite.default: _isfinite,
    aten.reciprocal.default: _reciprocal,
    aten.sinc.default: _elementwise(_sinc),
}
