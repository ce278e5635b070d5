import torch

from cases import t

KIND = 4
SOURCE = "EnzymeAD/Enzyme#2657"
WHY = (
    "z[i] = x[i]*y[i] written in a loop, x inactive: reversed loop must use the reversed "
    "index for the cached x[i] (weights make order errors visible)"
)


def f(x, y):
    z = torch.zeros(4, dtype=torch.float64)
    for i in range(x.shape[0]):
        z[i] = x[i] * y[i]
    return (z * t([1.0, 10.0, 100.0, 1000.0])).sum()


ARGS = [t([1.0, 2.0, 3.0, 4.0]), t([5.0, 6.0, 7.0, 8.0])]
ARGNUMS = (1,)
EXPECTED = [34225.0, [1.0, 20.0, 300.0, 4000.0]]
FD = True
