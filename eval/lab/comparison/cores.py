"""Cores at one width: the cost of a product, the time of a private operation, and other published cores.

    for core in cores(Snapshot(store), [128, 256]):  # Core: ours, twins, designs of manifests, published
        print(core.design, core.product_ns, core.area_time, core.floor_ratio)

The table contains the points of the ready-made space `cores`, and everything of the same kind in the store:
multipliers alone, whose operation is a product, and whole machines, at the highest clock that a search found
(flow: fmax), or else at a given clock that is met. A search starts at the clock of the reference results, if
they have one. A width that is not in the space uses the designs of the next wider one. Without a measurement,
cycles are by formula, other figures are empty, and the note states the reason.

A product needs 2 n^2 bit products. Rows of a multiplier that take two bits of a factor at a time add two bit
products by a selecting gate and a full adder. That area, used in every clock cycle, is the floor of area x
time at a clock (fl/cost.py, flow/kit/liberty.py). It includes no registers, no control and no final addition.
`utilisation` is the floor divided by a core's area x time.
"""

import functools
import math
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from ....fl.cost import counting_floor
from ....fl.errors import BadInput
from ....fl.moduli import known_factors
from ....flow.metric import CORNERS
from ....rtl.sim import SimulationTimeout, ToolError
from ...designs import catalogue
from ...designs.foreign.foreign import ForeignDesign
from ...designs.interfaces import DEFAULT, SYSTEM, UNIT
from ...designs.machine import Design
from ...designs.protection import Requested
from ...designs.session import NoResult
from ...designs.system_catalogue import HARDWARE, SOFTWARE
from ...designs.workload_names import DECRYPT, ENCRYPT, NBITS_001, PRODUCT, WORKLOADS, cycles_of
from ...grouping import grouped
from ...json_values import Json, attributes
from ...papers import published
from ...papers.published import Published
from ..flow_settings import KIT
from ..metrics import DRAWN
from ..point import Point
from ..space import Part, Space
from ..stages import CL, FLOW, LAYOUT, NETLIST, RTL
from ..store.reference import Reference
from ..store.rows import Row
from ..store.snapshot import OTHER_STYLE, STYLE, Snapshot, machine_of
from . import interface_model, published_data
from .compare import CLOCK_NS, impossible, label, usual

SPACE = "cores"
MULTIPLIER, MACHINE = "unit", "machine"  # the part that a row describes
OURS, TWIN, FOREIGN, PUBLISHED = "ours", "twin", "foreign", "published"
FMAX, CLOCK = "fmax", "clock_period"
SEARCHED = ((FMAX, True),)
RECORDS = {FMAX: (True,), "style": (OTHER_STYLE,)}  # settings of designs that are named
MOST_SLACK = 0.12  # share of the clock that a search leaves for wires before layout
SIMULATED_NBITS = 256  # widest core of a manifest whose cycles are simulated before it is measured
LONG_NBITS = 512  # wider points take long, except one synthesis of a multiplier
WHERE = {FLOW: "after synthesis, wires supposed", LAYOUT: "after layout"}
CLOCK_GIVEN = "clock given, not searched"
NOT_MEASURED, LONG = "not measured (--measure)", "not measured: it takes long (--measure --full)"
WHOLE = "area of the whole machine, which has no multiplier apart"
MM2 = 1e-6
OPERANDS = 3  # base, exponent and modulus
UNKNOWN = "?"  # not stated by the source
# our operation -> equivalent operations in the papers; "": figures of the whole machine
OPERATIONS = {
    PRODUCT: (PRODUCT,),
    DECRYPT: (DECRYPT, "modexp", "mean"),
    ENCRYPT: (ENCRYPT,),
    "": (PRODUCT, ""),
}


ENERGIES = ("energy_nj", "operation_energy_nj", "drawn_nj", "operation_drawn_nj")  # fields of a core


