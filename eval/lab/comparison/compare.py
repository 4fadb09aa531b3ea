"""Published figures next to ours: which are comparable, in what sense, and the verdict.

    for each in compare(published.paper("001").figures(), ledger):  # Comparison or LeftOut, in the order of
                                                                    the paper

Beside a published figure stand its twin (our rebuilding of the paper's machine) and a machine of ours that
does the same work. How far that goes depends on the figure, and is its basis:

    work     cycles, of the same work: they compare directly, whatever the technology
    cells    area and energy of 001: the course's standard cells (FreePDK45, NanGate) are ours as well, the
             tools are not
    family   resources of an FPGA of the same family: the paper's tools pack and share, ours count before
             packing
    ratio    across technologies only ratios inside one paper compare with the same ratios inside ours: the
             figure is divided by that of
             the paper's own base machine (BASES), and ours by that of this machine's twin

Everything else is left out, with the reason. Figures of ours are rows of the ledger; one with marks is kept
out and its mark shown, and one of other sources (stale) stands there only if nothing of the present ones
does, and says so.
"""

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ....fl.errors import BadInput
from ...designs.interfaces import DEFAULT, PROCESSOR_PORT, SYSTEM, UNIT
from ...designs.system_catalogue import HARDWARE, SOFTWARE
from ...designs.workload_names import DECRYPT, ENCRYPT, PRODUCT
from ...papers.published import Published, paper
from ..flow_settings import FLOW_DEFAULTS, optional_flow
from ..ledger.ledger import Ledger
from ..ledger_rows import Row
from ..point import Point
from ..stages import CL, FLOW, FORMULA, FPGA, LAYOUT, NATIVE, NETLIST, PYTHON, RTL, VERILOG

WORK, CELLS, FAMILY, RATIO = "work", "cells", "family", "ratio"
WORDS = {
    WORK: "same work",
    CELLS: "same cells, other tools",
    FAMILY: "same FPGA family, counted before packing",
    RATIO: "other technology, ratio only",
}
# of a paper the machine to which its others are held where only ratios compare: the one that it improves on
BASES = {"000": "mm-m-000", "004": "mmmul-004"}
CLOCK_NS = 3.0  # of paper 001
STYLE, OTHER_STYLE = "default", "fast"  # of synthesis; the other one where the first misses the clock
GLITCHES = "energy_with_glitches_nj"  # the upper bound of energy_nj
STALE = "stale"  # of other sources or tools than the present ones
CLOSE = 0.02  # relative: no difference worth a word
CLOSE_TO_A_MEAN = 0.05  # of one key: lengths of exponents and ones in them differ by as much
SAME_RATIO = 0.25  # likewise, of ratios across technologies

# operations of the papers -> the workload, and how it differs
WORKLOADS = {
    "encrypt": (ENCRYPT, ""),
    "decrypt": (DECRYPT, ""),
    "mean": (DECRYPT, "one key for a mean over keys"),
    "modexp": (DECRYPT, "a private exponent of ours, of the same length"),
    PRODUCT: (PRODUCT, "from product to product"),
}
OTHER = "another structure, of another size"  # where there is no twin
FAMILIES = {"Cyclone V": "cyclone-v", "Artix-7": "artix-7", "Virtex-E": "virtex-e"}
# simulation of the machine itself before its formula, which the tests hold against it
STAGES_OF_CYCLES = (*RTL, CL, FORMULA)
NO_HARDWARE = {FORMULA: "by formula", CL: "by the cycle-level model"}  # no RTL ran
MOST_SIMULATED_NBITS = 256  # wider machines are asked for their formula
# what is measured unasked: a minute or two
MOST_FLOW_NBITS = MOST_FPGA_NBITS = 64

