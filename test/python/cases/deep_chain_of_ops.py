from cases import t

KIND = 7
SOURCE = "karpathy/micrograd#90, HEmile/storchastic#87, Theano/Theano#3341"
WHY = (
    "6000 dependent ops: graph walks must be iterative (Python recursion limit, C++ stack), "
    "compile time about linear"
)

N = 3000


def f(x):
    y = x
    for _ in range(N):
        y = (y + x) * 0.5
    return y.sum()


ARGS = [t([1.0, -2.0])]
ARGNUMS = (0,)
EXPECTED = [-1.0, [1.0, 1.0]]
