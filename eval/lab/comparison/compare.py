"""Published figures next to ours: which are comparable, on what basis, and the verdict.

    for item in compare(paper("001").figures(), Snapshot(store)):  # Comparison or LeftOut, in paper order

A published figure is compared with its twin (our reconstruction of the paper's machine) and with a machine of
ours that does the same work. The basis states how comparable they are:

    work     cycles of the same work: comparable on any technology
    cells    area and energy of 001: the same standard cells (FreePDK45, NanGate), but other tools
    family   resources of an FPGA of the same family: the paper's tools pack and share, ours count before
             packing
    ratio    another technology: the figure is divided by that of the paper's base machine (BASES), and ours
             by that of this machine's twin

All other figures are left out, with the reason. Our figures are rows of the store. A row with marks is
excluded, and its mark is shown. A stale row (measured with other sources) is used only if no current row
exists, and is reported as stale.
"""

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from ....fl.errors import BadInput
from ...designs.interfaces import DEFAULT, PROCESSOR_PORT, SYSTEM, UNIT
from ...designs.system_catalogue import HARDWARE, SOFTWARE
from ...designs.workload_names import DECRYPT, ENCRYPT, PRODUCT
from ...papers.published import Published, paper
from ..flow_settings import FLOW_DEFAULTS, optional_flow
from ..point import Point
from ..stages import CL, FLOW, FORMULA, FPGA, NETLIST, RTL
from ..store.rows import Row
from ..store.snapshot import OTHER_STYLE, Fits, Snapshot

WORK, CELLS, FAMILY, RATIO = "work", "cells", "family", "ratio"
WORDS = {
    WORK: "same work",
    CELLS: "same cells, other tools",
    FAMILY: "same FPGA family, counted before packing",
    RATIO: "other technology, ratio only",
}
# base machine of a paper for comparisons by ratio: the machine that the paper improves on
BASES = {"000": "mm-m-000", "004": "mmmul-004"}
CLOCK_NS = 3.0  # of paper 001
GOAL = "goal"  # of synthesis
GLITCHES = "energy_with_glitches_nj"  # the upper bound of energy_nj
STALE = "stale"  # measured with other sources or tools than the current ones
CLOSE = 0.02  # relative difference that counts as equal
CLOSE_TO_A_MEAN = 0.05  # likewise for a single key: exponents differ by as much in length and ones
SAME_RATIO = 0.25  # likewise for ratios across technologies

# operation in a paper -> our workload, and how it differs
WORKLOADS = {
    "encrypt": (ENCRYPT, ""),
    "decrypt": (DECRYPT, ""),
    "mean": (DECRYPT, "one key for a mean over keys"),
    "modexp": (DECRYPT, "a private exponent of ours, of the same length"),
    PRODUCT: (PRODUCT, "from product to product"),
}
OTHER = "another structure, of another size"  # without a twin
FAMILIES = {"Cyclone V": "cyclone-v", "Artix-7": "artix-7", "Virtex-E": "virtex-e"}
# in order of preference: simulation first, then the formula, which tests compare with simulation
STAGES_OF_CYCLES = (*RTL, CL, FORMULA)
NO_HARDWARE = {FORMULA: "by formula", CL: "by the cycle-level model"}  # no RTL ran
MOST_SIMULATED_NBITS = 256  # wider machines use their formula
# widest points measured without --full: a minute or two each
MOST_FLOW_NBITS = MOST_FPGA_NBITS = 64

_RESOURCES = {"lut": "lut", "ff": "ff", "dsp": "dsp", "alm": "alm", "le": "alm", "slice": "slice"}
# remarks on whole papers
NOTES = {
    "000": "Paper 000: its times follow from the delay of an operator, not from the clock that its systems "
    "reach. Its logic elements are a unit of their own; our ALMs are shown next to them, each as a ratio to "
    "the paper's MM (M) of the same width.",
    "001": "Paper 001: it does not state the message that its systems encrypt. Ours is 5745, from its Figure "
    "1; the cycles of naive machines depend on it. Its areas and energies are of layouts made by commercial "
    "tools with DesignWare multipliers.",
    "002": "Paper 002: its total counts products alone; systolic-002 takes one more cycle per word, until "
    "the last word is complete. At the paper's widths it accepts moduli two bits shorter (`modexlab show "
    "papers 002 --errata`).",
    "003": "Paper 003: serial-003 accepts a request when its numbers are in the memories; the paper does not "
    "count loading either. Ours is the whole machine with its handshakes; slices are estimated from LUTs and "
    "registers.",
    "004": "Paper 004: its cycles are means over keys that it does not name. Here one key of ours represents "
    "them; over hundreds of keys the twins agree within 2 % (tests/papers/test_paper_004.py). Our ALMs are "
    "an estimate.",
}


