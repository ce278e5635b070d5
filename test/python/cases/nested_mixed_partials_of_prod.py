import torch

from cases import t

KIND = 5
SOURCE = "pytorch/pytorch#121711"
WHY = (
    "d4/dx0 dx1 dx2 dx3 of a 5-fold product is x4; cost may not explode with nesting "
    "(reported as a hang at 10 levels)"
)

GRAD = torch.func.grad


def f(x):
    def p(a, b, c, d):
        return torch.stack([a, b, c, d, x[4]]).prod()

    h = p
    for k in range(4):
        h = GRAD(h, argnums=k)
    return h(x[0], x[1], x[2], x[3])


ARGS = [t([2.0, 3.0, 5.0, 7.0, 11.0])]
ARGNUMS = (0,)
EXPECTED = [11.0, [0.0, 0.0, 0.0, 0.0, 1.0]]
FD = True