@dataclass(frozen=True)
class Core:
    """One design at one width: a multiplier alone, a whole machine, or a published core. None: unknown."""

    design: str
    kind: str
    part: str
    nbits: int
    family: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    constant_time: str = ""  # the promise: yes (for all exponents), of a length, no
    exponent_nbits: int | None = None  # of the private operation
    limits: str = ""  # of the modulus; "": any of its width is accepted
    crt: bool | None = None
    blinded: str = ""  # no, message, exponent, or message and exponent
    checked: bool | None = None  # a result is released only if the public exponent restores the base
    conversions: str = ""  # into and out of the form of the products
    product_cycles: int | None = None  # the interval between products
    latency_cycles: int | None = None  # of one product, from request to response
    period_ns: float | None = None  # requested
    met_ns: float | None = None  # achieved, by the slack of the longest path
    product_ns: float | None = None  # this and the other times: published, or cycles x period
    operation_cycles: int | None = None
    operation_us: float | None = None
    public_cycles: int | None = None
    public_us: float | None = None
    area_um2: float | None = None
    of_product: bool = False  # the area is of hardware that computes one product at a time
    energy_nj: float | None = None  # of a product
    operation_energy_nj: float | None = None
    drawn_nj: tuple[float, float] | None = None  # of a product on random operands: mean, standard deviation
    operation_drawn_nj: tuple[float, float] | None = None
    cell_um2: float | None = None  # for one bit product
    floor_um2: float | None = None  # for three operands and one full adder
    instructions: int | None = None  # of a private operation, if only these are published
    tests_passed: int | None = None
    tests_failed: int | None = None
    stage: str = ""
    technology: str = ""  # kit and corner, or the technology of a published figure
    kit: str = ""  # the cell library, if not the default
    corner: str = ""  # of setup, hold and power
    corner_ns: Mapping[str, float] = field(
        default_factory=dict
    )  # longest path by corner, for a kit with several
    source: str = ""
    url: str = ""  # of a published figure, like commit and obtained
    commit: str = ""
    obtained: str = ""
    note: str = ""
    marks: tuple[str, ...] = ()
    stale: bool = False
    unverified: str = ""  # the reason to measure it again
    unverified_energy: str = ""  # likewise, of its energies alone
    reference: bool = False  # a reference result, not of the user's store
    searched: bool = False  # the clock was searched, not given
    style: str = ""  # of synthesis
    failure: str = ""  # why it could not be measured
    measurement: int | None = None  # number in the store
    row: int | None = None
    estimate: str = ""  # the model, of a core without a result
    command: str = ""  # to measure it
    point: Point | None = None
    turn: int = 0  # position in the order of measuring

    def __post_init__(self) -> None:
        for time, cycles, scale in (
            ("product_ns", self.product_cycles, 1.0),
            ("operation_us", self.operation_cycles, 1e-3),
            ("public_us", self.public_cycles, 1e-3),
        ):
            if getattr(self, time) is None:
                object.__setattr__(self, time, _times(cycles, self.period_ns, scale))

    def is_unverified(self, name: str) -> bool:
        """Whether a figure is to be measured again."""
        return bool(self.unverified or (self.unverified_energy and name in ENERGIES))

    @property
    def ours(self) -> bool:
        return self.kind == OURS

    @property
    def measured(self) -> bool:
        return self.measurement is not None

    @property
    def basis(self) -> str:
        """The origin of its area: a result or a model."""
        return self.source if self.measured else self.estimate

    @property
    def name(self) -> str:
        """The design with its settings."""
        return " ".join([self.design, *(f"{name}={value}" for name, value in self.settings.items())])

    @property
    def routed(self) -> bool:
        return self.stage == LAYOUT

    @property
    def work(self) -> str:
        """The private operation without its width; only equal ones are ranked together."""
        return f"an exponent of {self.exponent_nbits:,} bits, {self.limits}".removesuffix(", ")

    @property
    def protections(self) -> str:
        """The protections of the private operation, with `?` if some are unknown."""
        found = {
            "CRT": self.crt,
            f"{self.blinded} blinded": self.blinded not in ("", "no"),
            "check": self.checked,
            UNKNOWN: None in (self.crt, self.checked, self.blinded or None),
        }
        return ", ".join(name for name, there in found.items() if there) or "none"

    # ---- derived figures

    @property
    def area_time(self) -> float | None:
        """The area-time product of one modular product, in mm2 ns."""
        return _times(self.area_um2, self.product_ns, MM2) if self.of_product else None

    @property
    def operation_area_time(self) -> float | None:
        """The area-time product of a private operation, in mm2 us."""
        return _times(self.area_um2, self.operation_us, MM2)

    @property
    def floor(self) -> float | None:
        """The minimum area x time for counting bit products at this clock, in mm2 ns."""
        if not (self.cell_um2 and self.period_ns and self.of_product):
            return None
        return MM2 * counting_floor(self.nbits, self.cell_um2, self.period_ns)

    @property
    def floor_ratio(self) -> float | None:
        """Area x time divided by its floor."""
        return self.area_time / self.floor if self.area_time and self.floor else None

    @property
    def utilisation(self) -> float | None:
        return self.floor_ratio and 1 / self.floor_ratio


