"""The best machines for private operations at each width: the fastest, the smallest, the one with the best
area x time, the one with the least energy, the best within a given area or time, and the fastest published
machine.

Only measured machines compete, and only with machines that do the same work at the same stage.
"""

import re
from collections.abc import Callable, Sequence
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import NamedTuple

from ...fl.errors import BadInput
from ..grouping import grouped
from ..json_values import attributes
from ..lab.comparison.cores import MACHINE, MM2, PUBLISHED, UNKNOWN, Core, Cores, spread
from ..lab.stages import title
from .cores import figures_of, of_core, segment, widened
from .metrics import shown
from .palette import FAMILIES, NAMED
from .store_view import Records
from .tables import MISSING, Cell, Column, Table, number, table_of

ROOM = 1.6  # factor by which lines of equal area x time extend beyond the points, on both sides
NAMES = 4.0  # further factor on the right, for the names of the floors


class Criterion(NamedTuple):
    """A figure by which machines are ranked; less is better."""

    head: str
    unit: str
    value: Callable[[Core], float | None]
    field: str  # of a core, on which the value depends


CRITERIA = (
    Criterion("Fastest", "µs", attrgetter("operation_us"), "operation_us"),
    Criterion("Smallest", "µm²", attrgetter("area_um2"), "area_um2"),
    Criterion("Best area × time", "mm² µs", attrgetter("operation_area_time"), "area_um2"),
    Criterion(
        "Least energy, random operands",
        "nJ",
        lambda core: (core.operation_drawn_nj or (None,))[0],
        "operation_drawn_nj",
    ),
)


FASTEST, SMALLEST = CRITERIA[:2]
LIMITS = {  # unit -> limited criterion, factor to its unit, criterion to optimise
    "um2": (SMALLEST, 1.0, FASTEST),
    "mm2": (SMALLEST, 1e6, FASTEST),
    "ns": (FASTEST, 1e-3, SMALLEST),
    "us": (FASTEST, 1.0, SMALLEST),
    "ms": (FASTEST, 1e3, SMALLEST),
    "s": (FASTEST, 1e6, SMALLEST),
}


class Limit(NamedTuple):
    """The largest area, or the longest private operation, that a machine may have, and the criterion that
    decides among the machines within it.
    """

    limited: Criterion
    most: float
    best: Criterion

    @staticmethod
    def parse(text: str) -> "Limit":
        """Parse an area or a time with its unit."""
        parts = re.fullmatch(rf"(\d+\.?\d*|\.\d+) ?({'|'.join(LIMITS)})", text)
        if parts is None or not float(parts[1]):
            raise BadInput(
                f"--pick {text}: give an area or a time with its unit ({', '.join(LIMITS)}), as in 20000um2 "
                "or 5us"
            )
        limited, scale, best = LIMITS[parts[2]]
        return Limit(limited, float(parts[1]) * scale, best)

    def met_by(self, core: Core) -> bool:
        value = self.limited.value(core)
        return value is not None and value <= self.most


class Width(NamedTuple):
    """The machines of one width that do the same work, and the published ones."""

    nbits: int
    work: str  # done by all of its machines
    machines: Cores
    published: Cores  # with the same limits on the modulus

    def best(self, criterion: Criterion, limit: Limit | None = None) -> Core | None:
        known = [
            (value, core)
            for core in self.machines
            if (value := criterion.value(core)) is not None and (limit is None or limit.met_by(core))
        ]
        return min(known, key=itemgetter(0))[1] if known else None

    @property
    def rival(self) -> Core | None:
        """The fastest published machine."""
        known = [core for core in self.published if core.operation_us is not None]
        return min(known, key=attrgetter("operation_us"), default=None)


def widths(found: Cores) -> list[Width]:
    """The machines with a result or an estimate, grouped by width, work and stage."""
    made = []
    for nbits, cores in groupby(found, attrgetter("nbits")):
        whole = [core for core in cores if core.operation_us is not None]
        known = (core for core in whole if (core.measured or core.estimate) and not core.marks)
        machines = [core for core in known if core.part == MACHINE]
        for (work, stage), same in grouped(machines, attrgetter("work", "stage")).items():
            others = [core for core in whole if core.kind == PUBLISHED and core.limits == same[0].limits]
            made.append(Width(nbits, f"{work}, {title(stage)}", same, others))
    return made


def table(found: Cores) -> Table:
    """The table of the best machines: a line for each width, with a machine for each criterion."""
    fastest, *others = (Column(item.head, _winner(item), item.unit) for item in CRITERIA)
    columns = (
        number("Bits", "nbits"),
        fastest,
        Column("Fastest published", _rival, "µs"),
        *others,
        Column("Exponent, stage", lambda width: width.work.removeprefix("an exponent of ")),
    )
    return table_of(
        "choices",
        "What should I build, and what does it cost?",
        "Private operations. Ours on one line do the same work at the same stage in the same library; "
        "published machines have their own technology and exponent. Energy: the mean over random operands, "
        "among the machines that have it (dash: none). " + _reach(found) + "The next table lists clocks and "
        "protections.",
        columns,
        # machines with limits on the modulus come last
        ((width, {}) for width in sorted(widths(found), key=lambda width: bool(width.machines[0].limits))),
    )


