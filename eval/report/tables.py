"""The tables of the report, each made once: as HTML, as text and as Markdown they say the same."""

from __future__ import annotations

import math
import shlex
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Generic, TypeVar

from ..json_values import attributes
from ..lab import stages
from ..lab.comparison.compare import CLOSE, GLITCHES
from ..lab.ledger.ledger import Failure
from ..lab.stages import FORMULA
from .ledger_view import INTERFACES, SILICON, Entry
from .metrics import METRICS, ratio, shown
from .published import Machine

T = TypeVar("T")
OPERATIONS = ("encrypt", "decrypt")
MOST_LINES = 300  # designs and settings; all figures are in a table of their own
NO_KEY = "†"
SIGN = "‡"
SIGN_HERE = f" {SIGN}: stale, that is, measured with other sources or tools than the present ones."
NO_KEYS_HERE = (
    f" Machines for one modulus of known factors ({NO_KEY} below) do arithmetic and no RSA: they "
    "are left out."
)
COUNTED = (*stages.RTL, *SILICON, FORMULA)  # stages with cycles, the preferred one first


@dataclass(frozen=True)
class Cell:
    """What stands there, what it is sorted by, and where it comes from."""

    text: str
    value: float | int | None = None
    row: int | None = None  # of the ledger
    measurement: int | None = None
    published: str | None = None  # what of a paper, by its number (published.py)
    tone: str = ""  # good, bad or quiet
    stale: bool = False  # it has the sign for it in its text
    upper: float | None = None  # where the value is a lower bound


MISSING = Cell("-", tone="quiet")


@dataclass(frozen=True)
class Column(Generic[T]):
    """A head, and the cell under it for an item. Figures stand to the right, and their unit in the head."""

    head: str
    cell: Callable[[T], Cell | str]
    unit: str = ""
    number: bool = False

    @property
    def title(self) -> str:
        """The head with its unit."""
        return f"{self.head} ({self.unit})" if self.unit else self.head


@dataclass(frozen=True)
class Line:
    """Cells, and what the filters ask for."""

    cells: Sequence[Cell]
    of: Mapping[str, Any] = field(default_factory=dict)
    group: str = ""  # a heading above lines of the same


@dataclass(frozen=True)
class Table:
    """A table with what one should see in it."""

    name: str
    title: str
    caption: str
    columns: Sequence[Column[Any]]
    lines: Sequence[Line]

    @property
    def groups(self) -> list[tuple[str, list[Line]]]:
        """The lines by their headings."""
        return [(group, list(lines)) for group, lines in groupby(self.lines, lambda line: line.group)]

    @property
    def filters(self) -> list[str]:
        """By what its lines are chosen."""
        return sorted({name for line in self.lines for name in line.of})

    def by_head(self, line: Line) -> dict[str, Cell]:
        """The cells of a line."""
        return {column.head: cell for column, cell in zip(self.columns, line.cells, strict=True)}

    @property
    def explained(self) -> Table:
        """With what its signs stand for."""
        stale = any(cell.stale for line in self.lines for cell in line.cells)
        return replace(self, caption=f"{self.caption}{SIGN_HERE}") if stale else self


def line(columns: Sequence[Column[T]], item: T, of: Mapping[str, Any], group: str = "") -> Line:
    """The cells of an item."""
    cells = [column.cell(item) for column in columns]
    return Line([Cell(cell) if isinstance(cell, str) else cell for cell in cells], of, group)


def figure(entry: Entry | None, name: str) -> Cell:
    """A figure of the ledger."""
    value = entry.value(name) if entry is not None else None
    if entry is None or value is None:
        return MISSING
    return own(value, entry.source(name), entry.measurement, entry.stale)


def own(value: float | int, row: int | None, measurement: int, stale: bool) -> Cell:
    """A number of ours, with a sign if it is out of date."""
    return Cell(f"{shown(value)}{SIGN if stale else ''}", value, row, measurement, stale=stale)


