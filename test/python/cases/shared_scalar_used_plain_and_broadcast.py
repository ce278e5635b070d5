import math

import torch

from cases import t

KIND = 3
SOURCE = "pytorch/pytorch#13669"
WHY = (
    "one scalar subexpression (merged by CSE) used once as is and once broadcast to 1000: "
    "each use reduces to its own shape before the two are added (1001*e, was 2000*e)"
)


def f(z):
    return (z.exp() - 0).sum() + (z.exp() - torch.zeros(1000, dtype=torch.float64)).sum()


ARGS = [t(1.0)]
ARGNUMS = (0,)
EXPECTED = [1001 * math.e, 1001 * math.e]
FD = True
