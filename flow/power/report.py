"""Power of a netlist under one or several workloads: power.json."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

import msgspec

from ...fl.errors import BadInput
from ..gates.activity_file import INERTIAL, TIMED, ZERO_DELAY, Activity, Mode
from ..netlist.hierarchy import Hierarchy
from ..product import Product
from ..timing.wire_table import Source
from . import energy
from .estimator import GROUPS, Estimate, ModulePower, Parts

Found = Sequence[tuple[Activity, Estimate]]


class WorkloadPower(msgspec.Struct):
    """In the window of one activity."""

    workload: str
    mode: Mode
    cycles: int | float
    time_ns: float
    total_mw: float
    energy_nj: float
    by_group: dict[str, Parts]
    inputs_mw: float
    twice_mw: float
    scale: float = 1.0  # of the whole operation to the window

    @classmethod
    def of(cls, activity: Activity, estimate: Estimate) -> WorkloadPower:
        return cls(
            workload=activity.workload,
            mode=activity.mode,
            cycles=activity.cycles,
            time_ns=activity.cycles * estimate.clock_ns,
            total_mw=estimate.total_mw,
            energy_nj=estimate.energy_nj,
            by_group=estimate.by_group(),
            inputs_mw=estimate.inputs_mw,
            twice_mw=estimate.twice_mw,
            scale=activity.scale,
        )


class WithGlitches(msgspec.Struct):
    """The same by the activity with delays: an upper bound of what passes gates; what they swallow is in no
    figure.
    """

    energy_nj: dict[str, float]
    total_mw: float


class Spread(msgspec.Struct):
    """Spread of the energy of one operation over drawn operands."""

    operations: int
    mean_nj: float
    std_nj: float
    least_nj: float
    most_nj: float

    @classmethod
    def of(cls, energies: Sequence[float]) -> Spread:
        return cls(
            len(energies),
            statistics.fmean(energies),
            statistics.stdev(energies),
            min(energies),
            max(energies),
        )


class Inertial(msgspec.Struct):
    """The same with pulses that gates swallow left out, and those that are cut short counted in part; and
    over other operands.
    """

    energy_nj: dict[str, float]
    total_mw: float
    spread_nj: dict[str, Spread]


class PowerReport(Product):
    """The whole file. What stands at the top is by the activity without delays, if all workloads have one."""

    FILE: ClassVar[str] = "power.json"
    STEP: ClassVar[str] = "power"

    clock_ns: float
    mode: Mode
    total_mw: float
    by_group: dict[str, Parts]
    by_module: list[ModulePower]
    energy_nj: dict[str, float]
    energy_by_mode_nj: dict[Mode, dict[str, float]]
    glitch_ratio: dict[str, float]
    with_glitches: WithGlitches | None
    inputs_mw: float
    twice_mw: float
    nets_derived: int
    workloads: list[WorkloadPower]
    caveats: list[str]
    inertial: Inertial | None = None
    wires: Source = "none"
    wire_load: str | None = None
    corner: str = ""


def report(found: Found, hierarchy: Hierarchy | None = None) -> PowerReport:
    """Report the power of a netlist: energies by workload, powers as the mean over the cycles of all."""
    if not found:
        raise BadInput("no activity is recorded: the workload has no energy rows")
    spread = _spread(found)
    found = [(activity, estimate) for activity, estimate in found if not activity.drawn]
    workloads = [WorkloadPower.of(activity, estimate) for activity, estimate in found]
    recorded = {
        mode: {workload.workload for workload in workloads if workload.mode == mode}
        for mode in (ZERO_DELAY, TIMED, INERTIAL)
    }
    mode = ZERO_DELAY if recorded[ZERO_DELAY] else TIMED
    by_mode: dict[Mode, dict[str, float]] = {
        name: energy.of_operations(
            {
                workload.workload: workload.energy_nj * workload.scale
                for workload in workloads
                if workload.mode == name
            }
        )
        for name in recorded
        if recorded[name]
    }
    chosen = [(activity, estimate) for activity, estimate in found if activity.mode == mode]
    operations = [estimate for activity, estimate in chosen if activity.workload in by_mode[mode]]
    whole = operations or [estimate for _, estimate in chosen]
    weights = _weights(whole)
    by_group = {
        name: _sum(parts.by_group()[name].times(weight) for parts, weight in weights) for name in GROUPS
    }
    total = sum(group.total_mw for group in by_group.values())
    with_glitches = inertial = None
    if mode == ZERO_DELAY and recorded[TIMED] == recorded[ZERO_DELAY]:
        with_glitches = WithGlitches(by_mode[TIMED], _mean_mw(found, TIMED, by_mode[TIMED]))
    if mode == ZERO_DELAY and recorded[INERTIAL] == recorded[ZERO_DELAY]:
        energies = by_mode[INERTIAL]
        inertial = Inertial(energies, _mean_mw(found, INERTIAL, energies), spread)
    twice = sum(estimate.twice_mw * weight for estimate, weight in weights)
    return PowerReport(
        clock_ns=chosen[0][1].clock_ns,
        mode=mode,
        total_mw=total,
        by_group=by_group,
        by_module=_by_module(weights, hierarchy, total),
        energy_nj=by_mode[mode],
        energy_by_mode_nj=dict(sorted(by_mode.items())),
        glitch_ratio=_glitch_ratio(by_mode),
        with_glitches=with_glitches,
        inertial=inertial,
        inputs_mw=sum(estimate.inputs_mw * weight for estimate, weight in weights),
        twice_mw=twice,
        nets_derived=max(len(operation.derived) for operation in whole),
        workloads=workloads,
        caveats=[
            *_caveats(mode, with_glitches is not None, twice, total),
            *(
                f"energy of {workload.workload}: from a window of {workload.cycles:,} cycles of the netlist, "
                f"times {workload.scale:.4g}: the exact count of the whole operation is by formula"
                for workload in workloads
                if workload.mode == mode and workload.scale != 1
            ),
        ],
    )


def _spread(found: Found) -> dict[str, Spread]:
    """By operation, of those on drawn operands."""
    energies: dict[str, list[float]] = {}
    for activity, estimate in found:
        if activity.drawn:
            energies.setdefault(activity.workload, []).append(estimate.energy_nj * activity.scale)
    return {name: Spread.of(values) for name, values in energies.items() if len(values) > 1}


def _mean_mw(found: Found, mode: Mode, operations: Mapping[str, float]) -> float:
    """Over the cycles of all operations."""
    of_mode = [
        estimate for activity, estimate in found if activity.mode == mode and activity.workload in operations
    ]
    return sum(estimate.total_mw * part for estimate, part in _weights(of_mode))


def _weights(estimates: Sequence[Estimate]) -> list[tuple[Estimate, float]]:
    """Each with its share of the cycles."""
    cycles = sum(estimate.cycles for estimate in estimates)
    return [(estimate, estimate.cycles / cycles) for estimate in estimates]


def _sum(parts: Iterable[Parts]) -> Parts:
    total = Parts()
    for part in parts:
        total = total.plus(part)
    return total


def _by_module(
    weights: Sequence[tuple[Estimate, float]], hierarchy: Hierarchy | None, total: float
) -> list[ModulePower]:
    found: dict[str, ModulePower] = {}
    for estimate, weight in weights:
        for row in estimate.by_module(hierarchy):
            before = found.get(row.path) or ModulePower(path=row.path, module=row.module)
            found[row.path] = before.plus(row.times(weight))
    for row in found.values():
        row.share = round(row.total_mw / total, 4) if total else 0.0
    return list(found.values())


def _glitch_ratio(by_mode: Mapping[Mode, Mapping[str, float]]) -> dict[str, float]:
    """Energy with glitches to that without."""
    without = by_mode.get(ZERO_DELAY, {})
    return {
        name: round(value / without[name], 4)
        for name, value in by_mode.get(TIMED, {}).items()
        if without.get(name)
    }


def _caveats(mode: Mode, both: bool, twice: float, total: float) -> list[str]:
    caveats = []
    if both:
        caveats.append(
            "energy without glitches is a lower bound, with all of full swing an upper one of what passes "
            "gates"
        )
    elif mode == ZERO_DELAY:
        caveats.append("no glitches are counted: the energy is a lower bound")
    else:
        caveats.append(
            "glitches count with their full swing: the energy is an upper bound of what passes gates"
        )
    if total and twice / total > 0.01:
        caveats.append(
            f"up to {100 * twice / total:.0f} % are counted twice: the library states cells of two outputs, "
            "such as adders, "
            "with their whole energy at each"
        )
    return caveats
