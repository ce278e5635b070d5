import torch

from cases import t

KIND = 4
SOURCE = "pytorch/pytorch#184528"
WHY = (
    "initial carry does not require grad but later carries do (through the closed-over "
    "parameter a): requires_grad of loop carries needs a fixpoint, otherwise a loses its "
    "indirect terms"
)


def f(x, a, carry):
    ys = []
    for i in range(x.shape[0]):
        carry = a * carry + x[i]
        ys.append(carry)
    return torch.stack(ys).sum() + carry * carry


ARGS = [t([1.0, 2.0, 3.0]), t(0.5), t(4.0)]
ARGNUMS = (1,)
EXPECTED = [3.0 + 3.5 + 4.75 + 4.75**2, 4.0 + (3.0 + 2.0) + (3.5 + 0.5 * 5.0) * (1 + 9.5)]
FD = True
