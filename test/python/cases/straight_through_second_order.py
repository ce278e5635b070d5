import torch

from cases import t

KIND = 1
SOURCE = "pytorch/functorch#353"
WHY = (
    "straight-through x + (q - x).detach(): first AND second derivative treat q(x) as slope "
    "1; a simplifier must not cancel x - x.detach()"
)


def q(x):
    return x + (torch.round(x) - x).detach()


def f(x):
    w = t([1.0, 2.0, 3.0])
    return (q(x) ** 2 * w).sum()


ARGS = [t([0.4, 1.6, -0.7])]
ARGNUMS = (0,)
EXPECTED = [11.0, [0.0, 8.0, -6.0]]
HESSIAN = [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]]