_RESOURCES = {"lut": "lut", "ff": "ff", "dsp": "dsp", "alm": "alm", "le": "alm", "slice": "slice"}
# remarks on a paper as a whole
NOTES = {
    "000": "Paper 000: its times follow from the delay of an operator and not from the clock that its "
    "systems reach, and its logic "
    "elements are a unit of its own: ALMs of ours stand beside them, each as a ratio to the paper's MM (M) "
    "of the same width.",
    "001": "Paper 001: the message that its systems encrypt is not said, ours is 5745 of its Figure 1; the "
    "cycles of naive machines "
    "depend on it. Its areas and energies are of layouts, made by commercial tools with DesignWare "
    "multipliers.",
    "002": "Paper 002: its total counts products alone; systolic-002 takes a cycle a word more, until the "
    "last word is there. At the "
    "paper's widths it takes moduli two bits shorter (`modexlab show papers 002 --errata`).",
    "003": "Paper 003: a request of serial-003 is taken when its numbers are in the memories, which the "
    "paper does not count either. "
    "Ours is the whole machine with its handshakes; slices are estimated from LUTs and registers.",
    "004": "Paper 004: its cycles are means over keys that it does not name. One key of ours stands for "
    "them here; over hundreds the "
    "twins come within 2 % (tests/papers/test_paper_004.py). ALMs of ours are an estimate.",
}


class Side(NamedTuple):
    """A machine of ours beside a published figure."""

    name: str
    point: Point  # to measure if there is no row
    row: Row | None = None
    base: Row | None = None  # what it is divided by
    base_point: Point | None = None
    upper: Row | None = None  # of an energy, with all glitches of full swing
    retry: Point | None = None  # what may serve where the row has marks

    @property
    def value(self) -> float | None:
        """As the published figure is shown: a figure, or a ratio to the base."""
        if self.row is None or (self.base_point is not None and self.base is None):
            return None
        return self.row.value / self.base.value if self.base is not None else self.row.value

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(row for row in (self.row, self.base) if row is not None)

    @property
    def marks(self) -> tuple[str, ...]:
        """Why it must not be compared."""
        return tuple(dict.fromkeys(mark for row in self.rows for mark in row.marks))

    @property
    def stale(self) -> bool:
        """Measured with other sources or tools than the present ones."""
        return any(row.stale for row in self.rows)

    @property
    def reference(self) -> bool:
        """It is a reference result, and not of the user's ledger."""
        return any(row.reference for row in self.rows)

    @property
    def impossible(self) -> str:
        """Why there can be no such machine, if so."""
        return next(filter(None, map(impossible, self.missing)), "")

    @property
    def missing(self) -> tuple[Point, ...]:
        """Return the points to measure; if hardware is asked for, a formula does not count."""
        stage = None if self.row is None else self.row.stage
        lacks = stage is None or (stage in NO_HARDWARE and stage != self.point.stage)
        wanted = [self.point if lacks else None, self.retry, self.base_point if self.base is None else None]
        return tuple(filter(None, wanted))


class Comparison(NamedTuple):
    """A published figure, and ours."""

    figure: Published
    basis: str
    value: float  # the figure, or its ratio to that of the base
    twin: Side | None
    ours: Side | None
    base: str = ""
    note: str = ""  # in which the work differs

    @property
    def sides(self) -> tuple[Side, ...]:
        return tuple(side for side in (self.twin, self.ours) if side is not None)

    def ratio(self, side: Side | None) -> float | None:
        """Return the ratio of ours to the published figure; None if it is not measured, or excluded."""
        if side is None or side.value is None or side.marks:
            return None
        return side.value / self.value if self.value else None

    @property
    def verdict(self) -> str:
        """Return the verdict in a few words."""
        for side in filter(None, (self.ours, self.twin)):
            if (ratio := self.ratio(side)) is not None:
                break
        else:
            marks = [mark for side in self.sides for mark in side.marks]
            return f"kept out: {marks[0].partition(': ')[0]}" if marks else "not measured"
        if self.basis == RATIO:
            said = _order(self.value, ratio)
        elif self.figure.metric == "energy_nj":
            said = _between(ratio, side.upper.value / self.value if side.upper else None)
        else:
            said = _judged(ratio, self.figure)
        who = "" if side is self.ours else "twin "
        other = "ours is kept out" if who and self.ours and self.ours.marks else ""
        stale = STALE if side.stale else ""
        words = (f"{who}{said}: {WORDS[self.basis]}", *_of_row(side), stale, other, self.note)
        return "; ".join(filter(None, words))


class LeftOut(NamedTuple):
    """A published figure that nothing of ours is held against."""

    figure: Published
    reason: str


@functools.cache
def impossible(point: Point) -> str:
    """Return why there is no such machine; empty if there is."""
    try:
        point.check()
    except BadInput as error:
        return str(error)
    return ""


