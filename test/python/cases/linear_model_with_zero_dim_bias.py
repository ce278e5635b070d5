import torch

from cases import t

KIND = 3
SOURCE = "llvm/torch-mlir#1464"
WHY = (
    "matrix @ vector + 0-d bias, mean of squares: bias gradient is a 0-d sum over the batch, "
    "weight gradient X^T err * 2/n"
)


def f(w, b, X, y):
    err = torch.matmul(X, w) + b - y
    return torch.mean(torch.square(err))


ARGS = [
    t([0.0, 0.0, 0.0]),
    t(0.0),
    t([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0], [2.0, 1.0, 0.0], [1.0, 1.0, 1.0]]),
    t([1.0, 2.0, 3.0, 4.0]),
]
ARGNUMS = (0, 1)
EXPECTED = [7.5, [-5.5, -4.5, -4.0], -5.0]
SHAPES = [(3,), ()]
FD = True
