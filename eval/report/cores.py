"""Cores beside each other: what a product costs at the highest clock, as `modexlab compare cores` has it, where the ledger has some."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...fl.cost import counting_floor
from ..designs.interfaces import UNIT
from ..designs.systems import HARDWARE
from ..lab.comparison.cores import MM2, MULTIPLIER, PUBLISHED, Core, cores
from ..lab.ledger.ledger import Ledger
from ..lab.stages import NETLIST, title
from .metrics import shown
from .tables import Cell, Column, Line, Table, line, own, words

STEPS = 2  # points of a line of a floor
ROOM = 1.5  # beyond the points of its width on both sides


def measured(ledger: Ledger, asked: Sequence[str] = ()) -> list[Core]:
    """All that have an area, if a multiplier alone is among them, without those with marks."""
    rows = ledger.rows(stage=list(NETLIST), metric="area_um2", interface=UNIT)
    widths = sorted({row.nbits for row in rows})
    if not widths:
        return []
    names = [name for name in asked if not name.startswith(HARDWARE)]
    found = cores(ledger, widths)
    return [
        each
        for each in found
        if each.measured and not each.marks and each.kind != PUBLISHED and (not names or each.design in names)
    ]


def _figure(core: Core, value: float | None) -> Cell:
    if value is None or core.measurement is None:
        return Cell("-", tone="quiet")
    return own(value, core.row, core.measurement, core.stale)


def _goal(core: Core) -> Cell:
    """Against what was to be reached at its width."""
    checks = [each for each in core.goals if each.figure != "operation_us"]
    if not checks:
        return Cell("-", tone="quiet")
    worst = max(each.value / each.at_most for each in checks)
    met = all(each.met for each in checks)
    return Cell("met" if met else f"{shown(worst)} × the goal", worst, tone="good" if met else "bad")


COLUMNS: tuple[Column[Core], ...] = (
    Column("Core", lambda each: words(each.name)),
    Column("Of", lambda each: words(each.kind)),
    Column("Product", lambda each: _figure(each, each.product_cycles), "cycles", True),
    Column("Clock", lambda each: _figure(each, each.period_ns), "ns", True),
    Column("Product", lambda each: _figure(each, each.product_ns), "ns", True),
    Column("Area", lambda each: _figure(each, each.area_um2), "µm²", True),
    Column("Area × time", lambda each: _figure(each, each.area_time), "mm² ns", True),
    Column("Of the floor", lambda each: _figure(each, each.floor_ratio), "", True),
    Column("Energy without glitches", lambda each: _figure(each, each.energy_nj), "nJ", True),
    Column("Goal", _goal),
    Column("Stage", lambda each: words(title(each.stage))),
)


def table(found: Sequence[Core]) -> Table:
    """Each on a line, those of a width together."""
    lines: list[Line] = [
        line(COLUMNS, each, {"family": each.family, "nbits": each.nbits}, f"{each.nbits:,} bits")
        for each in _of_products(found)
    ]
    return Table(
        "cores",
        "What a product costs",
        "Multipliers alone, and machines that have none apart from their memories, each at the shortest clock period that it meets "
        "(searched). The floor is 2n² bit products, each for a clock in half a selecting gate and half a full adder of the library; "
        "`modexlab compare cores` has private operations and published figures beside them.",
        COLUMNS,
        lines,
    )


def _of_products(found: Sequence[Core]) -> list[Core]:
    return sorted(
        (each for each in found if each.area_time is not None),
        key=lambda each: (each.nbits, each.part != MULTIPLIER, each.product_ns),
    )


def records(found: Sequence[Core]) -> list[dict[str, Any]]:
    """Of the chart: the cores, and for each width its floor as a line."""
    made = _of_products(found)
    drawn = [
        {
            "m": each.measurement,
            "row": each.row,
            "kind": "core",
            "label": each.name,
            "name": f"{each.name}, {each.nbits:,}",
            "family": each.family,
            "nbits": each.nbits,
            "setup": title(each.stage),
            "product_ns": each.product_ns,
            "area_um2": each.area_um2,
            "area_time": each.area_time,
            "floor_ratio": each.floor_ratio,
            **({"stale": True} if each.stale else {}),
        }
        for each in made
    ]
    return [*drawn, *_floors(made)]


def _floors(made: Sequence[Core]) -> Iterator[dict[str, Any]]:
    """Area x time is the same all along a line, which is as long as the points of its width reach."""
    for nbits in dict.fromkeys(each.nbits for each in made):
        own_points = [each for each in made if each.nbits == nbits and each.cell_um2 and each.period_ns]
        if not own_points:
            continue
        clock = min(each.period_ns or 0 for each in own_points)
        least = counting_floor(nbits, own_points[0].cell_um2 or 0, clock)
        times = [each.product_ns for each in own_points if each.product_ns]
        first, last = min(times) / ROOM, max(times) * ROOM
        for step in range(STEPS):
            time = first * (last / first) ** (step / (STEPS - 1))
            yield {
                "kind": "floor",
                "name": f"floor of {nbits:,} bits",
                "nbits": nbits,
                "product_ns": time,
                "area_um2": least / time,
                "area_time": MM2 * least,
                "last": step == STEPS - 1,
            }
