"""The league across nodes: the same cores with every cell library, at each of its corners.

    found = league(ledger)  # Entry: a core with a kit at a corner
    for held in held_to_base(found):  # Agreement: how well a ranking at 45 nm predicts another one
        print(held.kit, held.corner, held.tau)

The points are those of the space `kits`: multipliers alone, with the same Verilog and operands for each kit.
Across nodes, areas compare in NAND2 equivalents of the kit, and times in its FO4 delays at the corner
(flow/kit/units.py). eval/results/kits.json records both units for the kits of modexlab, so that their
reference results are shown without a PDK; `modexlab compare cores --kit all --record` writes it.

The clock is met at the slow corner. At another corner the period is scaled by the longest path of the same
netlist there.
"""

import functools
import itertools
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import NamedTuple

from ....fl.errors import BadInput
from ....flow.files import replace_json
from ...designs import catalogue
from ...designs.interfaces import UNIT
from ...grouping import grouped
from ..flow_settings import KIT
from ..keys import sealed, unsealed
from ..ledger.export import RESULTS
from ..ledger.ledger import Ledger
from ..metrics import CORNERS
from ..point import Point
from ..space import Space
from ..stages import FLOW
from .compare import LedgerRows
from .cores import MM2, SEARCHED, Core, of_point

SPACE = "kits"
_group = attrgetter("core.nbits", "kit", "corner")  # of entries that are ranked together
UNITS = RESULTS / "kits.json"
SLOW, TYPICAL, _ = CORNERS


class Units(NamedTuple):
    """The units of a kit: the area of its NAND2, and its FO4 delay by corner."""

    nand2_um2: float | None
    fo4_ns: dict[str, float]


@dataclass(frozen=True)
class Entry:
    """A core with a kit at a corner."""

    core: Core
    kit: str
    corner: str
    period_ns: float
    units: Units
    place: int = 0  # rank by area x time among the cores of its width with this kit at this corner

    @property
    def product_ns(self) -> float:
        """The interval between products."""
        return (self.core.product_cycles or 0) * self.period_ns

    @property
    def area_time(self) -> float:
        """Area x time in mm2 ns."""
        return MM2 * (self.core.area_um2 or 0) * self.product_ns

    @property
    def gates(self) -> float | None:
        """The area in NAND2 equivalents of the kit."""
        nand2 = self.units.nand2_um2
        return (self.core.area_um2 or 0) / nand2 if nand2 else None

    @property
    def period_fo4(self) -> float | None:
        return self._in_fo4(self.period_ns)

    @property
    def product_fo4(self) -> float | None:
        return self._in_fo4(self.product_ns)

    @property
    def gate_time(self) -> float | None:
        """Area x time in thousands of NAND2 x FO4."""
        gates, time = self.gates, self.product_fo4
        return None if gates is None or time is None else gates * time / 1000

    def _in_fo4(self, ns: float) -> float | None:
        fo4 = self.units.fo4_ns.get(self.corner)
        return ns / fo4 if fo4 else None


class Agreement(NamedTuple):
    """Kendall's tau between the rankings of the same cores with the default kit and with another one."""

    nbits: int
    kit: str
    corner: str
    cores: int
    tau: float  # by area x time of a product
    tau_area: float
    tau_time: float
    spread: tuple[float, float] | None  # area x time in NAND2 x FO4 relative to the default kit: least, most


# ---- the cores


def base() -> str:
    """The name of the default kit, with which the others are compared."""
    from ....flow.kit import kit  # needs the extra [flow]

    return kit.DEFAULT.stem


@functools.cache
def units_of(name: str) -> Units:
    """The recorded or measured units of a kit; empty if the kit is not installed."""
    recorded = json.loads(UNITS.read_text())
    if name not in recorded:
        return measured_units(name)
    try:
        return Units(**unsealed(recorded[name]))
    except ValueError as error:
        raise BadInput(f"{UNITS}: {error}; restore it or run compare cores --kit all --record") from None


def record_units() -> list[str]:
    """Record the units of the installed kits; return the names of the others, which keep theirs."""
    from ....flow.kit import kit

    units = json.loads(UNITS.read_text())
    measured = {name: measured_units(name) for name in kit.NAMES}
    units |= {name: sealed(found._asdict()) for name, found in measured.items() if found.fo4_ns}
    replace_json(UNITS, units)
    units_of.cache_clear()
    return [name for name, found in measured.items() if not found.fo4_ns]


def measured_units(name: str) -> Units:
    """The units of a kit, measured in its Liberty files; empty if the kit is not installed."""
    from ....flow.kit import kit, units

    try:
        path = kit.named(name)
        libraries = {corner: kit.find(path, corner).library for corner in kit.find(path).libraries}
    except BadInput:
        return Units(None, {})
    fo4_ns = {corner: round(units.fo4_ns(library), 6) for corner, library in libraries.items()}
    return Units(units.nand2_um2(libraries[TYPICAL]), fo4_ns)


