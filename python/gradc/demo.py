"""``gradc demo``: a convolutional net learns to read digits, with gradients from gradc alone.

The first layer is frozen and an auxiliary head reads detached features, so some parameters and
intermediates require a gradient and some do not: what inference found is printed at the end.
"""

from __future__ import annotations

import copy
import re
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from torch import Tensor, nn
from torch.nn import functional as F

from . import api

#: What the demo has to reach; it fails otherwise. Fewer epochs need not reach the accuracy.
ACCURACY = 0.97
EPOCHS = 12
DIFFERENCE = 1e-5
BATCH = 64


class DigitNet(nn.Module):
    """8x8 grey images -> (class scores, scores of the auxiliary head)."""

    def __init__(self) -> None:
        super().__init__()
        self.edges = nn.Conv2d(1, 16, 3, padding=1)
        self.norm1 = nn.BatchNorm2d(16)
        self.conv = nn.Conv2d(16, 32, 3, padding=1)
        self.norm2 = nn.BatchNorm2d(32)
        self.head = nn.Linear(32 * 4 * 4, 10)
        self.auxiliary = nn.Linear(32 * 4 * 4, 10)
        self.edges.requires_grad_(False)

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        hidden = F.relu(self.norm1(self.edges(images)))
        hidden = F.relu(self.norm2(self.conv(hidden)))
        features = F.avg_pool2d(hidden, 2).flatten(1)
        return self.head(features), self.auxiliary(features.detach())


class Loss(nn.Module):
    """The net and both losses; the auxiliary head learns without influence on the rest."""

    def __init__(self, net: DigitNet) -> None:
        super().__init__()
        self.net = net

    def forward(self, images: Tensor, labels: Tensor) -> Tensor:
        scores, auxiliary = self.net(images)
        return F.cross_entropy(scores, labels) + F.cross_entropy(auxiliary, labels)


@dataclass(frozen=True)
class Digits:
    images: Tensor
    labels: Tensor
    held_out_images: Tensor
    held_out_labels: Tensor


