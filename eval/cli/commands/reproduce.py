"""`modexlab ledger reproduce`: print the command behind a figure, and measure the figure again."""

import os
import shlex
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ....fl.errors import BadInput
from ...json_values import attributes
from ...lab.ledger.ledger import Row
from ...lab.measure import measure
from ...lab.metrics import Measurement
from ...lab.point import Point
from ...progress import Progress
from ..laboratory import ledger_of
from ..options import flag, option
from ..render import Columns, Table, answer, warn
from .ledger import row_number

SUMMARY = "print the command behind a figure of the ledger, or run it again"
TEXT = """\
ROW is the number
of a figure: the first column of `modexlab ledger list`, and in the report next to each figure. Without --run
its command is printed. --run measures the point again in this process and checks the result. Its exit code
is 1 if a figure differs. Netlists and simulators come from the cache, except with --fresh."""
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
    ledger: float | None
    now: float | None

    @property
    def equal(self) -> bool:
        return self.ledger == self.now

    @property
    def verdict(self) -> str:
        if self.ledger is None or self.now is None:
            return "only now" if self.ledger is None else "only then"
        if self.equal:
            return "equal"
        difference = f"{self.now - self.ledger:+.6g}"
        return f"differs by {difference}" + (f" ({self.now / self.ledger - 1:+.2%})" if self.ledger else "")


OPTIONS = (
    option("row", "ROW", "the number of a figure"),
    flag("--run", "measure again and compare"),
    flag("--fresh", "with --run: use nothing from the cache"),
    *("--ledger", "--json"),
)


def execute(args: Namespace) -> int:
    number = row_number(args.row)
    if args.fresh and not args.run:
        raise BadInput("--fresh without --run: nothing is made; add --run")
    with ledger_of(args, read_only=True) as ledger:
        row = ledger.row(number)
        if row.stale:
            warn(f"row {number} was measured with other sources or tools than the present ones")
        command = shlex.join(row.command)
        report = {"row": number, "command": command, "stale": row.stale}
        if not args.run:
            return answer(args, report, command)
        then = ledger.measurement(row.measurement)
    with _cache(args.fresh):
        now = _measure(row, args.json)
    pairs = _pairs(then, now)
    equal, same_hardware = all(pair.equal for pair in pairs), then.verilog_hash == now.verilog_hash
    figures = [attributes(pair, "operation", "metric", "unit", "ledger", "now", "equal") for pair in pairs]
    names = ("metric", "ledger", "now", "unit")
    columns: Columns = {
        "operation": lambda pair: pair.operation or None,
        **{name: name for name in names},
        "": "verdict",
    }
    changed = f"The Verilog is not that of row {number}: the hardware has changed since."
    return answer(
        args,
        {**report, "equal": equal, "same_hardware": same_hardware, "figures": figures},
        Table.of(pairs, columns),
        "" if same_hardware else changed,
        ok=equal,
    )


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
            del os.environ["MODEXLAB_CACHE"]
            os.environ |= {"MODEXLAB_CACHE": before} if before is not None else {}


def _measure(row: Row, quiet: bool) -> Measurement:
    point = Point.from_json(row.point)
    print(f"measuring anew: {point}\nas a command: {shlex.join(point.command)}", file=sys.stderr)
    with Progress(f"{row.subject}, {row.nbits} bits, {row.stage}", quiet=quiet) as progress:
        return measure(point, progress.describe)


def _pairs(then: Measurement, now: Measurement) -> list[_Pair]:
    """All figures of the measurement, by what they are figures of."""
    old, new = (
        {(figure.operation, figure.metric, figure.unit): figure.value for figure in measurement.figures}
        for measurement in (then, now)
    )
    return [_Pair(*name, old.get(name), new.get(name)) for name in {**old, **new}]
