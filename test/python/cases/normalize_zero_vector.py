import torch.nn.functional as F

from cases import t

KIND = 2
SOURCE = "pytorch/pytorch#3264"
WHY = (
    "F.normalize(0): x / clamp_min(norm, eps): finite but 1/eps large (1e12 * w); NaN if norm "
    "has no subgradient at 0 or the clamp is dropped"
)


def f(x):
    return (F.normalize(x, dim=0) * t([1.0, 2.0])).sum()


ARGS = [t([0.0, 0.0])]
ARGNUMS = (0,)
EXPECTED = [0.0, [1e12, 2e12]]