def quotient(
    ours: float | None,
    theirs: float | None,
    upper: float | None = None,
    *,
    close: float = CLOSE,
    judged: bool = True,
) -> Cell:
    """Ours to theirs: below 1 is less. Where ours is a lower bound, a range up to `upper`, which may be
    infinite for "unknown"; a range is less or more only as a whole. Not judged: without a colour.
    """
    if ours is None or not theirs:
        return MISSING
    low = ours / theirs
    high = low if upper is None else upper / theirs
    text = ratio(low)
    if math.isinf(high):
        text = f"from {text}"
    elif ratio(high) != text:
        text = f"{text} to {ratio(high)}"
    tone = "good" if high < 1 - close else "bad" if low > 1 + close else ""
    return Cell(
        text, low, tone=tone if judged else "", upper=high if high != low and math.isfinite(high) else None
    )


# ---- which design is best at what

CRITERIA = (  # words, the metrics that are multiplied, stages
    ("fewest cycles", ("cycles",), COUNTED),
    ("shortest time", ("time_ns",), SILICON),
    ("smallest area", ("area_um2",), SILICON),
    ("least energy without glitches", ("energy_nj",), SILICON),
    ("least energy with all glitches", ("energy_with_glitches_nj",), SILICON),
    ("least area × time", ("area_um2", "time_ns"), SILICON),
    ("least energy without glitches × time", ("energy_nj", "time_ns"), SILICON),
)
# a product with a time is shown in microseconds, so that it has fewer digits
SHORTER = {"time_ns": (1e-3, "µs")}


def product(one: Entry | Machine, names: Sequence[str]) -> float | int | None:
    """Of these metrics; None if one is missing."""
    values = [value for name in names if (value := one.value(name)) is not None]
    return math.prod(values) if len(values) == len(names) else None


def bound(one: Entry, names: Sequence[str]) -> float | None:
    """Of a product with an energy the upper bound, with all glitches; infinite if nobody knows it, None if
    there is no energy in it.
    """
    if "energy_nj" not in names:
        return None
    value = product(one, [GLITCHES if name == "energy_nj" else name for name in names])
    return math.inf if value is None else value


@dataclass(frozen=True)
class _Best:
    """The winner by a criterion, and the best of the papers."""

    criterion: str
    names: tuple[str, ...]
    winner: Entry
    rival: Machine | None

    @property
    def ratio(self) -> Cell:
        theirs = product(self.rival, self.names) if self.rival is not None else None
        ours, upper = product(self.winner, self.names), bound(self.winner, self.names)
        return quotient(
            ours, theirs, upper, judged=not self.winner.stale and judged(self.names, self.winner.stage)
        )


BEST: tuple[Column[_Best], ...] = (
    Column("Best at", lambda best: best.criterion),
    Column("Design", lambda best: best.winner.label),
    Column("Ours", lambda best: _product_cell(best.winner, best.names), number=True),
    Column("Unit", lambda best: _product_unit(best.names)),
    Column(
        "Stage",
        lambda best: _stage(best.winner) if best.names == ("cycles",) else stages.title(best.winner.stage),
    ),
    Column("Published", lambda best: _product_cell(best.rival, best.names), number=True),
    Column("Ratio", lambda best: best.ratio, number=True),
    Column("Of paper", lambda best: best.rival.label if best.rival is not None else "-"),
)


