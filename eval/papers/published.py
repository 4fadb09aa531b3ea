"""Tables of the five papers, cell by cell, transcribed once into eval/papers/*.toml.

    for figure in figures():  # all cells: Published
        if figure.comparable and figure.twin == "mont-001": ...
    paper("001").table("3").figures()   paper("000").errata

A cell keeps its text as printed. `value` and `unit` are parsed from that text and from the units that the
file states. `corrected` is the right value of a cell that contradicts the rest of the paper, with the reason
in `erratum`. `amount` is the corrected or else the printed value in the unit of the metric (METRICS); it is
the value to compare with a figure of the store.

The meaning of a cell is the union of the attributes of its table (`says`), of its row or one of the row's key
cells (`rows`, `keys`) and of its column (`columns`); contradicting attributes are an error. Attributes of
single cells (`cells`) override these. The attributes are:

    metric      a name of METRICS. These have the same meaning in the store: cycles, time_ns, clock_ns,
                area_um2, fmax_mhz, power_mw, energy_nj, lut, ff, dsp, alm. The others are the papers' own:
                le (logic elements), slice, step_ns (one iteration of 000's exponentiation), gate, area_time,
                ratios, ...; those in NOT_COMPARED have no counterpart of ours
    unit        as printed; a unit in the cell itself ("412 ns") takes precedence
    operation   encrypt | decrypt: one exponentiation with a short or a long exponent; mean: mean of both,
                with exponents of full length (004); product: one modular product; modexp: one exponentiation
                with an exponent of full length; "": a property of the hardware (area)
    twin        the design or system of ours that rebuilds this machine: "mont-001" (a design),
                "procxcel-mont-001", "proc-naive" (systems)
    ours        designs and systems of ours that do the same work in another way: fair rivals without a twin
    nbits       the width of the modulus
    settings    parameters of the twin, and of those of `ours` that are listed in `alike`, whose parameters
                with these names have the same meaning
    interface   stream | xcel | system: the figure is of a bare machine, of one with its registers, or of one
                with a processor
    window      gross | dummy | normalised (001: normalised is gross minus dummy, as in our systems), or ""
    against     for a ratio: the base of the ratio
    design      the machine in the paper's words; default: the row or the column
    technology
    caveat      why a cell must not be compared: extrapolated, a property of the device

Text that is not a number is kept without a value: "N/A" and dashes are values that the paper does not give,
"?" is a cell that is unreadable in our copy. Merged key cells are repeated. Figures in the prose form a table
named text.
"""

import functools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ...fl.errors import BadInput, unknown
from ...flow import typed_toml
from ..json_values import attributes

