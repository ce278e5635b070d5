import math

import torch
import torch.nn.functional as F

from cases import nan, t

KIND = 2
SOURCE = "pytorch/pytorch#70348"
WHY = (
    "mean runs over the non-ignored rows; with every row ignored the loss is NaN (0/0) but "
    "the gradient is exactly 0 in torch"
)


def f(x, y):
    a = F.cross_entropy(x, torch.tensor([1, -100]))
    b = F.cross_entropy(y, torch.tensor([-100, -100]))
    return a, b


ARGS = [t([[0.0, 0.0], [3.0, 4.0]]), t([[1.0, 2.0], [3.0, 4.0]])]
ARGNUMS = (0, 1)
EXPECTED = [[math.log(2.0), nan], [[0.5, -0.5], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]]