def best(entries: Sequence[Entry], machines: Sequence[Machine], quiet: Collection[str] = ()) -> Table:
    """For every width, operation and kind of thing: the design that is best by each criterion, beside the
    best of the papers.

    Netlists and layouts have lines of their own, the netlists', of which there are more, first.
    """
    counted = [entry for entry in entries if entry.stage in COUNTED and entry.operation not in quiet]
    no_keys = any(entry.known_factors for entry in counted)
    groups: defaultdict[tuple[int, str, str], list[Entry]] = defaultdict(list)
    for entry in counted:
        if not entry.known_factors and not entry.marks:
            groups[entry.nbits, entry.operation, entry.interface].append(entry)
    lines = []

    def place(group: tuple[int, str, str]) -> tuple[Any, ...]:
        nbits, operation, interface = group
        known = [*OPERATIONS, operation].index(operation)
        return nbits, list(INTERFACES).index(interface), known, operation

    for nbits, operation, interface in sorted(groups, key=place):
        papers = [machine for machine in machines if (machine.nbits, machine.interface) == (nbits, interface)]
        for criterion, names, where in _in_turn():
            found = groups[nbits, operation, interface]
            able = [entry for entry in found if entry.stage in where and product(entry, names) is not None]
            if not able:
                continue
            able = [entry for entry in able if not entry.stale] or able
            winner = min(able, key=lambda entry: (product(entry, names) or 0, COUNTED.index(entry.stage)))
            # an area is one of the hardware: a paper states it once, of no operation
            shared = not any(METRICS[name].per_operation for name in names)
            only_cycles = names == ("cycles",)
            rivals = [
                paper
                for paper in papers
                if (paper.operation == operation or (shared and not paper.operation))
                and product(paper, names) is not None
                and (only_cycles or paper.same_library)
            ]
            rival = min(rivals, key=lambda item: product(item, names) or 0, default=None)
            of = {"nbits": nbits, "operation": operation, "interface": interface, "metric": " ".join(names)}
            of["stage"] = "" if only_cycles else winner.stage  # cycles are the same at all
            group = f"{nbits} bits, {operation}, {INTERFACES.get(interface, interface)}"
            lines.append(line(BEST, _Best(criterion, names, winner, rival), of, group))
    return Table(
        "best",
        "Which design is best at what",
        "The best of all families among the figures without a mark. Cycles by formula count if simulation "
        "confirms the formula of the design. Ratio: ours to the best published machine that does the same "
        "work, in the same cell library (any technology for cycles); below 1 ours is lower. Only "
        "like-for-like ratios are coloured; published areas and energies are of layouts, so netlist ratios "
        "are not. Energy "
        "without glitches is a lower bound; its ratios are ranges, from none to all glitches."
        f"{NO_KEYS_HERE if no_keys else ''}",
        BEST,
        lines,
    )


def judged(names: Sequence[str], stage: str) -> bool:
    """Whether a ratio to a published figure is a verdict: for cycles it is, for silicon only of a layout."""
    return set(names) == {"cycles"} or stage == stages.LAYOUT


def _stage(entry: Entry) -> str:
    """Where the cycles of an entry come from."""
    return stages.title(FORMULA) if entry.stage == FORMULA else "RTL"


def _in_turn() -> Iterable[tuple[str, tuple[str, ...], Collection[str]]]:
    """The criteria, those of silicon for one stage after the other."""
    yield from (row for row in CRITERIA if row[2] != SILICON)
    for stage in reversed(SILICON):
        yield from ((words, names, (stage,)) for words, names, stages in CRITERIA if stages == SILICON)


def _product_unit(names: Sequence[str]) -> str:
    if len(names) == 1:
        return METRICS[names[0]].shown_unit
    return " · ".join(SHORTER[name][1] if name in SHORTER else METRICS[name].shown_unit for name in names)


def _product_cell(one: Entry | Machine | None, names: Sequence[str]) -> Cell:
    """A product of figures; it comes from where the first of them does."""
    value = product(one, names) if one is not None else None
    if one is None or value is None:
        return MISSING
    if len(names) > 1:
        value *= math.prod(SHORTER[name][0] for name in names if name in SHORTER)
    if isinstance(one, Machine):
        return Cell(shown(value), value, published=one.number)
    return own(value, one.source(names[0]), one.measurement, one.stale)


# ---- every design on a line


