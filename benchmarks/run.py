"""``python benchmarks/run.py [ROW ...]``: gradc next to PyTorch eager, torch.compile and JAX.

Value and gradient of each row, f32, two threads. Every engine runs in a process of its own, in
turns, so that all of them see the same machine. JAX is left out where it is not installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rows import ROWS

ENGINES = ("gradc", "eager", "inductor", "jax")


@dataclass
class Measurement:
    """Seconds of a call (median), of the first call, peak memory, or why there are none."""

    median: float = math.nan
    first: float = math.nan
    peak_mib: float = math.nan
    checksums: list[float] = field(default_factory=list)
    failure: str = ""


class Peer:
    def __init__(self, engine: str, row: str) -> None:
        self.measurement = Measurement()
        self.times: list[float] = []
        self.process = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("peer.py"), engine, row],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        if answer := self._read():
            self.measurement.first = answer["first"]
            self.measurement.checksums = answer["checksums"]

    def _read(self) -> dict | None:
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        errors = self.process.stderr.read().strip().splitlines()
        self.measurement.failure = errors[-1] if errors else "no output"
        return None

    def time(self, seconds: float) -> None:
        if self.measurement.failure:
            return
        print(f"time {seconds}", file=self.process.stdin, flush=True)
        if answer := self._read():
            self.times += answer["times"]
            self.measurement.peak_mib = answer["peak_mib"]

    def close(self) -> Measurement:
        self.process.stdin.close()
        self.process.wait()
        if self.times:
            self.measurement.median = statistics.median(self.times)
        return self.measurement


def measure(row: str, engines: list[str], rounds: int, seconds: float) -> dict[str, Measurement]:
    peers = {engine: Peer(engine, row) for engine in engines}
    for _ in range(rounds):
        for peer in peers.values():
            peer.time(seconds)
    return {engine: peer.close() for engine, peer in peers.items()}


def disagreement(found: dict[str, Measurement]) -> str:
    """Names engines whose loss or gradient norms differ from eager's by more than rounding."""
    wanted = found["eager"].checksums
    wrong = [
        engine
        for engine, measurement in found.items()
        if measurement.checksums
        and any(
            abs(a - b) > 2e-3 * max(1.0, abs(b))
            for a, b in zip(measurement.checksums, wanted, strict=True)
        )
    ]
    return f"differs from eager: {', '.join(wrong)}" if wrong else ""


def _ratio(found: dict[str, Measurement], engine: str) -> str:
    ratio = found["gradc"].median / found[engine].median
    return "–" if math.isnan(ratio) else f"{ratio:.2f}"


def _each(found: dict[str, Measurement], value: str, scale: float, digits: int) -> str:
    values = (getattr(measurement, value) * scale for measurement in found.values())
    return " / ".join("–" if math.isnan(v) else f"{v:.{digits}f}" for v in values)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"of {', '.join(ROWS)}")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each engine in a round")
    parser.add_argument("--json", type=Path, help="write the measurements to this file")
    options = parser.parse_args()
    if unknown := set(options.rows) - set(ROWS):
        parser.error(f"no row {', '.join(sorted(unknown))}")
    engines = [e for e in ENGINES if e != "jax" or importlib.util.find_spec("jax")]
    console = Console() if sys.stdout.isatty() else Console(width=150)
    order = " / ".join(engines)
    table = Table("row", "gradc ms", *(f"gradc : {e}" for e in engines[1:]),
                  f"first call s\n{order}", f"peak MiB\n{order}", "notes")  # fmt: skip
    results = {}
    for row in options.rows or ROWS:
        with console.status(row):
            found = measure(row, engines, options.rounds, options.seconds)
        results[row] = {engine: asdict(m) for engine, m in found.items()}
        notes = [f"{e}: {m.failure}" for e, m in found.items() if m.failure]
        if not notes and (note := disagreement(found)):
            notes.append(note)
        table.add_row(row, _each({"gradc": found["gradc"]}, "median", 1e3, 2),
                      *(_ratio(found, engine) for engine in engines[1:]),
                      _each(found, "first", 1, 1), _each(found, "peak_mib", 1, 0),
                      "; ".join(notes))  # fmt: skip
    console.print(table)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
