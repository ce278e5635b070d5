import torch

from cases import t

KIND = 1
SOURCE = "pytorch/pytorch#189423, pytorch/pytorch#78961"
WHY = (
    "torch jvp IGNORES no_grad (tangent 13) while vjp respects it (1); recommended: one IR- "
    "level stop for both modes so jvp == vjp, as jax.lax.stop_gradient does (jvp 1)"
)


def f(x):
    with torch.no_grad():
        y = x**3
    return (y + x).sum()


ARGS = [t([2.0])]
ARGNUMS = (0,)
EXPECTED = [10.0, [1.0]]
JVP = {"tangents": [[1.0]], "out": 13.0}
JVP_RECOMMENDED = 1.0
