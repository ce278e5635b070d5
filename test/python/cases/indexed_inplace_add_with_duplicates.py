import torch

from cases import t

KIND = 3
SOURCE = "pytorch/pytorch#174074"
WHY = (
    "y[[0,0,1]] += 2*y[[0,0,1]]: gather, add, overwrite -> value 3*y once, not twice. torch "
    "eager's gradient for the duplicated cell is 6, finite differences say 3"
)


def f(x):
    y = x * 1.0
    i = torch.tensor([0, 0, 1])
    y[i] += 2 * y[i]
    return (y * t([1.0, 10.0, 100.0])).sum()


ARGS = [t([1.0, 2.0, 3.0])]
ARGNUMS = (0,)
EXPECTED = [363.0, [6.0, 30.0, 100.0]]
RECOMMENDED = [363.0, [3.0, 30.0, 100.0]]
FD_RECOMMENDED = True
