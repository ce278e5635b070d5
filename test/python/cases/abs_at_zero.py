from cases import t

KIND = 2
SOURCE = "jax-ml/jax#37820"
WHY = (
    "d|x|/dx at 0 (and -0.0) is sign(0)=0 in torch; JAX returns 1. Minimum-norm subgradient 0 "
    "is right for a torch front end"
)


def f(x):
    return x.abs()


ARGS = [t([0.0, -0.0, 2.0, -2.0])]
ARGNUMS = (0,)
EXPECTED = [[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 1.0, -1.0]]