class Side(NamedTuple):
    """A machine of ours that is compared with a published figure."""

    name: str
    point: Point  # to measure if there is no row
    row: Row | None = None
    base: Row | None = None  # the divisor of a ratio
    base_point: Point | None = None
    upper: Row | None = None  # for an energy: the same with full-swing glitches
    retry: Point | None = None  # an alternative to a row with marks
    failure: str = ""  # why it could not be measured

    @property
    def value(self) -> float | None:
        """The figure or its ratio to the base, in the form of the published value; None if it is not
        measured.
        """
        if self.base_point is not None:
            return self.row.value / self.base.value if self.row and self.base else None
        return self.row.value if self.row else None

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(row for row in (self.row, self.base) if row is not None)

    @property
    def marks(self) -> tuple[str, ...]:
        """The reasons why the rows must not be compared."""
        return tuple(dict.fromkeys(mark for row in self.rows for mark in row.marks))

    @property
    def stale(self) -> bool:
        """Whether a row was measured with other sources or tools than the current ones."""
        return any(row.stale for row in self.rows)

    @property
    def unverified(self) -> tuple[str, ...]:
        """The reasons to measure rows again."""
        return tuple(dict.fromkeys(row.unverified for row in self.rows if row.unverified))

    @property
    def reference(self) -> bool:
        """Whether a row is a reference result, not from the user's store."""
        return any(row.reference for row in self.rows)

    @property
    def impossible(self) -> str:
        """Why no such machine can exist; empty if it can."""
        return next(filter(None, map(impossible, self.missing)), "")

    @property
    def missing(self) -> tuple[Point, ...]:
        """The points to measure. If hardware is wanted, a row without it (NO_HARDWARE) does not count."""
        stage = None if self.row is None else self.row.stage
        lacks = stage is None or (stage in NO_HARDWARE and stage != self.point.stage)
        wanted = [self.point if lacks else None, self.retry, self.base_point if self.base is None else None]
        return tuple(filter(None, wanted))


class Comparison(NamedTuple):
    """A published figure and our counterparts."""

    figure: Published
    basis: str
    value: float  # the figure, or its ratio to the base
    twin: Side | None
    ours: Side | None
    base: str = ""
    note: str = ""  # how the work differs
    impossible: tuple[tuple[str, str], ...] = ()  # machines of ours that cannot exist, and the reason

    @property
    def sides(self) -> tuple[Side, ...]:
        return tuple(side for side in (self.twin, self.ours) if side is not None)

    def ratio(self, side: Side | None) -> float | None:
        """Our figure divided by the published one; None if it is not measured or is excluded."""
        if side is None or side.value is None or side.marks:
            return None
        return side.value / self.value if self.value else None

    @property
    def verdict(self) -> str:
        """The verdict as a short phrase."""
        for side in filter(None, (self.ours, self.twin)):
            if (ratio := self.ratio(side)) is not None:
                break
        else:
            marks = [mark for side in self.sides for mark in side.marks]
            if marks:
                return f"kept out: {marks[0].partition(': ')[0]}"
            return "could not be measured" if any(side.failure for side in self.sides) else "not measured"
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
    """A published figure that is not compared, with the reason."""

    figure: Published
    reason: str


@functools.cache
def impossible(point: Point) -> str:
    """Why the machine of this point cannot exist; empty if it can."""
    try:
        point.check()
    except BadInput as error:
        return str(error)
    return ""


def _judged(ratio: float, figure: Published) -> str:
    """A neutral word for the ratio, by metric: whether fewer cycles are better depends on what they cost
    elsewhere.
    """
    if abs(ratio - 1) <= (CLOSE_TO_A_MEAN if figure.operation == "mean" else CLOSE):
        return "equal"
    less, more = ("smaller", "larger") if figure.metric == "area_um2" else ("fewer", "more")
    return less if ratio < 1 else more


