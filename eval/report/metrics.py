"""The metrics of the ledger as a reader sees them: what they are called, their units, and how many digits are shown."""

from __future__ import annotations

import math
from dataclasses import dataclass

DIGITS = 3  # that a measured number is shown with; those that were counted are shown whole


@dataclass(frozen=True)
class Metric:
    """What the axis or the head of a column says. In all of these, except fmax and slacks, less is better."""

    name: str
    title: str
    unit: str
    per_operation: bool = True  # an area is one of the hardware, cycles are those of an operation

    @property
    def head(self) -> str:
        return f"{self.title} ({self.unit})" if self.unit not in ("", self.title.lower()) else self.title


METRICS = {
    metric.name: metric
    for metric in (
        Metric("cycles", "Cycles", "cycles"),
        Metric("time_ns", "Time", "ns"),
        Metric("area_um2", "Area", "µm²", per_operation=False),
        Metric("energy_nj", "Energy", "nJ"),
        Metric("energy_with_glitches_nj", "Energy with glitches", "nJ"),
        Metric("power_mw", "Power", "mW", per_operation=False),
        Metric("clock_ns", "Clock period", "ns", per_operation=False),
        Metric("fmax_mhz", "Highest clock", "MHz", per_operation=False),
        Metric("wns_ns", "Slack", "ns", per_operation=False),
        Metric("hold_wns_ns", "Hold slack", "ns", per_operation=False),
        Metric("cells", "Cells", "", per_operation=False),
        Metric("flops", "Flip-flops", "", per_operation=False),
        Metric("gate_cycles", "Cycles of the netlist", "cycles"),
        Metric("die_um2", "Die", "µm²", per_operation=False),
        Metric("wire_um", "Wire", "µm", per_operation=False),
        Metric("lut", "LUT", "", per_operation=False),
        Metric("ff", "FF", "", per_operation=False),
        Metric("dsp", "DSP", "", per_operation=False),
        Metric("alm", "ALM", "", per_operation=False),
    )
}
# what a chart may have on an axis: less is better in all of them, as the fronts have it
AXES = (
    "time_ns",
    "cycles",
    "area_um2",
    "energy_nj",
    "energy_with_glitches_nj",
    "power_mw",
    "cells",
    "flops",
)


def metric(name: str, unit: str = "") -> Metric:
    """The metric of this name; one that is not known here is shown under its own name."""
    return METRICS.get(name) or Metric(name, name.replace("_", " "), unit)


def shown(value: float | int | None) -> str:
    """A number for a reader: what was counted whole, what was measured with three digits, thousands apart; `-` for none."""
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    if value == 0:
        return "0"
    return f"{value:,.{max(0, DIGITS - 1 - math.floor(math.log10(abs(value))))}f}"


def ratio(value: float | None) -> str:
    """A quotient: two decimals, or as many digits as a small one needs."""
    if value is None:
        return "-"
    return f"{value:,.2f}" if value >= 0.1 else f"{value:.2g}"
