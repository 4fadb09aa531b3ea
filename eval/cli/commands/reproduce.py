"""`modexlab ledger reproduce`: print the command behind a figure, and measure the figure again."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ....fl.errors import BadInput
from ...json_values import attributes
from ...progress import Progress
from ...table import table
from ..arguments import add_json, add_ledger, answer, ledger_of, warn
from .ledger import row_number, value_text

if TYPE_CHECKING:
    from ...lab.ledger.ledger import Row
    from ...lab.metrics import Measurement

SUMMARY = "print the command behind a figure of the ledger, or run it again"
TEXT = """\
ROW is the number of a figure: the first column of
`modexlab ledger list`, and what the report shows with each of its figures. Without --run its command goes to stdout.
--run measures the point anew within this process, as sweeps do, with the functional run that belongs to it; the command gives
the same figures in the words of its own.

The exit code of --run is 1 if a figure differs. What has been made before comes from the cache (a netlist, a
simulator); --fresh makes everything again."""
EXAMPLES = """\
  modexlab ledger reproduce 1
  modexlab ledger reproduce 1 --run
  modexlab ledger reproduce 1 --run --fresh --json"""


@dataclass(frozen=True)
class _Pair:
    """A figure in the ledger, and as it is now; None: it is not measured any more, or was not then."""

    operation: str
    metric: str
    unit: str
    then: float | None
    now: float | None

    @property
    def equal(self) -> bool:
        return self.then == self.now

    @property
    def verdict(self) -> str:
        if self.then is None or self.now is None:
            return "only now" if self.then is None else "only then"
        if self.equal:
            return "equal"
        difference = f"{self.now - self.then:+.6g}"
        return f"differs by {difference}" + (f" ({self.now / self.then - 1:+.2%})" if self.then else "")


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("row", metavar="ROW", help="the number of a figure")
    parser.add_argument("--run", action="store_true", help="measure again and compare")
    parser.add_argument("--fresh", action="store_true", help="with --run: take nothing from the cache")
    add_ledger(parser)
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    number = row_number(args.row)
    if args.fresh and not args.run:
        raise BadInput("--fresh without --run: nothing is made; add --run")
    with ledger_of(args, read_only=True) as ledger:
        row = ledger.row(number)
        if row.stale:
            warn(f"row {number} was measured with other sources or tools than the present ones")
        if not args.run:
            command = shlex.join(row.command)
            answer(args, lambda: {"row": number, "command": command, "stale": row.stale}, lambda: command)
            return 0
        then = ledger.measurement(row.measurement)
    with _cache(args.fresh):
        now = _measure(row, args.json)
    pairs = _pairs(then, now)
    same_hardware = then.verilog_hash == now.verilog_hash
    answer(args, lambda: _as_json(row, pairs, same_hardware), lambda: _text(row, pairs, same_hardware))
    return 0 if all(pair.equal for pair in pairs) else 1


@contextmanager
def _cache(fresh: bool) -> Iterator[None]:
    """An empty cache for this run, if it is to be fresh."""
    if not fresh:
        yield
        return
    before = os.environ.get("MODEXLAB_CACHE")
    with tempfile.TemporaryDirectory(prefix="modexlab-") as directory:
        os.environ["MODEXLAB_CACHE"] = directory
        try:
            yield
        finally:
            if before is None:
                del os.environ["MODEXLAB_CACHE"]
            else:
                os.environ["MODEXLAB_CACHE"] = before


def _measure(row: Row, quiet: bool) -> Measurement:
    from ...lab.measure import measure
    from ...lab.point import Point

    point = Point.from_json(row.point)
    print(f"measuring anew: {point}\nas a command: {shlex.join(point.command)}", file=sys.stderr)
    with Progress(f"{row.subject}, {row.nbits} bits, {row.stage}", quiet=quiet) as progress:
        return measure(point, progress.describe)


def _pairs(then: Measurement, now: Measurement) -> list[_Pair]:
    """All figures of the measurement, by what they are figures of."""
    old = {(figure.operation, figure.metric, figure.unit): figure.value for figure in then.figures}
    new = {(figure.operation, figure.metric, figure.unit): figure.value for figure in now.figures}
    return [_Pair(*name, old.get(name), new.get(name)) for name in {**old, **new}]


def _as_json(row: Row, pairs: list[_Pair], same_hardware: bool) -> dict[str, Any]:
    return {
        "row": row.id,
        "command": shlex.join(row.command),
        "stale": row.stale,
        "equal": all(pair.equal for pair in pairs),
        "same_hardware": same_hardware,
        "figures": [
            {**attributes(pair, "operation", "metric", "unit", "now", "equal"), "ledger": pair.then}
            for pair in pairs
        ],
    }


def _text(row: Row, pairs: list[_Pair], same_hardware: bool) -> str:
    lines = [
        [
            pair.operation or "-",
            pair.metric,
            value_text(pair.then),
            value_text(pair.now),
            pair.unit,
            pair.verdict,
        ]
        for pair in pairs
    ]
    text = table(["operation", "metric", "ledger", "now", "unit", ""], lines)
    if not same_hardware:
        text += f"\n\nThe Verilog is not that of row {row.id}: the hardware has changed since."
    return text