def _judged(ratio: float, figure: Published) -> str:
    """In the words of the metric: whether fewer cycles are better depends on what they are bought with."""
    if abs(ratio - 1) <= (CLOSE_TO_A_MEAN if figure.operation == "mean" else CLOSE):
        return "equal"
    less, more = ("smaller", "larger") if figure.metric == "area_um2" else ("fewer", "more")
    return less if ratio < 1 else more


def _between(lower: float, upper: float | None) -> str:
    """Return the verdict on an energy of ours between two bounds, as shares of the figure; None: without the
    upper bound.
    """
    if lower > 1:
        return "more, also without glitches"
    if upper is None:
        return "lower bound only"
    return f"within our bounds (x to {upper:.3g} with glitches)" if upper >= 1 else "less, also with glitches"


def _of_row(side: Side) -> Iterator[str]:
    """Describe the run: that no hardware ran, or which settings of the flow are unusual."""
    if side.row is None:
        return
    stage, flow = side.row.stage, side.row.flow
    if stage in NO_HARDWARE:
        yield NO_HARDWARE[stage]
    if stage == FLOW:
        yield "before layout"
    for name in ("style", "density") if stage in NETLIST else ():
        if name in flow and flow[name] != FLOW_DEFAULTS[stage][name]:
            yield f"{name} {flow[name]}"


def _order(published: float, ratio: float) -> str:
    """Whether two ratios say the same: of figures on other technologies no more can be known."""
    if abs(ratio - 1) <= SAME_RATIO:
        return "agrees"
    return "same order" if (published - 1) * (ratio * published - 1) > 0 else "other order"


def label(figure: Published) -> str:
    """The machine in the paper's words: of columns and rows those which stand for machines."""
    if figure.design:
        return figure.design
    table = paper(figure.paper).table(figure.table)
    subjects = {item.subject for item in table.figures() if item.subject}
    own = {item.subject for item in table.figures() if item.column == figure.column and item.subject}
    if len(subjects) > 1 and len(own) == 1:
        return figure.column
    parts = [
        f"{key} {text}" if text.isdigit() else text
        for key, text in zip(table.keys, figure.row.split(", "), strict=False)
        if text.replace(",", "") != str(figure.nbits)
    ]
    return ", ".join(parts) or figure.column


def compare(figures: Iterable[Published], ledger: Ledger) -> list[Comparison | LeftOut]:
    """All figures, each beside what the ledger has, or with the reason why it is left out."""
    found = LedgerRows(ledger)
    return [comparison for figure in figures for comparison in _compared(figure, found)]


def _compared(figure: Published, found: "LedgerRows") -> Iterator[Comparison | LeftOut]:
    """One comparison for each machine of ours that does the same work, and at least one if there is a
    twin.
    """
    question = _question(figure)
    if isinstance(question, str):
        yield LeftOut(figure, question)
        return
    sides = {name: question.side(name, found) for name in (figure.twin, *figure.ours) if name}
    impossible = {name: why for name, side in sides.items() if (why := side.impossible)}
    ours = [name for name in figure.ours if name not in impossible]
    twin = None if figure.twin in impossible else sides.get(figure.twin)
    if not ours and twin is None:
        yield LeftOut(figure, f"ours cannot be made: {impossible[figure.subject]}")
        return
    apart = "" if twin else "no twin of this width" if figure.twin else OTHER
    note = "; ".join(filter(None, (question.note, apart)))
    for name in ours or ("",):
        yield Comparison(figure, question.basis, question.value, twin, sides.get(name), question.base, note)


# ---- which figures, and by what


Fits = Callable[[Row], bool]


class _Question(NamedTuple):
    """How a figure is compared: what is looked up of each machine of ours."""

    figure: Published
    basis: str
    value: float
    metric: str  # of ours
    operation: str
    point: Callable[[str], Point]  # to measure, by the name of the machine
    fits: Fits  # rows of such a machine that answer
    base: str = ""
    note: str = ""

    def side(self, name: str, found: "LedgerRows") -> Side:
        best = functools.partial(found.best, metric=self.metric, operation=self.operation)
        point = self.point(name)
        row = best(point, fits=self.fits)
        if self.base:
            base_point = self.point(self.base)
            return Side(name, point, row, best(base_point, fits=self.fits), base_point)
        upper = found.beside(row, GLITCHES) if row is not None and self.metric == "energy_nj" else None
        retry = None
        if row is not None and row.marks and point.stage == FLOW:
            # the other style of synthesis, as the first missed the clock, if it has not been tried
            other = point.at(flow=(*point.flow, ("style", OTHER_STYLE)))
            tried = best(other, fits=lambda row: row.point == other.as_json())
            retry = other if tried is None or tried.stale else None
        return Side(name, point, row, upper=upper, retry=retry)


