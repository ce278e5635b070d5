import math

import torch

from cases import nan, t

KIND = 5
SOURCE = "pytorch/pytorch#56760, pytorch/pytorch#196703"
WHY = (
    "removable singularity: sinc'(0)=0 everywhere, sinc''(0) = -pi**2/3 (JAX) but torch 2.13 "
    "gives NaN (reverse-over-reverse) or silently 0 (forward-over-reverse). Recommended: the "
    "analytic value"
)


def f(x):
    return torch.sinc(x).sum()


ARGS = [t([0.0])]
ARGNUMS = (0,)
EXPECTED = [1.0, [0.0]]
HESSIAN = [[nan]]
HESSIAN_FWD_REV = [[0.0]]
HESSIAN_RECOMMENDED = [[-(math.pi**2) / 3]]
FD = True