@dataclass(frozen=True)
class _Made:
    """A machine, and its entries by operation: those that count its cycles, and those of its silicon."""

    first: Entry
    cycles: Mapping[str, Entry | None]
    chip: Mapping[str, Entry]

    @property
    def silicon(self) -> Entry | None:
        """Any of the chip, for what has no operation."""
        return next(iter(self.chip.values()), None)

    @property
    def stage(self) -> str:
        """The stage of its silicon figures, else of its cycles."""
        counted = (entry for entry in self.cycles.values() if entry is not None)
        return self.silicon.setup if self.silicon is not None else _stage(next(counted, self.first))


DESIGNS: tuple[Column[_Made], ...] = (
    Column(
        "Design",
        lambda made: f"{made.first.label} {NO_KEY}" if made.first.known_factors else made.first.label,
    ),
    Column("Bits", lambda made: Cell(str(made.first.nbits), made.first.nbits), number=True),
    Column("Interface", lambda made: INTERFACES.get(made.first.interface, made.first.interface)),
    Column("Encrypt", lambda made: figure(made.cycles["encrypt"], "cycles"), "cycles", True),
    Column("Decrypt", lambda made: figure(made.cycles["decrypt"], "cycles"), "cycles", True),
    Column("Area", lambda made: figure(made.silicon, "area_um2"), "µm²", True),
    Column("Clock", lambda made: figure(made.silicon, "clock_ns"), "ns", True),
    Column("Encrypt", lambda made: figure(made.chip.get("encrypt"), "time_ns"), "ns", True),
    Column(
        "Encrypt", lambda made: figure(made.chip.get("encrypt"), "energy_nj"), "nJ", True
    ),  # without glitches
    Column("Decrypt", lambda made: figure(made.chip.get("decrypt"), "energy_nj"), "nJ", True),
    Column("Stage", lambda made: made.stage),
)


def designs(entries: Sequence[Entry], chips: Collection[int]) -> Table:
    """Every machine on a line: cycles of both operations, and its silicon among these measurements."""
    machines: defaultdict[tuple[Any, ...], list[Entry]] = defaultdict(list)
    measured = {entry.label for entry in entries if entry.stage != FORMULA}
    for entry in entries:
        redundant = entry.stage == FORMULA and entry.label in measured  # the chart by width has these
        if not entry.marks and entry.stage in COUNTED and not redundant:
            machines[_place(entry)].append(entry)
    lines = []
    for _, found in sorted(machines.items())[:MOST_LINES]:
        silicon: defaultdict[int, dict[str, Entry]] = defaultdict(dict)
        for entry in found:
            if entry.measurement in chips:
                silicon[entry.measurement][entry.operation] = entry
        for chip in silicon.values() or [{}]:
            cycles = {name: chip.get(name) or _counted(found, name) for name in OPERATIONS}
            if any(cycles.values()):
                lines.append(line(DESIGNS, _Made(found[0], cycles, chip), _filters(found[0])))
    return Table(
        "designs",
        "Every design",
        "Cycles run from request to answer, counted in RTL, or by formula for designs without a "
        "simulation; with a processor they leave out the call (as paper 001 does). Area, time and energy "
        "are from the ASIC flow; of several runs the table shows the one with the least area × time. "
        "Energies (nJ) are without glitches. Encrypt: exponent 65537, or 17 up to 17 bits. Decrypt: the "
        f"private exponent of a key, which may be a few bits shorter than the modulus. {NO_KEY}: for one "
        "modulus whose factors are known: arithmetic, no RSA.",
        DESIGNS,
        lines,
    )