def points(ledger: Ledger, nbits: Collection[int] = (), names: Collection[str] = ()) -> list[Point]:
    """The points of the space, and of other designs by name, at these widths (none: those of the space), also
    with kits that occur in the ledger but are not part of modexlab.
    """
    from ....flow.kit import kit

    listed = [*Space.load(SPACE).possible()]
    there = {(point.subject, point.nbits) for point in listed if not point.kit}
    # points with the default kit that this space leaves to the space `cores`
    listed = [
        *(point.at(flow=SEARCHED) for point in listed if (point.subject, point.nbits) not in there),
        *listed,
    ]
    widths = {point.nbits for point in listed}
    kits = {row.kit for row in ledger.rows(stage=FLOW, interface=[UNIT], metric="area_um2")}
    for name in (catalogue.find(name).name for name in names):
        for width in sorted(
            set(nbits or widths) - {point.nbits for point in listed if point.subject == name}
        ):
            listed += [
                Point(name, width, interface=UNIT, stage=FLOW, flow=(*SEARCHED, (KIT, own)))
                for own in kit.NAMES
            ]
    found = [
        point
        for point in listed
        if (not names or point.subject in names) and (not nbits or point.nbits in nbits)
    ]
    more = [
        point.at(flow=(*SEARCHED, (KIT, own))) for own in sorted(kits - {"", *kit.NAMES}) for point in found
    ]
    return list(dict.fromkeys([*found, *more]))


def cores(ledger: Ledger, nbits: Collection[int] = (), names: Collection[str] = ()) -> list[Core]:
    """The cores of these points, measured or not."""
    rows = LedgerRows(ledger)
    return [of_point(point, rows, ledger) for point in points(ledger, nbits, names)]


def entries(found: Iterable[Core]) -> list[Entry]:
    """All measured cores without marks at all corners, by width, kit, corner and place."""
    measured = (core for core in found if core.measured and not core.marks)
    groups = grouped(itertools.chain.from_iterable(map(_at_corners, measured)), _group)
    ranked = []
    for group in sorted(groups, key=lambda group: (group[0], _turn(group[1]), CORNERS.index(group[2]))):
        own = sorted(groups[group], key=attrgetter("area_time"))
        ranked += [replace(entry, place=place) for place, entry in enumerate(own, 1)]
    return ranked


def league(ledger: Ledger) -> list[Entry]:
    """The entries of the ledger."""
    return entries(cores(ledger))


def _at_corners(core: Core) -> Iterator[Entry]:
    name, period = core.kit or base(), core.period_ns
    asked = core.corner_ns.get(SLOW) or core.corner_ns.get(TYPICAL)
    assert period is not None
    for corner, path_ns in core.corner_ns.items() if asked else [(TYPICAL, asked)]:
        at = period * path_ns / asked if asked and path_ns else period
        yield Entry(core, name, corner, at, units_of(name))


def _turn(name: str) -> tuple[bool, float, str]:
    """Sort key of kits: the default first, the others by decreasing area of their NAND2."""
    return name != base(), -(units_of(name).nand2_um2 or 0), name


# ---- rankings


def kendall(first: Sequence[float], second: Sequence[float]) -> float:
    """Kendall's tau of two rankings: 1 for the same order, -1 for the reverse; a pair that is tied in either
    counts as 0.
    """
    pairs = [*itertools.combinations(zip(first, second, strict=True), 2)]
    signs = [((a > c) - (a < c)) * ((b > d) - (b < d)) for (a, b), (c, d) in pairs]
    return sum(signs) / len(signs)


def held_to_base(found: Iterable[Entry]) -> list[Agreement]:
    """The agreement of each kit and corner with the default kit, if they share at least three cores."""
    groups = {
        group: {entry.core.name: entry for entry in own} for group, own in grouped(found, _group).items()
    }
    result = []
    for (nbits, name, corner), own in groups.items():
        theirs = groups.get((nbits, base(), TYPICAL), {})
        pairs = [(theirs[core], own[core]) for core in own if core in theirs]
        if name == base() or len(pairs) < 3:
            continue
        area_time, area, time = (
            kendall([figure(one) for one, _ in pairs], [figure(other) for _, other in pairs])
            for figure in (attrgetter("area_time"), attrgetter("core.area_um2"), attrgetter("product_ns"))
        )
        ratios = [
            other.gate_time / one.gate_time for one, other in pairs if one.gate_time and other.gate_time
        ]
        spread = (min(ratios), max(ratios)) if ratios else None
        result.append(Agreement(nbits, name, corner, len(pairs), area_time, area, time, spread))
    return result


def answer(held: Sequence[Agreement]) -> str:
    """A sentence on how well the ranking at 45 nm predicts the others; empty if nothing is measured."""
    if not held:
        return ""
    least, most = min(held, key=attrgetter("tau")), max(held, key=attrgetter("tau"))
    kits = dict.fromkeys(item.kit for item in held)
    sizes = [item.cores for item in held]
    few = f"{min(sizes)} to {max(sizes)}" if min(sizes) < max(sizes) else f"{max(sizes)}"
    range_ = f"between {least.tau:.2f} ({_where(least)}) and {most.tau:.2f} ({_where(most)})"
    same = sum(item.tau == 1 for item in held)
    where = f"{most.tau:.2f} everywhere" if least.tau == most.tau else range_
    return (
        f"The ranking of {few} cores by area x time with {base()} predicts that with {', '.join(kits)}: "
        f"Kendall's tau is {where}, and the order is the same in {same} of {len(held)} cases."
    )


def _where(item: Agreement) -> str:
    return f"{item.kit}, {item.corner}, {item.nbits} bits"
