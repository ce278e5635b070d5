"""What `gradc.explain` returns: plain data, to be read as tables, by name, and as JSON."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.markup import escape
from rich.table import Table

from .errors import InputError


@dataclass(frozen=True)
class Value:
    """An argument, an intermediate or an output of the explained function.

    * ``name``: of an argument or a parameter; for an intermediate the Python variable that it was
      assigned to, else ``op``. ``key`` is the name made unique.
    * ``kind``: ``argument``, ``parameter``, ``buffer``, ``captured`` or ``intermediate``.
    * ``op``: what made an intermediate, as PyTorch calls it; ``file`` and ``line`` say where.
    * ``reason``: ``root`` (an argument whose ``requires_grad`` is set), ``unset`` (one where it is
      not), ``depends``, ``integer``, ``constant`` or ``stopped``; ``why`` says it in words.
    * ``needed``: it requires grad and reaches an output. Only such values get a gradient.
    * ``depends_on``: names of all the arguments that its gradient goes to; ``path``: keys of the
      values on a shortest way from one of them.
    * ``barriers``: numbers of the `Barrier`s that keep it from requiring grad.
    * ``outputs``: names of the outputs that it is.
    """

    key: str
    name: str
    kind: str
    shape: tuple[int, ...]
    dtype: str
    requires_grad: bool
    needed: bool
    reason: str
    why: str
    op: str = ""
    file: str = ""
    line: int = 0
    depends_on: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    barriers: tuple[int, ...] = ()
    outputs: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """``file.py:line``; empty for an argument."""
        return f"{Path(self.file).name}:{self.line}" if self.line else ""


@dataclass(frozen=True)
class Barrier:
    """Where gradients stop.

    ``kind`` is ``no_grad``, ``inference_mode``, ``set_grad_enabled``, ``detach``, ``data``,
    ``stop_gradient``, or the name of an op and ``(no derivative)``, where PyTorch has none.
    ``cuts`` names the arguments that gradients would have reached, ``stops`` the keys of the values
    that do not require grad because of it.
    """

    kind: str
    file: str
    line: int
    cuts: tuple[str, ...]
    stops: tuple[str, ...]

    @property
    def place(self) -> str:
        return f"{Path(self.file).name}:{self.line}" if self.line else ""


@dataclass(frozen=True)
class Saved:
    """A tensor that is kept from forward to backward.

    ``kind`` says what it is: an ``argument``, a ``constant`` of the program, an ``output``, or what
    is there for the backward pass only: an ``intermediate``, a ``copy`` of an argument that the
    call overwrites, or a ``random`` draw. ``name`` is the name of the argument or output, or the
    key of the value in whose computation it was made (several, with commas, for an op with several
    results; the op, if that is inside a transform). ``allocated`` are the bytes that it adds to
    what the forward pass holds on to anyway.
    """

    kind: str
    name: str
    shape: tuple[int, ...]
    dtype: str
    bytes: int
    allocated: int


_NOTHING = (
    "No argument requires grad, so nothing does: explain with arguments that do, "
    "as x.requires_grad_() or torch.randn(3, requires_grad=True)."
)
_TUPLES = ("shape", "depends_on", "path", "barriers", "outputs", "cuts", "stops")


def _restored(cls: type, fields: dict[str, Any]) -> Any:
    return cls(**{k: tuple(v) if k in _TUPLES else v for k, v in fields.items()})


@dataclass(frozen=True)
class Explanation:
    """Why the values of a function require grad or do not; see `gradc.explain`.

    ``print`` shows it as tables.
    """

    function: str
    values: tuple[Value, ...]
    barriers: tuple[Barrier, ...] = ()
    saved: tuple[Saved, ...] = field(default=())

    @property
    def arguments(self) -> list[Value]:
        """The arguments, parameters and captured tensors."""
        return [value for value in self.values if value.kind != "intermediate"]

    @property
    def intermediates(self) -> list[Value]:
        return [value for value in self.values if value.kind == "intermediate"]

    @property
    def saved_bytes(self) -> int:
        """Bytes that the forward pass keeps for the backward pass only."""
        return sum(saved.allocated for saved in self.saved)

    def find(self, name: str) -> Value:
        """The value called ``name``: a parameter, an argument, an output (``output``, or
        ``output[1]`` of several), a Python variable, an op, or a key.

        Raises:
            InputError: when no value or several are called so; the message lists candidates.
        """
        for value in self.values:
            if value.key == name:
                return value
        found = [v for v in self.values if name == v.name or name in v.outputs]
        if len(found) == 1:
            return found[0]
        if found:
            raise InputError(
                f"{len(found)} values of {self.function} are called {name!r}: "
                f"{_listed(v.key for v in found)}",
                hint="use one of these names",
            )
        known = {n for v in self.values for n in (v.key, v.name, *v.outputs)}
        near = difflib.get_close_matches(name, sorted(known), n=5, cutoff=0.5)
        raise InputError(
            f"no value of {self.function} is called {name!r}",
            hint=f"did you mean {_listed(near)}?"
            if near
            else "print the explanation for all names",
        )

    def requires_grad(self, name: str) -> bool:
        """Whether the value called ``name`` (see `find`) requires grad."""
        return self.find(name).requires_grad

    def to_json(self, indent: int | None = None) -> str:
        """One JSON object with the fields of this class; `from_json` reads it back."""
        return json.dumps(asdict(self), indent=indent)

    @classmethod
    def from_json(cls, text: str) -> Explanation:
        """The explanation that ``to_json`` wrote."""
        fields = json.loads(text)
        return cls(
            fields["function"],
            tuple(_restored(Value, value) for value in fields["values"]),
            tuple(_restored(Barrier, barrier) for barrier in fields["barriers"]),
            tuple(_restored(Saved, saved) for saved in fields["saved"]),
        )

    def __rich__(self) -> Group:
        parts: list[Table | str] = [_argument_table(self)]
        if not any(value.requires_grad for value in self.arguments):
            parts.append(_NOTHING)
        parts.append(_value_table(self))
        if self.barriers:
            parts.append(_barrier_table(self))
        parts.append(_saved_table(self))
        return Group(*parts)

    def __str__(self) -> str:
        # As wide as it has to be: a terminal may break lines, the text itself must not depend on
        # it.
        console = Console(file=StringIO(), width=240, color_system=None)
        console.print(self)
        return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)


def _shape(value: Value | Saved) -> str:
    return f"{value.dtype}[{', '.join(map(str, value.shape))}]"


def _yes(value: Value) -> str:
    if not value.requires_grad:
        return "no"
    return "[green]yes[/]" if value.needed else "[yellow]yes[/]"


def _argument_table(explanation: Explanation) -> Table:
    table = Table("argument", "kind", "type", "requires grad", "why", title=explanation.function)
    for value in explanation.arguments:
        table.add_row(
            escape(value.key), value.kind, escape(_shape(value)), _yes(value), escape(value.why)
        )
    return table


def _value_table(explanation: Explanation) -> Table:
    table = Table("line", "value", "op", "type", "requires grad", "why", title="values")
    for value in explanation.intermediates:
        name = value.key + "".join(f" ({output})" for output in value.outputs)
        cells = (value.place, name, value.op, _shape(value))
        table.add_row(*map(escape, cells), _yes(value), escape(value.why))
    return table


def _barrier_table(explanation: Explanation) -> Table:
    table = Table("line", "barrier", "cuts the path of", "stops", title="where gradients stop")
    for barrier in explanation.barriers:
        cells = (barrier.place, barrier.kind, ", ".join(barrier.cuts), ", ".join(barrier.stops))
        table.add_row(*map(escape, cells))
    return table


def _saved_table(explanation: Explanation) -> Table:
    table = Table("saved for backward", "is", "type", title="what backward needs")
    table.add_column("bytes", justify="right")
    table.add_column("allocated for it", justify="right")
    for saved in explanation.saved:
        table.add_row(
            escape(saved.name),
            saved.kind,
            escape(_shape(saved)),
            str(saved.bytes),
            str(saved.allocated),
        )
    table.add_section()
    total = sum(saved.bytes for saved in explanation.saved)
    table.add_row("all", "", "", str(total), str(explanation.saved_bytes))
    return table