Cores = Sequence[Core]


def spread(found: tuple[float, float] | None) -> str | None:
    """Mean and standard deviation as text for a table."""
    return found and f"{found[0]:,.4g} +-{found[1] / found[0]:.0%}"


def _times(one: float | None, other: float | None, scale: float = 1.0) -> float | None:
    return None if one is None or other is None else one * other * scale


# ---- which points


@functools.cache
def _space() -> Space:
    return Space.load(SPACE)


def widths() -> tuple[int, ...]:
    """The widths of the space."""
    return tuple(sorted({nbits for part in _space().parts for nbits in part.nbits}))


class Selection(NamedTuple):
    """The machines of ours to which a comparison is restricted; by default all with bare streams, and the
    multipliers alone.
    """

    interface: str = ""
    requested: Requested = Requested()
    constant_time: bool = False

    @property
    def interfaces(self) -> tuple[str, ...]:
        """The interfaces of the selected hardware, that of machines last."""
        if self.interface:
            return (self.interface,)
        return (DEFAULT.name,) if self.requested.any else (UNIT, DEFAULT.name)

    def includes(self, point: Point) -> bool:
        """Whether the hardware of a point is in the comparison."""
        machine = point.machine
        return (
            point.interface in self.interfaces
            and self.requested.selects(point.design, point.nbits, machine.parameters)
            and (machine.traits.constant_time or not self.constant_time)
        )

    def has(self, row: Row) -> bool:
        """Whether a result is of a machine with the requested protections, alone or behind the processor."""
        if not self.requested.any:
            return True
        try:
            design = catalogue.find(row.design)
        except BadInput:  # software, a core of a manifest, or a design that no longer exists
            return False
        return self.requested.selects(design, row.nbits, row.parameters)

    def applied(self, point: Point) -> Iterator[Point]:
        """The point behind the interface, with the protections; none if its design has no program."""
        interface = UNIT if point.interface == UNIT else self.interfaces[-1]
        if interface not in self.interfaces or (interface == UNIT) != (point.interface == UNIT):
            return
        settings = dict(point.settings)
        if self.requested.any:
            if not isinstance(point.design, Design) or not point.design.programmed:
                return
            settings = self.requested.settings(point.design, point.nbits, {})
        yield point.at(settings=tuple(settings.items()), interface=interface)


ALL = Selection()


class Wanted(NamedTuple):
    """Points of the table, and impossible ones with the reason."""

    points: list[Point]
    impossible: list[tuple[str, str]]


