from cases import t

KIND = 5
SOURCE = "pytorch/pytorch#95180"
WHY = (
    "x**2 (float exponent and tensor exponent) at 0 has second derivative 2 and x**3 has 0, "
    "no 0*inf; the exponent of 0**x at 0 is NaN in torch (JAX 0)"
)


def f(x):
    return x[0] ** 2 + x[1] ** t(2.0) + x[2] ** 3


ARGS = [t([0.0, 0.0, 0.0])]
ARGNUMS = (0,)
EXPECTED = [0.0, [0.0, 0.0, 0.0]]
HESSIAN = [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]]
FD = True
