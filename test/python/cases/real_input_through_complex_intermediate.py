import torch

from cases import t

KIND = 6
SOURCE = "JuliaDiff/ChainRules.jl#196"
WHY = (
    "a real argument used in complex arithmetic gets a REAL gradient (projection of the "
    "complex cotangent), same dtype as the argument"
)


def f(x):
    return ((x * (1 + 2j)) ** 2).real.sum() + 2 * ((x * 1j) ** 3).imag.sum()


ARGS = [t([3.0])]
ARGNUMS = (0,)
EXPECTED = [-27.0 - 54.0, [-18.0 - 54.0]]
DTYPES = [torch.float64]
FD = True