def wanted(
    nbits: Sequence[int],
    names: Collection[str] = (),
    manifests: Sequence[ForeignDesign] = (),
    kit: str = "",
    selection: Selection = ALL,
) -> Wanted:
    """The points for these widths and this kit, of these designs (none: all in the space) and of manifests.

    A named design is included at every width, alone and as a machine, and so are all designs with a program
    if protections are requested. The points are in the order of measuring: designs of manifests first,
    because a user waits for them, then each part of the space, narrow points first.
    """
    parts = [part for item in _space().parts if (part := _at(item, nbits, names)) is not None]
    entered = {design.name for design in manifests}
    named = tuple(catalogue.find(name).reference for name in names if name not in entered)
    if selection.requested.any:
        for name in named:
            selection.requested.require(catalogue.find(name))
        named = named or tuple(design.name for design in catalogue.designs() if design.programmed)
    for interface in (UNIT, DEFAULT.name) if named else ():
        parts.append(Part(named, tuple(nbits), (ENCRYPT,), (FLOW,), (interface,), {}, RECORDS))
    points = []
    lacking: list[tuple[str, str]] = []
    for design in manifests:
        taken = [width for width in nbits if _exists(design, width)] or [design.usual_nbits]
        points += [Point(design.reference, width, stage=FLOW, flow=SEARCHED) for width in taken]
    for part in parts:
        space = replace(_space(), parts=(part,))
        points += sorted(space.possible(), key=lambda point: point.nbits)
        lacking += space.impossible.items()
    if kit:  # the search starts at the clock of the kit
        points = [point.at(flow=(*point.flow, *SEARCHED, (KIT, kit))) for point in points]
    if selection != ALL:
        points = [item for point in points for item in _selected(point, selection, lacking)]
    points = [at_known_clock(point, *SEARCHED) or point for point in dict.fromkeys(points)]
    return Wanted(points, list(dict.fromkeys(lacking)))


def _selected(point: Point, selection: Selection, lacking: list[tuple[str, str]]) -> Iterator[Point]:
    """The point as selected, if its hardware can exist and is in the comparison."""
    for item in selection.applied(point):
        if why := impossible(item):
            lacking.append((str(item), why))
        elif selection.includes(item):
            yield item


@functools.cache
def known_clocks() -> dict[tuple[Any, ...], float]:
    """The shortest clock periods in ns that the reference results meet, by kit and `machine_of` their point.

    Rows with more slack than a search leaves do not count: their clock was given.
    """
    both = Reference().rows(metric=["clock_ns", "wns_ns"], stage=FLOW)
    rows = [row for row in both if row.comparable]
    slack = {row.measurement: row.value for row in rows if row.metric == "wns_ns"}
    found: dict[tuple[Any, ...], float] = {}
    for row in rows:
        if row.metric == "clock_ns" and slack[row.measurement] <= MOST_SLACK * row.value:
            machine = row.kit, *machine_of(row.point)
            found[machine] = min(row.value, found.get(machine, row.value))
    return found


def at_known_clock(point: Point, *more: tuple[str, Any]) -> Point | None:
    """The same point with one synthesis at a known clock, or with a search (SEARCHED) that starts there; None
    if no clock is known.
    """
    clock_ns = known_clocks().get((point.kit, *machine_of(point.as_json())))
    own = [(name, value) for name, value in point.flow if name in (KIT, "style")]
    return None if clock_ns is None else point.at(flow=((CLOCK, clock_ns), *own, *more))


def _at(part: Part, nbits: Sequence[int], names: Collection[str]) -> Part | None:
    """A part of the space restricted to these widths and designs; None if nothing remains."""
    known = widths()
    asked = [
        n for n in nbits if min((width for width in known if width >= n), default=known[-1]) in part.nbits
    ]
    subjects = tuple(subject for subject in part.subjects if not names or subject in names)
    return replace(part, nbits=tuple(asked), subjects=subjects) if asked and subjects else None


def _exists(design: ForeignDesign, nbits: int) -> bool:
    try:
        design.at(nbits)
    except BadInput:
        return False
    return True


def long(point: Point) -> bool:
    """Whether it takes more than minutes: a wide machine, or several syntheses of a wide multiplier."""
    once = point.interface == UNIT and at_known_clock(point) is not None and not dict(point.flow).get(FMAX)
    return point.nbits > LONG_NBITS and not once


# ---- rows


def cores(
    results: Snapshot,
    nbits: Sequence[int],
    names: Collection[str] = (),
    manifests: Sequence[ForeignDesign] = (),
    kit: str = "",
    selection: Selection = ALL,
) -> list[Core]:
    """All rows of the table by width: multipliers, machines, published cores, each the fastest first."""
    asked = wanted(nbits, names, manifests, kit, selection).points
    made: dict[tuple[Any, ...], Core] = {}
    for turn, point in enumerate([*asked, *_others(results, nbits, names, kit, selection)]):
        for core in _with_estimates(of_point(point, results), results):
            place = (core.name, core.part, core.nbits, core.stage, core.style)
            made.setdefault(place, replace(core, turn=turn))
    # a point without figures is left out if the same machine is measured at another stage
    measured = {place[:3] for place, core in made.items() if core.measured}
    shown = [core for place, core in made.items() if core.measured or place[:3] not in measured]
    return sorted([*shown, *published_cores([*nbits, *(point.nbits for point in asked)])], key=_place)