OTHERS: tuple[Column[Entry], ...] = (
    Column("Design", lambda entry: entry.label),
    Column("Bits", lambda entry: Cell(str(entry.nbits), entry.nbits), number=True),
    Column("Interface", lambda entry: INTERFACES.get(entry.interface, entry.interface)),
    Column("Operation", lambda entry: entry.operation),
    Column("Cycles", lambda entry: figure(entry, "cycles"), number=True),
    Column("Area", lambda entry: figure(entry, "area_um2"), "µm²", True),
    Column("Clock", lambda entry: figure(entry, "clock_ns"), "ns", True),
    Column("Time", lambda entry: figure(entry, "time_ns"), "ns", True),
    Column("Energy", lambda entry: figure(entry, "energy_nj"), "nJ", True),
    Column("Stage", lambda entry: entry.setup if entry.stage in SILICON else _stage(entry)),
)


def others(entries: Iterable[Entry], chips: Collection[int], quiet: Collection[str]) -> Table:
    """Other operations than encrypt, decrypt and `quiet`: those of accelerators of other kinds, and mixes."""
    machines: defaultdict[tuple[Any, ...], list[Entry]] = defaultdict(list)
    for entry in entries:
        if entry.operation not in (*OPERATIONS, *quiet) and entry.stage in COUNTED and not entry.marks:
            machines[(*_place(entry), entry.operation)].append(entry)
    lines = []
    for _, found in sorted(machines.items()):
        counted = _counted(found, found[0].operation)
        shown = [entry for entry in found if entry.measurement in chips] or ([counted] if counted else [])
        of = {**_filters(found[0]), "operation": found[0].operation}
        lines += [line(OTHERS, entry, of) for entry in shown]
    return Table(
        "others",
        "Other operations",
        "Operations of accelerators that are no RSA machines, by the names of their workloads, and mixes of "
        "RSA's operations. Figures compare within one operation.",
        OTHERS,
        lines[:MOST_LINES],
    )


def _place(entry: Entry) -> tuple[Any, ...]:
    """By width and kind, then as in the catalogue."""
    return entry.nbits, list(INTERFACES).index(entry.interface), entry.rank, entry.label


def _filters(entry: Entry) -> dict[str, Any]:
    """The values that the filters ask for."""
    return attributes(entry, "family", "nbits", "interface")


def _counted(entries: Sequence[Entry], operation: str) -> Entry | None:
    """The entry that counts the cycles of an operation."""
    able = [item for item in entries if item.operation == operation and item.value("cycles") is not None]
    return min(able, key=lambda entry: (entry.stale, COUNTED.index(entry.stage)), default=None)


# ---- single subjects


CRITICAL: tuple[Column[tuple[Mapping[str, Any], Entry]], ...] = (
    Column("Design", lambda pair: pair[0]["name"]),
    Column("Clock", lambda pair: figure(pair[1], "clock_ns"), "ns", True),
    Column("Slack", lambda pair: figure(pair[1], "wns_ns"), "ns", True),
    Column("Highest clock", lambda pair: figure(pair[1], "fmax_mhz"), "MHz", True),
    Column("From", lambda pair: pair[0]["start"] or "-"),
    Column("To", lambda pair: pair[0]["end"] or "-"),
    Column("Through", lambda pair: pair[0]["through"] or "-"),
)


def critical_paths(records: Sequence[Mapping[str, Any]], entries: Sequence[Entry]) -> Table:
    """Where the longest path of each netlist is."""
    by_measurement = {entry.measurement: entry for entry in entries}
    names = ("family", "nbits", "interface", "stage")
    lines = [
        line(CRITICAL, (record, by_measurement[record["m"]]), {name: record.get(name, "") for name in names})
        for record in records
    ]
    return Table(
        "critical",
        "Critical paths",
        "The longest path from register to register, and the modules that it goes through: what to shorten "
        "first.",
        CRITICAL,
        lines,
    )


