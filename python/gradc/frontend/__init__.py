"""The PyTorch frontend: a graph captured by Dynamo becomes MLIR text on builtin tensors."""

from .importer import import_graph
from .program import ImportedProgram, InputSpec, OutputSpec

__all__ = ["ImportedProgram", "InputSpec", "OutputSpec", "import_graph"]
