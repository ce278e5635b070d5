import torch

from cases import t

KIND = 6
SOURCE = "flagos-ai/FlagGems#4295, apache/mxnet#17703"
WHY = (
    "300 copies of one bf16 cell: true gradient 300; torch 2.13 CPU (and JAX) accumulate in "
    "bf16 and stick at 256. Recommended: accumulate in f32, round once"
)


def f(x):
    return x[torch.zeros(300, dtype=torch.long)].float().sum()


ARGS = [t([1.0], torch.bfloat16)]
ARGNUMS = (0,)
EXPECTED = [300.0, [256.0]]
RECOMMENDED = [300.0, [300.0]]
DTYPES = [torch.bfloat16]
