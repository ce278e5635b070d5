import torch

from cases import t

KIND = 3
SOURCE = "pytorch/pytorch#1528, invenia/Nabla.jl#139, FluxML/Zygote.jl#821"
WHY = (
    "x[idx] with repeated indices: contributions of all copies add up; a scatter that "
    "overwrites keeps only the last"
)


def f(x):
    return (x[torch.tensor([0, 1, 2, 2, -1])] * t([1.0, 10.0, 100.0, 1000.0, 10000.0])).sum()


ARGS = [t([1.0, 2.0, 3.0])]
ARGNUMS = (0,)
EXPECTED = [33321.0, [1.0, 10.0, 11100.0]]
FD = True
