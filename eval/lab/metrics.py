"""Metrics: everything that can be measured, with its name, title, unit and stages.

A new metric is an entry of METRICS. A Figure is one value of a metric; a Measurement has all figures of one
point.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...fl.errors import BadInput, unknown
from .stages import CYCLES, FPGA, LAYOUT, NETLIST

# metrics with one figure per operation
OF_OPERATION = ("cycles", "time_ns", "energy_nj", "energy_inertial_nj", "energy_with_glitches_nj")
CORNERS = ("slow", "typical", "fast")  # of a cell library
DRAWN = {"energy_drawn_nj": "mean_nj", "energy_drawn_std_nj": "std_nj"}  # of operations on random operands


@dataclass(frozen=True)
class Metric:
    """A measured quantity. `head` is the title of its axis or column."""

    name: str
    title: str
    unit: str  # as in the ledger
    stages: tuple[str, ...]
    better: str = "min"  # or "max", or "" if neither is better
    axis: bool = False  # charts may use it as an axis; less is better for all of these
    counted: bool = False  # the title already names the unit

    @property
    def per_operation(self) -> bool:
        """Whether each operation has its own figure (cycles), unlike a property of the hardware (area)."""
        return self.name in (*OF_OPERATION, *DRAWN)

    @property
    def shown_unit(self) -> str:
        """The typeset unit; empty if the title already names it."""
        return "" if self.counted else self.unit.replace("um2", "µm²").replace("um", "µm")

    @property
    def head(self) -> str:
        unit = self.shown_unit
        return f"{self.title} ({unit})" if unit not in ("", self.title.lower()) else self.title


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("cycles", "Cycles", "cycles", (*CYCLES, *NETLIST), axis=True),
        Metric("time_ns", "Time", "ns", NETLIST, axis=True),
        Metric("area_um2", "Area", "um2", NETLIST, axis=True),
        Metric("energy_nj", "Energy", "nJ", NETLIST, axis=True),
        Metric("energy_with_glitches_nj", "Energy with glitches", "nJ", NETLIST, axis=True),
        Metric("energy_inertial_nj", "Energy with glitches as far as they go", "nJ", NETLIST),
        Metric("energy_drawn_nj", "Mean energy over drawn operands", "nJ", NETLIST),
        Metric("energy_drawn_std_nj", "Standard deviation of that energy", "nJ", NETLIST, better=""),
        Metric("power_mw", "Power", "mW", NETLIST, axis=True),
        Metric("clock_ns", "Clock period", "ns", NETLIST, better=""),
        Metric("fmax_mhz", "Highest clock", "MHz", NETLIST, better="max"),
        *(
            Metric(f"period_{corner}_ns", f"Shortest period, {corner} corner", "ns", NETLIST)
            for corner in CORNERS
        ),
        Metric("wns_ns", "Slack", "ns", NETLIST, better="max"),
        Metric("hold_wns_ns", "Hold slack on paths from registers", "ns", NETLIST, better="max"),
        Metric("cells", "Cells", "cells", NETLIST, axis=True, counted=True),
        Metric("flops", "Flip-flops", "cells", NETLIST, axis=True, counted=True),
        Metric("die_um2", "Die", "um2", (LAYOUT,)),
        Metric("wire_um", "Wire", "um", (LAYOUT,)),
        *(Metric(name.lower(), name, name, (FPGA,), counted=True) for name in ("LUT", "FF", "DSP", "ALM")),
        Metric("slice", "Slices", "slices", (FPGA,), counted=True),
    )
}


def at(stage: str) -> tuple[str, ...]:
    """The names of the metrics of a stage."""
    return tuple(name for name, metric in METRICS.items() if stage in metric.stages)


def check_metric(name: str) -> str:
    """`name`, if it is the name of a metric; else BadInput."""
    if name not in METRICS:
        raise unknown("metric", name, METRICS)
    return name


@dataclass(frozen=True)
class Figure:
    """One value. `operation` is the operation measured ("encrypt"), or empty for a property of the hardware
    (area).
    """

    metric: str
    value: float
    unit: str
    operation: str = ""


def figure(metric: str, value: float, operation: str = "") -> Figure:
    """A figure with the metric's unit."""
    return Figure(metric, value, METRICS[metric].unit, operation)


@dataclass(frozen=True)
class Measurement:
    """Result of measuring one point: its figures, and the facts needed to trust and repeat them."""

    figures: tuple[Figure, ...]
    seconds: float  # duration of the measurement
    tools: Mapping[str, str]  # names and versions
    verilog_hash: str  # SHA-256 of the translated Verilog; empty without Verilog (a formula)
    tests: str  # description of the functional run of the same hardware that passed
    marks: tuple[str, ...] = ()  # why the figures must not be compared (a missed clock)
    details: Mapping[str, Any] = field(default_factory=dict)  # JSON: areas by module, the worst path, caveats
    artifacts: Mapping[str, bytes] = field(default_factory=dict)  # pictures by file name
    content: str = ""  # digest of the measured hardware or model; empty: that of the point (content.py)

    def value(self, metric: str, operation: str = "") -> float:
        """One figure; the operation may be omitted if the metric has only one."""
        check_metric(metric)
        found = {figure.operation: figure.value for figure in self.figures if figure.metric == metric}
        if not found:
            known = dict.fromkeys(figure.metric for figure in self.figures)
            raise BadInput(f"{metric} was not measured here; there are {', '.join(known)}")
        if operation in found:
            return found[operation]
        if operation or len(found) > 1:
            raise BadInput(f"{metric} of {operation or 'which operation'}: give one of {', '.join(found)}")
        return next(iter(found.values()))
