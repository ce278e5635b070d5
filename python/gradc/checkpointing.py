"""``gradc.checkpoint``: compute again in the backward pass instead of saving."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint as torch_checkpoint
from torch.utils.checkpoint import create_selective_checkpoint_contexts

from .errors import InputError
from .frontend.ops import POLICIES, POLICY

aten = torch.ops.aten

#: What "dots" saves when the function runs eagerly.
_DOTS = [
    aten.mm.default,
    aten.bmm.default,
    aten.addmm.default,
    aten.baddbmm.default,
    aten.convolution.default,
]


def checkpoint(fn: Callable, *args: Any, policy: str = "nothing", **kwargs: Any) -> Any:
    """``fn(*args, **kwargs)``, whose intermediate values are not kept for the backward pass.

    The backward pass computes them again from the inputs. Values and gradients are the same, bit
    for bit; memory goes down and time goes up. Use it inside functions that gradc compiles or
    transforms; elsewhere it is ``torch.utils.checkpoint``, which gradc honours as well.

    Args:
        fn: a function or module that is a function of values: one that writes into its inputs or
            returns a view of one is run without a checkpoint.
        policy: what is saved besides the inputs: ``"nothing"``, ``"dots"`` (results of matrix
            products and convolutions, which are dear to compute) or ``"everything"``, which saves
            what it would save without a checkpoint.

    Raises:
        InputError: on an unknown policy.
    """
    if policy not in POLICIES:
        raise InputError(
            f"gradc.checkpoint has no policy {policy!r}", hint=f"there are {', '.join(POLICIES)}"
        )
    if policy == "everything":
        return fn(*args, **kwargs)
    if torch.compiler.is_compiling():

        def body(*args: Any, **kwargs: Any) -> Any:
            POLICY(torch.empty(0), policy)
            return fn(*args, **kwargs)

        return torch_checkpoint(body, *args, use_reentrant=False, **kwargs)
    if policy == "dots":
        kwargs["context_fn"] = functools.partial(create_selective_checkpoint_contexts, _DOTS)
    return torch_checkpoint(fn, *args, use_reentrant=False, **kwargs)