def _with_estimates(found: list[Core], results: Snapshot) -> list[Core]:
    """The cores of a point; without a result, those by the certified models of its interface, if there are
    any.
    """
    (first, *_) = found
    if first.measured or first.point is None or first.point.interface in (UNIT, DEFAULT.name):
        return found
    estimates = (_estimated(first, first.point, style, results) for style in (STYLE, OTHER_STYLE))
    return list(filter(None, estimates)) or found


def _estimated(asked: Core, point: Point, style: str, results: Snapshot) -> Core | None:
    """The core by the model of its interface and a result of the same machine with bare streams; None if the
    model is not certified at its width, or if there is no such result.
    """
    model = interface_model.fitted(results.rows, point.interface, point.kit, style)
    if model is None or not model.covers(point.nbits):
        return None
    slowest = model.clock_ns

    def covered(row: Row) -> bool:
        clock = results.beside(row, "clock_ns")
        return row.comparable and clock is not None and clock.value >= slowest

    streams = point.at(interface=DEFAULT.name)
    if (row := _best(streams, results, style, covered)) is None:
        return None
    (bare, *_) = of_point(streams, results)
    bare = _measured(bare, row, results)
    cycles = results.best(point, "cycles", DECRYPT, lambda row: row.stage in RTL)
    counted = "simulated" if cycles else "by formula, without the transfer of operands"
    return replace(
        asked,
        area_um2=model.area_um2(row.value, point.machine),
        operation_cycles=int(cycles.value) if cycles else asked.operation_cycles,
        **attributes(bare, "period_ns", "met_ns", "stage", "technology", "style", "corner", "searched"),
        stale=bare.stale or model.stale,
        estimate=f"{model}; clock and streams of row {row.id}; cycles {counted}",
        source="estimated",
        note=NOT_MEASURED,
    )


def missing(found: Iterable[Core], *, stale: bool = True, given: bool = False) -> list[Point]:
    """The points to measure for complete rows; stale: including those measured with other sources; given:
    including those at a given clock, to search it.
    """

    wanted = (
        core.point
        for core in sorted(found, key=lambda core: core.turn)
        if not core.measured or (stale and core.stale) or (given and not core.searched)
    )
    return list(dict.fromkeys(filter(None, wanted)))


def in_steps(found: Iterable[Core], *, search: bool = True) -> list[Point]:
    """The missing points in the order in which figures arrive soonest: one synthesis of each core whose clock
    is known, then the searches, which use that synthesis as their first trial.
    """
    found = list(found)
    known = [clocked for point in missing(found) if (clocked := at_known_clock(point)) is not None]
    return [*known, *(missing(found, given=True) if search else ())]


def _place(core: Core) -> tuple[Any, ...]:
    machine = core.part == MACHINE
    time = core.operation_us if machine else core.product_ns
    cycles = core.operation_cycles if machine else core.product_cycles
    return (
        core.nbits,
        core.kind == PUBLISHED,
        machine,
        not core.measured,
        time or math.inf,
        cycles or math.inf,
        core.name,
    )


def _others(
    results: Snapshot, nbits: Sequence[int], names: Collection[str], kit: str, selection: Selection
) -> Iterator[Point]:
    """Machines and multipliers in the store whose clock was searched, in the space or not."""
    for row in areas(results, selection.interfaces, kit):
        if row.flow.get(FMAX) and row.nbits in nbits and (not names or row.subject in names):
            try:
                point = Point.from_json(row.point)
            except BadInput:  # of a design that no longer exists
                continue
            if point.own:  # of a user, which need not do RSA
                continue
            if not impossible(point) and point.kind is None and selection.includes(point):
                yield point


