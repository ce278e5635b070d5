"""What comes out: names, attributes, specs, locations and text that MLIR 22 parses."""

from __future__ import annotations

import inspect
import re

import pytest
import torch
import torch.nn.functional as F
from frontend_reference import imported
from torch import nn

mlir_ir = pytest.importorskip("mlir.ir")


def parse(text: str) -> None:
    """Parse with MLIR 22; the ``grad`` dialect may be unknown."""
    with mlir_ir.Context() as context:
        context.allow_unregistered_dialects = True
        assert mlir_ir.Module.parse(text).operation.verify()


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU())
        self.head = nn.Linear(64, 3)
        self.head.bias.requires_grad_(False)
        self.scale = nn.Buffer(torch.ones(3))

    def forward(self, image, label):
        hidden = F.max_pool2d(self.blocks(image), 2).flatten(1)
        return F.cross_entropy(self.head(hidden) * self.scale, label), None, 7


@pytest.fixture(scope="module")
def net():
    return imported(Net(), torch.randn(2, 1, 8, 8), torch.tensor([0, 2]))


def test_names_and_flags(net):
    flags = {spec.name: spec.requires_grad for spec in net.inputs}
    assert flags["blocks.0.weight"] and flags["blocks.1.weight"] and flags["head.weight"]
    assert not flags["head.bias"] and not flags["scale"] and not flags["blocks.1.running_mean"]
    assert all(spec.kind == "input" for spec in net.inputs)
    for name, grad in flags.items():
        attribute = ("grad.requires_grad, " if grad else "") + f'grad.name = "{name}"'
        assert f"{{{attribute}}}" in net.mlir


def test_mutations_come_first(net):
    kinds = [spec.kind for spec in net.outputs]
    assert kinds == ["mutation"] * 3 + ["output"]
    names = {net.inputs[i].name for i in range(len(net.inputs))}
    mutated = {
        next(s.name for s in net.inputs if s.position == spec.position)
        for spec in net.outputs
        if spec.kind == "mutation"
    }
    assert mutated <= names
    assert mutated == {
        f"blocks.1.{n}" for n in ("running_mean", "running_var", "num_batches_tracked")
    }
    assert net.outputs[-1].requires_grad and net.outputs[-1].shape == ()


def test_text_parses(net):
    parse(net.mlir)
    assert re.search(r'sym_name = "main"(?!, sym_visibility)', net.mlir)
    others = re.findall(r'sym_name = "(grad\.outline\.\d+)", sym_visibility = "private"', net.mlir)
    assert others and all(f"callee = @{name}" in net.mlir for name in others)
    assert "!torch" not in net.mlir and "tm_tensor" not in net.mlir


def test_locations_are_the_users_lines(net):
    first = inspect.getsourcelines(Net.forward)[1]
    for offset in (1, 2):
        assert f'loc("{__file__}":{first + offset}:0)' in net.mlir


def test_outputs_that_are_inputs_constants_or_repeated():
    def function(x, b):
        b.add_(1)
        y = x * b
        return y, b, x, y, None, 3

    from gradc.frontend import import_graph

    graph = torch.fx.symbolic_trace(function)
    program = import_graph(graph, [torch.randn(3, requires_grad=True), torch.randn(3)])
    assert program.output_count == 6
    assert program.input_outputs == {1: 1, 2: 0}
    assert program.repeated_outputs == {3: 0}
    assert program.constant_outputs == {4: None, 5: 3}
    assert [(s.kind, s.position) for s in program.outputs] == [("mutation", 1), ("output", 0)]


def test_constants_and_draws_are_arguments():
    def function(x):
        return F.dropout(x * torch.tensor([1.0, 2.0, 3.0]) + torch.tensor(4.0))

    program = imported(function, torch.randn(2, 3))
    assert [spec.kind for spec in program.inputs] == ["input", "constant", "random"]
    assert program.inputs[1].tensor.tolist() == [1.0, 2.0, 3.0]
    torch.manual_seed(3)
    drawn = program.inputs[2].generate()
    torch.manual_seed(3)
    assert torch.equal(drawn, torch.empty(2, 3).bernoulli_(0.5))


def test_linear_is_a_matrix_product():
    text = imported(nn.Linear(4, 5), torch.randn(2, 3, 4)).mlir
    assert '"linalg.matmul"(' in text and '"linalg.transpose"(' in text


def test_normalisation_stays_in_its_precision():
    text = imported(nn.LayerNorm(4), torch.randn(3, 4)).mlir
    assert not re.search(r"tensor<[^>]*f64>", text)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x.amax(1), x.amin((0, 2), keepdim=True), x.max(), x.max(1, keepdim=True)),
        lambda x: (x[0, 0, 0].max(), x[0, 0, 0].max(0), x.min(2)),
        lambda x: F.max_pool2d(x, 2, ceil_mode=True, return_indices=True),
        lambda x: torch.maximum(x, x[0]) + torch.minimum(x, x[:, :1]),
        lambda x: (x.to(torch.bfloat16).amax(0), x.to(torch.float64).amin(0), x.half().amax()),
    ],
)
def test_outlined_bodies_parse(function):
    parse(imported(function, torch.randn(2, 5, 7, requires_grad=True)).mlir)


def test_inputs_that_share_memory_may_be_read_but_not_written():
    from gradc.errors import UnsupportedError
    from gradc.frontend import import_graph

    base = torch.randn(4)
    read = torch.fx.symbolic_trace(lambda a, b: a + b)
    import_graph(read, [base[:2], base[2:]])
    write = torch.fx.symbolic_trace(lambda a, b: a.add_(b))
    with pytest.raises(UnsupportedError, match="share memory"):
        import_graph(write, [base[:2], base[2:]])
