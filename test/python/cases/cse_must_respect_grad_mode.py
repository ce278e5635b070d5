import torch

from cases import t

KIND = 1
SOURCE = "pytorch/pytorch#114338"
WHY = (
    "the same expression once under enable_grad (nested in no_grad) and once under no_grad: "
    "CSE must not merge them (gives 4*x**3 or 0 instead of 2*x**3)"
)


def f(x):
    with torch.no_grad():
        with torch.enable_grad():
            a = x * x
        b = x * x
    return (a * b).sum(), a, b


ARGS = [t([2.0, 3.0])]
ARGNUMS = (0,)
COTANGENT = [1.0, [0.0, 0.0], None]
RG = [True, True, False]
EXPECTED = [[97.0, [4.0, 9.0], [4.0, 9.0]], [16.0, 54.0]]
