from cases import t

KIND = 3
SOURCE = "pytorch/pytorch#178080"
WHY = (
    "parameter of shape (1,3,1) in a normalise-like expression: its gradient keeps all three "
    "dims, nothing is squeezed"
)


def f(h, w):
    return (h / h.sum(dim=1, keepdim=True) * w)[:, 0].sum() * 2 + (h * w).sum()


ARGS = [t([[[1.0, 2.0], [1.0, 4.0], [2.0, 2.0]]]), t([[[1.0], [2.0], [3.0]]])]
ARGNUMS = (0, 1)
EXPECTED = [26.0, [[[1.375, 1.1875], [1.875, 1.9375], [2.875, 2.9375]]], [[[4.0], [5.0], [4.0]]]]
SHAPES = [(1, 3, 2), (1, 3, 1)]
FD = True
