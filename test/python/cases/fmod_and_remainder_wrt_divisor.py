import torch

from cases import t

KIND = 2
SOURCE = "jax-ml/jax#11466, shader-slang/slang#10071"
WHY = (
    "negative dividend: fmod uses trunc (dy=6), remainder uses floor (dy=7); forgetting dy or "
    "using the wrong rounding is silent"
)


def f(x, y):
    return torch.fmod(x, y), torch.remainder(x, y)


ARGS = [t([-19.0, 5.5]), t([3.0, 2.0])]
ARGNUMS = (0, 1)
COTANGENT = [[1.0, 1.0], [10.0, 10.0]]
EXPECTED = [[[-1.0, 1.5], [2.0, 1.5]], [11.0, 11.0], [76.0, -22.0]]
FD = True