def _question(figure: Published) -> _Question | str:
    """How to compare it, or why it is not compared."""
    if reason := _not_compared(figure):
        return reason
    if figure.metric == "cycles":
        return _by_cycles(figure)
    if figure.metric in ("area_um2", "energy_nj"):
        return _by_flow(figure)
    return _by_fpga(figure)


def _not_compared(figure: Published) -> str:
    """The reasons that need no more than the figure itself."""
    metric = figure.metric
    if figure.amount is None:
        return "our copy has no such cell" if not figure.readable else "the paper gives no number"
    if figure.caveat:
        return figure.caveat
    if figure.against or metric in ("ratio", "percent"):
        return "a ratio of figures of this paper"
    if metric in ("", "count"):
        return "no figure of a machine's cost or speed"
    if metric == "area_time":
        return "a product of two figures of this paper"
    if metric == "power_mw":
        return "a mean over a window with what is around the operation: its energy is compared"
    if figure.window not in ("", "normalised"):
        return "holds the call as well: the normalised figure is compared"
    if not figure.subject:
        return "no machine of ours does this work"
    if metric in ("tristate", "gate"):
        return "no open synthesis counts them"
    if metric in ("time_ns", "clock_ns", "step_ns"):
        return "times of another technology: cycles and frequencies are compared"
    return ""


def _point(figure: Published, name: str, **fields: Any) -> Point:
    """A machine of ours with the paper's interface; its settings are those of its twin, and of designs of
    ours that have the same parameters.
    """
    settings = tuple(figure.settings.items()) if name in (figure.twin, *figure.alike) else ()
    interface = SYSTEM if name.startswith((SOFTWARE, HARDWARE)) else figure.interface or DEFAULT.name
    return Point(name, figure.nbits, settings, **{"interface": interface, **fields})


def _by_cycles(figure: Published) -> _Question:
    workload, note = WORKLOADS[figure.operation]

    def point(name: str) -> Point:
        whole = _point(figure, name, workload=workload)
        wide = whole.nbits > MOST_SIMULATED_NBITS and whole.interface == DEFAULT.name
        return whole.at(stage=FORMULA) if wide or workload == PRODUCT else whole

    return _Question(
        figure,
        WORK,
        _amount(figure),
        "cycles",
        workload,
        point,
        lambda row: row.stage in STAGES_OF_CYCLES,
        note=note,
    )


def _by_flow(figure: Published) -> _Question:

    return _Question(
        figure,
        CELLS,
        _amount(figure),
        figure.metric,
        figure.operation,
        functools.partial(_point, figure, stage=FLOW, flow=(("clock_period", CLOCK_NS),)),
        lambda row: row.stage in NETLIST and row.flow["clock_period"] == CLOCK_NS and usual(row),
    )


def usual(row: Row, *besides: str) -> bool:
    """Whether a row has no flow settings other than these; any other setting produces a different chip."""
    optional = optional_flow(row.stage)
    allowed = {*FLOW_DEFAULTS[row.stage], *besides}
    return all(
        name in allowed or (name in optional and optional[name] == value) for name, value in row.flow.items()
    )


def _by_fpga(figure: Published) -> _Question | str:
    """Resources of the same family directly; frequencies, and units that our tools do not have, as ratios."""
    device = next((name for family, name in FAMILIES.items() if family in figure.technology), "")
    routed = figure.metric == "fmax_mhz"
    if routed:
        device = "ecp5"  # the one that open tools place and route
    elif figure.metric not in _RESOURCES:
        return f"nothing of ours is measured in {figure.unit or figure.metric}"
    if not device:
        return f"no open synthesis for {figure.technology}"
    basis, value, base = FAMILY, _amount(figure), ""
    if routed or figure.metric == "le":
        basis, base = RATIO, BASES.get(figure.paper, "")
        if base and figure.twin == base:
            return "the base of the ratios"
        of_base = _base_amount(figure, base) if base else None
        if of_base is None:
            return "another technology, and the paper has no machine of its own to hold it against"
        value /= of_base

    in_system = {"interface": PROCESSOR_PORT.name} if figure.interface == SYSTEM else {}
    interface = {"interface": UNIT} if figure.operation == PRODUCT else in_system
    flow = (("device", device), ("pnr", routed))
    return _Question(
        figure,
        basis,
        value,
        _RESOURCES.get(figure.metric, figure.metric),
        "",
        functools.partial(_point, figure, stage=FPGA, flow=flow, **interface),
        lambda row: row.stage == FPGA and row.flow.get("device") == device,
        base,
        "ours without a processor" if in_system else "",
    )


