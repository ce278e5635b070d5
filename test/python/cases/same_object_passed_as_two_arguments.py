from cases import t

KIND = 1
SOURCE = "pytorch/pytorch#181146"
WHY = (
    "caller passes ONE tensor object for two arguments: a transform returns the per-position "
    "partials (2ab, aa), never the merged sum; input de-duplication must undo itself"
)


def f(a, b):
    return (a * a * b).sum()


_T = t([2.0, 3.0])
ARGS = [_T, _T]
ARGNUMS = (0, 1)
EXPECTED = [35.0, [8.0, 18.0], [4.0, 9.0]]
