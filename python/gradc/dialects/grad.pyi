from typing import Any

from mlir import ir

from .._lib._gradc import RequiresGradAttr as RequiresGradAttr
from .._lib._gradc import has_requires_grad as has_requires_grad
from .._lib._gradc import with_requires_grad as with_requires_grad

def register_dialect(context: ir.Context | None = None) -> None: ...
def __getattr__(name: str) -> Any: ...
