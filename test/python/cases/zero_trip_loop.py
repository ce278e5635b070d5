import torch

from cases import t

KIND = 4
SOURCE = "pytorch/pytorch#188348, pymc-devs/pytensor#1977"
WHY = (
    "a loop over an empty sequence returns the initial carry: gradient 1 for it, parameter of "
    "the body None/zeros, empty gradient for the sequence; then the same function with 1 and "
    "2 trips"
)


def f(init, w, xs):
    c = init
    for k in range(xs.shape[0]):
        c = c * w + xs[k]
    return c


ARGS = [t(5.0), t(3.0), torch.zeros(0, dtype=torch.float64)]
ARGNUMS = (0, 1, 2)
EXPECTED = [5.0, 1.0, None, None]
SEQUENCE = [
    ([t(5.0), t(3.0), t([1.0])], [16.0, 3.0, 5.0, [1.0]]),
    ([t(5.0), t(3.0), torch.zeros(0, dtype=torch.float64)], [5.0, 1.0, None, None]),
    ([t(5.0), t(3.0), t([1.0, 2.0])], [50.0, 9.0, 31.0, [3.0, 1.0]]),
]
