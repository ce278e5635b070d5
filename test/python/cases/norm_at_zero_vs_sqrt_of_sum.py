import torch

from cases import nan, t

KIND = 2
SOURCE = "pytorch/pytorch#2421"
WHY = (
    "vector_norm has subgradient 0 at the zero vector (JAX: NaN); the hand-written "
    "sqrt(sum(x*x)) stays NaN, so norm may not be decomposed naively"
)


def f(x, y):
    return torch.linalg.vector_norm(x) + torch.sqrt((y * y).sum())


ARGS = [t([0.0, 0.0]), t([0.0, 0.0])]
ARGNUMS = (0, 1)
EXPECTED = [0.0, [0.0, 0.0], [nan, nan]]