PAPERS = Path(__file__).parent
NUMBERS = ("000", "001", "002", "003", "004")
PRINTED, SIMULATED = "printed in the paper", "simulated with the RTL of the paper"
UNREADABLE = "?"
METRICS = {  # with the unit of `amount`
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
SCALES = {  # factor from a printed unit to the unit above
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


class _Part(msgspec.Struct, forbid_unknown_fields=True):
    """A table of the file, in which an unknown key is an error."""


class Erratum(_Part):
    """An error in a paper: in a cell of a table, or at a place in the text."""

    where: str  # "Table 11", "Algorithm 4", "section 5.4"
    printed: str
    corrected: str
    reason: str
    row: str = ""  # of a cell
    column: str = ""
    paper: str = ""


class Published(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A cell of a table; the docstring of this file describes its attributes."""

    paper: str
    table: str  # "1", "2a", "17.4", "text"
    row: str
    column: str
    printed: str
    value: float | int | None
    unit: str
    source: str  # citation
    obtained: str
    technology: str
    metric: str = ""
    operation: str = ""
    twin: str = ""
    ours: tuple[str, ...] = ()
    nbits: int = 0
    settings: dict[str, str | int | float | bool] = {}
    alike: tuple[str, ...] = ()
    interface: str = ""
    window: str = ""
    against: str = ""
    design: str = ""
    note: str = ""  # footnotes of the table
    caveat: str = ""
    corrected: float | int | None = None
    erratum: str = ""
    last_digit: float = 0.0  # one unit in the last place

    @property
    def subject(self) -> str:
        """The design measured for this figure: the twin, or else the first of `ours`."""
        return self.twin or next(iter(self.ours), "")

    @property
    def readable(self) -> bool:
        """Whether our copy of the paper has this cell."""
        return self.printed != UNREADABLE

    @property
    def amount(self) -> float | int | None:
        """The corrected or else the printed value, in the unit of its metric in METRICS."""
        value = self.value if self.corrected is None else self.corrected
        if value is None:
            return None
        scale = SCALES.get(self.unit, 1.0)
        return value if scale == 1.0 else value * scale  # whole numbers stay whole

    @property
    def comparable(self) -> bool:
        """Whether it is a number of one of our metrics, with a twin or rival, and without a reason against
        comparing it.
        """
        return (
            self.amount is not None
            and self.metric in METRICS.keys() - NOT_COMPARED
            and bool(self.subject)
            and self.window in ("", "normalised")
            and not self.against
            and not self.caveat
        )


Cells = Mapping[str, tuple[str, ...]]


class Table(NamedTuple):
    """A table or figure of a paper as printed, and the meaning of its cells."""

    paper: str
    number: str
    kind: str  # "Table", "Figure", or "Text" for numbers in the prose
    caption: str
    source: str
    line: int  # in our copy of the text; 0: none
    keys: tuple[str, ...]  # headings of the columns that name a row
    columns: tuple[str, ...]
    names: Cells  # by row name: its key cells
    rows: Cells  # by row name: the cells as printed
    footnotes: tuple[str, ...]
    published: tuple[Published, ...]
    errata: tuple[Erratum, ...]

    def figures(self) -> Iterator[Published]:
        """All cells, row by row; a cell with two numbers ("44 / 486") is two figures."""
        return iter(self.published)

    def at(self, row: str, column: str) -> Published:
        """The cell in this row and column."""
        for figure in self.published:
            if (figure.row, figure.column) == (row, column):
                return figure
        raise unknown(
            f"cell of paper {self.paper}, {self.kind} {self.number}:",
            f"{row} / {column}",
            [f"{published.row} / {published.column}" for published in self.published],
        )


class Formula(_Part):
    """A formula that a paper prints, as an expression (expression.py)."""

    name: str
    expression: str
    where: str
    says: str


Meaning = dict[str, Any]  # attributes of a cell (head of this file), checked once a figure has them all
ATTRIBUTES = (
    "metric",
    "unit",
    "operation",
    "window",
    "against",
    "twin",
    "ours",
    "nbits",
    "settings",
    "alike",
    "interface",
    "design",
    "technology",
    "caveat",
)


class SaysCells(_Part):
    """Attributes of single cells."""

    rows: list[str]
    columns: list[str]
    says: Meaning


class TableFile(_Part):
    """A table in a file. The first `nkeys` columns of the head of `grid` name the row; `decimal` is "," in a
    table with decimal commas.
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
    says: Meaning = {}
    keys: dict[str, str] = {}
    rows: dict[str, Meaning] = {}
    columns: dict[str, Meaning] = {}  # `parts`: the meanings of several numbers in a cell, each with a `name`
    cells: list[SaysCells] = []


class Paper(_Part, dict=True):
    """One of the five papers, with all its tables."""

    number: str = msgspec.field(name="paper")
    title: str
    authors: tuple[str, ...]
    technology: str
    printed: tuple[TableFile, ...] = msgspec.field(name="table")
    year: int | None = None  # None: not in our copy
    venue: str = ""
    formulas: tuple[Formula, ...] = msgspec.field(name="formula", default=())
    errata: tuple[Erratum, ...] = msgspec.field(name="erratum", default=())

    @functools.cached_property
    def tables(self) -> tuple[Table, ...]:
        return tuple(_Reader(self, table).table() for table in self.printed)

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
        """Authors, title, venue and year, as far as the paper states them."""
        parts = [", ".join(self.authors), self.title, self.venue, str(self.year or "")]
        return ". ".join(filter(None, parts))

    @property
    def bibtex(self) -> str:
        """A BibTeX entry with the data that the paper states; a number in brackets is not part of an author's
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
    """All five papers."""
    return tuple(paper(number) for number in NUMBERS)


def figures() -> Iterator[Published]:
    """The cells of all tables of all papers."""
    for paper in papers():
        yield from paper.figures()


def by_name(number: str, table: str, metric: str = "cycles") -> dict[str, dict[str, float | int]]:
    """The comparable figures of a table, by name of our counterpart and by operation: twins first, then their
    rivals.
    """
    cells = [
        cell for cell in paper(number).table(table).figures() if cell.comparable and cell.metric == metric
    ]
    twins = [((cell.twin,), cell) for cell in cells if cell.twin]
    found: dict[str, dict[str, float | int]] = {}
    for names, cell in (*twins, *((cell.ours, cell) for cell in cells)):
        for name in names:
            assert cell.amount is not None, "it is comparable"
            found.setdefault(name, {})[cell.operation] = cell.amount
    return found


# ---- reading


@functools.cache
def _load(path: Path) -> Paper:
    try:
        found = typed_toml.parse(path.read_text(encoding="utf-8"), Paper)
        for erratum in found.errata:
            erratum.paper = found.number
        list(found.figures())  # all cells are checked now
    except BadInput as error:
        raise BadInput(f"{path.name}: {error}") from None
    return found


class _Reader(NamedTuple):
    """Converts a [[table]] of a file to a Table."""

    of: Paper
    read: TableFile

    @property
    def name(self) -> str:
        """The name of the table in errata."""
        return self.read.number if self.read.kind == "Text" else f"{self.read.kind} {self.read.number}"

    @property
    def source(self) -> str:
        if self.read.measured:
            return self.read.measured
        page = [f"page {self.read.page}"] if self.read.page else []
        return ", ".join([f"paper {self.of.number}", f"section {self.read.section}", self.name, *page])

    def table(self) -> Table:
        lines = [[cell.strip() for cell in line.split("|")] for line in self.read.grid.strip().splitlines()]
        head, nkeys = lines[0], self.read.nkeys
        keys, columns = head[:nkeys], head[nkeys:]
        names = {}
        rows = {}
        for line in lines[1:]:
            if len(line) != len(head):
                raise ValueError(f"{self.source}: {line} has {len(line)} cells, the head has {len(head)}")
            row = ", ".join(line[:nkeys])
            if row in rows:
                raise ValueError(f"{self.source}: row {row} stands there twice")
            names[row], rows[row] = tuple(line[:nkeys]), tuple(line[nkeys:])
        self._check(names, keys, columns)
        return Table(
            self.of.number,
            **attributes(self.read, "number", "kind", "caption", "line"),
            source=self.source,
            keys=tuple(keys),
            columns=tuple(columns),
            names=names,
            rows=rows,
            footnotes=tuple(self.read.footnotes),
            published=tuple(
                figure
                for row, cells in rows.items()
                for column, cell in zip(columns, cells, strict=True)
                for figure in self._figures(row, dict(zip(keys, names[row], strict=True)), column, cell)
            ),
            errata=tuple(erratum for erratum in self.of.errata if erratum.where == self.name),
        )

    def _check(self, names: Cells, keys: list[str], columns: list[str]) -> None:
        """Check that attributes refer to existing rows and columns."""
        rows = {*names, *(key for of_row in names.values() for key in of_row)}
        referred: list[tuple[Collection[str], Iterable[str]]] = [
            (rows, self.read.rows),
            (keys, self.read.keys),
            (columns, self.read.columns),
            *((names, cells.rows) for cells in self.read.cells),
            *((columns, cells.columns) for cells in self.read.cells),
        ]
        for known, said in referred:
            for name in said:
                if name not in known:
                    raise ValueError(f"{self.source}: there is no {name!r} of which something is said")

    def _figures(self, row: str, keys: dict[str, str], column: str, cell: str) -> Iterator[Published]:
        """The figure of a cell, or those of its parts. Attributes of single cells override the others."""
        of_column = dict(self.read.columns.get(column, {}))
        parts = of_column.pop("parts", [])
        if not isinstance(parts, list) or not all(isinstance(of, dict) and "name" in of for of in parts):
            raise BadInput(
                f"{self.source}, {column}: parts = {parts}; give a list of tables, each with a `name`"
            )
        said = [self.read.says, *self._row_says(row, keys), of_column]
        special = [at.says for at in self.read.cells if row in at.rows and column in at.columns]
        texts = cell.split(" / ") if parts else [cell]
        for text, part in zip(texts, map(dict, parts or [{}]), strict=True):
            label = f"{column}: {part.pop('name')}" if part else column
            general = self._union(row, label, [*said, part])
            means = {"technology": self.of.technology, **general, **self._union(row, label, special)}
            yield self._figure(row, label, text, means)

    def _row_says(self, row: str, keys: dict[str, str]) -> Iterator[Meaning]:
        """The attributes of a row: by its name, by its key cells, or (`keys`) from the text of a key cell,
        for example a width.
        """
        for name in dict.fromkeys([*keys.values(), row]):
            yield self.read.rows.get(name, {})
        for heading, what in self.read.keys.items():
            text = keys[heading]
            yield {what: int(text.replace(",", "")) if what == "nbits" else text}

    def _union(self, row: str, column: str, said: list[Meaning]) -> Meaning:
        """Merge attributes that do not contradict each other."""
        means: Meaning = {}
        for key, value in (item for part in said for item in part.items()):
            if means.setdefault(key, value) != value:
                raise ValueError(f"{self.source}, {row} / {column}: {key} is {means[key]!r} and {value!r}")
        return means

    def _figure(self, row: str, column: str, text: str, means: Meaning) -> Published:
        place = f"{self.source}, {row} / {column}"
        for key in means:
            if key not in ATTRIBUTES:
                raise BadInput(f"{place}: {unknown('key', key, ATTRIBUTES)}")
        comma = self.read.decimal == ","
        value, unit, last_digit = _number(text, comma)
        own = {
            "paper": self.of.number,
            "table": self.read.number,
            "row": row,
            "column": column,
            "printed": text,
            "value": value,
            "unit": unit or means.get("unit", ""),
            "source": self.source,
            "obtained": SIMULATED if self.read.measured else PRINTED,
            "note": " ".join(self.read.footnotes),
            "last_digit": last_digit,
        }
        for erratum in self.of.errata:
            if (erratum.where, erratum.row, erratum.column) == (self.name, row, column):
                if erratum.printed != text:
                    raise ValueError(f"{place}: {text} is printed, the erratum has {erratum.printed}")
                own |= {"corrected": _number(erratum.corrected, comma)[0], "erratum": erratum.reason}
        try:
            return msgspec.convert({**means, **own}, Published)
        except msgspec.ValidationError as error:
            raise BadInput(f"{place}: {typed_toml.explained(str(error), Published)}") from None


def _number(text: str, comma: bool) -> tuple[float | int | None, str, float]:
    """Value, unit and last digit of a cell. A comma separates thousands, or decimals in a table with decimal
    commas.
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
