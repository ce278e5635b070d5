import torch

from cases import t

KIND = 3
SOURCE = "pytorch/pytorch#182012"
WHY = (
    "x outside the diagonal keeps gradient, the diagonal is routed to src (compiled code "
    "returned all zeros for x)"
)


def f(x, s):
    return (
        x.diagonal_scatter(s, offset=1) * t([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    ).sum()


ARGS = [torch.ones(3, 3, dtype=torch.float64), t([10.0, 20.0])]
ARGNUMS = (0, 1)
EXPECTED = [177.0, [[1.0, 0.0, 3.0], [4.0, 5.0, 0.0], [7.0, 8.0, 9.0]], [2.0, 6.0]]
FD = True
