"""Steps power and power-post: power and energy before and after layout."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ... import metric, product
from ...metric import Value
from .. import tools
from ..common import Cornered, WireLoaded
from ..step import File, Job, Step, Tool


def _analyze(job: Job[Cornered], wire_load: str) -> None:
    from ...kit import kit
    from ...power.power import analyze

    analyze(
        job["netlist.json"],
        job["activity"],
        job.out,
        top=job.design.top,
        clock_ns=job.params.clock_period,
        clock_port=job.design.clock_port,
        hierarchy=job["hierarchy.json"],
        wires=job.inputs.get("wires.json"),
        placement=job.inputs.get("placement.json"),
        wire_load=wire_load or None,
        adk=job.adk,
        corner=job.params.corner or kit.TYPICAL,
    )


METRICS = (
    metric.POWER,
    metric.ENERGY,
    metric.ENERGY_WITH_GLITCHES,
    metric.ENERGY_INERTIAL,
    metric.ENERGY_DRAWN,
    metric.ENERGY_DRAWN_STD,
)


def _values(path: Path) -> Iterator[Value]:
    from ...power.report import PowerReport

    power = product.read(path, PowerReport)
    yield Value(metric.POWER.name, power.total_mw)
    yield from metric.of_operations(metric.ENERGY, power.energy_nj)
    if power.with_glitches is not None:
        yield from metric.of_operations(metric.ENERGY_WITH_GLITCHES, power.with_glitches.energy_nj)
    if power.inertial is not None:
        yield from metric.of_operations(metric.ENERGY_INERTIAL, power.inertial.energy_nj)
        for operation, spread in power.inertial.spread_nj.items():
            yield Value(metric.ENERGY_DRAWN.name, spread.mean_nj, operation)
            yield Value(metric.ENERGY_DRAWN_STD.name, spread.std_nj, operation)


@dataclass(frozen=True)
class Parameters(Cornered, WireLoaded):
    """Parameters before layout."""


class Power(Step[Parameters]):
    """Energy of an operation, by module and by group, from the activity of the netlist."""

    name = "power"
    params = Parameters
    reads = ("adk", "design.json", "netlist.json", "hierarchy.json", "activity")
    writes = (File("power.json", "power, and energy of each operation"),)
    tool = Tool("modexlab", tools.ours)
    metrics = METRICS
    netlist = metric.SIZED
    judged_by = "timing"

    def run(self, job: Job[Parameters]) -> None:
        """Write the outputs."""
        _analyze(job, job.params.wire_load)

    def values(self, outputs: Mapping[str, Path]) -> Iterable[Value]:
        """Power, and the energies of each operation."""
        return _values(outputs["power.json"])


class PowerPost(Step[Cornered]):
    """Energy with the routed wires and the clock tree, from the activity of the placed netlist."""

    name = "power-post"
    params = Cornered
    reads = (*Power.reads, "wires.json")
    optional = ("placement.json",)  # for the drop in the power grid
    writes = (File("power.json", "power, and energy of each operation, after layout"),)
    names: ClassVar[Mapping[str, str]] = {
        "netlist.json": "netlist_placed.json",
        "hierarchy.json": "hierarchy_placed.json",
        "activity": "activity_post",
        "power.json": "power_post.json",
    }
    tool = Power.tool
    metrics = METRICS
    netlist = metric.PLACED
    judged_by = "timing-post"

    def run(self, job: Job[Cornered]) -> None:
        """Write the outputs."""
        _analyze(job, "")

    def values(self, outputs: Mapping[str, Path]) -> Iterable[Value]:
        """Power, and the energies of each operation."""
        return _values(outputs["power.json"])
