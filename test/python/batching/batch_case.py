"""Functions to apply to every row, as MLIR and as what PyTorch calls them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

N = 3
NAMES = "abcd"


def rows_of(type_: str) -> str:
    return f"tensor<{N}x{type_.removeprefix('tensor<')}"


@dataclass(frozen=True)
class Case:
    """A function of %a, %b, ... as MLIR, and what PyTorch calls it."""

    name: str
    types: tuple[str, ...]
    result: str
    body: str
    reference: Callable[..., torch.Tensor]
    differentiable: bool = True

    def arguments(self, which: tuple[int, ...]) -> list[torch.Tensor]:
        generator = torch.Generator().manual_seed(len(self.name))
        values = []
        for i, type_ in enumerate(self.types):
            *shape, element = type_.removeprefix("tensor<").removesuffix(">").split("x")
            size = [N] * (i in which) + [int(n) for n in shape]
            if element == "i64":
                values.append(torch.randint(0, 3, size, generator=generator))
            elif element == "i1":
                values.append(torch.randint(0, 2, size, generator=generator).bool())
            else:
                values.append(torch.randn(size, dtype=torch.float64, generator=generator))
        return values

    def expected(self, which: tuple[int, ...], arguments: list[torch.Tensor]) -> torch.Tensor:
        return torch.stack(
            [
                self.reference(*(x[n] if i in which else x for i, x in enumerate(arguments)))
                for n in range(N)
            ]
        )

    def text(self, which: tuple[int, ...]) -> str:
        """@rows is the vmap; @pullback its gradient for a cotangent."""
        names = NAMES[: len(self.types)]
        outer = [rows_of(t) if i in which else t for i, t in enumerate(self.types)]
        result = rows_of(self.result)
        operands = ", ".join(f"%{n}" for n in names)
        inner = ", ".join(f"%{n}: {t}" for n, t in zip(names, self.types, strict=True))
        parameters = ", ".join(f"%{n}: {t}" for n, t in zip(names, outer, strict=True))
        text = f"""
        func.func private @row({inner}) -> {self.result} {{
          {self.body}
        }}
        func.func @rows({parameters}) -> {result} {{
          %r = grad.vmap @row({operands}) batched {list(which)} size {N}
              : ({", ".join(outer)}) -> {result}
          return %r : {result}
        }}"""
        wrt = self.wrt()
        if not self.differentiable or not wrt:
            return text
        gradients = ", ".join(outer[i] for i in wrt)
        text += f"""
        func.func @pullback({parameters}, %ct: {result}) -> ({gradients}) {{
          %r:{len(wrt) + 1} = grad.vjp @rows({operands}) cotangents(%ct) wrt {wrt}
              : ({", ".join(outer)}, {result}) -> ({result}, {gradients})
          return {", ".join(f"%r#{i + 1}" for i in range(len(wrt)))} : {gradients}
        }}"""
        return text

    def wrt(self) -> list[int]:
        return [i for i, type_ in enumerate(self.types) if "f64" in type_]


def case(name: str, types: str, result: str, body: str, reference, differentiable=True) -> Case:
    return Case(name, tuple(types.split()), result, body, reference, differentiable)


V, M, S, INDEX = "tensor<4xf64>", "tensor<2x4xf64>", "tensor<f64>", "tensor<i64>"
ID1 = "affine_map<(i) -> (i)>"
ID2 = "affine_map<(i, j) -> (i, j)>"


def at(index: torch.Tensor) -> int:
    return int(index)
