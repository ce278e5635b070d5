"""One compilation at a time, and calls that wait for it.

PyTorch's tracer keeps its state in globals of the process: while one thread traces, a second one
must not trace, and Dynamo refuses to enter a compiled function from any thread.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

import torch

from . import recurrent

#: Held while a graph is traced and compiled.
compile_lock = threading.RLock()


def _refused_at_entry(error: RuntimeError) -> bool:
    """Whether Dynamo's wrapper itself raised, before any code of the user ran."""
    own = error.__traceback__
    entry = own.tb_next if own is not None else None
    return entry is not None and entry.tb_next is None and "FX to symbolically trace" in str(error)


def _kind(value: Any) -> Any:
    """What a guard of Dynamo would most likely look at in an argument."""
    if isinstance(value, torch.Tensor):
        return (value.shape, value.dtype, value.requires_grad)
    return value if isinstance(value, int | float | str) else type(value)


def waiting(compiled: Callable) -> Callable:
    """``compiled`` (what ``torch.compile`` returned), waiting while another thread traces.

    Dynamo's own tracing must not run beside ours either: a call with arguments of a kind not seen
    before, which may compile, holds the lock as a whole.
    """
    seen: set[Any] = set()

    @functools.wraps(compiled)
    def call(*args: Any, **kwargs: Any) -> Any:
        kinds = (torch.is_grad_enabled(), *map(_kind, args), *map(_kind, kwargs.values()))
        if kinds not in seen:
            with compile_lock, recurrent.allowed():
                result = compiled(*args, **kwargs)
                seen.add(kinds)
                return result
        while True:
            try:
                if recurrent.met():
                    with recurrent.allowed():
                        return compiled(*args, **kwargs)
                return compiled(*args, **kwargs)
            except RuntimeError as error:
                if not _refused_at_entry(error) or compile_lock._is_owned():
                    raise
            with compile_lock:
                pass

    return call
