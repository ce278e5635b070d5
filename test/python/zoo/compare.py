"""What gradc says of every intermediate, by the user's line, against what eager PyTorch made
there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

import torch
from eager_record import Made, Recorder

from gradc import Explanation
from gradc.explanation import Value

Line = tuple[str, int]
#: For each run of a function, what it made on each line.
Runs = list[dict[Line, list[Made]]]


def by_line(explanation: Explanation) -> dict[Line, list[Value]]:
    rows = defaultdict(list)
    for value in explanation.intermediates:
        rows[value.file, value.line].append(value)
    return rows


def runs_of(fn: Callable, runs: list[tuple], files: set[str]) -> Runs:
    found = []
    for args in runs:
        leaves = [x for x in args if isinstance(x, torch.Tensor)]
        with Recorder(files, leaves) as recorder:
            fn(*args)
        found.append({line: made for line, made in recorder.made.items() if made})
    return found


def _pairs(values: list[Value], made: list[Made], line: Line) -> Iterator[tuple[Value, Made]]:
    """Values of one line with what is made there, again and again in a loop. A result of several
    that nothing reads is not in the graph."""
    rest = iter(made)
    one = next(rest, None)
    while one is not None:
        for value in values:
            while one is not None and (one.shape, one.dtype) != (value.shape, value.dtype):
                assert one.one_of_several, (line, value, one)
                one = next(rest, None)
            assert one is not None, (line, value)
            yield value, one
            one = next(rest, None)
        while one is not None and one.one_of_several:
            one = next(rest, None)


def assert_like_eager(explanation: Explanation, fn: Callable, runs: list[tuple]) -> None:
    """Every value requires grad if it does in a run of ``fn``, and only then."""
    rows = by_line(explanation)
    eager: dict[str, bool] = {}
    for made in runs_of(fn, runs, {file for file, _ in rows}):
        assert made.keys() <= rows.keys(), sorted(made.keys() - rows.keys())
        for line in made:
            for value, one in _pairs(rows[line], made[line], line):
                eager[value.key] = eager.get(value.key, False) or one.requires_grad
    own = {value.key: value.requires_grad for value in explanation.intermediates}
    wrong = {key: requires for key, requires in eager.items() if own[key] != requires}
    assert not wrong, f"in eager mode {wrong}"
    # Python makes no values where branches and loops end.
    ends = {v.key for v in explanation.intermediates if v.op in ("cond", "while_loop")}
    assert own.keys() - eager.keys() <= ends, sorted(own.keys() - eager.keys())
