import torch

from cases import t

KIND = 1
SOURCE = "pytorch/pytorch#10858"
WHY = (
    "leaving a @no_grad helper must restore the PREVIOUS mode (still off inside an enclosing "
    "no_grad), not switch grad on"
)


@torch.no_grad()
def helper(v):
    return v * 2


def f(x):
    with torch.no_grad():
        y = helper(x)
        z = x * 3
    return (x * y * z).sum()


ARGS = [t([2.0])]
ARGNUMS = (0,)
EXPECTED = [48.0, [24.0]]
