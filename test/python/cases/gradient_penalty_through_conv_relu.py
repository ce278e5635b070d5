import torch
import torch.nn.functional as F

from cases import t

KIND = 5
SOURCE = "pytorch/pytorch#181581, pytorch/pytorch#1643"
WHY = (
    "loss built from a gradient (conv + relu + matmul): the inner gradient must stay "
    "differentiable with respect to the weights"
)

GRAD = torch.func.grad


def f(w, m, x):
    def net(v):
        h = F.relu(F.conv1d(v[None, None], w[None, None]))[0, 0]
        return torch.tanh(h @ m).sum()

    g = GRAD(net)(x)
    return (g * g).sum()


ARGS = [t([0.5, -0.25]), t([[0.3], [0.7], [-0.2]]), t([1.0, 0.5, -1.0, 2.0])]
ARGNUMS = (0, 1, 2)
EXPECTED = [
    0.08515684942681936,
    [0.21849624988637337, 0.028042480029671565],
    [[-0.046929258703304895], [0.1661661179239433], [0.0]],
    [-0.02207876559498485, -0.040477736924138884, 0.025758559860815655, 0.0],
]
FD = True
