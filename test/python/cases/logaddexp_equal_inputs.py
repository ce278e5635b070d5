import math

import torch

from cases import t

KIND = 2
SOURCE = "keras-team/keras#23616"
WHY = (
    "smooth function whose usual decomposition max + log1p(exp(-|d|)) has two kinks at d=0; "
    "gradient must be (0.5, 0.5), Hessian +-0.25"
)


def f(p):
    return torch.logaddexp(p[0], p[1])


ARGS = [t([1.0, 1.0])]
ARGNUMS = (0,)
EXPECTED = [1.0 + math.log(2.0), [0.5, 0.5]]
HESSIAN = [[0.25, -0.25], [-0.25, 0.25]]
FD = True