def areas(results: Snapshot, interfaces: Collection[str], kit: str) -> Iterator[Row]:
    """The areas of netlists and layouts behind these interfaces, in this cell library."""
    return (
        row
        for row in results.rows
        if row.metric == "area_um2"
        and row.stage in NETLIST
        and row.interface in interfaces
        and row.kit == kit
    )


def of_point(point: Point, results: Snapshot) -> list[Core]:
    """The core of a point with its figures in the store, one for each style of synthesis that it is measured
    in: at a searched clock, or else at a given one. A single one without figures if there are none.
    """
    design = point.design
    assert design is not None
    modelled = CL in point.machine.backends  # the core of a manifest has only RTL
    bare = Core(
        point.label,
        FOREIGN if not modelled else TWIN if design.paper else OURS,
        MULTIPLIER if point.interface == UNIT else MACHINE,
        point.nbits,
        design.family,
        settings=dict(point.settings),
        kit=point.kit,
        command=shlex.join(point.command),
        point=point,
        of_product=point.interface == UNIT or (modelled and bool(impossible(point.at(interface=UNIT)))),
        exponent_nbits=None if point.interface == UNIT else point.parts(DECRYPT)[0].work.exp.bit_length(),
        **(_by_formula(point) if modelled else {"source": "not measured"}),
    )
    best = [_best(point, results, style) for style in (STYLE, OTHER_STYLE)]
    if any(best):
        return [_measured(bare, row, results) for row in best if row is not None]
    if not modelled:
        bare = _simulated(bare, point)
    if failure := results.failure(point):
        why = f"not measured: it failed (--retry): {failure}"
    else:
        why = LONG if long(at_known_clock(point) or point) else NOT_MEASURED
    return [replace(bare, failure=failure, note="; ".join(filter(None, (bare.note, why))))]


def _limits(point: Point) -> str:
    """Limits on the modulus, for a machine that does not accept every modulus of its width."""
    machine, nbits = point.machine, point.nbits
    if known_factors(machine.modulus, nbits):
        return "one modulus, of known factors: arithmetic, no RSA"
    if machine.modulus and not machine.keyed:
        return "one modulus"
    return f"moduli of up to {machine.modulus_nbits:,} bits" if machine.modulus_nbits < nbits else ""


def _simulated(bare: Core, point: Point) -> Core:
    """The core of a manifest, which has no formula, with simulated cycles if it is narrow."""
    if point.nbits > SIMULATED_NBITS:
        return bare
    try:
        cycles = {
            operation: point.machine.counted(*point.parts(operation)[0].work.operands)
            for operation in (DECRYPT, ENCRYPT)
        }
    except (BadInput, NoResult, ToolError, SimulationTimeout) as error:
        return replace(bare, note=f"cannot be simulated: {error}")
    return replace(bare, source="simulated", operation_cycles=cycles[DECRYPT], public_cycles=cycles[ENCRYPT])


def _by_formula(point: Point) -> Json:
    """Cycles, promises and limits of a machine of the catalogue."""
    machine = point.machine
    crt = bool(machine.parameters.get("crt"))
    # with CRT the machine's products are modulo a prime of half the width
    latency, interval = (None, None) if crt else (machine.timing.fixed, machine.product_cycles)
    found = {
        "source": "by formula",
        "limits": _limits(point),
        "product_cycles": interval,
        "latency_cycles": latency,
        "conversions": "excluded",
    }
    if point.interface == UNIT:
        return found
    promises = machine.promises
    blinded = [name for name in ("message", "exponent") if getattr(promises, f"{name}_blinded")]
    found |= {
        "conversions": "included",
        "constant_time": promises.word,
        "crt": crt,
        "blinded": " and ".join(blinded) or "no",
        "checked": promises.checked,
    }
    for name, operation in (("operation_cycles", DECRYPT), ("public_cycles", ENCRYPT)):
        if not (machine.keyed and operation == ENCRYPT):
            (part,) = point.parts(operation)
            found[name] = cycles_of(operation, machine, part.work)
    return found