def _reach(found: Cores) -> str:
    """A sentence with the widest machines of the small designs, if others are wider."""
    most: dict[str, int] = {}
    small = set()
    for width in widths(found):  # narrow ones first
        most |= {core.design: width.nbits for core in width.machines if core.area_um2 is not None}
        small |= {core.design for core in [width.best(SMALLEST)] if core is not None}
    short = [f"{name} {most[name]:,} bits" for name in sorted(small) if most[name] < max(most.values())]
    return f"No area above: {', '.join(short)}. " if short else ""


STATED = {
    "Machine": "name",
    "Exponent": "exponent_nbits",
    "Constant time": "constant_time",
    "Protections": "protections",
    "Conversions": "conversions",
    "Kit and corner, or technology": "technology",
    "Obtained": "obtained",
}
TERMS = (
    *(Column(head, name) for head, name in STATED.items()),
    figures_of("Clock asked", "period_ns", "ns"),
    figures_of("Clock met", "met_ns", "ns"),
    Column("Energy, random operands", lambda core: _drawn(core), "nJ", True),
    Column("Stage", lambda core: title(core.stage)),
)


def terms(found: Cores) -> Table:
    """The table of the work, clock and protections of each machine in the table of choices."""
    return table_of(
        "terms",
        "Conditions of these figures",
        "Constant time: for all exponents (yes), for exponents of one length, or no. Protections: CRT, "
        f"blinding and the check of the result. {UNKNOWN} or an empty cell: the source does not say.",
        TERMS,
        (
            (core, {}, f"{width.nbits:,} bits")
            for width in widths(found)
            for core in (*width.machines, *width.published)
            if core in (*map(width.best, CRITERIA), width.rival)
        ),
    )


def _drawn(core: Core) -> Cell:
    """The energy on random operands, and its spread."""
    text = spread(core.operation_drawn_nj)
    return Cell(text, unverified=core.is_unverified("operation_drawn_nj")) if text else MISSING


def _winner(criterion: Criterion) -> Callable[[Width], Cell]:
    def cell(width: Width) -> Cell:
        core = width.best(criterion)
        if core is None:
            return MISSING
        value = criterion.value(core)
        text = f"{core.name} {shown(value)}"
        doubt = core.is_unverified(criterion.field)
        return Cell(text, value, core.row, core.measurement, stale=core.stale, unverified=doubt)

    return cell


def _rival(width: Width) -> Cell:
    rival = width.rival
    return (
        MISSING if rival is None else Cell(f"{rival.design} {shown(rival.operation_us)}", rival.operation_us)
    )


def finding(found: Cores, shown_at: Sequence[int] = (32, 256, 1024, 2048)) -> str:
    """Sentences that name the fastest machine of each width, over all stages and lengths of the exponent."""
    fastest: dict[int, tuple[float, str]] = {}
    for width in widths(found):
        core = width.best(CRITERIA[0])
        if width.nbits in shown_at and core is not None and core.operation_us is not None:
            said = core.operation_us, _sentence(width, core)
            fastest[width.nbits] = min(said, fastest.get(width.nbits, said))
    return " ".join(sentence for _, sentence in fastest.values())


def _sentence(width: Width, fastest: Core) -> str:
    rival = width.rival
    text = f"At {width.nbits:,} bits {fastest.name} is the fastest: {shown(fastest.operation_us)} µs"
    if rival is not None and rival.operation_us is not None:
        text += f" (fastest published: {rival.design}, {shown(rival.operation_us)} µs)"
    return f"{text}."


def records(found: Cores) -> Records:
    """Return the data of the chart: machines with an area, lines of equal area x time, and floors."""
    shown_cores = [
        core
        for width in widths(found)
        for core in (*width.machines, *width.published)
        if core.area_um2 is not None
    ]
    if not shown_cores:
        return []
    more = ("operation_us", "constant_time")
    drawn = [
        {
            **of_core(core),
            "group": core.family if core.family in FAMILIES else NAMED,
            "area_time": core.operation_area_time,
            **attributes(core, *more),
        }
        for core in shown_cores
    ]
    first, last = widened([record["operation_us"] for record in drawn], ROOM)
    times = first, NAMES * last
    low, high = widened([record["area_um2"] for record in drawn], ROOM)
    # lines on which area x time is a power of ten, clipped to the range of the points
    for power in range(-9, 9):
        value = 10.0**power
        ends = max(times[0], value / MM2 / high), min(times[1], value / MM2 / low)
        if ends[0] < ends[1]:
            points = [(time, value / MM2 / time) for time in ends]
            name = f"{value:,.{max(0, -power)}f} mm² µs"
            drawn += segment("equal", name, "operation_us", points)
    # horizontal lines at the area floor of each width with a measured machine, across all times
    for nbits, least in sorted({(core.nbits, core.floor_um2) for core in shown_cores if core.floor_um2}):
        drawn += segment("floor", f"{nbits:,} bits", "operation_us", [(time, least) for time in times])
    return drawn
