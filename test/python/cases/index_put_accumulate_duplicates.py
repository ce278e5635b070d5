import torch

from cases import t

KIND = 3
SOURCE = "pytorch/pytorch#188084"
WHY = (
    "accumulate=True with duplicates is well defined: base keeps gradient 1 and every writer "
    "gets its cell's cotangent; target may be an expanded (self-overlapping) view, which must "
    "be materialised first"
)


def f(b, v):
    base = b.expand(2, 3)
    out = base.index_put((torch.tensor([0, 0, 1]), torch.tensor([1, 1, 0])), v, accumulate=True)
    return (out * t([[1.0, 10.0, 100.0], [1000.0, 10000.0, 100000.0]])).sum()


ARGS = [t([1.0, 2.0, 3.0]), t([4.0, 5.0, 6.0])]
ARGNUMS = (0, 1)
EXPECTED = [327411.0, [1001.0, 10010.0, 100100.0], [10.0, 10.0, 1000.0]]
FD = True
