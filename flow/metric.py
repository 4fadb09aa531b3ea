"""Metrics: the quantities that steps measure. A step lists its metrics and returns their values.

A new metric is one more Metric in the class of its step, with a value from `values`. The summary, the store,
sweeps and the report show it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import msgspec

# netlists of a design, in the order in which the flow makes them
RTL, MAPPED, SIZED, PLACED = "rtl", "mapped", "sized", "placed"
NETLISTS = (RTL, MAPPED, SIZED, PLACED)
CORNERS = ("slow", "typical", "fast")  # of a cell library


@dataclass(frozen=True)
class Metric:
    """A measured quantity."""

    name: str
    title: str
    unit: str
    better: str = "min"  # or "max", or "" if neither is better
    per_operation: bool = False  # each operation has a value (cycles), not the hardware (area)
    of_design: bool = False  # equal on all netlists of a design
    axis: bool = False  # charts may use it as an axis; less is better for all of these
    counted: bool = False  # the title already names the unit

    @property
    def shown_unit(self) -> str:
        """The typeset unit; empty if the title already names it."""
        return "" if self.counted else self.unit.replace("um2", "µm²").replace("um", "µm")

    @property
    def head(self) -> str:
        """The title of an axis or a column."""
        unit = self.shown_unit
        return f"{self.title} ({unit})" if unit not in ("", self.title.lower()) else self.title


class Value(msgspec.Struct, frozen=True, omit_defaults=True):
    """A value of a metric: of an operation, on a netlist, at a corner; empty if it has none."""

    metric: str
    number: int | float
    operation: str = ""
    netlist: str = ""
    corner: str = ""


CYCLES = Metric("cycles", "Cycles", "cycles", per_operation=True, of_design=True, axis=True)
TIME = Metric("time_ns", "Time", "ns", per_operation=True, axis=True)
AREA = Metric("area_um2", "Area", "um2", axis=True)
ENERGY = Metric("energy_nj", "Energy", "nJ", per_operation=True, axis=True)
ENERGY_WITH_GLITCHES = Metric(
    "energy_with_glitches_nj", "Energy with glitches", "nJ", per_operation=True, axis=True
)
ENERGY_INERTIAL = Metric(
    "energy_inertial_nj", "Energy with glitches as far as they go", "nJ", per_operation=True
)
ENERGY_DRAWN = Metric("energy_drawn_nj", "Mean energy over drawn operands", "nJ", per_operation=True)
ENERGY_DRAWN_STD = Metric(
    "energy_drawn_std_nj", "Standard deviation of that energy", "nJ", better="", per_operation=True
)
POWER = Metric("power_mw", "Power", "mW", axis=True)
CLOCK = Metric("clock_ns", "Clock period", "ns", better="")
HIGHEST_CLOCK = Metric("fmax_mhz", "Highest clock", "MHz", better="max")
PERIODS = {
    corner: Metric(f"period_{corner}_ns", f"Shortest period, {corner} corner", "ns") for corner in CORNERS
}
SLACK = Metric("wns_ns", "Slack", "ns", better="max")
HOLD_SLACK = Metric("hold_wns_ns", "Hold slack on paths from registers", "ns", better="max")
CELLS = Metric("cells", "Cells", "cells", axis=True, counted=True)
FLOPS = Metric("flops", "Flip-flops", "cells", axis=True, counted=True)
DIE = Metric("die_um2", "Die", "um2")
WIRE = Metric("wire_um", "Wire", "um")
# in the order of tables
KNOWN = (
    CYCLES,
    TIME,
    AREA,
    ENERGY,
    ENERGY_WITH_GLITCHES,
    ENERGY_INERTIAL,
    ENERGY_DRAWN,
    ENERGY_DRAWN_STD,
    POWER,
    CLOCK,
    HIGHEST_CLOCK,
    *PERIODS.values(),
    SLACK,
    HOLD_SLACK,
    CELLS,
    FLOPS,
    DIE,
    WIRE,
)


def of_operations(metric: Metric, numbers: Mapping[str, float] | None) -> Iterator[Value]:
    """The values of a metric by operation."""
    return (Value(metric.name, number, operation) for operation, number in (numbers or {}).items())


def counting(values: Iterable[Value], metrics: Mapping[str, Metric]) -> list[Value]:
    """The values that count: those of the last netlist, and of a metric that is equal on all netlists the
    last one.
    """
    ranked = sorted(values, key=lambda value: NETLISTS.index(value.netlist))
    last = ranked[-1].netlist if ranked else ""
    chosen: dict[tuple[str, str, str], Value] = {}
    for value in ranked:
        if value.netlist == last or metrics[value.metric].of_design:
            chosen[value.metric, value.operation, value.corner] = value
    return list(chosen.values())
