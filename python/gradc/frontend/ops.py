"""The two gradient ops that the frontend puts into ATen graphs.

``gradc::stop_gradient(x)`` is the identity on values and stops every gradient.
``gradc::value_of(value, path)`` has the value of its first operand and the gradient path of its
second. Both become ops of the ``grad`` dialect. They return fresh tensors, so functionalisation
needs no rule for them; run eagerly they behave as they mean.
"""

from __future__ import annotations

import torch

_library = torch.library.Library("gradc", "DEF")
_library.define("stop_gradient(Tensor x) -> Tensor")
_library.define("value_of(Tensor value, Tensor path) -> Tensor")


def _stop_gradient(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


def _value_of(value: torch.Tensor, path: torch.Tensor) -> torch.Tensor:
    return value.clone()


_library.impl("stop_gradient", _stop_gradient, "CompositeExplicitAutograd")
_library.impl("value_of", _value_of, "CompositeExplicitAutograd")
# Under make_fx the composite kernels would be traced through; a fake kernel keeps the ops whole.
torch.library.register_fake("gradc::stop_gradient", torch.empty_like, lib=_library)
torch.library.register_fake(
    "gradc::value_of", lambda value, path: torch.empty_like(value), lib=_library
)

STOP = torch.ops.gradc.stop_gradient.default
VALUE_OF = torch.ops.gradc.value_of.default
