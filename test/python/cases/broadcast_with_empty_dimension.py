import torch

KIND = 3
SOURCE = "pytorch/pytorch#15223"
WHY = (
    "(4,0)+(4,1): summing the (4,0) cotangent back to (4,1) gives zeros of shape (4,1); dims "
    "of size 0 must be reduced too"
)


def f(a, b):
    return (a + b).sum()


ARGS = [torch.zeros(4, 0, dtype=torch.float64), torch.ones(4, 1, dtype=torch.float64)]
ARGNUMS = (0, 1)
EXPECTED = [0.0, [[], [], [], []], [[0.0], [0.0], [0.0], [0.0]]]
SHAPES = [(4, 0), (4, 1)]
