"""What the transforms share on the user's side: the check of the function, one compiled object a
code object, and the choice between a captured function and a call from outside."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import torch

from .errors import InputError

_Made = TypeVar("_Made")

_made: dict[Any, Any] = {}
_lock = threading.Lock()


def check_function(name: str, fn: Any) -> None:
    """Raises ``InputError`` unless ``fn`` can be called; ``name`` is the transform's."""
    if not callable(fn):
        raise InputError(f"{name} takes a function, got a {type(fn).__name__}")


def by_code(fn: Callable, key: tuple, make: Callable[[], _Made]) -> _Made:
    """What ``make`` makes for ``fn`` and ``key``, once a code object, so that a lambda written in a
    loop is compiled once.

    Dynamo guards on the function's code and closure, therefore functions that share code may share
    it.
    """
    code = getattr(fn, "__code__", None)
    if code is None:
        return make()
    with _lock:
        if (code, *key) not in _made:
            _made[code, *key] = make()
        return _made[code, *key]


def dispatching(fn: Callable, inside: Callable, outside: Callable) -> Callable:
    """A function that is ``inside`` where Dynamo captures it and ``outside`` elsewhere, with the
    name of ``fn``."""

    def transformed(*args: Any, **kwargs: Any) -> Any:
        if torch.compiler.is_dynamo_compiling():
            return inside(*args, **kwargs)
        return outside(*args, **kwargs)

    if hasattr(fn, "__name__"):
        functools.update_wrapper(
            transformed, fn, assigned=("__name__", "__qualname__", "__doc__", "__module__")
        )
    return transformed
