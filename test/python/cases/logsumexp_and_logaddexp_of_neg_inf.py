import torch

from cases import inf, nan, t

KIND = 2
SOURCE = "jax-ml/jax#6811, pytorch/pytorch#31829, pytorch/pytorch#49724"
WHY = (
    "all -inf: torch and JAX give NaN gradients although 0 is the log-semiring answer; "
    "logaddexp(logaddexp(-inf,-inf),2) poisons a and b even though the outer slope is 0. "
    "Zeros are an acceptable improvement"
)


def f(x, a, b):
    return torch.logsumexp(x, 0), torch.logaddexp(torch.logaddexp(a, b), t(2.0))


ARGS = [t([-inf, -inf]), t(-inf), t(-inf)]
ARGNUMS = (0, 1, 2)
EXPECTED = [[-inf, 2.0], [nan, nan], nan, nan]
ALSO_OK = [[[-inf, 2.0], [0.0, 0.0], 0.0, 0.0]]
