"""Where a gradient stops in eager PyTorch, written into the graph.

The graph is run once on fake tensors with autograd on, so PyTorch itself says at every op which
tensors have a gradient path. What the graph alone would not know is then made explicit:

* An op that reads a tensor whose *storage* carries a gradient while the tensor itself does not (it
  was detached, or grad mode is off) reads ``stop_gradient(tensor)`` instead. The barrier sits at
  the reading op, never at the view, so that functionalisation still sees the alias.
* An in-place write which eager keeps off the gradient path (under ``no_grad``, or into a detached
  alias) becomes ``t.copy_(value_of(new, t))``: the new value with the old path. Functionalisation
  carries this through any chain of views.

Start reading at ``mark``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node

from ..errors import CaptureError, UnsupportedError
from .conventions import REFUSED
from .diagnostics import location_of, op_name
from .memory import common_storage, storage, tensors
from .ops import (
    ENTER,
    ENTER_CHECKPOINT,
    LEAVE_CHECKPOINT,
    PATHS,
    PROBE,
    ROWS,
    STOP,
    VALUE_OF,
    is_floating,
)
from .views import View, apart
from .writes import overwrites, written_by

aten = torch.ops.aten

# Ops that read nothing of an operand but its shape and dtype.
_SHAPE_ONLY = {
    aten.zeros_like,
    aten.ones_like,
    aten.full_like,
    aten.empty_like,
    aten.rand_like,
    aten.randn_like,
    aten.randint_like,
    aten.new_zeros,
    aten.new_ones,
    aten.new_full,
    aten.new_empty,
    aten.new_empty_strided,
}

_STRIDED = {aten.as_strided.default, aten.as_strided_scatter.default}

# Eager forbids writing into one of several views; internal code does it through the unsafe forms,
# which share memory all the same but are not tracked as views. The trace shows the safe form for
# both.
_UNTRACKED = {
    aten.split.Tensor: aten.unsafe_split.Tensor,
    aten.split_with_sizes.default: aten.unsafe_split_with_sizes.default,
    aten.chunk.default: aten.unsafe_chunk.default,
}


@dataclass
class Marked:
    """The graph with its barriers, and what eager execution says of its outputs.

    ``gm`` takes the tensors of the traced graph and returns a tuple of the outputs listed in
    ``kept`` (indices into the original outputs); the others are constants, inputs, repetitions or
    ``views``. An index from ``count`` on is of a value that is kept for outputs that are views of
    it.
    """

    gm: GraphModule
    kept: list[int] = field(default_factory=list)
    requires_grad: list[bool] = field(default_factory=list)
    constants: dict[int, object] = field(default_factory=dict)
    inputs: dict[int, int] = field(default_factory=dict)
    repeated: dict[int, int] = field(default_factory=dict)
    views: dict[int, View] = field(default_factory=dict)
    count: int = 0
    #: The grad mode that the graph leaves behind, if it switches it at all.
    grad_mode: bool | None = None
    input_requires_grad: list[bool] = field(default_factory=list)


def mark(pre: GraphModule, inputs: list[torch.Tensor], views: bool = False) -> Marked:
    """Write the barriers of ``pre`` (a pre-dispatch ATen graph) into a copy of it.

    ``inputs`` are fake tensors, one a placeholder, not leaves, with the ``requires_grad`` of the
    call. With ``views`` outputs that share memory with an input or an output are not computed but
    listed as views; without they are values of their own. Raises ``UnsupportedError`` for a write
    into a detached alias whose new value itself carries a gradient, ``SharedCheckpoint`` for a
    checkpoint whose marks have to go.
    """
    grad_mode = torch.is_grad_enabled()
    try:
        torch._C._set_grad_enabled(True)
        return _Marker(pre, inputs, views).run()
    finally:
        torch._C._set_grad_enabled(grad_mode)


class SharedCheckpoint(Exception):
    """A checkpointed function writes into its input or returns it: then it is not a function of
    values, and cannot be computed apart from the rest."""


def _is_leaf(function: Any) -> bool:
    """Whether ``function`` ends a path as a leaf, and not as a view that lost its base."""
    leaf = getattr(function, "variable", None)
    return leaf is not None and not (leaf._is_view() and leaf._base.requires_grad)


class _Marker:
    def __init__(self, pre: GraphModule, inputs: list[torch.Tensor], views: bool) -> None:
        self.pre = pre
        self.views = views
        self.switched = False
        self.graph = Graph()
        self.inputs = inputs
        self.eager: dict[Node, Any] = {}  # node -> its value in the eager run
        self.modes: dict[Node, bool] = {}  # node -> the grad mode it ran under
        self.new: dict[Node, Node] = {}  # node of `pre` -> node of `graph`
        self.carrying: set[int] = set()  # storages some gradient flows into
        self.alive: list[Any] = []  # storages are known by address: none may be freed and reused
        self.entered: set[int] = set()  # storages of the inputs of checkpoints
        self.roots: set[int] = set()  # storages of the arguments of levels and of mapped functions
        self.reaching: dict[Any, bool] = {}  # whether a gradient gets anywhere from a function

    def run(self) -> Marked:
        marked: Marked | None = None
        remaining = iter(self.inputs)
        for node in self.pre.graph.nodes:
            if node.op == "placeholder":
                self._bind(node, next(remaining), self.graph.node_copy(node))
            elif node.op == "get_attr":
                self._bind(node, getattr(self.pre, node.target), self.graph.node_copy(node))
            elif node.op == "call_function":
                self._call(node)
            elif node.op == "output":
                marked = self._output(node)
        assert marked is not None
        marked.gm = GraphModule(self.pre, self.graph)
        return marked

    def _bind(self, node: Node, value: Any, new: Node) -> None:
        self.eager[node] = value
        self.modes[node] = torch.is_grad_enabled()
        self.new[node] = new
        self.alive.append(value)
        self._note(value)

    def _has_path(self, value: Any) -> bool:
        """Whether a gradient would go further back from here.

        Stricter than ``requires_grad``, which a view made under ``no_grad`` takes from its base
        although its gradient ends at the view itself.
        """
        try:
            return isinstance(value, torch.Tensor) and self._reaches(value.grad_fn)
        except RuntimeError:
            # A view made under no_grad whose base was written since: eager only lets it be read
            # without one.
            return False

    def _reaches(self, function: Any) -> bool:
        """Whether a gradient gets from ``function`` to a leaf."""
        known = self.reaching
        pending = [function]
        while pending:
            top = pending[-1]
            after = [] if top is None else [f for f, _ in top.next_functions if f is not None]
            missing = [f for f in after if f not in known]
            pending += missing
            if not missing:
                known[pending.pop()] = any(known[f] for f in after) or _is_leaf(top)
        return known[function]

    def _note(self, value: Any) -> None:
        for tensor in tensors(value):
            if self._has_path(tensor):
                self.carrying.add(storage(tensor))

    def _value(self, arg: Any) -> Any:
        return torch.fx.map_arg(arg, lambda n: self.eager[n])

    def _carries(self, node: Node) -> bool:
        value = self.eager[node]
        return is_floating(value) and storage(value) in self.carrying

    def _stopped(self, node: Node, user: Node, force: bool = False) -> Node:
        """What an op may read of ``node``: itself, or a barrier where eager has no gradient."""
        stop = force or not torch.is_grad_enabled() or not self._has_path(self.eager[node])
        if not (stop and self._carries(node)):
            return self.new[node]
        return self._emit(STOP, (self.new[node],), user)

    def _emit(self, target: Any, args: tuple, like: Node) -> Node:
        new = self.graph.call_function(target, args)
        new.meta = {k: v for k, v in like.meta.items() if k not in ("val", "tensor_meta")}
        return new

    def _copy(self, node: Node, read: Any) -> Node:
        new = self._emit(node.target, torch.fx.map_arg(node.args, read), node)
        new.kwargs = torch.fx.map_arg(node.kwargs, read)
        return new

    def _call(self, node: Node) -> None:
        if node.target is torch._C._set_grad_enabled:
            torch._C._set_grad_enabled(node.args[0])
            self.switched = True
            return
        if node.target in (ENTER_CHECKPOINT, LEAVE_CHECKPOINT):
            self._checkpoint(node)
            return
        if node.target is PROBE:
            self._probe(node)
            return
        written = written_by(node)
        self._check_roots(node, written)
        if len(written) == 1 and isinstance(written[0], Node):
            self._in_place(node, written[0])
            return
        if any(self._carries(n) for n in written):
            raise UnsupportedError(
                "writes in place to several tensors, one of which carries a gradient",
                op=op_name(node),
                location=location_of(node),
                hint="use the form of the operation that returns new tensors",
            )
        self._check_strides(node)
        before = {n: self._has_path(self.eager[n]) for n in node.all_input_nodes}
        value = self._run(node)
        outputs = list(tensors(value))
        operands = [t for n in node.all_input_nodes for t in tensors(self.eager[n])]
        alias = bool(outputs) and {storage(t) for t in outputs} <= {storage(t) for t in operands}
        packet = getattr(node.target, "overloadpacket", None)
        if alias or packet in _SHAPE_ONLY or not any(map(is_floating, outputs)):
            # Views only pass the storage on; ops without a differentiable result need no barrier.
            new = self._copy(node, lambda n: self.new[n])
        else:
            # Operands that require grad of a result that does not: PyTorch has no derivative here.
            force = torch.is_grad_enabled() and not any(map(self._has_path, outputs))
            new = self._copy(node, lambda n: self._stopped(n, node, force or not before[n]))
        self._bind(node, value, new)
        if node.target in (ENTER, ROWS):
            self.roots.update(map(storage, outputs))

    def _check_roots(self, node: Node, written: list[Node]) -> None:
        """A write into the argument of a function would be lost outside of it, and what the
        function is differentiated for would no longer be the argument."""
        if any(storage(self.eager[n]) in self.roots for n in written if isinstance(n, Node)):
            raise UnsupportedError(
                "writes in place to an argument of a function that is differentiated, mapped, or "
                "has a derivative rule",
                op=op_name(node),
                location=location_of(node),
                hint="write into a copy: x = x.clone()",
            )

    def _check_strides(self, node: Node) -> None:
        """A strided view means memory; only what lies there in logical order is known later on."""
        if node.target not in _STRIDED:
            return
        x = self.eager[node.args[0]]
        whole = x.untyped_storage().nbytes() == x.numel() * x.element_size()
        if not (whole and x.is_contiguous()):
            reason, hint = REFUSED["as_strided"]
            raise UnsupportedError(reason, op=op_name(node), location=location_of(node), hint=hint)

    def _checkpoint(self, node: Node) -> None:
        tensor = self.eager[node.args[0]]
        if node.target is LEAVE_CHECKPOINT and storage(tensor) in self.entered:
            raise SharedCheckpoint
        if node.target is ENTER_CHECKPOINT:
            self.entered.add(storage(tensor))
        # Eager knows nothing of the mark: what it marks shares memory and gradient.
        self._bind(node, tensor, self._copy(node, lambda n: self.new[n]))

    def _probe(self, node: Node) -> None:
        tensor = self.eager[node.args[0]]
        # Eager does not let a view made under no_grad be read with gradients on once its base was
        # written.
        with torch.set_grad_enabled(self._has_path(tensor)):
            value = tensor.clone()
        with torch.enable_grad():
            read = self._stopped(node.args[0], node)
        self._bind(node, value, self._emit(aten.clone.default, (read,), node))

    def _is_entered(self, node: Node) -> bool:
        """Whether ``node`` is an input of a checkpoint or a view of one, seen from inside."""
        while node.op == "call_function" and node.all_input_nodes:
            if node.target is ENTER_CHECKPOINT:
                return True
            source = node.all_input_nodes[0]
            if common_storage([self.eager[node], self.eager[source]]) is None:
                return False
            node = source
        return False

    def _in_place(self, node: Node, target: Node) -> None:
        if self._is_entered(target):
            raise SharedCheckpoint
        tensor = self.eager[target]
        grad_mode = torch.is_grad_enabled()
        off_path = self._carries(target) and not (grad_mode and self._has_path(tensor))
        others = [n for n in node.all_input_nodes if n is not target]
        if off_path and grad_mode and any(self._has_path(self.eager[n]) for n in others):
            raise UnsupportedError(
                "writes a value that carries a gradient into a detached alias of a tensor that "
                "has a gradient path of its own",
                op=op_name(node),
                location=location_of(node),
                hint="clone the detached tensor before writing to it",
            )
        stops = {n: self._stopped(n, node) for n in others}
        base = self.new[target]
        replaced = grad_mode and self._has_path(tensor) and overwrites(node, tensor)
        if off_path or replaced:
            before = base if replaced else self._emit(STOP, (base,), node)
            scratch = stops[target] = self._emit(aten.clone.default, (before,), node)
            self._copy(node, stops.__getitem__)
            path = self._with_zero_path(scratch, base, node) if replaced else base
            joined = self._emit(VALUE_OF, (scratch, path), node)
            new = self._emit(aten.copy_.default, (base, joined), node)
        else:
            stops[target] = base
            new = self._copy(node, stops.__getitem__)
        value = self._run(node)
        self._note(self.eager[target])
        self._bind(node, value, new)
        if isinstance(value, torch.Tensor) and value is tensor:
            self.new[node] = self.new[target]

    def _with_zero_path(self, value: Node, old: Node, node: Node) -> Node:
        """``value`` with a further path to ``old``, whose gradient is zero: in eager what is
        overwritten has one, and gets zeros, not None."""
        if self.eager[node.args[0]].is_complex():
            nothing = self._emit(aten.mul.Tensor, (old, 0), node)
        else:
            nothing = self._emit(aten.floor.default, (old,), node)
        return self._emit(aten.add.Tensor, (value, nothing), node)

    def _run(self, node: Node) -> Any:
        try:
            target = PATHS.get(node.target) or _UNTRACKED.get(node.target, node.target)
            return target(*self._value(node.args), **self._value(node.kwargs))
        except Exception as error:
            raise CaptureError(
                f"failed on example shapes: {error}", op=op_name(node), location=location_of(node)
            ) from error

    def _output(self, node: Node) -> Marked:
        values = node.args[0] if isinstance(node.args[0], (list, tuple)) else [node.args[0]]
        marked = Marked(self.pre, count=len(values))
        marked.grad_mode = torch.is_grad_enabled() if self.switched else None
        marked.input_requires_grad = [self._has_path(t) for t in self.inputs]
        seen: dict[int, int] = {}
        positions = {id(tensor): index for index, tensor in enumerate(self.inputs)}
        own: list[tuple[int, Node]] = []
        for index, out in enumerate(values):
            value = self.eager[out] if isinstance(out, Node) else out
            if not isinstance(value, torch.Tensor):
                marked.constants[index] = value
            elif id(value) in positions:
                marked.inputs[index] = positions[id(value)]
            elif id(value) in seen:
                marked.repeated[index] = seen[id(value)]
            else:
                seen[id(value)] = index
                own.append((index, out))
        if self.views:
            own, marked.views = apart(own, len(values), positions, self.eager, self.modes)
        torch._C._set_grad_enabled(True)  # a returned tensor is itself, whatever the mode
        for index, out in own:
            marked.kept.append(index)
            marked.requires_grad.append(self._has_path(self.eager[out]))
        self.graph.output(tuple(self._stopped(out, out) for _, out in own))
        return marked
