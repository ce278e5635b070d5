"""The command ``gradc explain``: finds a function and its arguments and prints the explanation."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import inspect
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from rich.console import Console

from .errors import InputError
from .explainer import explain


def run_explain(target: str, arguments: str | None = None, as_json: bool = False) -> int:
    """Explains ``target``, ``FILE.py:FUNCTION`` or ``MODULE:FUNCTION``; returns the exit status.

    ``FUNCTION`` may be a method, ``CLASS.METHOD``; its object is made without arguments.

    ``arguments`` is Python, as between the parentheses of a call. Without it the file says what to
    call the function with: see `_arguments`.

    Raises:
        InputError: when the file, the function or its arguments can not be had.
        GradcError: as `gradc.explain`.
    """
    path, colon, name = target.rpartition(":")
    if not colon or not path or not name:
        raise InputError(
            f"{target!r} names no function", hint="write FILE.py:FUNCTION or MODULE:FUNCTION"
        )
    module = _load(path)
    function = _find(module, name, path)
    args, kwargs = _arguments(module, name, function, arguments, path)
    if "TORCH_LOGS" not in os.environ:
        # What PyTorch logs of a function that can not be captured is in the error as well.
        torch._logging.set_logs(all=logging.CRITICAL)
    explanation = explain(function, *args, **kwargs)
    if as_json:
        print(explanation.to_json(indent=2))
    elif sys.stdout.isatty():
        Console().print(explanation)
    else:
        print(explanation)
    return 0


def _load(path: str) -> ModuleType:
    if not path.endswith(".py"):
        sys.path.insert(0, "")
        try:
            return importlib.import_module(path)
        except Exception as error:
            raise _failed(f"importing {path}", error) from error
    file = Path(path)
    if not file.is_file():
        raise InputError(f"there is no file {path}")
    # As for a script, modules beside the file can be imported.
    sys.path.insert(0, str(file.parent.resolve()))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise _failed(f"importing {path}", error) from error
    return module


def _find(module: ModuleType, name: str, path: str) -> Callable:
    value: Any = module
    for part in name.split("."):
        if not hasattr(value, part):
            near = difflib.get_close_matches(part, [n for n in dir(value) if n[0] != "_"])
            raise InputError(
                f"{path} has no {name!r}",
                hint=f"did you mean {', '.join(near)}?" if near else None,
            )
        if isinstance(value, type) and inspect.isfunction(inspect.getattr_static(value, part)):
            value = _made(value)
        value = getattr(value, part)
    if isinstance(value, type) and issubclass(value, torch.nn.Module):
        return _made(value)
    if not callable(value):
        raise InputError(f"{name!r} of {path} is a {type(value).__name__}, which can not be called")
    return value


def _made(kind: type) -> Any:
    """An object of the class ``kind``."""
    try:
        return kind()
    except Exception as error:
        raise _failed(
            f"{kind.__name__}()",
            error,
            hint="name a function, or an object that the file has made and its method",
        ) from error


def _arguments(
    module: ModuleType, name: str, function: Callable, given: str | None, path: str
) -> tuple[tuple, dict[str, Any]]:
    """Positional and keyword arguments.

    In this order: ``given``; ``NAME_args`` of the file; ``example_args`` of the file, each of the
    two a tuple, a dict of keyword arguments, a single argument, or a function that returns one of
    these; none at all, if that is enough for ``function``.
    """
    if given is not None:
        names = {"torch": torch, **vars(module), "_call": lambda *a, **k: (a, k)}
        try:
            return eval(f"_call({given})", names)
        except Exception as error:
            raise _failed(f"--args {given!r}", error) from error
    wanted = (f"{name.replace('.', '_')}_args", "example_args")
    for candidate in wanted:
        if not hasattr(module, candidate):
            continue
        value = getattr(module, candidate)
        if callable(value):
            try:
                value = value()
            except Exception as error:
                raise _failed(f"{candidate}()", error) from error
        if isinstance(value, dict):
            return (), value
        return (tuple(value) if isinstance(value, tuple | list) else (value,)), {}
    try:
        inspect.signature(function).bind()
    except TypeError:
        raise InputError(
            f"{name} takes arguments, and {path} has neither `{wanted[0]}` nor `{wanted[1]}`",
            hint='pass them, as in --args "torch.randn(3, 4), scale=2", or define one of the two',
        ) from None
    return (), {}


def _failed(what: str, error: Exception, hint: str | None = None) -> InputError:
    return InputError(f"{what} fails: {type(error).__name__}: {error}", hint=hint)
