from cases import t

KIND = 1
SOURCE = "Lightning-AI/lightning-thunder#1284"
WHY = (
    "in-place update of an argument that requires grad: eager refuses; a compiler must refuse "
    "too (or define it), never return the un-updated gradient"
)


def f(x):
    return x.mul_(2).sum()


ARGS = [t([1.0, 2.0])]
ARGNUMS = (0,)
EXPECT_ERROR = "a leaf that requires grad may not be used in an in-place operation"
ERROR_MATCH = "leaf"