def _base_amount(figure: Published, base: str) -> float | None:
    """The same figure of the paper's base machine."""
    wanted = figure.metric, figure.operation, figure.nbits, base
    for item in paper(figure.paper).table(figure.table).figures():
        if (item.metric, item.operation, item.nbits, item.twin) == wanted and item.amount is not None:
            return item.amount
    return None


def _amount(figure: Published) -> float:
    assert figure.amount is not None
    return figure.amount


# ---- what the ledger has


class LedgerRows:
    """The ledger's rows by what they are figures of: of each point the newest measurement, and the newest of
    the present sources.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._rows: dict[tuple[Any, ...], list[Row]] = {}
        self._failures = {
            (*machine_of(failure.point), failure.point["stage"]): failure for failure in ledger.failures()
        }
        found = ledger.rows(history=True)
        newest = {row.key: row.measurement for row in found}
        self._newest = {_name(row.point): row.measurement for row in found}
        for row in found:
            if row.measurement == newest[row.key]:
                self._rows.setdefault((*machine_of(row.point), row.metric, row.operation), []).append(row)

    def best(self, point: Point, metric: str, operation: str, fits: Fits) -> Row | None:
        """Return the best matching row of this machine: of the present sources, without marks, of the highest
        stage, the newest.
        """
        rows = self._rows.get((*machine_of(point.as_json()), metric, operation), ())
        return max(filter(self._counts, filter(fits, rows)), key=_worth, default=None)

    def _counts(self, row: Row) -> bool:
        """Sources may have become what they were: then the last measurement is not the one of the present."""
        return self._newest[_name(row.point)] == row.measurement or not row.stale

    def failure(self, point: Point) -> str:
        """Why this machine could not be measured at this stage, the last time that it was tried."""
        failed = self._failures.get((*machine_of(point.as_json()), point.stage))
        return "" if failed is None else failed.message

    def beside(self, row: Row, metric: str, operation: str | None = None) -> Row | None:
        """Another metric of the same measurement, and of the same operation if no other is given."""
        asked = row.operation if operation is None else operation
        rows = self._rows.get((*machine_of(row.point), metric, asked), ())
        return next((item for item in rows if item.measurement == row.measurement), None)


def _name(point: Mapping[str, Any]) -> str:
    return json.dumps(point, sort_keys=True)


def machine_of(point: Mapping[str, Any]) -> tuple[Any, ...]:
    """The design, width, interface and settings of a point as JSON."""
    return point["subject"], point["nbits"], point["interface"], _name(point["settings"])


_ORDER = (FORMULA, CL, PYTHON, VERILOG, NATIVE, FPGA, FLOW, LAYOUT)


def _worth(row: Row) -> tuple[bool, bool, int, bool, int]:
    usual = row.flow.get("style", STYLE) == STYLE
    return not row.stale, row.comparable, _ORDER.index(row.stage), usual, row.id


# ---- what is missing


class Missing(NamedTuple):
    """Points without a figure, or with one of other sources, in the order in which they are wanted."""

    quick: list[Point]
    long: list[Point]


def missing(compared: Iterable[Comparison | LeftOut], *, stale: bool = True) -> Missing:
    """Return the points to measure for complete comparisons; stale: also those measured with other
    sources.
    """
    points = []
    for comparison in compared:
        for side in comparison.sides if isinstance(comparison, Comparison) else ():
            old = [row for row in side.rows if stale and row.stale]
            points += [*side.missing, *(Point.from_json(row.point) for row in old)]
    result = Missing([], [])
    for point in dict.fromkeys(points):
        (result.long if _long(point) else result.quick).append(point)
    return result


def _long(point: Point) -> bool:
    """It takes more than a minute or two."""
    if point.stage == FPGA:
        return point.nbits > MOST_FPGA_NBITS or dict(point.flow).get("pnr", False)
    return point.stage in NETLIST and point.nbits > MOST_FLOW_NBITS
