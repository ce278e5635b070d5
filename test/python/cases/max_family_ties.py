from cases import t

KIND = 2
SOURCE = "pytorch/pytorch#56734, pytorch/pytorch#155048"
WHY = (
    "ties: max() and amax() split evenly, max(dim) gives everything to the returned (first) "
    "index, median() splits, median(dim) is by index; lowering max(dim) to amax changes the "
    "gradient"
)


def f(x):
    return x.max(), x.amax(), x.max(0).values, x.median(), x.median(0).values


ARGS = [t([1.0, 3.0, 3.0, 3.0, 2.0])]
ARGNUMS = (0,)
COTANGENT = [3.0, 30.0, 100.0, 3000.0, 10000.0]
EXPECTED = [[3.0, 3.0, 3.0, 3.0, 3.0], [0.0, 11111.0, 1011.0, 1011.0, 0.0]]
