"""Where a gradient stops: the same function with and without a barrier, and what inference says."""

from __future__ import annotations

import torch

import gradc


def standardised(x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        shift, scale = x.mean(), x.std()
    return ((x - shift) / scale).pow(3).sum()


def coupled(x: torch.Tensor) -> torch.Tensor:
    return ((x - x.mean()) / x.std()).pow(3).sum()


def main() -> None:
    x = torch.tensor([0.5, -1.0, 2.0, 0.0])
    constant = gradc.grad(standardised)
    print("statistics are constants:", constant(x))
    print("statistics depend on x:  ", gradc.grad(coupled)(x))
    print(constant.ir("inferred"))


if __name__ == "__main__":
    main()
