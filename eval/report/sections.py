"""Content of a report, gathered once from the store; html, text and markdown write it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple

from ..designs import catalogue
from ..designs.soc_system import SOFTWARE_FAMILY
from ..lab.comparison.cores import ALL, Selection
from ..lab.flow_settings import EQUIVALENCE
from ..lab.stages import FORMULA, RTL
from ..lab.store.rows import Failure, Row
from ..lab.store.snapshot import Snapshot
from . import charts, choices, cores, datasets, interface_costs, proofs, protections, tables
from .charts import Chart
from .comparison import Compared, compared
from .metrics import listed, shown
from .palette import Colours, light
from .pictures import Picture, layouts
from .published import machines
from .store_view import INTERFACES, SILICON, Entries, Entry, Records, entries_of
from .tables import Table

FEW_NAMES = 4  # of designs that a sentence lists
MOST_LEAKING = 60  # designs whose exponents are shown one by one
PAPER_NBITS = 32  # the width of the opening view among equals
COMPLETE = ("cycles", "area_um2", "energy_nj")  # figures of a complete design
CHECKS = (  # stages, and the simulation that their figures require
    (("flow", "layout"), "in RTL and as gates"),
    (("native", "verilog", "python"), "in RTL"),
    (("fpga",), "for an FPGA, where the RTL was simulated and the mapped design was not"),
    (("cl",), "on the cycle-level model, without RTL"),
)
LIBRARY = (
    "Area, time and energy: open tools, {title}; energies without glitches are a lower bound. Paper 001 used "
    "commercial tools and reports layouts: a ratio within about ten percent of 1 is not significant."
)
OPTIMISED = "optimised"  # the style
SAME_SUM = ("textbook", "koc")  # values of add_red that have one form after synthesis
ONE_FORM = (
    "The AddReds textbook and koc have nearly the same netlist in the style optimised, because it rewrites "
    "conditional sums; differences between them do not come from their forms. The style plain keeps sums as "
    "written."
)


class Trust(NamedTuple):
    """A reason to trust the figures, or not to."""

    good: bool | None  # None: neither
    text: str


class View(NamedTuple):
    """One kind of work, given by the filters that select it. Figures are comparable only within a view."""

    nbits: int
    operation: str
    interface: str


class Content:
    """All data of a report on the results of a store, or on those of some of its designs."""

    def __init__(
        self,
        results: Snapshot,
        asked: Sequence[str] = (),
        *,
        pictures: bool = True,
        kit: str = "",
        selection: Selection = ALL,
    ) -> None:
        self.results, self.path, self.asked, self.kit = results, results.path, asked, kit
        self.when = f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC"
        rows = [
            row
            for row in results.rows
            # a pass is left out to see what it gives, not to compete
            if (row.kit == kit or row.stage not in SILICON) and "leave_out" not in row.flow
            if self._includes(row) and selection.has(row)
        ]
        self.failures = [item for item in results.failures if self._includes(item)]
        self.entries = entries_of(rows)
        # measurements made with other sources or tools
        self.stale = {entry.measurement for entry in self.once if entry.stale}
        leaking = [entry.measurement for entry in self.once if entry.operation == datasets.LEAKAGE]
        details = {entry.measurement: dict(entry.first.details) for entry in self.once}
        self.origins = {
            number: {name: own.get(name) for name in ("commit", "corner")} for number, own in details.items()
        }
        self.verdicts = {number: own.get(EQUIVALENCE) for number, own in details.items()}
        self.details = {number: details[number] for number in (*self.chips, *leaking[-MOST_LEAKING:])}
        self.pictures: list[Picture] = []
        self.left_out = 0  # pictures without room on the page
        if pictures:
            self.pictures, self.left_out = layouts(self.entries, self.chips)
        self.machines = machines()
        # papers are compared with the default kit, and have no protections
        papers = self.entries and not kit and selection == ALL
        self.compared = compared(results, asked) if papers else Compared()
        self.all_cores = cores.found(results, asked, kit, selection)
        self.cores = cores.measured(self.all_cores)  # compared by the time of a product
        self.interfaces = interface_costs.steps(self.comparable)
        verdicts = [
            item
            for item in results.verdicts
            if not asked or {item.subject, item.subject.partition("@")[0]} & {*asked}
        ]
        self.proven, self.attacked = proofs.proven(verdicts), proofs.attacked(verdicts)

    def _includes(self, item: Row | Failure) -> bool:
        """Whether a result is of a requested design, alone or behind the processor."""
        return not self.asked or bool({item.subject, item.design} & {*self.asked})

    @property
    def empty(self) -> bool:
        return not self.entries

    @cached_property
    def once(self) -> list[Entry]:
        """One entry of each measurement."""
        return list({entry.measurement: entry for entry in self.entries}.values())

    @cached_property
    def rows(self) -> dict[int, Row]:
        """All figures, by the number of their row."""
        return {row.id: row for entry in self.entries for row in entry.rows.values()}

    @cached_property
    def comparable(self) -> list[Entry]:
        return [entry for entry in self.entries if not entry.marks]

    @cached_property
    def families(self) -> list[str]:
        """The families of the entries, in the order of the catalogue."""
        known = [*dict.fromkeys(design.family for design in catalogue.designs()), SOFTWARE_FAMILY]
        present = {entry.family for entry in self.entries}
        return [name for name in [*known, *sorted(present - set(known))] if name in present]

    @cached_property
    def views(self) -> list[View]:
        """All views with figures, the most complete first; among equals decryption, the operation of the
        first section, and the papers' width.
        """
        found: dict[View, dict[str, bool]] = {}
        for entry in self.comparable:
            if entry.operation != datasets.LEAKAGE:
                designs = found.setdefault(View(entry.nbits, entry.operation, entry.interface), {})
                complete = all(entry.value(name) is not None for name in COMPLETE)
                designs[entry.subject] = complete or designs.get(entry.subject, False)

        def place(view: View) -> tuple[Any, ...]:
            designs, operation = found[view], view.operation
            turn = [*reversed(tables.OPERATIONS), operation].index(operation)
            interface = [*INTERFACES].index(view.interface)
            return -sum(designs.values()), turn, -len(designs), view.nbits != PAPER_NBITS, interface, view

        return sorted(found, key=place)

    @property
    def opening(self) -> View | None:
        """The view that the page opens with."""
        return self.views[0] if self.views else None

    # ---- data

    @cached_property
    def chips(self) -> dict[int, str]:
        """The names of the silicon measurements that are shown individually."""
        return datasets.lines(self.comparable)

    @cached_property
    def data(self) -> dict[str, Records]:
        """The data of the charts by name."""
        own, details, papers, names = self.comparable, self.details, self.machines, self.chips
        return {
            "points": datasets.points(own, papers),
            "widths": datasets.widths(own, papers),
            "grown": datasets.grown(own),
            "areas": self._areas[0],
            "energies": datasets.energies(own, names, papers),
            "leakage": datasets.leakage(own, details),
            "ratios": self.compared.records,
            "cores": cores.records(self.cores),
            "choices": choices.records(self.all_cores),
        }

    @cached_property
    def paths(self) -> Records:
        """The longest path and the clock of each measurement."""
        return datasets.paths(self.comparable, self.chips, self.details)

    @cached_property
    def programs(self) -> list[protections.Program]:
        """The programs of the design whose protections are compared; none if the report leaves that design
        out.
        """
        wanted = not self.empty and (not self.asked or protections.DESIGN in self.asked)
        return protections.programs(self.comparable) if wanted else []

    @cached_property
    def _areas(self) -> tuple[Records, list[str]]:
        return datasets.areas(self.comparable, self.chips, self.details)

    def charts(self, colours: Colours = light) -> list[Chart]:
        """All charts with data: at least one record of ours has the metrics of both axes."""
        style, bars = charts.Style(self.families, colours), ("family", "nbits", "interface", "stage")
        operation, family = (*bars, "operation"), ("family",)
        grown = ("family", "interface", "stage", "operation")
        scatter = charts.scatter(style)
        made = [
            Chart("area-time", scatter, operation, ("time_ns", "area_um2")),
            Chart("energy-time", scatter, operation, ("time_ns", "energy_nj")),
            Chart("widths", charts.widths(style), ("family", "operation")),
            *(Chart(f"{metric}-width", charts.grown(metric, style), grown) for metric in datasets.GROWING),
            Chart("areas", charts.areas(self._areas[1], style), bars),
            Chart("energies", charts.energies(style), operation),
            Chart("leakage", charts.leakage(style), ("family", "nbits")),
            Chart("choices", charts.private(style), family),
            Chart("cores", charts.cores(style), family),
            Chart("ratios", charts.ratios(style), ("family", "nbits", "operation", "metric")),
        ]
        return [
            chart
            for chart in made
            if any(
                "m" in record and all(record.get(name) for name in chart.axes)
                for record in self.data[chart.data]
            )
        ]

    # ---- tables

    @cached_property
    def tables(self) -> dict[str, Table]:
        """All tables that have lines, by name."""
        own = self.comparable
        made = [
            tables.best([entry for entry in own if self._certain(entry)], self.machines),
            tables.designs(own, self.chips),
            tables.others(own, self.chips),
            choices.table(self.all_cores),
            choices.terms(self.all_cores),
            cores.table(self.cores),
            interface_costs.table(self.interfaces),
            tables.critical_paths(self.paths, own),
            tables.leaks(self.data["leakage"]),
            protections.table(self.programs),
            proofs.table(self.proven),
            proofs.attacks(self.attacked),
            tables.layouts(self.comparable, self.chips, self.details),
            tables.marked(self.entries),
            tables.failed(self.failures),
        ]
        return {table.name: table.explained for table in made if table.lines}

    @property
    def tables_in_order(self) -> list[Table]:
        """The tables of text and Markdown; those of papers follow the designs."""
        names = list(self.tables)
        place = names.index("designs") + 1 if "designs" in names else len(names)
        made = list(self.tables.values())
        return [*made[:place], *self.compared.tables, *made[place:]]

    # ---- trust

    @property
    def trust(self) -> Iterator[Trust]:
        """Statements about whether the figures can be trusted."""
        netlists = [entry for entry in self.once if entry.stage in SILICON]
        # each measurement has a functional run; the store accepts none without
        counts = Counter(entry.stage for entry in self.once if entry.stage != FORMULA)
        kinds = [
            f"{shown(count)} {says}"
            for stages, says in CHECKS
            if (count := sum(counts[stage] for stage in stages))
        ]
        if counts:
            checked = f"All {shown(counts.total())} measurements passed a functional check"
            yield Trust(True, f"{checked}: {'; '.join(kinds)}.")
        if points := [entry for entry in self.once if entry.stage == FORMULA]:
            yield self._by_formula(points)
        if marked := sum(bool(entry.marks) for entry in self.once):
            yield Trust(
                False, f"{shown(marked)} marked and excluded from all comparisons: see Marked and failed."
            )
        else:
            met = ": every netlist meets its clock and passes its tests" if netlists else ""
            yield Trust(True, f"No measurement is marked{met}.")
        if self.failures:
            failed = shown(len(self.failures))
            yield Trust(False, f"Points that could not be measured: {failed}, see Marked and failed.")
        if self.stale:
            stale = shown(len(self.stale))
            yield Trust(False, f"{stale} were measured with other sources or tools than the present ones.")
        if netlists:
            yield Trust(None, self._proved(netlists))
            yield Trust(None, LIBRARY.format(title=self._library))
        if self._one_form:
            yield Trust(None, ONE_FORM)

    def _proved(self, netlists: Entries) -> str:
        """How many netlists are proved equivalent to their RTL, and the verdicts on the others."""
        verdicts = [(entry, self.verdicts[entry.measurement]) for entry in netlists]
        recorded = [verdict for _, verdict in verdicts if verdict]
        proved = sum(verdict["equivalent"] for verdict in recorded)
        unknown = sum(entry.flow.get(EQUIVALENCE) is True for entry, verdict in verdicts if not verdict)
        others = {
            "undecided in some parts": len(recorded) - proved,
            "without a recorded verdict": unknown,
            "without a proof (--skip equivalence)": len(netlists) - len(recorded) - unknown,
        }
        text = f"{shown(proved)} of {shown(len(netlists))} netlists are proved equivalent to their RTL"
        rest = "; ".join(f"{shown(count)} {says}" for says, count in others.items() if count)
        return f"{text}. The others ran their tests on the gates: {rest}." if rest else f"{text}."

    @property
    def _library(self) -> str:
        """The title of the kit."""
        from ...flow.kit import kit  # the flow needs the extra of its name

        return kit.described(self.kit or kit.DEFAULT.stem).title

    @property
    def _one_form(self) -> bool:
        """Whether some netlists differ only in the form of a sum, which synthesis rewrites."""
        forms: dict[tuple[Any, ...], set[str]] = {}
        for entry in self.entries:
            if entry.stage in SILICON and entry.flow.get("style") == OPTIMISED:
                other = sorted(item for item in entry.settings.items() if item[0] != "add_red")
                key = (entry.subject, entry.nbits, entry.interface, entry.setup, str(other))
                forms.setdefault(key, set()).add(entry.parameters.get("add_red", ""))
        return any(found.issuperset(SAME_SUM) for found in forms.values())

    def _by_formula(self, points: Entries) -> Trust:
        """How many points are by formula, and whether simulation confirms the formulas."""
        agreeing, differing = self.formulas
        known = agreeing + len(differing)
        text = f"{shown(len(points))} points are by formula, where only the functional model ran."
        if known:
            text += (
                f" Cycles by formula and in simulation agree for {shown(agreeing)} of {shown(known)} points"
            )
            text += f", but not for {', '.join(differing)}." if differing else "."
        if alone := sorted({entry.label for entry in points if not self._certain(entry)}):
            names = listed(alone) if len(alone) <= FEW_NAMES else f"{shown(len(alone))} designs"
            text += f" No simulation here confirms the formulas of {names}, so they cannot rank best."
        return Trust(not differing if known else None, text)

    @cached_property
    def formulas(self) -> tuple[int, list[str]]:
        """The number of points whose formula and simulation agree, and the names of the other points."""
        differing = [
            f"{one.label}, {one.nbits} bits, {one.operation}" for one, agree in self._simulated if not agree
        ]
        return len(self._simulated) - len(differing), differing

    @cached_property
    def _simulated(self) -> list[tuple[Entry, bool]]:
        """The simulated points that have a formula, and whether the two cycle counts agree."""
        work = attrgetter("label", "nbits", "operation", "interface")
        formulas = {work(entry): entry.value("cycles") for entry in self.entries if entry.stage == FORMULA}
        return [
            (entry, entry.value("cycles") == formulas[work(entry)])
            for entry in self.entries
            if entry.stage in RTL and work(entry) in formulas
        ]

    @cached_property
    def _confirmed(self) -> set[str]:
        """The designs whose formula agrees with all of their simulations."""
        differing = {entry.label for entry, agree in self._simulated if not agree}
        return {entry.label for entry, _ in self._simulated} - differing

    def _certain(self, entry: Entry) -> bool:
        """Whether the figure was measured, or its formula is confirmed by simulation."""
        return entry.stage != FORMULA or entry.label in self._confirmed

    @property
    def lead(self) -> str:
        """The first sentences of the page: the fastest machines."""
        return choices.finding(self.all_cores)
