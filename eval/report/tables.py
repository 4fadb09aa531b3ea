"""The tables of the report, each made once: as HTML, as text and as Markdown they say the same."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Generic, TypeVar

from ..lab import stages
from ..lab.comparison.compare import CLOSE, GLITCHES
from ..lab.ledger.ledger import Failure
from ..lab.stages import FORMULA
from .entries import INTERFACES, SILICON, Entry
from .metrics import METRICS, ratio, shown
from .published import Machine

T = TypeVar("T")
OPERATIONS = ("encrypt", "decrypt")
MOST_LINES = 300  # designs and settings; all figures are in a table of their own
NO_KEY = "†"
SIGN = "‡"
SIGN_HERE = f" {SIGN}: stale, that is, measured with other sources or tools than the present ones."
NO_KEYS_HERE = f" Machines for one modulus of known factors ({NO_KEY} below) do arithmetic and no RSA: they are left out."
MEASURED = (
    stages.NATIVE,
    stages.VERILOG,
    stages.PYTHON,
    *SILICON,
)  # where cycles were counted in RTL; the first is taken


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


@dataclass(frozen=True)
class Column(Generic[T]):
    """A head, and what stands under it for an item. Figures stand to the right, and their unit in the head."""

    head: str
    cell: Callable[[T], Cell]
    unit: str = ""
    number: bool = False


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
    return Line([column.cell(item) for column in columns], of, group)


def figure(entry: Entry | None, name: str) -> Cell:
    """A figure of the ledger."""
    value = entry.value(name) if entry is not None else None
    if entry is None or value is None:
        return Cell("-", tone="quiet")
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
    """Ours to theirs: below 1 is less. Where ours is a lower bound, a range up to `upper`, which may be infinite for "unknown"; a
    range is less or more only as a whole. Not judged: without a colour."""
    if ours is None or not theirs:
        return Cell("-", tone="quiet")
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


def words(text: str) -> Cell:
    return Cell(text)


def count(value: int) -> Cell:
    return Cell(shown(value), value)


# ---- which design is best at what

CRITERIA = (  # words, the metrics that are multiplied, stages
    ("fewest cycles", ("cycles",), MEASURED),
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
    values = [one.value(name) for name in names]
    total: float | int = 1
    for value in values:
        if value is None:
            return None
        total *= value
    return total


def bound(one: Entry, names: Sequence[str]) -> float | None:
    """Of a product with an energy the upper bound, with all glitches; infinite if nobody knows it, None if there is no energy in it."""
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
        return quotient(ours, theirs, upper, judged=not self.winner.stale)


BEST: tuple[Column[_Best], ...] = (
    Column("Best at", lambda each: words(each.criterion)),
    Column("Design", lambda each: words(each.winner.label)),
    Column("Ours", lambda each: _product_cell(each.winner, each.names), number=True),
    Column("Unit", lambda each: words(_product_unit(each.names))),
    Column(
        "Stage", lambda each: words(stages.title(each.winner.stage) if each.names != ("cycles",) else "RTL")
    ),
    Column("Published", lambda each: _product_cell(each.rival, each.names), number=True),
    Column("Ratio", lambda each: each.ratio, number=True),
    Column("Of paper", lambda each: words(each.rival.label if each.rival is not None else "-")),
)


def best(entries: Sequence[Entry], machines: Sequence[Machine]) -> Table:
    """For every width, operation and kind of thing: the design that is best by each criterion, beside the best of the papers.

    Netlists and layouts have lines of their own, the netlists', of which there are more, first.
    """
    groups: dict[tuple[int, str, str], list[Entry]] = {}
    no_keys = False
    for entry in entries:
        if entry.stage in MEASURED and entry.operation in OPERATIONS:
            no_keys = no_keys or entry.known_factors
            if not entry.known_factors and not entry.marks:
                groups.setdefault((entry.nbits, entry.operation, entry.interface), []).append(entry)
    lines = []
    order = sorted(
        groups, key=lambda group: (group[0], list(INTERFACES).index(group[2]), OPERATIONS.index(group[1]))
    )
    for nbits, operation, interface in order:
        found = groups[nbits, operation, interface]
        papers = [each for each in machines if (each.nbits, each.interface) == (nbits, interface)]
        for criterion, names, where in _in_turn():
            able = [entry for entry in found if entry.stage in where and product(entry, names) is not None]
            if not able:
                continue
            able = [entry for entry in able if not entry.stale] or able
            winner = min(able, key=lambda entry: product(entry, names) or 0)
            # an area is one of the hardware: a paper states it once, of no operation
            shared = not any(METRICS[name].per_operation for name in names)
            rivals = [
                each
                for each in papers
                if (each.operation == operation or (shared and not each.operation))
                and product(each, names) is not None
            ]
            if names != ("cycles",):
                rivals = [each for each in rivals if each.same_library]
            rival = min(rivals, key=lambda each: product(each, names) or 0) if rivals else None
            of = {"nbits": nbits, "operation": operation, "interface": interface, "metric": " ".join(names)}
            of["stage"] = winner.stage if names != ("cycles",) else ""  # cycles are the same at all
            group = f"{nbits} bits, {operation}, {INTERFACES.get(interface, interface)}"
            lines.append(line(BEST, _Best(criterion, names, winner, rival), of, group))
    return Table(
        "best",
        "Which design is best at what",
        "Of everything measured and not marked. Ratio: ours to the best machine of the papers that does the same work, in the same cell "
        "library but for cycles; below 1 is less. Energy without glitches is a lower bound; its ratios are ranges, "
        f"from none to all glitches.{NO_KEYS_HERE if no_keys else ''}",
        BEST,
        lines,
    )


def _in_turn() -> Iterable[tuple[str, tuple[str, ...], Collection[str]]]:
    """The criteria, those of silicon for one stage after the other."""
    yield from (each for each in CRITERIA if each[2] != SILICON)
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
        return Cell("-", tone="quiet")
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
    def encrypt(self) -> Entry | None:
        return self.chip.get("encrypt")

    @property
    def decrypt(self) -> Entry | None:
        return self.chip.get("decrypt")

    @property
    def silicon(self) -> Entry | None:
        """Any of the chip, for what has no operation."""
        return next(iter(self.chip.values()), None)


DESIGNS: tuple[Column[_Made], ...] = (
    Column(
        "Design",
        lambda each: words(f"{each.first.label} {NO_KEY}" if each.first.known_factors else each.first.label),
    ),
    Column("Bits", lambda each: Cell(str(each.first.nbits), each.first.nbits), number=True),
    Column("Interface", lambda each: words(INTERFACES.get(each.first.interface, each.first.interface))),
    Column("Encrypt", lambda each: figure(each.cycles["encrypt"], "cycles"), "cycles", True),
    Column("Decrypt", lambda each: figure(each.cycles["decrypt"], "cycles"), "cycles", True),
    Column("Area", lambda each: figure(each.silicon, "area_um2"), "µm²", True),
    Column("Clock", lambda each: figure(each.silicon, "clock_ns"), "ns", True),
    Column("Encrypt", lambda each: figure(each.encrypt, "time_ns"), "ns", True),
    Column("Encrypt", lambda each: figure(each.encrypt, "energy_nj"), "nJ", True),  # without glitches
    Column("Decrypt", lambda each: figure(each.decrypt, "energy_nj"), "nJ", True),
    Column("Stage", lambda each: words(each.silicon.setup if each.silicon is not None else "RTL")),
)


def designs(entries: Sequence[Entry], chips: Collection[int]) -> Table:
    """Every machine on a line: cycles of both operations, and silicon where it went through the flow (of these measurements)."""
    machines: dict[tuple[Any, ...], list[Entry]] = {}
    for entry in entries:
        if not entry.marks and entry.stage in MEASURED:
            machines.setdefault((entry.nbits, entry.interface, entry.label), []).append(entry)
    lines = []
    for (nbits, interface, _), found in sorted(machines.items(), key=_place)[:MOST_LINES]:
        silicon: dict[int, dict[str, Entry]] = {}
        for entry in found:
            if entry.measurement in chips:
                silicon.setdefault(entry.measurement, {})[entry.operation] = entry
        for chip in silicon.values() or [{}]:
            cycles = {name: chip.get(name) or _counted(found, name) for name in OPERATIONS}
            if chip or any(cycles.values()):
                of = {"family": found[0].family, "nbits": nbits, "interface": interface}
                lines.append(line(DESIGNS, _Made(found[0], cycles, chip), of))
    return Table(
        "designs",
        "Every design",
        "Cycles are counted in RTL from request to answer; with a processor, less those of the call (as paper 001 does). "
        "Area, time and energy are from the ASIC flow, where a design went through it; of several runs, from that with the least "
        "area × time. Energies (nJ) are without glitches. Encrypt: exponent 65537; decrypt: an "
        f"exponent as long as the modulus. {NO_KEY}: for one modulus whose factors are known: arithmetic, no RSA.",
        DESIGNS,
        lines,
    )


def _place(item: tuple[tuple[Any, ...], list[Entry]]) -> tuple[Any, ...]:
    """By width and kind, then as in the catalogue."""
    (nbits, interface, label), entries = item
    return nbits, list(INTERFACES).index(interface), entries[0].rank, label


def _counted(entries: Sequence[Entry], operation: str) -> Entry | None:
    """The entry that counts the cycles of an operation."""
    able = [each for each in entries if each.operation == operation and each.value("cycles") is not None]
    return min(able, key=lambda each: (each.stale, MEASURED.index(each.stage)), default=None)


# ---- single subjects


CRITICAL: tuple[Column[tuple[Mapping[str, Any], Entry]], ...] = (
    Column("Design", lambda each: words(each[0]["name"])),
    Column("Clock", lambda each: figure(each[1], "clock_ns"), "ns", True),
    Column("Slack", lambda each: figure(each[1], "wns_ns"), "ns", True),
    Column("Highest clock", lambda each: figure(each[1], "fmax_mhz"), "MHz", True),
    Column("From", lambda each: words(each[0]["start"] or "-")),
    Column("To", lambda each: words(each[0]["end"] or "-")),
    Column("Through", lambda each: words(each[0]["through"] or "-")),
)


def critical_paths(records: Sequence[Mapping[str, Any]], entries: Sequence[Entry]) -> Table:
    """Where the longest path of each netlist is."""
    by_measurement = {entry.measurement: entry for entry in entries}
    lines = []
    for record in records:
        lines.append(line(CRITICAL, (record, by_measurement[record["m"]]), _filters(record)))
    return Table(
        "critical",
        "Critical paths",
        "The longest path from register to register, and the modules that it goes through: what to shorten first.",
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
    Column("Design", lambda each: words(each.name)),
    Column("Exponents", lambda each: count(len(each.counts)), number=True),
    Column("Fewest", lambda each: each.cycles(min(each.counts)), "cycles", True),
    Column("Most", lambda each: each.cycles(max(each.counts)), "cycles", True),
    Column("Spread", lambda each: Cell(f"{each.run['spread']:.1%}", each.run["spread"]), number=True),
    Column("Stage", lambda each: words(stages.title(each.run["stage"]))),
    Column("Verdict", lambda each: each.verdict),
)


def leaks(records: Sequence[Mapping[str, Any]]) -> Table:
    """Which designs tell by their cycles what the exponent is."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        found.setdefault(record["name"], []).append(record)
    lines = []
    for name, runs in found.items():
        counts = [run["cycles"] for run in runs]
        lines.append(
            line(LEAKS, _Leak(name, runs[0], counts), {key: runs[0][key] for key in ("family", "nbits")})
        )
    return Table(
        "leaks",
        "Do the cycles tell the exponent?",
        "The same base and modulus with random exponents of one length, with few ones and with many. Two multipliers square while they "
        "multiply, so that ones cost nothing; with one multiplier they do. Only the ct designs hide the length as well (their parameter "
        "scan=full), and none of this says anything of power. What stands there by formula was not seen in hardware.",
        LEAKS,
        lines,
    )


