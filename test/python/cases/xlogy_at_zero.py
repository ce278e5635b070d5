import math

import torch

from cases import nan, t

KIND = 2
SOURCE = "pytorch/pytorch#80770"
WHY = (
    "d/dx x*log(y) at x=0 is log(y), not 0 (linear in x); at (0, 0) torch picks dx=0 (JAX "
    "-inf) and dy=0/0=NaN"
)


def f(x, y):
    return torch.xlogy(x, y)


ARGS = [t([0.0, 0.0, 2.0]), t([2.0, 0.0, 3.0])]
ARGNUMS = (0, 1)
EXPECTED = [[0.0, 0.0, 2 * math.log(3.0)], [math.log(2.0), 0.0, math.log(3.0)], [0.0, nan, 2 / 3]]
