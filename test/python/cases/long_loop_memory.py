import torch

from cases import t

KIND = 7
SOURCE = "jax-ml/jax#2139, jax-ml/jax#8239"
WHY = (
    "4000 steps of a loop on a 1000-vector: result exact; measure residual memory (one state "
    "per step unless checkpointed) and compile time (a rolled loop must not be unrolled)"
)

STEPS = 4000


def f(x, h):
    v = x
    for _ in range(STEPS):
        v = v - h * v
    return v.sum()


ARGS = [torch.ones(1000, dtype=torch.float64), t(1e-4)]
ARGNUMS = (0, 1)
_G = (1 - 1e-4) ** 4000
EXPECTED = [1000 * _G, [_G] * 1000, -1000 * 4000 * (1 - 1e-4) ** 3999]
RTOL = 1e-8
