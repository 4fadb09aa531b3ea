"""Steps timing and timing-post: static timing before and after layout."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ... import metric, product
from ...metric import Value
from ..common import Timed, WireLoaded
from ..step import File, Job, Step, Tool


def _version() -> str:
    """The version of OpenSTA."""
    # imported here because it loads numpy, and the start of a sweep only needs versions
    from ...timing import timing

    return timing.version("opensta")


def _analyze(job: Job[Timed], wire_load: str) -> None:
    from ...timing.timing import analyze

    analyze(
        job["netlist.v"],
        job.design.top,
        job.out,
        clock_ns=job.params.clock_period,
        clock_port=job.design.clock_port,
        wire_load=wire_load or None,
        spef=job.inputs.get("wires.spef"),
        wires=job.inputs.get("wires.json"),
        hierarchy=job["hierarchy.json"],
        netlist_json=job["netlist.json"],
        fmax=job.params.fmax,
        adk=job.adk,
        corner=job.params.corner or None,
        propagated="wires.spef" in job.inputs,
    )


METRICS = (metric.SLACK, metric.HOLD_SLACK, metric.HIGHEST_CLOCK, *metric.PERIODS.values())


def _values(path: Path) -> Iterator[Value]:
    """The values of a report; a netlist without registers has no slack."""
    from ...timing.report import TimingReport

    timing = product.read(path, TimingReport)
    numbers = {
        metric.SLACK: timing.wns_ns,
        metric.HOLD_SLACK: timing.hold_wns_ns,
        metric.HIGHEST_CLOCK: timing.highest_mhz,
        **{metric.PERIODS[corner]: period for corner, period in timing.corner_ns.items()},
    }
    return (Value(item.name, number) for item, number in numbers.items() if number is not None)


@dataclass(frozen=True)
class Parameters(Timed, WireLoaded):
    """Parameters before layout."""


class Timing(Step[Parameters]):
    """Worst paths, setup and hold slack, without wires or with a wire-load model of the library.

    Without OpenSTA, modexlab's own engine analyses the timing.
    """

    name = "timing"
    params = Parameters
    reads = ("adk", "design.json", "netlist.v", "netlist.json", "hierarchy.json")
    writes = (
        File("timing.json", "slacks, paths and the verdict on the clock"),
        File("constraints.sdc", "the constraints"),
    )
    tool = Tool("OpenSTA", _version)
    own_estimate = True
    metrics = METRICS
    netlist = metric.SIZED

    def run(self, job: Job[Parameters]) -> None:
        """Write the outputs."""
        _analyze(job, job.params.wire_load)

    def values(self, outputs: Mapping[str, Path]) -> Iterable[Value]:
        """Slacks, the highest clock, and the shortest period at each corner."""
        return _values(outputs["timing.json"])


class TimingPost(Step[Timed]):
    """Timing with the routed wires and the clock tree."""

    name = "timing-post"
    params = Timed
    reads = (*Timing.reads, "wires.json", "wires.spef")
    writes = (File("timing.json", "slacks, paths and the verdict on the clock, after layout"),)
    names: ClassVar[Mapping[str, str]] = {
        "netlist.v": "netlist_placed.v",
        "netlist.json": "netlist_placed.json",
        "hierarchy.json": "hierarchy_placed.json",
        "timing.json": "timing_post.json",
    }
    tool = Timing.tool
    own_estimate = True
    metrics = METRICS
    netlist = metric.PLACED

    def run(self, job: Job[Timed]) -> None:
        """Write the outputs."""
        _analyze(job, "")

    def values(self, outputs: Mapping[str, Path]) -> Iterable[Value]:
        """Slacks, the highest clock, and the shortest period at each corner."""
        return _values(outputs["timing.json"])
