"""One compilation at a time, and calls that wait for it.

PyTorch's tracer keeps its state in globals of the process: while one thread traces, a second one
must not trace, and Dynamo refuses to enter a compiled function from any thread.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

#: Held while a graph is traced and compiled.
compile_lock = threading.RLock()


def _refused_at_entry(error: RuntimeError) -> bool:
    """Whether Dynamo's wrapper itself raised, before any code of the user ran."""
    own = error.__traceback__
    entry = own.tb_next if own is not None else None
    return entry is not None and entry.tb_next is None and "FX to symbolically trace" in str(error)


def waiting(compiled: Callable) -> Callable:
    """``compiled`` (what ``torch.compile`` returned), waiting while another thread traces."""

    @functools.wraps(compiled)
    def call(*args: Any, **kwargs: Any) -> Any:
        while True:
            try:
                return compiled(*args, **kwargs)
            except RuntimeError as error:
                if not _refused_at_entry(error) or compile_lock._is_owned():
                    raise
            with compile_lock:
                pass

    return call
