"""The tables of the report, shared by HTML, text and Markdown."""

import math
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from ..grouping import grouped
from ..json_values import attributes
from ..lab import stages
from ..lab.comparison.compare import CLOSE, GLITCHES
from ..lab.stages import FORMULA
from ..lab.store.rows import Failure
from .datasets import LEAKAGE
from .metrics import METRICS, ratio, shown
from .published import Machine
from .store_view import INTERFACES, SILICON, Entries, Entry, Record

OPERATIONS = ("encrypt", "decrypt")
MOST_LINES = 300  # designs and settings; all figures are in a table of their own
NO_KEY = "†"
SIGN = "‡"
SIGN_HERE = f" {SIGN}: stale, measured with other sources or tools than the present ones."
DOUBT = "¶"
DOUBT_HERE = f" {DOUBT}: unverified, to be measured again; the panel of the figure says why."
NO_KEYS_HERE = (
    f" Machines for one modulus with known factors ({NO_KEY} below) cannot be used for RSA and are left out."
)
COUNTED = (*stages.RTL, *SILICON, FORMULA)  # stages with cycles, the preferred one first


Part = str | Callable[[Any], Any]  # of an item: the path of an attribute, or a function


class Cell(NamedTuple):
    """Text of a cell, its sort key, and its source."""

    text: str
    value: float | None = None
    row: int | None = None  # of the store
    measurement: int | None = None
    published: str | None = None  # number of a published figure (published.py)
    tone: str = ""  # good, bad or quiet
    stale: bool = False  # `line` adds the signs and drops the tone
    unverified: bool = False
    upper: float | None = None  # if the value is a lower bound


MISSING = Cell("-", tone="quiet")


class Column(NamedTuple):
    """A column: its head and unit, and the cell of an item. Numbers are right-aligned."""

    head: str
    cell: Part
    unit: str = ""
    number: bool = False

    @property
    def title(self) -> str:
        """The head with its unit."""
        return f"{self.head} ({self.unit})" if self.unit else self.head


class Line(NamedTuple):
    """The cells of a line, and the values that the filters test."""

    cells: Sequence[Cell]
    of: Record
    group: str = ""  # the heading above the lines of a group


class Table(NamedTuple):
    """A table with its caption."""

    name: str
    title: str
    caption: str
    columns: Sequence[Column]
    lines: Sequence[Line]

    @property
    def groups(self) -> list[tuple[str, list[Line]]]:
        """The lines by their headings."""
        return [(group, list(lines)) for group, lines in groupby(self.lines, lambda line: line.group)]

    @property
    def filters(self) -> list[str]:
        """The filters that apply to its lines."""
        return sorted({name for line in self.lines for name in line.of})

    @property
    def explained(self) -> "Table":
        """The table with its signs explained in the caption."""
        cells = [cell for line in self.lines for cell in line.cells]
        signs = SIGN_HERE if any(cell.stale for cell in cells) else ""
        signs += DOUBT_HERE if any(cell.unverified for cell in cells) else ""
        return self._replace(caption=f"{self.caption}{signs}") if signs else self


def table_of(
    name: str, title: str, caption: str, columns: Sequence[Column], items: Iterable[tuple[Any, ...]]
) -> Table:
    """A table with a line for each item; items come with the other arguments of `line`."""
    return Table(name, title, caption, columns, [line(columns, *item) for item in items])


def line(columns: Sequence[Column], item: Any, of: Record, group: str = "") -> Line:
    """The line of an item; strings and integers become cells."""
    cells = []
    for column in columns:
        cell = part_of(item, column.cell)
        if not isinstance(cell, Cell):
            cell = Cell("-" if cell is None else str(cell), cell if isinstance(cell, int) else None)
        signs = SIGN * cell.stale + DOUBT * cell.unverified
        cells.append(cell._replace(text=f"{cell.text}{signs}", tone="") if signs else cell)
    return Line(cells, of, group)


