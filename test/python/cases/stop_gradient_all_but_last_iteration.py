import torch

from cases import t

KIND = 1
SOURCE = "jax-ml/jax#13710"
WHY = (
    "run 4 loop steps as constants, differentiate only the fifth: theta gets the last step's "
    "gradient; x has no path (None / zeros), and later steps must not be stopped too"
)


def f(x, theta):
    with torch.no_grad():
        for _ in range(4):
            x = theta * x
    x = theta * x
    return x


ARGS = [t(2.0), t(0.5)]
ARGNUMS = (0, 1)
EXPECTED = [0.0625, None, 0.125]
