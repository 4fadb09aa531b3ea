"""Tables of the five papers, cell by cell, transcribed once into eval/papers/*.toml.

    for figure in figures():  # all of them, flat: Published
        if figure.comparable and figure.twin == "mont-001": ...
    paper("001").table("3").figures()   errata("000")

A cell keeps its text as printed. `value` and `unit` are read from that text (and from what the file says of
units), `corrected` is what the cell should say where the paper contradicts itself, with the reason in
`erratum`; `amount` is the corrected or else the printed value in the unit of the metric (METRICS), which is
what may be held against a figure of the ledger.

What a cell means is said once for a table (`says`), for its row or a key cell of that (`rows`, `keys`), for
its column (`columns`) or for single cells (`cells`), and is the union of these; two that say different things
are an error. It can say:

    metric     a name of METRICS. Those of the ledger mean the same there: cycles, time_ns, clock_ns,
               area_um2, fmax_mhz, power_mw,
               energy_nj, lut, ff, dsp, alm. Others are the papers' own: le (logic elements), slice; and
               step_ns (one iteration of
               000's exponentiation), gate, area_time, ratios, ..., which nothing of ours is held against
               (NOT_COMPARED)
    unit       as printed; a unit that stands in the cell itself ("412 ns") goes before
    operation  encrypt | decrypt: one exponentiation with a short or a long exponent; mean: of both, exponents
               of full length (004);
               product: one modular product; modexp: one exponentiation, exponent of full length; "" for what
               has none (an area)
    twin       the design or system of ours that rebuilds this machine: "mont-001" (a design),
               "procxcel-mont-001", "proc-naive" (systems)
    ours       names of ours that do the same work in another way, the fair rivals where there is no twin
    nbits      the width of the modulus
    settings   of the twin, and of those of ours that stand under `alike`, whose parameters of these names
               mean the same
    interface  stream | xcel | system: how much is in the figure (a bare machine, with its registers, with a
               processor)
    window     gross | dummy | normalised (001: normalised is gross less the dummy, as our systems are); ""
               elsewhere
    against    of a ratio: what it is a ratio to
    design     the machine, in the paper's words; the row or the column where nothing is said
    technology and caveat (why a cell must not be compared: extrapolated, a property of the device)

Text that is no number is kept, without a value: "N/A" and dashes are what the paper does not give, "?" is
what our copy of the paper does not have readable. Merged cells of keys are repeated. Figures of the prose are
a table named text.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from ...fl.errors import BadInput, unknown
from ...flow import typed_toml
from .expression import Expression

PAPERS = Path(__file__).parent
NUMBERS = ("000", "001", "002", "003", "004")
UNREADABLE = "?"
METRICS = {  # and the unit of `amount`
    "cycles": "cycles",
    "time_ns": "ns",
    "clock_ns": "ns",
    "step_ns": "ns",
    "area_um2": "um2",
    "fmax_mhz": "MHz",
    "power_mw": "mW",
    "energy_nj": "nJ",
    "lut": "LUT",
    "ff": "FF",
    "dsp": "DSP",
    "alm": "ALM",
    "le": "LE",
    "slice": "slices",
    "tristate": "buffers",
    "gate": "gates",
    "area_time": "",
    "ratio": "",
    "percent": "%",
    "count": "",
}
NOT_COMPARED = {"step_ns", "tristate", "gate", "area_time", "ratio", "percent", "count"}
SCALES = {  # of a printed unit, to those above
    "ps": 1e-3,
    "ns": 1.0,
    "us": 1e3,
    "ms": 1e6,
    "s": 1e9,
    "um2": 1.0,
    "mm2": 1e6,
}
_NUMBER = re.compile(r"(?P<digits>-?\d[\d.,]*)(?:×10\^(?P<power>\d+))?\s*(?P<unit>[A-Za-z%][\w%^]*)?")
_UNITS = {"mm^2": "mm2", "um^2": "um2"}


@dataclass(frozen=True)
class Erratum:
    """Something that is wrong in a paper: a cell of a table, or a place in the text."""

    paper: str
    where: str  # "Table 11", "Algorithm 4", "section 5.4"
    printed: str
    corrected: str
    reason: str
    row: str = ""  # of a cell
    column: str = ""


@dataclass(frozen=True)
class Published:
    """A cell of a table; its meaning is described in the head of this file."""

    paper: str
    table: str  # "1", "2a", "17.4", "text"
    row: str
    column: str
    printed: str
    value: float | int | None
    unit: str
    source: str  # citation
    technology: str
    metric: str = ""
    operation: str = ""
    twin: str = ""
    ours: tuple[str, ...] = ()
    nbits: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    alike: tuple[str, ...] = ()
    interface: str = ""
    window: str = ""
    against: str = ""
    design: str = ""
    note: str = ""  # footnotes of the table
    caveat: str = ""
    corrected: float | int | None = None
    erratum: str = ""
    last_digit: float = 0.0  # one unit of it

    @property
    def subject(self) -> str:
        """Return the design measured for this figure: its twin, or else the first that does the same work."""
        return self.twin or (self.ours[0] if self.ours else "")

    @property
    def readable(self) -> bool:
        """Our copy of the paper has this cell."""
        return self.printed != UNREADABLE

    @property
    def amount(self) -> float | int | None:
        """The figure, corrected where it must be, in the unit that METRICS has for it."""
        value = self.value if self.corrected is None else self.corrected
        if value is None:
            return None
        scale = SCALES.get(self.unit, 1.0)
        return value if scale == 1.0 else value * scale  # whole numbers stay whole

    @property
    def shown(self) -> str:
        """As printed, with its unit, and corrected where it must be."""
        text = self.printed
        if self.value is not None and self.unit and not text.endswith(self.unit):
            text += f" {self.unit}"
        if self.corrected is None:
            return text
        corrected = f"{self.corrected:.10g} {self.unit}".strip()
        return f"{text} (corrected: {corrected})"

    @property
    def step(self) -> float:
        """One unit of the last printed digit, in the unit of `amount`: the figure is no more exact than
        that.
        """
        return self.last_digit * SCALES.get(self.unit, 1.0)

    @property
    def comparable(self) -> bool:
        """A number of a metric of ours, for which there is something of ours, and nothing against it."""
        return (
            self.amount is not None
            and self.metric in METRICS.keys() - NOT_COMPARED
            and bool(self.subject)
            and self.window in ("", "normalised")
            and not self.against
            and not self.caveat
        )


@dataclass(frozen=True)
class Table:
    """A table or figure of a paper as it is printed, and what its cells mean."""

    paper: str
    number: str
    kind: str  # "Table", "Figure", or "Text" for numbers that stand in the prose
    caption: str
    source: str
    line: int  # of our copy of the text; 0: in none
    keys: tuple[str, ...]  # headings of the columns that name a row
    columns: tuple[str, ...]
    names: Mapping[str, tuple[str, ...]]  # of a row: the key cells that make it
    rows: Mapping[str, tuple[str, ...]]  # by name: the cells as printed
    footnotes: tuple[str, ...]
    published: tuple[Published, ...]
    errata: tuple[Erratum, ...]

    def figures(self) -> Iterator[Published]:
        """All cells, row by row; one with two numbers ("44 / 486") is two figures."""
        return iter(self.published)

    def at(self, row: str, column: str) -> Published:
        """The cell."""
        for figure in self.published:
            if (figure.row, figure.column) == (row, column):
                return figure
        raise unknown(
            f"cell of paper {self.paper}, {self.kind} {self.number}:",
            f"{row} / {column}",
            [f"{published.row} / {published.column}" for published in self.published],
        )


@dataclass(frozen=True)
class Formula:
    """A formula that a paper prints, as an expression (expression.py)."""

    paper: str
    name: str
    expression: str
    where: str
    says: str

    def value(self, values: Mapping[str, float]) -> float:
        """Its value for those of its names."""
        return Expression(self.expression).value(values)


@dataclass(frozen=True)
class Paper:
    """One of the five, with everything that it prints in tables."""

    number: str
    title: str
    authors: tuple[str, ...]
    year: int | None  # None: our copy has none
    venue: str
    technology: str
    tables: tuple[Table, ...]
    formulas: tuple[Formula, ...]
    errata: tuple[Erratum, ...]

    def table(self, number: str) -> Table:
        """The table with this number."""
        for table in self.tables:
            if table.number == number:
                return table
        raise unknown(f"table of paper {self.number}", number, [table.number for table in self.tables])

    def figures(self) -> Iterator[Published]:
        """The cells of all tables."""
        for table in self.tables:
            yield from table.figures()

    @property
    def citation(self) -> str:
        """Authors, title, where, year: what the text itself says."""
        parts = [", ".join(self.authors), self.title, self.venue, str(self.year or "")]
        return ". ".join(part for part in parts if part)

    @property
    def bibtex(self) -> str:
        """An entry of BibTeX with what the text itself says; an author's number in brackets is none of the
        name.
        """
        fields = {
            "author": " and ".join(re.sub(r" *\(.*?\)", "", author) for author in self.authors),
            "title": f"{{{self.title}}}",
            "howpublished": self.venue,
            "year": str(self.year or ""),
            "note": "" if self.year else "no year in the copy that was read",
        }
        lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
        return "\n".join([f"@misc{{paper{self.number},", *lines, "}"])


def paper(number: str) -> Paper:
    """One of the papers: "000" to "004"."""
    if number not in NUMBERS:
        raise unknown("paper", number, NUMBERS)
    return _load(PAPERS / f"{number}.toml")


def papers() -> tuple[Paper, ...]:
    """All five."""
    return tuple(paper(number) for number in NUMBERS)


def figures() -> Iterator[Published]:
    """All cells of all tables."""
    for paper in papers():
        yield from paper.figures()


def errata(number: str = "") -> tuple[Erratum, ...]:
    """Return the errata of a paper, or of all."""
    return tuple(erratum for paper in papers() if number in ("", paper.number) for erratum in paper.errata)


def by_name(number: str, table: str, metric: str = "cycles") -> dict[str, dict[str, float | int]]:
    """The figures of a table that are compared, by what of ours they are held against and by operation:
    twins, then their rivals.
    """
    compared = [
        item for item in paper(number).table(table).figures() if item.comparable and item.metric == metric
    ]
    found: dict[str, dict[str, float | int]] = {}
    for names in ([(item.twin,) for item in compared], [item.ours for item in compared]):
        for figure, group in zip(compared, names, strict=True):
            for name in filter(None, group):
                if figure.amount is not None:
                    found.setdefault(name, {})[figure.operation] = figure.amount
    return found


# ---- reading


Unset = msgspec.UnsetType


class _Part(msgspec.Struct, forbid_unknown_fields=True):
    """A table of the file: an unknown key is refused."""


class Says(_Part):
    """Attributes of cells (head of this file)."""

    metric: str | Unset = msgspec.UNSET
    unit: str | Unset = msgspec.UNSET
    operation: str | Unset = msgspec.UNSET
    window: str | Unset = msgspec.UNSET
    against: str | Unset = msgspec.UNSET
    twin: str | Unset = msgspec.UNSET
    ours: list[str] | Unset = msgspec.UNSET
    nbits: int | Unset = msgspec.UNSET
    settings: dict[str, str | int | float | bool] | Unset = msgspec.UNSET
    alike: list[str] | Unset = msgspec.UNSET
    interface: str | Unset = msgspec.UNSET
    design: str | Unset = msgspec.UNSET
    technology: str | Unset = msgspec.UNSET
    caveat: str | Unset = msgspec.UNSET


class SaysPart(Says, kw_only=True):
    """Attributes of one of several numbers in a cell."""

    name: str


class SaysColumn(Says):
    """Attributes of a column, whose cells may have several numbers."""

    parts: list[SaysPart] | Unset = msgspec.UNSET


class SaysCells(_Part):
    """Attributes of single cells."""

    rows: list[str]
    columns: list[str]
    says: Says


class TableFile(_Part):
    """`grid` has a head whose first `nkeys` columns name the row; `decimal` is "," where that is the
    point.
    """

    number: str
    caption: str
    grid: str
    kind: str = "Table"
    section: str = ""
    page: int | str = ""
    line: int = 0
    measured: str = ""
    nkeys: int = 1
    decimal: str = "."
    footnotes: list[str] = []
    says: Says = msgspec.field(default_factory=Says)
    keys: dict[str, str] = {}
    rows: dict[str, Says] = {}
    columns: dict[str, SaysColumn] = {}
    cells: list[SaysCells] = []


class PaperFile(_Part):
    """A whole file."""

    paper: str
    title: str
    authors: list[str]
    technology: str
    table: list[TableFile]
    year: int | None = None
    venue: str = ""
    formula: list[dict[str, str]] = []
    erratum: list[dict[str, str]] = []


@functools.cache
def _load(path: Path) -> Paper:
    try:
        read = typed_toml.parse(path.read_text(encoding="utf-8"), PaperFile)
    except BadInput as error:
        raise BadInput(f"{path.name}: {error}") from None
    wrong = tuple(Erratum(read.paper, **entry) for entry in read.erratum)
    return Paper(
        read.paper,
        read.title,
        tuple(read.authors),
        read.year,
        read.venue,
        read.technology,
        tuple(_Reader(read.paper, read.technology, table_file).table(wrong) for table_file in read.table),
        tuple(Formula(read.paper, **entry) for entry in read.formula),
        wrong,
    )


@dataclass(frozen=True)
class _Reader:
    """A [[table]] of a file to a Table."""

    paper: str
    technology: str
    read: TableFile

    @property
    def name(self) -> str:
        """As errata name it."""
        return self.read.number if self.read.kind == "Text" else f"{self.read.kind} {self.read.number}"

    @property
    def source(self) -> str:
        if self.read.measured:
            return self.read.measured
        page = [f"page {self.read.page}"] if self.read.page else []
        return ", ".join([f"paper {self.paper}", f"section {self.read.section}", self.name, *page])

    def table(self, errata: tuple[Erratum, ...]) -> Table:
        lines = [[cell.strip() for cell in line.split("|")] for line in self.read.grid.strip().splitlines()]
        head, nkeys = lines[0], self.read.nkeys
        columns = tuple(head[nkeys:])
        wrong = tuple(erratum for erratum in errata if erratum.where == self.name)
        names: dict[str, tuple[str, ...]] = {}
        rows: dict[str, tuple[str, ...]] = {}
        for line in lines[1:]:
            if len(line) != len(head):
                raise ValueError(f"{self.source}: {line} has {len(line)} cells, the head has {len(head)}")
            row = ", ".join(line[:nkeys])
            if row in rows:
                raise ValueError(f"{self.source}: row {row} stands there twice")
            names[row], rows[row] = tuple(line[:nkeys]), tuple(line[nkeys:])
        self._check(names, columns)
        published = [
            self._figure(row, label, text, means, wrong)
            for row, cells in rows.items()
            for column, cell in zip(columns, cells, strict=True)
            for label, text, means in self._cell(row, head, names[row], column, cell)
        ]
        return Table(
            self.paper,
            self.read.number,
            self.read.kind,
            self.read.caption,
            self.source,
            self.read.line,
            tuple(head[:nkeys]),
            columns,
            names,
            rows,
            tuple(self.read.footnotes),
            tuple(published),
            wrong,
        )

    def _check(self, names: Mapping[str, tuple[str, ...]], columns: tuple[str, ...]) -> None:
        """Check that attributes refer to existing rows and columns."""
        of_rows = {*names, *(key for keys in names.values() for key in keys)}
        self._there(of_rows, self.read.rows)
        self._there(columns, self.read.columns)
        self._there(names, [row for cell in self.read.cells for row in cell.rows])
        self._there(columns, [column for cell in self.read.cells for column in cell.columns])

    def _there(self, known: Collection[str], said: Iterable[str]) -> None:
        for name in said:
            if name not in known:
                raise ValueError(f"{self.source}: there is no {name!r} of which something is said")

    def _cell(
        self, row: str, head: list[str], keys: tuple[str, ...], column: str, cell: str
    ) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Column, text and meaning of a cell, or of its parts."""
        of_column = self.read.columns.get(column, SaysColumn())
        said: list[Says] = [self.read.says, *self._row_says(row, head, keys), of_column]
        special = [
            says_cells.says
            for says_cells in self.read.cells
            if row in says_cells.rows and column in says_cells.columns
        ]
        parts: Any = of_column.parts or []
        for text, part in zip(cell.split(" / "), parts, strict=True) if parts else [(cell, None)]:
            label = f"{column}: {part.name}" if part else column
            general = self._union(row, label, [*said, *([part] if part else [])])
            yield label, text, {"technology": self.technology} | general | self._union(row, label, special)

    def _row_says(self, row: str, head: list[str], keys: tuple[str, ...]) -> Iterator[Says]:
        """Return the attributes of a row: by its name, by its key cells, or (`keys`) of a key cell itself,
        such as a width.
        """
        for name in dict.fromkeys([*keys, row]):
            yield self.read.rows.get(name, Says())
        for heading, what in self.read.keys.items():
            text = keys[head.index(heading)]
            yield msgspec.convert({what: int(text.replace(",", "")) if what == "nbits" else text}, Says)

    def _union(self, row: str, column: str, said: Sequence[Says]) -> dict[str, Any]:
        """Merge the attributes of a row and a column."""
        means: dict[str, Any] = {}
        for key, value in (item for says in said for item in msgspec.to_builtins(says).items()):
            if key in ("name", "parts"):
                continue
            if means.get(key, value) != value:
                raise ValueError(f"{self.source}, {row} / {column}: {key} is {means[key]!r} and {value!r}")
            means[key] = value
        return means

    def _figure(
        self, row: str, column: str, text: str, means: dict[str, Any], errata: tuple[Erratum, ...]
    ) -> Published:
        comma = self.read.decimal == ","
        value, unit, last_digit = _number(text, comma)
        wrong = [erratum for erratum in errata if (erratum.row, erratum.column) == (row, column)]
        for erratum in wrong:
            if erratum.printed != text:
                raise ValueError(
                    f"{self.source}, {row} / {column}: {text} is printed, the erratum has {erratum.printed}"
                )
        said_unit = means.pop("unit", "")
        means["ours"] = tuple(means.get("ours", ()))
        means["alike"] = tuple(means.get("alike", ()))
        return Published(
            self.paper,
            self.read.number,
            row,
            column,
            text,
            value,
            unit or said_unit,
            self.source,
            note=" ".join(self.read.footnotes),
            corrected=_number(wrong[0].corrected, comma)[0] if wrong else None,
            erratum=wrong[0].reason if wrong else "",
            last_digit=last_digit,
            **means,
        )


def _number(text: str, comma: bool) -> tuple[float | int | None, str, float]:
    """Value, unit and last digit of a cell; a comma separates thousands, or, where the table says so, the
    decimals.
    """
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None, "", 0.0
    digits = match["digits"].replace(",", "." if comma else "")
    power = 10 ** int(match["power"] or 0)
    whole = "." not in digits
    unit = match["unit"] or ""
    decimals = 0 if whole else len(digits.partition(".")[2])
    value = int(digits) * power if whole else float(digits) * power
    return value, _UNITS.get(unit, unit), power / 10**decimals
