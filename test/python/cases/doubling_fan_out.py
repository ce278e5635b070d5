from cases import t

KIND = 7
SOURCE = "msakuta/rustograd#1, apache/tvm#5959, sebgao/cTensor#5"
WHY = (
    "y = y + y sixty times has 2**60 paths: a node's adjoint is completed once before it is "
    "propagated (exact 2**60), never once per path"
)


def f(x):
    y = x
    for _ in range(60):
        y = y + y
    return y


ARGS = [t(1.0)]
ARGNUMS = (0,)
EXPECTED = [2.0**60, 2.0**60]
