import torch

from cases import t

KIND = 4
SOURCE = "NVIDIA/warp#1697"
WHY = (
    "v[i] = v[i]*v[i] + x[k] on a local buffer, same cells overwritten in every iteration: "
    "each overwrite must be undone in reverse with its own saved value"
)


def f(x):
    v = torch.zeros(2, dtype=torch.float64)
    for k in range(x.shape[0]):
        i = k % 2
        u = (
            v[i].clone()
        )  # without the clone eager refuses (version counter); a functional compiler need not
        v[i] = u * u + x[k]
    return v[0] + 10 * v[1]


ARGS = [t([1.0, 2.0, 3.0, 4.0])]
ARGNUMS = (0,)
EXPECTED = [4.0 + 80.0, [2.0, 40.0, 1.0, 10.0]]
FD = True
