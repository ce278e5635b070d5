import torch

from cases import t

KIND = 2
SOURCE = "jax-ml/jax#5798"
WHY = (
    "the inner where feeds a harmless value to sqrt; rewriting where(c, g(where(c, x, 1)), y) "
    "to where(c, g(x), y) would bring the NaN back"
)


def f(x):
    ok = x > 0
    safe = torch.where(ok, x, torch.ones_like(x))
    return torch.where(ok, torch.sqrt(safe), x).sum()


ARGS = [t([-1.0, 4.0, 0.0])]
ARGNUMS = (0,)
EXPECTED = [1.0, [1.0, 0.25, 1.0]]
