import math

import torch

from cases import nan, t

KIND = 2
SOURCE = "pytorch/pytorch#98276, JuliaDiff/ForwardDiff.jl#669"
WHY = (
    "at the origin torch gives atan2 (0, 0) but hypot (NaN, NaN); JAX the opposite (NaN, NaN) "
    "and (0.5, 0.5). 0 for both is the consistent minimum-norm choice"
)


def f(y, x, a, b):
    return torch.atan2(y, x), torch.hypot(a, b)


ARGS = [t([0.0, 1.0]), t([0.0, 0.0]), t([0.0, 3.0]), t([0.0, 4.0])]
ARGNUMS = (0, 1, 2, 3)
EXPECTED = [[[0.0, math.pi / 2], [0.0, 5.0]], [0.0, 0.0], [0.0, -1.0], [nan, 0.6], [nan, 0.8]]
ALSO_OK = [[[[0.0, math.pi / 2], [0.0, 5.0]], [0.0, 0.0], [0.0, -1.0], [0.0, 0.6], [0.0, 0.8]]]
