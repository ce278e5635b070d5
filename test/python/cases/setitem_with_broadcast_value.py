from cases import t

KIND = 3
SOURCE = "Lightning-AI/lightning-thunder#1979"
WHY = (
    "y[:, ::2] = v with v of shape (1,2) broadcast over rows: v's gradient is reduced back to "
    "(1,2); overwritten cells of x get 0"
)


def f(x, v):
    y = x * 1.0
    y[:, ::2] = v
    return (y * t([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])).sum()


ARGS = [t([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]), t([[7.0, 8.0]])]
ARGNUMS = (0, 1)
EXPECTED = [114.0, [[0.0, 2.0, 0.0], [0.0, 5.0, 0.0]], [[5.0, 9.0]]]
FD = True
