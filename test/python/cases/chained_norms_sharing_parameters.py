import torch
import torch.nn.functional as F

from cases import t

KIND = 7
SOURCE = "pytorch/pytorch#193061"
WHY = (
    "two layer norms sharing scale and shift slices of one parameter table: gradients of both "
    "uses land in the same buffer and must be added, every slice written"
)


def f(x, table):
    sc, sh = table[0], table[1]
    y = F.layer_norm(x, (3,)) * (1 + sc) + sh
    z = F.layer_norm(torch.tanh(y), (3,)) * (1 + sc) + sh
    return (z * t([[1.0, 2.0, -1.0], [0.5, -2.0, 1.0]])).sum()


ARGS = [
    t([[0.3, -0.2, 0.9], [1.0, 0.4, -0.7]]),
    t([[0.1, 0.2, -0.3], [0.05, -0.1, 0.2], [9.0, 9.0, 9.0]]),
]
ARGNUMS = (0, 1)
EXPECTED = [
    -4.130308125122102,
    [
        [0.5119458291033587, -0.27924151263769514, -0.2327043164656635],
        [2.661427279843326, -4.11313620595815, 1.4517089261148244],
    ],
    [
        [1.155884939653475, -3.3633926237380702, -3.7713325604245207],
        [2.2987519880664284, -3.25192354743553, 0.8730721740125439],
        [0.0, 0.0, 0.0],
    ],
]
FD = True
