import torch

from cases import t

KIND = 7
SOURCE = "pytorch/pytorch#186893, pytorch/pytorch#116493"
WHY = (
    "call with sizes 1, 3, 1, 0 in turn: a trace specialised on size 1 (no broadcast "
    "reduction) must not be reused for size 3"
)


def f(x, b):
    return ((x + b) ** 2).sum()


ARGS = [t([2.0]), t([1.0])]
ARGNUMS = (0, 1)
EXPECTED = [9.0, [6.0], [6.0]]
SEQUENCE = [
    ([t([1.0, 2.0, 3.0]), t([1.0])], [29.0, [4.0, 6.0, 8.0], [18.0]]),
    ([t([1.0, 2.0]), t([1.0, 0.0])], [8.0, [4.0, 4.0], [4.0, 4.0]]),
    ([t([2.0]), t([1.0])], [9.0, [6.0], [6.0]]),
    ([torch.zeros(0, dtype=torch.float64), t([1.0])], [0.0, [], [0.0]]),
]
