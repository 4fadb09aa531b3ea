"""Print the command behind a figure of the store, or run it again.

ROW is the number of a figure: the first column of `modexlab store list`, and in the report next to each
figure. Without --run its command is printed. --run measures the point again in this process and checks the
result. Its exit code is 1 if a figure differs. Netlists and simulators come from the cache, except with
--fresh.

examples:
  modexlab store reproduce 1001
  modexlab store reproduce 1001 --run
  modexlab store reproduce 1001 --run --fresh --json
"""

import os
import shlex
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from operator import attrgetter

from ....fl.errors import BadInput
from ...lab.measure import measure
from ...lab.metrics import Measurement
from ...lab.point import Point
from ...progress import Progress
from ..laboratory import store_of
from ..options import flag, option
from ..render import Json, Table, answer, warn
from .store import row_number

OPTIONS = (
    option("row", "ROW", "the number of a figure"),
    flag("--run", "measure again and compare"),
    flag("--fresh", "with --run: use nothing from the cache"),
    "--store",
    "--json",
)


def execute(args: Namespace) -> int:
    number = row_number(args.row)
    if args.fresh and not args.run:
        raise BadInput("--fresh without --run: nothing is measured; add --run")
    with store_of(args, read_only=True, reference=True) as store:
        row = store.row(number)
        if row.stale:
            warn(f"row {number} was measured with other sources or tools than the present ones")
        command = shlex.join(row.command)
        report = {"row": number, "command": command, "stale": row.stale}
        if not args.run:
            return answer(args, report, command)
        then = store.measurement(row.measurement)
    point = Point.from_json(row.point)
    print(f"measuring again: {point}\nas a command: {shlex.join(point.command)}", file=sys.stderr)
    label = f"{row.subject}, {row.nbits} bits, {row.stage}"
    with _cache(args.fresh), Progress(label, quiet=args.json) as progress:
        now = measure(point, progress.describe)
    figures = _figures(then, now)
    digests = attrgetter("content" if row.reference else "verilog_hash")
    same_hardware = digests(then) == digests(now)
    equal = all(figure["equal"] for figure in figures)
    columns = {
        "operation": lambda figure: figure["operation"] or None,
        **{name: name for name in ("metric", "store", "now", "unit")},
        "": _verdict,
    }
    changed = f"The Verilog differs from that of row {number}: the hardware has changed since."
    return answer(
        args,
        {**report, "equal": equal, "same_hardware": same_hardware, "figures": figures},
        Table.of(figures, columns),
        "" if same_hardware else changed,
        ok=equal,
    )


@contextmanager
def _cache(fresh: bool) -> Iterator[None]:
    """Use an empty cache for this run, if `fresh`."""
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


def _figures(then: Measurement, now: Measurement) -> list[Json]:
    """All figures, from the store and from now; None: not measured then, or no longer."""
    names = ("operation", "metric", "unit")
    old, new = (
        {attrgetter(*names)(figure): figure.value for figure in measurement.figures}
        for measurement in (then, now)
    )
    return [
        {
            **dict(zip(names, key, strict=True)),
            "store": old.get(key),
            "now": new.get(key),
            "equal": old.get(key) == new.get(key),
        }
        for key in {**old, **new}
    ]


def _verdict(figure: Json) -> str:
    then, now = figure["store"], figure["now"]
    if then is None or now is None:
        return "only now" if then is None else "only then"
    if then == now:
        return "equal"
    return f"differs by {now - then:+.6g}{f' ({now / then - 1:+.2%})' if then else ''}"