MARKED: tuple[Column[Entry], ...] = (
    Column("Design", lambda each: words(f"{each.label}, {each.nbits} bits")),
    Column("Stage", lambda each: words(each.setup)),
    Column("Why", lambda each: Cell("; ".join(each.marks), tone="bad")),
    Column(
        "Row",
        lambda each: Cell(str(each.first.id), each.first.id, each.first.id, each.measurement),
        number=True,
    ),
)


def marked(entries: Iterable[Entry]) -> Table:
    """What was measured, and must not be compared."""
    once = {entry.measurement: entry for entry in entries if entry.marks}
    lines = [line(MARKED, entry, {"family": entry.family, "nbits": entry.nbits}) for entry in once.values()]
    return Table(
        "marked",
        "Measured, and not comparable",
        "These figures are in the ledger, and kept out of every table, chart and front above.",
        MARKED,
        lines,
    )


def _of_failure(each: Failure) -> str:
    """The machine, in words."""
    settings = [f"{name}={value}" for name, value in dict(each.point.get("settings") or {}).items()]
    subject = str(each.point.get("subject")).partition("@")[0]
    return f"{' '.join([subject, *settings])}, {each.point.get('nbits')} bits"


FAILED: tuple[Column[Failure], ...] = (
    Column("Design", lambda each: words(_of_failure(each))),
    Column("Stage", lambda each: words(str(each.point.get("stage")))),
    Column("Message", lambda each: words(each.message)),
    Column("Command", lambda each: words(shlex.join(each.command))),
)


def failed(failures: Sequence[Failure]) -> Table:
    """What could not be measured."""
    lines = [line(FAILED, each, {"nbits": each.point.get("nbits")}) for each in failures]
    return Table(
        "failed",
        "Could not be measured",
        "A point whose result was wrong, or whose tools gave up, has no figure. The command does it again.",
        FAILED,
        lines,
    )


def _filters(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: record.get(name, "") for name in ("family", "nbits", "interface", "stage")}