def _best(
    point: Point, results: Snapshot, style: str, also: Callable[[Row], bool] = lambda _: True
) -> Row | None:
    """The row of the area of a point in this style: at a searched clock, or else at a given one."""

    def fits(row: Row) -> bool:
        same = row.stage == point.stage and row.kit == point.kit and row.flow.get("style", STYLE) == style
        return same and usual(row, FMAX, KIT) and also(row)

    def searched(row: Row) -> bool:
        return fits(row) and bool(row.flow.get(FMAX))

    best = results.best(point, "area_um2", "", searched)
    return best or results.best(point, "area_um2", "", fits)


def _measured(bare: Core, row: Row, results: Snapshot) -> Core:
    """The core with the figures of its measurement."""

    def value(metric: str, operation: str = "") -> Any:
        found = results.beside(row, metric, operation)
        return None if found is None else found.value

    def unverified_energy() -> str:
        found = (results.beside(row, "energy_nj", operation) for operation in (PRODUCT, DECRYPT))
        return next((item.unverified for item in found if item is not None), "")

    def drawn(operation: str) -> Any:
        found = tuple(value(metric, operation) for metric in DRAWN)
        return None if None in found else found

    from ....flow.kit import kit  # needs the extra [flow]

    cell_um2, floor_um2 = least_um2(kit.named(row.kit or kit.DEFAULT.stem), bare.nbits)
    details = row.details
    tests = (details.get("tests") or {}).values()
    counts = {f"tests_{kind}": sum(test[kind] for test in tests) for kind in ("passed", "failed") if tests}
    searched = bool(row.flow.get(FMAX))
    notes = [bare.note, "" if searched else CLOCK_GIVEN, *row.marks]
    if bare.of_product and bare.part == MACHINE:
        notes.append(WHOLE)
    answered, clock_ns, slack_ns = value("cycles", PRODUCT), value("clock_ns"), value("wns_ns")
    return replace(
        bare,
        product_cycles=bare.product_cycles or answered,
        latency_cycles=answered or bare.latency_cycles,
        operation_cycles=value("cycles", DECRYPT) or bare.operation_cycles,
        public_cycles=value("cycles", ENCRYPT) or bare.public_cycles,
        period_ns=clock_ns,
        met_ns=None if slack_ns is None else clock_ns - slack_ns,
        area_um2=row.value,
        energy_nj=value("energy_nj", PRODUCT),
        operation_energy_nj=value("energy_nj", DECRYPT),
        drawn_nj=drawn(PRODUCT),
        operation_drawn_nj=drawn(DECRYPT),
        cell_um2=cell_um2,
        floor_um2=floor_um2,
        corner_ns={corner: found for corner in CORNERS if (found := value(f"period_{corner}_ns"))},
        **counts,
        **attributes(row, "stage", "marks", "stale", "measurement"),
        corner=details.get("corner", ""),
        technology=kit.described(row.kit or kit.DEFAULT.stem).title,
        source=f"{'reference result' if row.reference else 'measured here'} {WHERE[row.stage]}: row {row.id}",
        unverified=row.unverified,
        unverified_energy=unverified_energy(),
        reference=row.reference,
        note="; ".join(filter(None, notes)),
        searched=searched,
        style=row.flow.get("style", STYLE),
        row=row.id,
        command=shlex.join(row.command),
    )


def least_um2(path: Path | None, nbits: int) -> tuple[float | None, float | None]:
    """The areas of a bit product, and of three operands in latches with one full adder; None for a kit that
    is not installed or lacks the cells.
    """
    from ....flow.kit import kit  # needs the extra [flow]

    try:
        library = kit.find(path).library
    except BadInput:
        return None, None
    latches, adder = [cell.area for cell in library.cells.values() if cell.latch], library.roles.full_adder
    floor = OPERANDS * nbits * min(latches) + library.cells[adder.cell].area if latches and adder else None
    return library.bit_product_um2, floor


# ---- published


def published_cores(nbits: Collection[int]) -> list[Core]:
    """The cores of the five papers and of other publications (published_data.toml) at these widths, with
    "unknown" for a URL or commit that is not stated.
    """
    unknown = published_data.UNKNOWN
    return [
        replace(core, url=core.url or unknown, commit=core.commit or unknown)
        for core in (*_of_papers(), *_of_field())
        if core.nbits in nbits
    ]


