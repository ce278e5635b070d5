import torch

from cases import t

KIND = 6
SOURCE = "pytorch/pytorch#41857"
WHY = (
    "real loss of complex z: torch returns the steepest-ascent direction, grad |z|**2 = 2z "
    "(JAX returns the conjugate 2*conj(z)); a torch front end must use torch's. Non-symmetric "
    "loss re(z*z) -> 2*conj(z)"
)


def f(z, w):
    return (z * z.conj()).real.sum() + (w * w).real.sum()


ARGS = [t([1 + 2j], torch.complex128), t([1 + 2j], torch.complex128)]
ARGNUMS = (0, 1)
EXPECTED = [5.0 - 3.0, [2 + 4j], [2 - 4j]]
