"""Snapshot: the results of a store at one moment, read once; comparisons and reports are queries on it."""

from collections.abc import Callable, Mapping
from typing import Any

from ...json_values import canonical
from ..point import Point
from ..stages import CL, FLOW, FORMULA, FPGA, LAYOUT, NATIVE, PYTHON, VERILOG
from .rows import Row
from .store import Store

Fits = Callable[[Row], bool]
STYLE, OTHER_STYLE = "plain", "optimised"  # of synthesis; the second is tried if the first misses the clock
_ORDER = (FORMULA, CL, PYTHON, VERILOG, NATIVE, FPGA, FLOW, LAYOUT)


class Snapshot:
    """The rows, failures and verdicts of a store. Rows are also found by machine, metric and operation: for
    each point, the newest measurement of each of its versions.
    """

    def __init__(self, store: Store) -> None:
        self.path = store.path
        self.rows, self.history = store.rows(), store.rows(history=True)
        self.failures, self.verdicts = store.failures(), store.verdicts()
        self._current = {row.measurement for row in self.rows}
        self._failed = {
            (*machine_of(failure.point), failure.point["stage"], failure.point["flow"].get("device")): failure
            for failure in self.failures
        }
        self._found: dict[tuple[Any, ...], list[Row]] = {}
        newest = {row.key: row.measurement for row in self.history}
        for row in self.history:
            if row.measurement == newest[row.key]:
                self._found.setdefault((*machine_of(row.point), row.metric, row.operation), []).append(row)

    def best(self, point: Point, metric: str, operation: str, fits: Fits) -> Row | None:
        """The best row of this machine that fits: current sources first, then rows without marks, then the
        highest stage, then the default style, then the newest.
        """
        rows = self._found.get((*machine_of(point.as_json()), metric, operation), ())
        return max(filter(self._counts, filter(fits, rows)), key=_worth, default=None)

    def _counts(self, row: Row) -> bool:
        """Whether a row is current or the newest of its point. If sources were changed back, the newest row
        is not the current one.
        """
        return row.measurement in self._current or not row.stale

    def failure(self, point: Point) -> str:
        """Why this machine could not be measured at this stage at the last attempt; empty if it could."""
        device = dict(point.flow).get("device")
        failed = self._failed.get((*machine_of(point.as_json()), point.stage, device))
        return "" if failed is None else failed.message

    def beside(self, row: Row, metric: str, operation: str | None = None) -> Row | None:
        """Another metric of the same measurement, and of the same operation unless another is given."""
        asked = row.operation if operation is None else operation
        rows = self._found.get((*machine_of(row.point), metric, asked), ())
        return next((item for item in rows if item.measurement == row.measurement), None)


def machine_of(point: Mapping[str, Any]) -> tuple[Any, ...]:
    """The design, width, interface and settings of a point as JSON."""
    return point["subject"], point["nbits"], point["interface"], canonical(point["settings"])


def _worth(row: Row) -> tuple[bool, bool, int, bool, int]:
    usual = row.flow.get("style", STYLE) == STYLE
    return not row.stale, row.comparable, _ORDER.index(row.stage), usual, row.id
