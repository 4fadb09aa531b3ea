"""Metrics: everything that can be measured, and the stages at which it is.

Steps of the flow declare their metrics (flow/metric.py). A Figure is one value of a metric; a Measurement has
all figures of one point.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...fl.errors import BadInput, unknown
from ...flow import metric
from ...flow.graph import graph
from .stages import CYCLES, FORMULA, FPGA, LAYOUT, NETLIST

# of workloads with several requests
LATENCY = metric.Metric("latency_cycles", "Latency", "cycles", per_operation=True, axis=True)
INTERVAL = metric.Metric("interval_cycles", "Interval", "cycles", per_operation=True, axis=True)
# of operations on random operands
DRAWN = (metric.ENERGY_DRAWN.name, metric.ENERGY_DRAWN_STD.name)


SIMULATED = tuple(stage for stage in CYCLES if stage != FORMULA)


@dataclass(frozen=True)
class Metric(metric.Metric):
    """A metric with the stages at which it is measured."""

    stages: tuple[str, ...] = ()


def _at(item: metric.Metric, stages: tuple[str, ...]) -> Metric:
    return Metric(**vars(item), stages=stages)


def _measured() -> Iterator[Metric]:
    """All metrics: of the steps of the flow, and of counts of FPGA cells."""
    before = {
        item.name
        for name in graph.ORDER
        if name not in graph.WITH_LAYOUT
        for item in graph.step(name).metrics
    }
    for item in graph.metrics().values():
        stages = NETLIST if item.name in before else (LAYOUT,)
        yield _at(item, (*CYCLES, *stages) if item == metric.CYCLES else stages)
        if item == metric.CYCLES:
            yield from (_at(pace, SIMULATED) for pace in (LATENCY, INTERVAL))
    for name in ("LUT", "FF", "DSP", "ALM"):
        yield Metric(name.lower(), name, name, counted=True, stages=(FPGA,))
    yield Metric("slice", "Slices", "slices", counted=True, stages=(FPGA,))


METRICS: dict[str, Metric] = {item.name: item for item in _measured()}
OF_OPERATION = tuple(  # of the flow
    name
    for name, item in METRICS.items()
    if item.per_operation and name not in DRAWN and not {*NETLIST}.isdisjoint(item.stages)
)


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
