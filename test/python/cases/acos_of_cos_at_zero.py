import torch

from cases import nan, t

KIND = 2
SOURCE = "pytorch/pytorch#4605, pytorch/pytorch#8069"
WHY = (
    "-inf * -0 = NaN by the chain rule (torch and JAX agree); do not flush to 0 silently, "
    "acos(cos(x)) may not be simplified to x either"
)


def f(x):
    return torch.acos(torch.cos(x))


ARGS = [t([0.0])]
ARGNUMS = (0,)
EXPECTED = [[0.0], [nan]]