@dataclass(frozen=True)
class _Leak:
    """A design, one of its runs, and the cycles of all."""

    name: str
    run: Mapping[str, Any]
    counts: Sequence[int]

    def cycles(self, number: int) -> Cell:
        return own(number, self.run["row"], self.run["m"], bool(self.run.get("stale")))

    @property
    def verdict(self) -> Cell:
        """Coloured where hardware has shown it."""
        by_formula = self.run["stage"] == FORMULA
        constant = min(self.counts) == max(self.counts)
        tone = "" if by_formula or self.run.get("stale") else "good" if constant else "bad"
        return Cell(f"{'by formula: ' if by_formula else ''}{self.run['verdict']}", tone=tone)


LEAKS: tuple[Column[_Leak], ...] = (
    Column("Design", lambda leak: leak.name),
    Column("Exponents", lambda leak: Cell(shown(len(leak.counts)), len(leak.counts)), number=True),
    Column("Fewest", lambda leak: leak.cycles(min(leak.counts)), "cycles", True),
    Column("Most", lambda leak: leak.cycles(max(leak.counts)), "cycles", True),
    Column("Spread", lambda leak: Cell(f"{leak.run['spread']:.1%}", leak.run["spread"]), number=True),
    Column("Stage", lambda leak: stages.title(leak.run["stage"])),
    Column("Verdict", lambda leak: leak.verdict),
    Column("Promised", lambda leak: leak.run["promised"]),
)


def leaks(records: Sequence[Mapping[str, Any]]) -> Table:
    """Which designs tell by their cycles what the exponent is."""
    found: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for record in records:
        found[record["name"]].append(record)
    lines = [
        line(
            LEAKS,
            _Leak(name, runs[0], [run["cycles"] for run in runs]),
            {key: runs[0][key] for key in ("family", "nbits")},
        )
        for name, runs in found.items()
    ]
    return Table(
        "leaks",
        "Do the cycles tell the exponent?",
        "The same base and modulus with random exponents of one length, with few ones and with many. "
        "With two multipliers, squaring and multiplying run in parallel, so ones cost nothing; with one "
        "multiplier they do. The ct designs hide the length as well. This says nothing about power. "
        "Values by formula were not simulated.",
        LEAKS,
        lines,
    )


MARKED: tuple[Column[Entry], ...] = (
    Column("Design", lambda entry: f"{entry.label}, {entry.nbits} bits"),
    Column("Stage", lambda entry: entry.setup),
    Column("Why", lambda entry: Cell("; ".join(entry.marks), tone="bad")),
    Column(
        "Row",
        lambda entry: Cell(str(entry.first.id), entry.first.id, entry.first.id, entry.measurement),
        number=True,
    ),
)


def marked(entries: Iterable[Entry]) -> Table:
    """What was measured, and must not be compared."""
    once = {entry.measurement: entry for entry in entries if entry.marks}
    lines = [line(MARKED, entry, attributes(entry, "family", "nbits")) for entry in once.values()]
    return Table(
        "marked",
        "Measured, and not comparable",
        "These figures are in the ledger, and kept out of every table, chart and front above.",
        MARKED,
        lines,
    )


def _of_failure(member: Failure) -> str:
    """The machine, in words."""
    settings = [f"{name}={value}" for name, value in dict(member.point.get("settings") or {}).items()]
    subject = str(member.point.get("subject")).partition("@")[0]
    return f"{' '.join([subject, *settings])}, {member.point.get('nbits')} bits"


FAILED: tuple[Column[Failure], ...] = (
    Column("Design", _of_failure),
    Column("Stage", lambda failure: str(failure.point.get("stage"))),
    Column("Message", lambda failure: failure.message),
    Column("Command", lambda failure: shlex.join(failure.command)),
)


def failed(failures: Sequence[Failure]) -> Table:
    """What could not be measured."""
    lines = [line(FAILED, failure, {"nbits": failure.point.get("nbits")}) for failure in failures]
    return Table(
        "failed",
        "Could not be measured",
        "A point whose result was wrong, or whose tools gave up, has no figure. The command does it again.",
        FAILED,
        lines,
    )