def _between(lower: float, upper: float | None) -> str:
    """The verdict on an energy of ours between two bounds, both divided by the published figure; `upper` is
    None if it is unknown.
    """
    if lower > 1:
        return "more, also without glitches"
    if upper is None:
        return "lower bound only"
    return f"within our bounds (x to {upper:.3g} with glitches)" if upper >= 1 else "less, also with glitches"


def _of_row(side: Side) -> Iterator[str]:
    """Remarks on the run: no hardware ran, it precedes layout, or settings of the flow are not default."""
    if side.row is None:
        return
    stage, flow = side.row.stage, side.row.flow
    if stage in NO_HARDWARE:
        yield NO_HARDWARE[stage]
    if stage == FLOW:
        yield "before layout"
    for name in ("style", GOAL, "density") if stage in NETLIST else ():
        if name in flow and flow[name] != FLOW_DEFAULTS[stage].get(name):
            yield f"{name} {flow[name]}"


def _order(published: float, ratio: float) -> str:
    """Whether two ratios agree or at least rank designs the same way; nothing finer is comparable."""
    if abs(ratio - 1) <= SAME_RATIO:
        return "agrees"
    return "same order" if (published - 1) * (ratio * published - 1) > 0 else "other order"


def label(figure: Published) -> str:
    """The machine's name in the paper: its own, or the row and column headings that name machines."""
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


def compare(figures: Iterable[Published], found: Snapshot) -> list[Comparison | LeftOut]:
    """A comparison of each figure with the results, or the reason why the figure is left out."""
    return [comparison for figure in figures for comparison in _compared(figure, found)]


def _compared(figure: Published, found: Snapshot) -> Iterator[Comparison | LeftOut]:
    """One comparison per machine of ours that does the same work; a single one if there is only the twin."""
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
        yield Comparison(
            figure,
            question.basis,
            question.value,
            twin,
            sides.get(name),
            question.base,
            note,
            tuple(impossible.items()),
        )


# ---- which figures are compared, and how


class _Question(NamedTuple):
    """How a figure is compared: what to look up for each of our machines."""

    figure: Published
    basis: str
    value: float
    metric: str  # our metric
    operation: str
    point: Callable[[str], Point]  # the point to measure, by machine name
    fits: Fits  # whether a row of the machine is usable
    base: str = ""
    note: str = ""

    def side(self, name: str, found: Snapshot) -> Side:
        best = functools.partial(found.best, metric=self.metric, operation=self.operation)
        point = self.point(name)
        row = best(point, fits=self.fits)
        failure = "" if row else found.failure(point)
        if self.base:
            base_point = self.point(self.base)
            return Side(name, point, row, best(base_point, fits=self.fits), base_point, failure=failure)
        upper = found.beside(row, GLITCHES) if row is not None and self.metric == "energy_nj" else None
        retry = None
        if row is not None and row.marks and point.stage == FLOW:
            # the first style missed the clock: try the other one, unless that has been done
            other = point.at(flow=(*point.flow, ("style", OTHER_STYLE)))
            tried = best(other, fits=lambda row: row.point == other.as_json())
            retry = other if tried is None or tried.stale else None
        return Side(name, point, row, upper=upper, retry=retry, failure=failure)


def _question(figure: Published) -> _Question | str:
    """How to compare a figure, or the reason why it is not compared."""
    if reason := _not_compared(figure):
        return reason
    amount = figure.amount
    assert amount is not None
    if figure.metric == "cycles":
        return _by_cycles(figure, amount)
    if figure.metric in ("area_um2", "energy_nj"):
        return _by_flow(figure, amount)
    return _by_fpga(figure, amount)


def _not_compared(figure: Published) -> str:
    """The reason against comparing a figure that follows from the figure alone; empty if there is none."""
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
        return "times of another technology: cycles are compared"
    if metric == "fmax_mhz":
        return "clock of an FPGA: ours are counted, not placed and routed"
    return ""


def _point(figure: Published, name: str, **fields: Any) -> Point:
    """A machine of ours with the paper's interface. The twin, and designs of ours with equivalent parameters,
    get the settings of the figure.
    """
    settings = tuple(figure.settings.items()) if name in (figure.twin, *figure.alike) else ()
    interface = SYSTEM if name.startswith((SOFTWARE, HARDWARE)) else figure.interface or DEFAULT.name
    return Point(name, figure.nbits, settings, **{"interface": interface, **fields})


