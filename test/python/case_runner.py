"""Runs a case of ``cases``: a gradient through each door, and what the case says it has to be."""

from __future__ import annotations

import importlib.util
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

FOLDER = Path(__file__).parent / "cases"


def names(folder: Path = FOLDER) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")


def load(name: str, folder: Path = FOLDER) -> ModuleType:
    """The case as a fresh module."""
    spec = importlib.util.spec_from_file_location(f"case_{name}", folder / f"{name}.py")
    case = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = case  # Dynamo looks up globals there
    spec.loader.exec_module(case)
    return case


def close(found: Any, wanted: Any, rtol: float = 1e-9, atol: float = 1e-12) -> bool:
    """Whether two nested lists of numbers (or None) agree; NaN and infinities only with
    themselves."""
    if found is None or wanted is None:
        return found is None and wanted is None
    if isinstance(found, (list, tuple)) or isinstance(wanted, (list, tuple)):
        return (
            isinstance(found, (list, tuple))
            and isinstance(wanted, (list, tuple))
            and len(found) == len(wanted)
            and all(close(f, w, rtol, atol) for f, w in zip(found, wanted))
        )
    if isinstance(found, complex) or isinstance(wanted, complex):
        found, wanted = complex(found), complex(wanted)
        parts = [found.real, found.imag], [wanted.real, wanted.imag]
        return close(*parts, rtol, atol)
    found, wanted = float(found), float(wanted)
    if math.isnan(found) or math.isnan(wanted):
        return math.isnan(found) and math.isnan(wanted)
    if math.isinf(found) or math.isinf(wanted):
        return found == wanted
    return abs(found - wanted) <= atol + rtol * max(abs(found), abs(wanted))


def outputs_of(result: Any) -> tuple:
    return result if isinstance(result, tuple) else (result,)


def numbers(tree: Any) -> Any:
    """Tensors as nested lists."""
    if isinstance(tree, (tuple, list)):
        return [numbers(leaf) for leaf in tree]
    return tree.tolist() if isinstance(tree, torch.Tensor) else tree


def cotangents(case: ModuleType, outputs: Sequence[torch.Tensor]) -> list[torch.Tensor | None]:
    """One for each output; None where the output must not require a gradient or cannot."""
    given = getattr(case, "COTANGENT", None)
    if given is None:
        return [torch.ones_like(out) if _differentiable(out) else None for out in outputs]
    given = [list(given)] if len(outputs) == 1 and len(given) != 1 else given
    return [
        None if c is None else torch.tensor(c, dtype=out.dtype).reshape(out.shape)
        for out, c in zip(outputs, given)
    ]


def _differentiable(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex())


def summed(case: ModuleType, function: Callable) -> Callable:
    """``function`` as one real scalar: its outputs times their cotangents."""

    def total(*args: Any) -> torch.Tensor:
        outputs = outputs_of(function(*args))
        result = torch.zeros((), dtype=torch.float64)
        for out, cotangent in zip(outputs, cotangents(case, outputs)):
            if cotangent is not None:
                part = (out * cotangent).sum()
                result = result + (part.real if part.is_complex() else part)
        return result

    return total


def leaves(args: Sequence[Any], argnums: Sequence[int]) -> list[Any]:
    copies = [a.detach().clone() if isinstance(a, torch.Tensor) else a for a in args]
    return [c.requires_grad_() if i in argnums else c for i, c in enumerate(copies)]


def tape(
    case: ModuleType, function: Callable, args: Sequence[Any], argnums: Sequence[int]
) -> tuple[Any, list[torch.Tensor | None], tuple]:
    """Value, gradients and outputs by PyTorch's tape."""
    inputs = leaves(args, argnums)
    result = function(*inputs)
    outputs = outputs_of(result)
    chosen = [inputs[i] for i in argnums]
    if getattr(case, "IMPLICIT_COTANGENT", False):
        return numbers(result), list(torch.autograd.grad(result, chosen)), outputs
    pairs = [
        (out, cotangent)
        for out, cotangent in zip(outputs, cotangents(case, outputs))
        if isinstance(out, torch.Tensor) and out.requires_grad
    ]
    if not pairs:
        return numbers(result), [None] * len(argnums), outputs
    outs, cots = zip(*pairs)
    gradients = torch.autograd.grad(outs, chosen, cots, allow_unused=True)
    return numbers(result), list(gradients), outputs


def zeros_for_none(expected: Sequence[Any], args: Sequence[Any], argnums: Sequence[int]) -> list:
    return [
        torch.zeros_like(args[i]).tolist() if gradient is None else gradient
        for gradient, i in zip(expected, argnums)
    ]


def answers(case: ModuleType) -> list[Any]:
    """The complete answers that gradc may give."""
    best = getattr(case, "RECOMMENDED", None)
    return [case.EXPECTED if best is None else best, *getattr(case, "ALSO_OK", [])]


def expect(case: ModuleType, what: str, found: Any, *allowed: Any) -> None:
    tolerances = getattr(case, "RTOL", 1e-9), getattr(case, "ATOL", 1e-12)
    if not any(close(found, wanted, *tolerances) for wanted in allowed):
        raise AssertionError(f"{what}: {found} instead of {' or '.join(map(str, allowed))}")


def differences(case: ModuleType, step: float = 1e-6) -> list[Any]:
    """Central differences of the summed output."""
    total = summed(case, case.f)
    result = []
    for number in case.ARGNUMS:
        argument = case.ARGS[number]
        slopes = []
        for k in range(argument.numel()):
            sides = []
            for sign in (step, -step):
                moved = argument.detach().clone().reshape(-1)
                moved[k] += sign
                args = [a.clone() if isinstance(a, torch.Tensor) else a for a in case.ARGS]
                args[number] = moved.reshape(argument.shape)
                sides.append(float(total(*args)))
            slopes.append((sides[0] - sides[1]) / (2 * step))
        result.append(torch.tensor(slopes, dtype=torch.float64).reshape(argument.shape).tolist())
    return result
