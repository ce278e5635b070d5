"""Functions whose gradients compilers have got wrong, with what PyTorch gives. One module a case.

A case has ``f``, ``ARGS`` and ``ARGNUMS``; ``SOURCE`` says where the mistake was made and ``WHY``
what has to hold. ``KIND`` is 1 for gradient modes, 2 for values at kinks, 3 for data movement,
4 for loops, 5 for second order, 6 for dtypes and 7 for size. The other fields:

EXPECTED
    The value of ``f`` (a list of values if it returns a tuple), then a gradient for each argument
    of ``ARGNUMS``: of the sum over the outputs of their products with ``COTANGENT`` (ones by
    default; a None in it marks an output that must not require a gradient). None means no path; a
    transform returns zeros there.
RECOMMENDED
    What gradc returns where eager PyTorch itself is wrong; ``EXPECTED`` is then what eager does.
ALSO_OK
    Further complete answers that are right.
HESSIAN, HESSIAN_RECOMMENDED
    Of the summed output with respect to the first argument of ``ARGNUMS``, by reverse over reverse
    (``HESSIAN_FWD_REV``: by forward over reverse, where PyTorch gives another one).
JVP, JVP_RECOMMENDED
    ``tangents`` and the tangent ``out`` of the summed output that PyTorch gives; the recommended
    one agrees with the gradient.
RG, SHAPES, DTYPES
    ``requires_grad`` of every output; shape and dtype of every gradient.
SEQUENCE
    Further calls of the same compiled function: ``(args, expected[, argnums])``.
THREADS
    Take the gradient in so many threads at once, while another is under ``no_grad``.
FD, FD_RECOMMENDED
    The gradient is also that of central differences.
EXPECT_ERROR, ERROR_MATCH
    Asking for the gradient is an error; PyTorch's message contains ``ERROR_MATCH``.
IMPLICIT_COTANGENT
    The gradient is asked for without a cotangent.
FUNC_ERROR
    ``torch.func`` refuses the function, a tape takes it.
GRAD
    The gradient transform that ``f`` uses; the test puts gradc's there.
RTOL, ATOL
    Tolerances, 1e-9 and 1e-12 by default.
"""

import torch

inf, nan = float("inf"), float("nan")


def t(values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype)
