import torch

from cases import t

KIND = 1
SOURCE = "pytorch/functorch#79"
WHY = (
    "grad() called inside no_grad still computes the inner derivative (a transform ignores "
    "outer modes), but its result is a constant for the outer gradient"
)

GRAD = torch.func.grad  # replace with the compiler's own grad transform


def f(x):
    with torch.no_grad():
        g = GRAD(lambda v: (v**3).sum())(x)
    return (g * x).sum()


ARGS = [t([1.0, 2.0])]
ARGNUMS = (0,)
EXPECTED = [27.0, [3.0, 12.0]]
