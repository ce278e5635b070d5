import torch

from cases import t

KIND = 5
SOURCE = "JuliaDiff/ReverseDiff.jl#45, pytorch/pytorch#32576"
WHY = (
    "x * d/dy(x*y) is x*x (slope 2x); d/dy[y*(x-y)] at y=x is -x (slope -1, naive tape on the "
    "same tensor gives 0): inner and outer variables must stay distinct"
)

GRAD = torch.func.grad


def f(x):
    a = x * GRAD(lambda y: x * y)(torch.ones_like(x))
    b = GRAD(lambda y: y * (x - y))(x)
    return a + 100 * b


ARGS = [t(4.0)]
ARGNUMS = (0,)
EXPECTED = [16.0 - 400.0, 8.0 - 100.0]
FD = True
