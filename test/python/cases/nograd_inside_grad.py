import torch

from cases import t

KIND = 1
SOURCE = "pytorch/functorch#13"
WHY = (
    "a no_grad region inside the differentiated function is a constant for the gradient; the "
    "true derivative (which sees c) must NOT be returned"
)


def f(x):
    with torch.no_grad():
        c = (x * x).mean()
    return (x * c).sum()


ARGS = [t([1.0, 2.0, 3.0])]
ARGNUMS = (0,)
EXPECTED = [28.0, [14 / 3, 14 / 3, 14 / 3]]
