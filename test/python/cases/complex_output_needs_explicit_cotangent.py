from cases import t

KIND = 6
SOURCE = "pytorch/pytorch#92750"
WHY = "grad of a complex-valued scalar without a cotangent is an error, not silently the real part"


def f(x):
    return (x * 0.5j).sum()


ARGS = [t([1.0])]
ARGNUMS = (0,)
IMPLICIT_COTANGENT = True
EXPECT_ERROR = "implicit cotangent only for real scalar outputs"
ERROR_MATCH = "real scalar outputs"
