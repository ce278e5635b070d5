import torch

from cases import t

KIND = 4
SOURCE = "NVIDIA/warp#1694"
WHY = (
    "b is computed before a run-time-bounded loop and used after it; its adjoint must survive "
    "the reversed loop (was silently 0)"
)


def f(x, s, n):
    b = x * x
    acc = t(0.0)
    for i in range(int(n)):
        acc = acc + s * (i + 1)
    return acc * b


ARGS = [t(3.0), t(2.0), torch.tensor(3)]
ARGNUMS = (0, 1)
EXPECTED = [108.0, 72.0, 54.0]
FD = True
