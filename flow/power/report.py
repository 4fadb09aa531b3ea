"""Power of a netlist under one or several workloads: power.json."""

import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence

import msgspec

from ...fl.errors import BadInput
from ..description import Published
from ..gates.activity_file import INERTIAL, SUFFIXES, TIMED, ZERO_DELAY, Activity, Mode
from ..netlist.hierarchy import Hierarchy
from ..product import Product
from ..timing.wire_table import Source
from ..workload import DUMMY
from .estimator import GROUPS, Estimate, ModulePower, Parts

Found = Sequence[tuple[Activity, Estimate]]
NO_ENERGY = "no activity is recorded: the workload has no energy rows"


class WorkloadPower(msgspec.Struct):
    """Power and energy in the window of one activity."""

    workload: str
    mode: Mode
    cycles: int | float
    total_mw: float
    energy_nj: float
    scale: float = 1.0  # of the whole operation to the window


class Beside(msgspec.Struct):
    """An energy and the published energy of the same operation; `ratio`: ours / the paper's."""

    operation: str
    energy_nj: float
    paper_nj: float
    ratio: float
    name: str
    citation: str


class WithGlitches(msgspec.Struct):
    """Energies and power with full-swing glitches: an upper bound for the pulses that pass gates. Pulses that
    gates swallow are not counted.
    """

    energy_nj: dict[str, float]
    total_mw: float


class Spread(msgspec.Struct):
    """Spread of the energy of one operation over random operands."""

    operations: int
    mean_nj: float
    std_nj: float
    least_nj: float
    most_nj: float


class Inertial(WithGlitches):
    """Energies and power with partial-swing glitches: a pulse that is cut short counts as a fraction.
    `spread_nj` is over random operands.
    """

    spread_nj: dict[str, Spread]


class PowerReport(Product):
    """The content of power.json. Top-level figures use the activity without delays if all workloads
    have one.
    """

    FILE = "power.json"
    STEP = "power"

    clock_ns: float
    mode: Mode
    total_mw: float
    by_group: dict[str, Parts]
    by_module: list[ModulePower]
    energy_nj: dict[str, float]
    with_glitches: WithGlitches | None
    workloads: list[WorkloadPower]
    caveats: list[str]
    inertial: Inertial | None = None
    wires: Source = "none"
    wire_load: str | None = None
    corner: str = ""
    drop_mv: dict[str, float] | None = None  # largest IR drop of power and of ground


def report(found: Found, hierarchy: Hierarchy) -> PowerReport:
    """Report the power of a netlist: energies by workload, powers as the mean over the cycles of all."""
    if not found:
        raise BadInput(NO_ENERGY)
    spread = _spread(found)
    found = [(activity, estimate) for activity, estimate in found if not activity.drawn]
    workloads = [
        WorkloadPower(done.workload, done.mode, done.cycles, power.total_mw, power.energy_nj, done.scale)
        for done, power in found
    ]
    by_mode = {
        mode: of_operations(windows)
        for mode in SUFFIXES
        if (windows := {row.workload: row.energy_nj * row.scale for row in workloads if row.mode == mode})
    }
    mode = ZERO_DELAY if ZERO_DELAY in by_mode else TIMED

    def operations(mode: Mode) -> list[tuple[Estimate, float]]:
        """The estimates of the operations in a mode, with their shares of the cycles."""
        of_mode = [(activity.workload, estimate) for activity, estimate in found if activity.mode == mode]
        chosen = [estimate for name, estimate in of_mode if name in by_mode[mode]]
        chosen = chosen or [estimate for _, estimate in of_mode]
        cycles = sum(estimate.cycles for estimate in chosen)
        return [(estimate, estimate.cycles / cycles) for estimate in chosen]

    def whole(other: Mode) -> tuple[dict[str, float], float] | None:
        """Energies and mean power in another mode; None unless all workloads are recorded in it."""
        if mode != ZERO_DELAY or by_mode.get(other, {}).keys() != by_mode[ZERO_DELAY].keys():
            return None
        return by_mode[other], sum(estimate.total_mw * share for estimate, share in operations(other))

    weights = operations(mode)
    by_group = {
        name: Parts.weighted([(estimate.by_group()[name], share) for estimate, share in weights])
        for name in GROUPS
    }
    total = sum(group.total_mw for group in by_group.values())
    timed, inertial = whole(TIMED), whole(INERTIAL)
    twice = sum(estimate.twice_mw * share for estimate, share in weights)
    windowed = (
        f"energy of {row.workload}: from a window of {row.cycles:,} cycles of the netlist, "
        f"times {row.scale:.4g}: the exact count of the whole operation is by formula"
        for row in workloads
        if row.mode == mode and row.scale != 1
    )
    return PowerReport(
        clock_ns=weights[0][0].clock_ns,
        mode=mode,
        total_mw=total,
        by_group=by_group,
        by_module=_by_module(weights, hierarchy, total),
        energy_nj=by_mode[mode],
        with_glitches=timed and WithGlitches(*timed),
        inertial=inertial and Inertial(*inertial, spread),
        workloads=workloads,
        caveats=[*_caveats(mode, timed is not None, twice, total), *windowed],
    )


def of_operations(windows: Mapping[str, float]) -> dict[str, float]:
    """The energy of each operation: that of its window, less that of the dummy if it was run."""
    overhead = windows.get(DUMMY, 0.0)
    return {name: value - overhead for name, value in windows.items() if name != DUMMY}


def beside_published(energies_nj: Mapping[str, float], published: Published | None) -> list[Beside]:
    """Energies by operation next to published ones."""
    if published is None:
        return []
    name = published.name or published.citation
    return [
        Beside(operation, ours, paper_nj, ours / paper_nj, name, published.citation)
        for operation, paper_nj in published.energy_nj.items()
        if (ours := energies_nj.get(operation)) is not None
    ]


def _spread(found: Found) -> dict[str, Spread]:
    """The spread of each operation's energy over random operands."""
    energies = defaultdict(list)
    for activity, estimate in found:
        if activity.drawn:
            energies[activity.workload].append(estimate.energy_nj * activity.scale)
    return {
        name: Spread(len(nj), statistics.fmean(nj), statistics.stdev(nj), min(nj), max(nj))
        for name, nj in energies.items()
        if len(nj) > 1
    }


def _by_module(
    weights: Sequence[tuple[Estimate, float]], hierarchy: Hierarchy, total: float
) -> list[ModulePower]:
    rows = defaultdict(list)
    for estimate, share in weights:
        for row in estimate.by_module(hierarchy):
            rows[row.path].append((row, share))
    found = list(map(Parts.weighted, rows.values()))
    for row in found:
        row.share = round(row.total_mw / total, 4) if total else 0.0
    return found


def _caveats(mode: Mode, both: bool, twice: float, total: float) -> list[str]:
    if both:
        first = (
            "energy without glitches is a lower bound; with every glitch at full swing it is an upper bound "
            "of what passes gates"
        )
    elif mode == ZERO_DELAY:
        first = "no glitches are counted: the energy is a lower bound"
    else:
        first = "glitches count with their full swing: the energy is an upper bound of what passes gates"
    if not total or twice / total <= 0.01:
        return [first]
    return [
        first,
        f"up to {100 * twice / total:.0f} % are counted twice: the library states cells of two outputs, such "
        "as adders, with their whole energy at each",
    ]