def _of_field() -> Iterator[Core]:
    for figure in published_data.figures():
        commit = f", commit {figure.commit}" if figure.commit else ""
        yield Core(
            kind=PUBLISHED,
            part=MULTIPLIER if figure.product_cycles or figure.product_ns else MACHINE,
            **{
                **{name: getattr(figure, name) for name in figure.__struct_fields__ if name != "taken"},
                "source": f"published: {figure.source}{commit} ({figure.taken})",
                "exponent_nbits": figure.exponent_nbits or figure.nbits,
            },
        )


@functools.cache
def _of_papers() -> tuple[Core, ...]:
    """Machines and multipliers of the papers, each with all its figures at one width."""

    def machine(figure: Published) -> tuple[Any, ...]:
        return figure.paper, label(figure), figure.nbits, str(sorted(figure.settings.items()))

    made = map(_of_paper, grouped(filter(_is_of_a_core, published.figures()), machine).values())
    return (_multiplier_of_001(), *(core for core in made if core is not None))


def _limits_of_twin(name: str) -> str:
    """Limits of a paper's machine, by its twin: one modulus, or none."""
    try:
        return "one modulus" if catalogue.find(name).at(NBITS_001).modulus else ""
    except BadInput:  # a system, or no twin
        return ""


def _multiplier_of_001() -> Core:
    """The multiplier of paper 001, which states its area and cycles; the accelerator has five of it."""
    tables = published.paper("001")
    area = tables.table("2a").at("Average Area of a MulRem/MontMulRem module", "RSAMontXcel")
    text = tables.table("text")
    return Core(
        "001 MontMulRem",
        PUBLISHED,
        MULTIPLIER,
        area.nbits,
        product_cycles=int(text.at("cycles of a product in a MontMulRem unit", "printed").value or 0),
        period_ns=text.at("clock period (ns)", "printed").value,
        area_um2=area.amount,
        of_product=True,
        technology=area.technology,
        source=f"published: {area.source}",
        obtained=area.obtained,
        note="a mean over the five of an accelerator",
    )


def _is_of_a_core(figure: Published) -> bool:
    """Whether it is a figure of a machine without a processor, at a known width, and comparable."""
    return (
        figure.amount is not None
        and figure.nbits > 0
        and not figure.caveat
        and not figure.against
        and figure.window in ("", "normalised")
        and figure.interface != SYSTEM
        and not figure.subject.startswith((SOFTWARE, HARDWARE))
    )


def _of_paper(figures: Sequence[Published]) -> Core | None:
    """The core with these times, cycles and area; None without times and cycles."""
    known = {(figure.metric, figure.operation): figure.amount for figure in reversed(figures)}

    def amount(metric: str, operation: str = "") -> Any:
        names = OPERATIONS[operation]
        return next((known[metric, name] for name in names if (metric, name) in known), None)

    first = figures[0]
    frequency, product_ns = amount("fmax_mhz"), amount("time_ns", PRODUCT)
    cycles = {operation: amount("cycles", operation) for operation in (PRODUCT, DECRYPT, ENCRYPT)}
    core = Core(
        f"{first.paper} {label(first)}",
        PUBLISHED,
        MULTIPLIER if cycles[PRODUCT] or product_ns else MACHINE,
        first.nbits,
        product_cycles=cycles[PRODUCT],
        product_ns=product_ns,
        period_ns=CLOCK_NS if first.paper == "001" else 1000 / frequency if frequency else None,
        operation_cycles=cycles[DECRYPT],
        operation_us=_times(amount("time_ns", DECRYPT), 1e-3),
        public_cycles=cycles[ENCRYPT],
        public_us=_times(amount("time_ns", ENCRYPT), 1e-3),
        area_um2=amount("area_um2"),
        of_product=cycles[PRODUCT] is not None,
        technology=first.technology,
        source=f"published: {first.source}",
        obtained=first.obtained,
        limits=_limits_of_twin(first.twin),
        exponent_nbits=WORKLOADS[1].exp.bit_length() if first.paper == "001" else first.nbits,
    )
    told = (core.product_cycles, core.product_ns, core.operation_cycles, core.operation_us, core.public_us)
    return core if {*told} - {None} else None