def load() -> Digits:
    """The digits of scikit-learn, a fifth of them held out; needs ``pip install 'gradc[demo]'``."""
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise SystemExit("the demo needs scikit-learn: pip install scikit-learn") from None
    data = load_digits()
    images = torch.tensor(data.images, dtype=torch.float32)[:, None] / 16
    labels = torch.tensor(data.target)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(1))
    train, test = order[len(order) // 5 :], order[: len(order) // 5]
    return Digits(images[train], labels[train], images[test], labels[test])


def train(step: Callable, model: Loss, data: Digits, epochs: int, console: Console) -> None:
    """Trains with batches of one size, so that one compiled program serves every step."""
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    batches = len(data.labels) // BATCH
    optimizer = torch.optim.AdamW(trained, lr=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=epochs * batches)
    columns = (
        TextColumn("[progress.description]{task.description}"),
        BarColumn(),
        TextColumn("loss {task.fields[loss]:.4f}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("training with gradc", total=epochs * batches, loss=float("nan"))
        for _ in range(epochs):
            order = torch.randperm(len(data.labels))
            for rows in order[: batches * BATCH].split(BATCH):
                optimizer.zero_grad()
                loss = step(data.images[rows], data.labels[rows])
                loss.backward()
                optimizer.step()
                schedule.step()
                progress.update(bar, advance=1, loss=loss.item())


def accuracy(net: nn.Module, data: Digits) -> float:
    """The share of held-out images that ``net`` (in eval mode) reads rightly."""
    net.eval()
    with torch.no_grad():
        scores, _ = net(data.held_out_images)
    net.train()
    return (scores.argmax(1) == data.held_out_labels).double().mean().item()


def gradients(step: Callable, model: Loss, images: Tensor, labels: Tensor) -> dict[str, Tensor]:
    """The gradient of one batch by parameter name; frozen parameters have none."""
    model.zero_grad()
    step(images, labels).backward()
    return {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}


def difference(actual: dict[str, Tensor], wanted: dict[str, Tensor]) -> float:
    """max|Δ| / max|g| over all parameters."""
    if actual.keys() != wanted.keys():
        raise AssertionError(f"gradients for {sorted(actual)}, wanted for {sorted(wanted)}")
    worst = max((actual[name] - wanted[name]).abs().max().item() for name in wanted)
    return worst / max(gradient.abs().max().item() for gradient in wanted.values())


def interleaved(first: Callable, second: Callable, rounds: int = 40) -> tuple[float, float]:
    """Median seconds of each, measured in turns so that both see the same machine."""
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(rounds + 3):
        for function, record in zip((first, second), times, strict=True):
            start = time.perf_counter()
            function()
            if turn >= 3:
                record.append(time.perf_counter() - start)
    return statistics.median(times[0]), statistics.median(times[1])


@dataclass(frozen=True)
class Requirements:
    """What the inferred types say: parameters by name, and numbers of intermediate tensors."""

    parameters: dict[str, bool]
    carrying: int
    constant: int


def requirements(inferred: str) -> Requirements:
    """Reads argument names and tensor types from the text of ``@main`` after inference."""
    lines = inferred.splitlines()
    start = next(n for n, line in enumerate(lines) if "func.func @main" in line)
    header = lines[start].split(") ->")[0]
    parameters = {
        name: "#grad.requires_grad" in type_
        for type_, name in re.findall(r'%arg\d+: ([^{]*)\{[^}]*grad\.name = "([^"]*)"', header)
    }
    results = [line for line in lines[start + 1 :] if re.match(r"\s+%\w+(:\d+)? = ", line)]
    tensors = [line for line in results if re.search(r"tensor<[^%]*>$", line.split(" loc(")[0])]
    carrying = sum(
        "#grad.requires_grad" in re.split(r"->| : ", line.split(" loc(")[0])[-1] for line in tensors
    )
    return Requirements(parameters, carrying, len(tensors) - carrying)


def _report_requirements(found: Requirements, console: Console) -> None:
    table = Table("argument", "requires grad", title="what inference found")
    for name, needed in found.parameters.items():
        table.add_row(name, "[green]yes[/]" if needed else "no")
    table.add_row("intermediate tensors", f"[green]{found.carrying} yes[/], {found.constant} no")
    console.print(table)


def run(epochs: int | None = None, threads: int | None = None) -> int:
    """Trains, compares and reports; returns 0 when accuracy and gradients keep their bounds. The
    bound of the accuracy holds for `EPOCHS`, the default, or more."""
    epochs = EPOCHS if epochs is None else epochs
    console = Console()
    if threads is not None:
        torch.set_num_threads(threads)
    torch.manual_seed(0)
    data = load()
    model = Loss(DigitNet())
    step = api.compile(model, fullgraph=True)

    images, labels = data.images[:BATCH], data.labels[:BATCH]
    start = time.perf_counter()
    gradients(step, model, images, labels)
    console.print(f"compiled forward and backward in {time.perf_counter() - start:.1f} s")
    # Before training: the gradients of a net that has learnt its batch are sums that cancel, and
    # say little in f32.
    worst = max(
        difference(gradients(step, model, *batch), gradients(model, model, *batch))
        for batch in zip(data.images.split(BATCH)[:3], data.labels.split(BATCH)[:3], strict=True)
    )
    train(step, model, data, epochs, console)
    score = accuracy(model.net, data)
    eager = copy.deepcopy(model)
    mine, theirs = interleaved(
        lambda: step(images, labels).backward(), lambda: eager(images, labels).backward()
    )

    _report_requirements(requirements(step.ir("inferred")), console)
    table = Table("", "", title="gradc demo", show_header=False)
    full = epochs >= EPOCHS
    bound = f"at least {ACCURACY}" if full else f"no bound for fewer than {EPOCHS} epochs"
    table.add_row("held-out accuracy", f"{score:.4f} ({bound})")
    table.add_row("gradient difference to PyTorch", f"{worst:.1e} (at most {DIFFERENCE:.0e})")
    table.add_row("forward + backward, gradc", f"{mine * 1e3:.2f} ms")
    table.add_row("forward + backward, PyTorch eager", f"{theirs * 1e3:.2f} ms")
    table.add_row("gradc : eager", f"{mine / theirs:.2f}")
    console.print(table)
    good = (score >= ACCURACY or not full) and worst <= DIFFERENCE
    console.print("[bold green]all bounds hold[/]" if good else "[bold red]a bound is violated[/]")
    return 0 if good else 1
