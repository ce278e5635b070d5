import torch

from cases import t

KIND = 4
SOURCE = "jax-ml/jax#5900"
WHY = (
    "while emulated by a fixed-length loop whose body becomes the identity once done: x**4 "
    "has gradient 108 at 3 (an optimised loop returned 324)"
)


def f(x):
    val = t(1.0)
    done = torch.tensor(False)
    for k in range(7):
        new = val * x
        val = torch.where(done, val, new)
        done = torch.logical_or(done, torch.tensor(k >= 3))
    return val


ARGS = [t(3.0)]
ARGNUMS = (0,)
EXPECTED = [81.0, 108.0]
FD = True