def part_of(item: Any, of: Part) -> Any:
    """A part of an item; None if an attribute on the way to it is None."""
    if not isinstance(of, str):
        return of(item)
    for name in of.split("."):
        item = None if item is None else getattr(item, name)
    return item


def number(head: str, of: Part, unit: str = "") -> Column:
    """A column of numbers without a source."""

    def cell(item: Any) -> Cell:
        value = part_of(item, of)
        return MISSING if value is None else Cell(shown(value), value)

    return Column(head, cell, unit, True)


def figure(entry: Entry | None, name: str) -> Cell:
    """A cell with a figure of the store."""
    if entry is None or (value := entry.value(name)) is None:
        return MISSING
    found = own(value, entry.source(name), entry.measurement, entry.stale)
    return found._replace(unverified=name in entry.unverified)


def figures(head: str, name: str, unit: str = "", of: Part = lambda it: it) -> Column:
    """A column of figures, of the item or of an entry that `of` gets from it."""
    return Column(head, lambda item: figure(part_of(item, of), name), unit, True)


def own(value: float, row: int | None, measurement: int, stale: bool) -> Cell:
    """A number of ours."""
    return Cell(shown(value), value, row, measurement, stale=stale)


def quotient(
    ours: float | None,
    theirs: float | None,
    upper: float | None = None,
    *,
    close: float = CLOSE,
    judged: bool = True,
) -> Cell:
    """The ratio of ours to theirs; below 1 ours is lower.

    If ours is a lower bound, the cell is a range up to `upper`, infinite for "unknown"; a range is lower or
    higher only as a whole. The cell has no colour unless it is `judged`.
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

CYCLES = ("cycles",)
CRITERIA = (  # for silicon: names, and the metrics that are multiplied
    ("shortest time", ("time_ns",)),
    ("smallest area", ("area_um2",)),
    ("least energy without glitches", ("energy_nj",)),
    ("least energy with all glitches", ("energy_with_glitches_nj",)),
    ("least area × time", ("area_um2", "time_ns")),
    ("least energy without glitches × time", ("energy_nj", "time_ns")),
)
# criteria with their stages; netlists, which are more numerous, before layouts
IN_TURN: tuple[tuple[str, tuple[str, ...], Collection[str]], ...] = (
    ("fewest cycles", CYCLES, COUNTED),
    *((words, names, (stage,)) for stage in reversed(SILICON) for words, names in CRITERIA),
)
PRODUCT_SCALE = 1e-3  # products of metrics have a time, which is shown in microseconds: fewer digits


def product(one: Entry | Machine | None, names: Iterable[str]) -> float | None:
    """The product of these metrics; None if one is missing."""
    values = [one and one.value(name) for name in names]
    return None if None in values else math.prod(value or 0 for value in values)


class _Best(NamedTuple):
    """The winner by a criterion, and the best published machine."""

    criterion: str
    names: tuple[str, ...]
    winner: Entry
    rival: Machine | None

    @property
    def ratio(self) -> Cell:
        """The ratio to the rival; for energies a range up to all glitches, infinite if that is unknown."""
        winner, names, upper = self.winner, self.names, None
        if "energy_nj" in names:
            upper = product(winner, [GLITCHES if name == "energy_nj" else name for name in names])
            upper = math.inf if upper is None else upper
        verdict = not winner.stale and judged(names, winner.stage)
        return quotient(product(winner, names), product(self.rival, names), upper, judged=verdict)

    @property
    def unit(self) -> str:
        units = " · ".join(METRICS[name].shown_unit for name in self.names)
        return units.replace("ns", "µs") if len(self.names) > 1 else units

    def cell(self, one: Entry | Machine | None) -> Cell:
        """A product of figures; its source is that of the first of them."""
        names, value = self.names, product(one, self.names)
        if one is None or value is None:
            return MISSING
        if len(names) > 1:
            value *= PRODUCT_SCALE
        if isinstance(one, Machine):
            return Cell(shown(value), value, published=one.number)
        return own(value, one.source(names[0]), one.measurement, one.stale)


BEST = (
    Column("Best at", "criterion"),
    Column("Design", "winner.label"),
    Column("Ours", lambda best: best.cell(best.winner), number=True),
    Column("Unit", "unit"),
    Column(
        "Stage", lambda best: _stage(best.winner) if best.names == CYCLES else stages.title(best.winner.stage)
    ),
    Column("Published", lambda best: best.cell(best.rival), number=True),
    Column("Ratio", "ratio", number=True),
    Column("Of paper", "rival.label"),
)


def best(entries: Entries, machines: Sequence[Machine]) -> Table:
    """The best design by each criterion for every width, operation and interface, next to the best published
    one. Netlists and layouts have lines of their own.
    """

    def place(entry: Entry) -> tuple[Any, ...]:
        known = [*OPERATIONS, entry.operation].index(entry.operation)
        interface = list(INTERFACES).index(entry.interface)
        return entry.nbits, interface, known, entry.operation, entry.exponent_nbits

    counted = [entry for entry in entries if entry.stage in COUNTED and entry.operation != LEAKAGE]
    keyed = [entry for entry in counted if not entry.known_factors]
    no_keys = NO_KEYS_HERE if len(keyed) < len(counted) else ""
    lines = []
    for _, found in sorted(grouped(keyed, place).items()):
        nbits, operation, interface = found[0].nbits, found[0].operation, found[0].interface
        papers = [machine for machine in machines if (machine.nbits, machine.interface) == (nbits, interface)]
        for criterion, names, where in IN_TURN:
            able = [entry for entry in found if entry.stage in where and product(entry, names) is not None]
            if not able:
                continue
            able = [entry for entry in able if not entry.stale] or able
            winner = min(able, key=lambda entry: (product(entry, names), COUNTED.index(entry.stage)))
            # an area belongs to the hardware: a paper states it once, without an operation
            shared = not any(METRICS[name].per_operation for name in names)
            rivals = [
                paper
                for paper in papers
                if (paper.operation == operation or (shared and not paper.operation))
                and product(paper, names) is not None
                and (names == CYCLES or paper.same_library)
            ]
            rival = min(rivals, key=lambda item: product(item, names) or 0, default=None)
            of = {"nbits": nbits, "operation": operation, "interface": interface, "metric": " ".join(names)}
            of["stage"] = "" if names == CYCLES else winner.stage  # cycles are equal at all stages
            group = f"{nbits} bits, {operation}, {INTERFACES.get(interface, interface)}"
            group += f", an exponent of {length:,} bits" if (length := found[0].exponent_nbits) else ""
            lines.append((_Best(criterion, names, winner, rival), of, group))
    return table_of(
        "best",
        "Which design is best at what?",
        "The best design of all families, among figures without a mark. Cycles by formula count if "
        "simulation confirms the formula of the design. Ratio: ours to the best published machine that "
        "does the same work, in the same cell library (any technology for cycles); below 1 ours is lower. "
        "Only like-for-like ratios are coloured; published areas and energies are of layouts, so netlist "
        "ratios are not. Energy without glitches is a lower bound; its ratios range from none to all "
        f"glitches.{no_keys}",
        BEST,
        lines,
    )


def judged(names: Iterable[str], stage: str) -> bool:
    """Whether a ratio to a published figure is a verdict: always for cycles, for silicon only of a layout."""
    return stage == stages.LAYOUT or set(names) == {*CYCLES}


def _stage(entry: Entry) -> str:
    """The source of the cycles of an entry."""
    return stages.title(FORMULA) if entry.stage == FORMULA else "RTL"


# ---- one design per line


class _Made(NamedTuple):
    """A machine, and its entries by operation: those that count its cycles, and those of its silicon."""

    first: Entry
    cycles: Mapping[str, Entry | None]
    chip: Mapping[str, Entry]

    @property
    def silicon(self) -> Entry | None:
        """Any entry of the chip, for figures without an operation."""
        return next(iter(self.chip.values()), None)

    @property
    def stage(self) -> str:
        """The stage of its silicon figures, else of its cycles."""
        return (
            self.silicon.setup
            if self.silicon is not None
            else _stage(next(filter(None, self.cycles.values())))
        )


DESIGNS = (
    Column("Design", lambda made: f"{made.first.label}{f' {NO_KEY}' if made.first.known_factors else ''}"),
    Column("Bits", "first.nbits", number=True),
    Column("Interface", "first.behind"),
    figures("Encrypt", "cycles", "cycles", lambda made: made.cycles["encrypt"]),
    figures("Decrypt", "cycles", "cycles", lambda made: made.cycles["decrypt"]),
    figures("Area", "area_um2", "µm²", "silicon"),
    figures("Clock", "clock_ns", "ns", "silicon"),
    figures("Encrypt", "time_ns", "ns", lambda made: made.chip.get("encrypt")),
    figures("Encrypt", "energy_nj", "nJ", lambda made: made.chip.get("encrypt")),  # without glitches
    figures("Decrypt", "energy_nj", "nJ", lambda made: made.chip.get("decrypt")),
    Column("Stage", "stage"),
)


def designs(entries: Entries, chips: Collection[int]) -> Table:
    """The table of designs, one machine per line: cycles of both operations, and silicon figures of the
    measurements in `chips`.
    """
    measured = {entry.label for entry in entries if entry.stage != FORMULA}
    kept = (
        entry
        for entry in entries
        if entry.stage in COUNTED
        and not (entry.stage == FORMULA and entry.label in measured)  # the chart by width has these
    )
    lines = []
    for _, found in sorted(grouped(kept, _place).items())[:MOST_LINES]:
        silicon: dict[int, dict[str, Entry]] = {}
        for entry in found:
            if entry.measurement in chips:
                silicon.setdefault(entry.measurement, {})[entry.operation] = entry
        for chip in silicon.values() or [{}]:
            cycles = {name: chip.get(name) or _counted(found, name) for name in OPERATIONS}
            if any(cycles.values()):
                lines.append((_Made(found[0], cycles, chip), _filters(found[0])))
    return table_of(
        "designs",
        "What does each design cost?",
        "Cycles run from request to answer, counted in RTL, or by formula for designs without a "
        "simulation; with a processor they exclude the call (as paper 001 does). Area, time and energy "
        "are from the ASIC flow; of several runs the table shows the one with the least area × time. "
        "Energies (nJ) are without glitches. Encrypt: exponent 65537, or 17 up to 17 bits. Decrypt: the "
        f"private exponent of a key, which may be a few bits shorter than the modulus. {NO_KEY}: for one "
        "modulus whose factors are known, so unusable for RSA.",
        DESIGNS,
        lines,
    )


OTHERS = (
    Column("Design", "label"),
    Column("Bits", "nbits", number=True),
    Column("Interface", "behind"),
    Column("Operation", "operation"),
    figures("Cycles", "cycles"),
    figures("Area", "area_um2", "µm²"),
    figures("Clock", "clock_ns", "ns"),
    figures("Time", "time_ns", "ns"),
    figures("Energy", "energy_nj", "nJ"),
    Column("Stage", lambda entry: entry.setup if entry.stage in SILICON else _stage(entry)),
)


def others(entries: Entries, chips: Collection[int]) -> Table:
    """The table of operations other than encrypt and decrypt: those of accelerators that are not for RSA, and
    mixes.
    """
    kept = (
        entry for entry in entries if entry.operation not in (*OPERATIONS, LEAKAGE) and entry.stage in COUNTED
    )
    lines = []
    for _, found in sorted(grouped(kept, lambda entry: (*_place(entry), entry.operation)).items()):
        operation = found[0].operation
        chosen = [entry for entry in found if entry.measurement in chips]
        of = {**_filters(found[0]), "operation": operation}
        if not chosen and (counted := _counted(found, operation)):
            chosen = [counted]
        lines += [(entry, of) for entry in chosen]
    return table_of(
        "others",
        "Other operations",
        "Workloads of accelerators other than RSA machines, and mixes of RSA operations. Figures are "
        "comparable only within one operation.",
        OTHERS,
        lines[:MOST_LINES],
    )


def _place(entry: Entry) -> tuple[Any, ...]:
    """A key that sorts by width, interface and place in the catalogue."""
    return entry.nbits, list(INTERFACES).index(entry.interface), entry.rank, entry.label


def _filters(entry: Entry) -> Record:
    """The values that the filters test."""
    return attributes(entry, "family", "nbits", "interface")


def _counted(entries: Entries, operation: str) -> Entry | None:
    """The entry that counts the cycles of an operation."""
    able = [item for item in entries if item.operation == operation and item.value("cycles") is not None]
    return min(able, key=lambda entry: (entry.stale, COUNTED.index(entry.stage)), default=None)


# ---- single subjects


CRITICAL = (
    Column("Design", itemgetter("name")),
    figures("Clock", "clock_ns", "ns", itemgetter("entry")),
    figures("Slack", "wns_ns", "ns", itemgetter("entry")),
    figures("Highest clock", "fmax_mhz", "MHz", itemgetter("entry")),
    Column("From", itemgetter("start")),
    Column("To", itemgetter("end")),
    Column("Through", lambda record: record["through"] or None),
)


def critical_paths(records: Sequence[Record], entries: Entries) -> Table:
    """The table of the longest path of each netlist."""
    by_measurement = {entry.measurement: entry for entry in entries}
    names = ("family", "nbits", "interface", "stage")
    return table_of(
        "critical",
        "Critical paths",
        "The longest path from register to register, which is the first to shorten, and the modules that it "
        "goes through.",
        CRITICAL,
        (
            ({**record, "entry": by_measurement[record["m"]]}, {name: record[name] for name in names})
            for record in records
        ),
    )


def _filled(entry: Entry) -> Cell:
    """The area of the cells as a share of the die."""
    cells, die = entry.value("area_um2"), entry.value("die_um2")
    return Cell(f"{cells / die:.0%}", cells / die) if cells and die else MISSING


def _checked(rules: Record) -> Cell:
    """The number of violations that the checks of design rules, connections and antennas found."""
    if not rules or not rules["deck"]:
        return MISSING
    faults = sum(sum((rules[kind] or {}).values()) for kind in ("markers", "connections", "antennas"))
    tone = "bad" if faults else "good"
    return Cell(f"{faults:,} faults in {rules['checks']} checks by {rules['deck']}", faults, tone=tone)


def _compared(rules: Record) -> Cell:
    """Whether the transistors are those of the netlist."""
    found = rules and rules["transistors"]
    if not found or found["why_not"]:
        return Cell(found["why_not"]) if found else MISSING
    differences = sum(found["differences"].values())
    return Cell(
        f"{differences:,} differences" if differences else "match", tone="bad" if differences else "good"
    )


OF_RULES = (
    Column("Design rules", lambda line: _checked(line[2])),
    Column("Transistors", lambda line: _compared(line[2])),
)
LAYOUTS = (
    Column("Design", itemgetter(1)),
    *(
        figures(head, name, unit, itemgetter(0))
        for head, name, unit in (
            ("Cells", "area_um2", "µm²"),
            ("Die", "die_um2", "µm²"),
            ("Wires", "wire_um", "µm"),
            ("Clock", "clock_ns", "ns"),
            ("Slack", "wns_ns", "ns"),
        )
    ),
    Column("Utilisation", lambda line: _filled(line[0]), number=True),
    *OF_RULES,
)


def layouts(entries: Entries, names: Mapping[int, str], details: Mapping[int, Record]) -> Table:
    """The table of layouts, one per line."""
    once = {entry.measurement: entry for entry in entries if entry.stage == stages.LAYOUT}
    lines = [
        ((entry, names[number], details[number].get("rules") or {}), attributes(entry, "family"))
        for number, entry in once.items()
        if number in names
    ]
    columns = LAYOUTS if any(rules for (*_, rules), _ in lines) else LAYOUTS[: -len(OF_RULES)]
    caption = "Placed and routed with open tools. The command of each figure reproduces its pictures."
    return table_of("layouts", "Size and wires", caption, columns, lines)


def _cycles(run: Record) -> Cell:
    return own(run["cycles"], run["row"], run["m"], bool(run.get("stale")))


def _verdict(run: Record) -> Cell:
    """The verdict, coloured if a fresh simulation gives it."""
    by_formula = run["stage"] == FORMULA
    tone = "" if by_formula or run.get("stale") else "bad" if run["spread"] else "good"
    return Cell(f"{'by formula: ' if by_formula else ''}{run['verdict']}", tone=tone)


LEAKS = (  # of the runs of a design, in the order of their cycles
    Column("Design", lambda runs: runs[0]["name"]),
    number("Exponents", len),
    Column("Fewest", lambda runs: _cycles(runs[0]), "cycles", True),
    Column("Most", lambda runs: _cycles(runs[-1]), "cycles", True),
    Column("Spread", lambda runs: Cell(f"{runs[0]['spread']:.1%}", runs[0]["spread"]), number=True),
    Column("Stage", lambda runs: stages.title(runs[0]["stage"])),
    Column("Verdict", lambda runs: _verdict(runs[0])),
    Column("Promised", lambda runs: runs[0]["promised"]),
)


def leaks(records: Sequence[Record]) -> Table:
    """The table of the cycles of each design for many exponents."""
    lines = (
        (sorted(runs, key=itemgetter("cycles")), {key: runs[0][key] for key in ("family", "nbits")})
        for runs in grouped(records, itemgetter("name")).values()
    )
    return table_of(
        "leaks",
        "Do the cycles depend on the exponent?",
        "The same base and modulus with random exponents of one length, some with few 1 bits and some with "
        "many. With two multipliers, squaring and multiplying run in parallel, so 1 bits cost nothing; with "
        "one multiplier they cost time. The ct designs hide the length as well. Power is not considered "
        "here. Values by formula were not simulated.",
        LEAKS,
        lines,
    )


MARKED = (
    Column("Design", lambda entry: f"{entry.label}, {entry.nbits} bits"),
    Column("Stage", "setup"),
    Column("Why", lambda entry: Cell("; ".join(entry.marks), tone="bad")),
    Column(
        "Row",
        lambda entry: Cell(str(entry.first.id), entry.first.id, entry.first.id, entry.measurement),
        number=True,
    ),
)


def marked(entries: Entries) -> Table:
    """The table of measurements that must not be compared."""
    once = {entry.measurement: entry for entry in entries if entry.marks}
    return table_of(
        "marked",
        "Measured but not comparable",
        "These figures are in the store, but excluded from every table, chart and front above.",
        MARKED,
        ((entry, attributes(entry, "family", "nbits")) for entry in once.values()),
    )


def _of_failure(member: Failure) -> str:
    """The name of the machine."""
    point = member.point
    settings = "".join(f" {name}={value}" for name, value in (point.get("settings") or {}).items())
    return f"{str(point.get('subject')).partition('@')[0]}{settings}, {point.get('nbits')} bits"


FAILED = (
    Column("Design", _of_failure),
    Column("Stage", lambda failure: str(failure.point.get("stage"))),
    Column("Message", "message"),
    Column("Command", lambda failure: shlex.join(failure.command)),
)


def failed(failures: Sequence[Failure]) -> Table:
    """The table of points that could not be measured."""
    return table_of(
        "failed",
        "Could not be measured",
        "A point with a wrong result, or whose tools timed out, has no figure. The command retries it.",
        FAILED,
        ((failure, {"nbits": failure.point.get("nbits")}) for failure in failures),
    )