def _by_cycles(figure: Published, amount: float) -> _Question:
    workload, note = WORKLOADS[figure.operation]

    def point(name: str) -> Point:
        whole = _point(figure, name, workload=workload)
        wide = whole.nbits > MOST_SIMULATED_NBITS and whole.interface == DEFAULT.name
        return whole.at(stage=FORMULA) if wide or workload == PRODUCT else whole

    return _Question(
        figure,
        WORK,
        amount,
        "cycles",
        workload,
        point,
        lambda row: row.stage in STAGES_OF_CYCLES,
        note=note,
    )


def _by_flow(figure: Published, amount: float) -> _Question:
    return _Question(
        figure,
        CELLS,
        amount,
        figure.metric,
        figure.operation,
        functools.partial(_point, figure, stage=FLOW, flow=(("clock_period", CLOCK_NS),)),
        lambda row: row.stage in NETLIST and row.flow["clock_period"] == CLOCK_NS and usual(row),
    )


def usual(row: Row, *besides: str) -> bool:
    """Whether a row has default values for all optional settings of the flow except the goal of synthesis and
    `besides`; any other value produces a different chip.
    """
    optional = optional_flow(row.stage)
    allowed = {*FLOW_DEFAULTS[row.stage], GOAL, *besides}
    return all(
        name in allowed or (name in optional and optional[name] == value) for name, value in row.flow.items()
    )


def _by_fpga(figure: Published, amount: float) -> _Question | str:
    """Resources of the same FPGA family compare directly; units that our tools do not report, as ratios."""
    device = next((name for family, name in FAMILIES.items() if family in figure.technology), "")
    if figure.metric not in _RESOURCES:
        return f"nothing of ours is measured in {figure.unit or figure.metric}"
    if not device:
        return f"no open synthesis for {figure.technology}"
    basis, value, base = FAMILY, amount, ""
    if figure.metric == "le":
        basis, base = RATIO, BASES.get(figure.paper, "")
        if base and figure.twin == base:
            return "the base of the ratios"
        of_base = _base_amount(figure, base) if base else None
        if of_base is None:
            return "another technology, and the paper has no machine of its own to hold it against"
        value /= of_base

    in_system = {"interface": PROCESSOR_PORT.name} if figure.interface == SYSTEM else {}
    interface = {"interface": UNIT} if figure.operation == PRODUCT else in_system
    return _Question(
        figure,
        basis,
        value,
        _RESOURCES[figure.metric],
        "",
        functools.partial(_point, figure, stage=FPGA, flow=(("device", device),), **interface),
        lambda row: row.stage == FPGA and row.flow.get("device") == device,
        base,
        "ours without a processor" if in_system else "",
    )


def _base_amount(figure: Published, base: str) -> float | None:
    """The same figure of the paper's base machine; None if the paper does not give it."""
    wanted = figure.metric, figure.operation, figure.nbits, base
    for item in paper(figure.paper).table(figure.table).figures():
        if (item.metric, item.operation, item.nbits, item.twin) == wanted and item.amount is not None:
            return item.amount
    return None


# ---- missing points


class Missing(NamedTuple):
    """Points without a current figure, in the order in which they are wanted."""

    quick: list[Point]
    long: list[Point]


def missing(compared: Iterable[Comparison | LeftOut], *, stale: bool = True, failed: bool = True) -> Missing:
    """The points to measure for complete comparisons; stale, failed: including those measured with other
    sources, and those that could not be measured.
    """
    points = []
    for comparison in compared:
        for side in comparison.sides if isinstance(comparison, Comparison) else ():
            if side.failure and not failed:
                continue
            old = [row for row in side.rows if stale and row.stale]
            points += [*side.missing, *(Point.from_json(row.point) for row in old)]
    result = Missing([], [])
    for point in dict.fromkeys(points):
        (result.long if _long(point) else result.quick).append(point)
    return result


def _long(point: Point) -> bool:
    """Whether measuring takes more than a minute or two."""
    if point.stage == FPGA:
        return point.nbits > MOST_FPGA_NBITS
    return point.stage in NETLIST and point.nbits > MOST_FLOW_NBITS
