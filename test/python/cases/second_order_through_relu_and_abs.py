import torch.nn.functional as F

from cases import t

KIND = 5
SOURCE = "tensorflow/tensorflow#60071, Theano/Theano#3210"
WHY = (
    "relu(x)**2 + x*|x|: second derivative 4 / -2 off the kink and 0 at it in reverse-over- "
    "reverse AND forward-over-reverse; relu'' at 0 is 0, never NaN or None"
)


def f(x):
    return (F.relu(x) ** 2 + x * x.abs()).sum()


ARGS = [t([2.0, -3.0, 0.0])]
ARGNUMS = (0,)
EXPECTED = [-1.0, [8.0, 6.0, 0.0]]
HESSIAN = [[4.0, 0.0, 0.0], [0.0, -2.0, 0.0], [0.0, 0.0, 0.0]]
