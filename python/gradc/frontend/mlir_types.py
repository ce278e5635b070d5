"""Torch dtypes and tensors as MLIR types, in torch-mlir's spelling and in the builtin one."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ..errors import UnsupportedError

# torch-mlir keeps signedness; builtin arith has none. Last column: torch's own number for the
# dtype.
_DTYPES: dict[torch.dtype, tuple[str, str, int]] = {
    torch.uint8: ("ui8", "i8", 0),
    torch.int8: ("si8", "i8", 1),
    torch.int16: ("si16", "i16", 2),
    torch.int32: ("si32", "i32", 3),
    torch.int64: ("si64", "i64", 4),
    torch.float16: ("f16", "f16", 5),
    torch.float32: ("f32", "f32", 6),
    torch.float64: ("f64", "f64", 7),
    torch.complex64: ("complex<f32>", "complex<f32>", 9),
    torch.complex128: ("complex<f64>", "complex<f64>", 10),
    torch.bool: ("i1", "i1", 11),
    torch.bfloat16: ("bf16", "bf16", 15),
}


def _entry(dtype: torch.dtype) -> tuple[str, str, int]:
    if dtype not in _DTYPES:
        raise UnsupportedError(
            f"tensors of dtype {dtype} are not supported", hint="convert them first"
        )
    return _DTYPES[dtype]


def element_type(dtype: torch.dtype) -> str:
    """The builtin element type, for example ``i64``."""
    return _entry(dtype)[1]


def dtype_number(dtype: torch.dtype) -> int:
    """The number by which ATen schemas pass the dtype."""
    return _entry(dtype)[2]


def vtensor(tensor: torch.Tensor) -> str:
    """``!torch.vtensor<[2,3],f32>``."""
    sizes = ",".join(str(int(size)) for size in tensor.shape)
    return f"!torch.vtensor<[{sizes}],{_entry(tensor.dtype)[0]}>"


def tensor_type(shape: Sequence[int], element: str) -> str:
    """``tensor<2x3xf32>``."""
    return "tensor<" + "".join(f"{int(size)}x" for size in shape) + element + ">"
