from cases import t

KIND = 3
SOURCE = "PaddlePaddle/Paddle#79718, pytorch/pytorch#8721"
WHY = (
    "self-overlapping view: cotangents of all aliases of one storage cell are summed "
    "(1,2,3,2,1), not overwritten (all ones)"
)


def f(x):
    return x.as_strided((3, 3), (1, 1)).sum()


ARGS = [t([1.0, 2.0, 3.0, 4.0, 5.0])]
ARGNUMS = (0,)
EXPECTED = [27.0, [1.0, 2.0, 3.0, 2.0, 1.0]]
FD = True
