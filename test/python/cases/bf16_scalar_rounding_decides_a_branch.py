import torch

from cases import t

KIND = 6
SOURCE = "pytorch/pytorch#185869"
WHY = (
    "eager bf16 add rounds the Python scalar 1.7 to 1.703125 first, so the margin is exactly "
    "0 and the kept side is taken (gradient -1/+1); adding 1.7 in f32 gives -0.003 and "
    "gradient 0"
)


def f(a, b):
    m = -(a - b) + 1.7
    return torch.where(m >= 0, m, torch.zeros_like(m)).float().sum()


ARGS = [t([1.703125], torch.bfloat16), t([0.0], torch.bfloat16)]
ARGNUMS = (0, 1)
EXPECTED = [0.0, [-1.0], [1.0]]
DTYPES = [torch.bfloat16, torch.bfloat16]
