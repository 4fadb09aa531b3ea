"""What is in a report: gathered once from the ledger, and written by html, text and markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import Any

from ..designs import catalogue
from ..designs.interfaces import INTERFACES, SYSTEM
from ..designs.systems import HARDWARE, SOFTWARE
from ..lab.comparison.cores import Core
from ..lab.ledger.ledger import Failure, Ledger
from . import charts, cores, datasets, proofs, protections, tables
from .captions import CHARTS
from .charts import Chart
from .comparison import Compared, compared
from .datasets import Record
from .entries import SILICON, Entry, entries_of
from .metrics import shown
from .palette import Colours, light
from .pictures import Picture, layouts, trees
from .proofs import Proven
from .published import Machine, machines
from .tables import Cell, Line, Table

TILES = 4  # criteria of the headline
MOST_LEAKING = 60  # designs whose exponents are shown one by one
SOFTWARE_FAMILY = "software"  # as ledger.family_of calls it
PAPER_NBITS = 32  # the width that is shown first, if it is there
OPENING = (SYSTEM, *INTERFACES)  # interfaces, the one that is wanted most first
CHECKS = (  # stages, and what ran before their figures were written down
    (("flow", "layout"), "in RTL and as gates"),
    (("native", "verilog", "python"), "in RTL"),
    (("fpga",), "for an FPGA, of which the RTL ran and not what was made of it"),
    (("cl",), "on the cycle-level model, without RTL"),
    (("formula",), "by formula, of which only the functional level ran and no hardware"),
)
LIBRARY = (
    "Area, time and energy: open tools, NanGate cells on FreePDK45, typical corner; energies without glitches are a lower "
    "bound. Paper 001 had commercial tools: a ratio within some ten percent says nothing."
)
SAME_SUM = ("textbook", "koc")  # values of add_red that are one form behind synthesis
ONE_FORM = (
    "The AddReds textbook and koc are nearly the same netlist here, because synthesis rewrites conditional sums: what "
    "differs between them is no property of their forms. hold_form=True leaves sums as they are written."
)


@dataclass(frozen=True)
class Trust:
    """One thing that tells whether the figures can be believed."""

    good: bool | None  # None: neither
    text: str


@dataclass(frozen=True)
class Tile:
    """What is best at one criterion, beside the best that is published."""

    group: str
    criterion: str
    design: str
    ours: Cell
    unit: str
    ratio: Cell
    rival: str | None
    stage: str

    @classmethod
    def of(cls, line: Line, cells: Mapping[str, Cell]) -> Tile:
        """From a line of the table of what is best."""
        names = ("Best at", "Design", "Unit", "Of paper", "Stage")
        criterion, design, unit, rival, stage = (cells[head].text for head in names)
        ratio = cells["Ratio"]
        known = rival if ratio.value is not None else None
        return cls(line.group, criterion, design, cells["Ours"], unit, ratio, known, stage)

    @property
    def amount(self) -> str:
        """The figure with its unit, where the criterion does not say it."""
        return self.ours.text if self.criterion.endswith(self.unit) else f"{self.ours.text} {self.unit}"

    @property
    def beside(self) -> str:
        """Ours to the published figure, in words."""
        return (
            f"{self.ratio.text} × paper {self.rival}"
            if self.rival is not None
            else "nothing comparable is published"
        )


@dataclass(frozen=True)
class Headline:
    """The tiles above everything, and of what they are."""

    group: str
    tiles: Sequence[Tile]


def listed(words: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join([*([", ".join(words[:-1])] if len(words) > 1 else []), words[-1]])


@dataclass
class Content:
    """Everything that the report shows."""

    path: Path  # of the ledger
    entries: list[Entry]
    failures: list[Failure]
    machines: list[Machine]
    details: dict[int, dict[str, Any]]
    pictures: list[Picture]
    trees: list[Picture]
    left_out: int  # pictures for which there was no room
    compared: Compared
    stale: set[int]  # measurements that were made with other sources or tools
    cores: Sequence[Core] = ()  # beside each other by the time of a product
    proven: Sequence[Proven] = ()
    asked: Sequence[str] = ()  # designs; none: all
    when: str = field(default_factory=lambda: f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC")

    @property
    def empty(self) -> bool:
        return not self.entries

    @cached_property
    def comparable(self) -> list[Entry]:
        return [entry for entry in self.entries if not entry.marks]

    @cached_property
    def families(self) -> dict[str, int]:
        """Those that are there, with their place in the catalogue: a family has the same colour in all reports."""
        known = [*dict.fromkeys(design.family for design in catalogue.designs()), SOFTWARE_FAMILY]
        present = {entry.family for entry in self.entries}
        return {
            name: place
            for place, name in enumerate([*known, *sorted(present - set(known))])
            if name in present
        }

    @cached_property
    def nbits(self) -> int:
        """The width that is looked at first: the papers', or else the one with the most silicon."""
        widths = [entry.nbits for entry in self.comparable if entry.stage in SILICON] or [
            entry.nbits for entry in self.entries
        ]
        if PAPER_NBITS in widths or not widths:
            return PAPER_NBITS
        return max(set(widths), key=widths.count)

    # ---- data

    @cached_property
    def data(self) -> dict[str, list[Record]]:
        """The data of the charts by name."""
        own, details, papers = self.comparable, self.details, self.machines
        return {
            "points": datasets.points(own, papers),
            "widths": datasets.widths(own, papers),
            "grown": datasets.grown(own),
            "areas": self._areas[0],
            "paths": datasets.paths(own, details),
            "energies": datasets.energies(own, papers),
            "leakage": datasets.leakage(own, details),
            "ratios": self.compared.records,
            "protections": protections.records(self._programs),
            "cores": cores.records(self.cores),
        }

    @cached_property
    def _programs(self) -> list[protections.Program]:
        """Of the design by which protections are compared, where it is asked for."""
        wanted = not self.empty and (not self.asked or protections.DESIGN in self.asked)
        return protections.programs(self.comparable) if wanted else []

    @cached_property
    def _areas(self) -> tuple[list[Record], list[str]]:
        return datasets.areas(self.comparable, self.details)

    def charts(self, colours: Colours = light) -> list[Chart]:
        """All charts that have something to show."""
        scatter = charts.scatter(self.families, colours)
        bars = ("family", "nbits", "interface", "stage")
        specs: list[tuple[str, str, charts.Spec, tuple[str, str] | None, tuple[str, ...]]] = [
            ("area-time", "points", scatter, ("time_ns", "area_um2"), (*bars, "operation")),
            ("energy-time", "points", scatter, ("time_ns", "energy_nj"), (*bars, "operation")),
            ("widths", "widths", charts.widths(self.families, colours), None, ("family", "operation")),
            *(
                (
                    f"{metric}-width",
                    "grown",
                    charts.grown(metric, self.families, colours),
                    None,
                    ("family", "interface", "stage", "operation"),
                )
                for metric in datasets.GROWING
            ),
            ("areas", "areas", charts.areas(self._areas[1], colours), None, bars),
            ("paths", "paths", charts.paths(self.families, colours), None, bars),
            ("energies", "energies", charts.energies(colours), None, (*bars, "operation")),
            ("leakage", "leakage", charts.leakage(colours), None, ("family", "nbits")),
            (
                "protections",
                "protections",
                charts.protections(protections.SHARES, colours),
                None,
                ("family",),
            ),
            ("cores", "cores", charts.cores(self.families, colours), None, ("family",)),
            ("ratios", "ratios", charts.ratios(colours), None, ("family", "nbits", "operation", "metric")),
        ]
        made = [
            Chart(name, *CHARTS[name], data, spec, axes, filters) for name, data, spec, axes, filters in specs
        ]
        return [chart for chart in made if self.data[chart.data] and self._drawable(chart)]

    def _drawable(self, chart: Chart) -> bool:
        """Something of ours has both metrics of its axes."""
        axes = chart.axes or ()
        own = (record for record in self.data[chart.data] if "m" in record)
        return any(all(record.get(name) for name in axes) for record in own)

    # ---- tables

    @cached_property
    def tables(self) -> dict[str, Table]:
        """All tables that have lines, by name."""
        made = [
            tables.best(self.comparable, self.machines),
            tables.designs(self.comparable, datasets.chips(self.comparable)),
            cores.table(self.cores),
            tables.critical_paths(self.data["paths"], self.comparable),
            tables.leaks(self.data["leakage"]),
            protections.table(self._programs),
            proofs.table(self.proven),
            tables.marked(self.entries),
            tables.failed(self.failures),
        ]
        return {table.name: table.explained for table in made if table.lines}

    @property
    def tables_in_order(self) -> list[Table]:
        """Those of text and Markdown: the papers' after the designs."""
        names = list(self.tables)
        place = names.index("designs") + 1 if "designs" in names else len(names)
        made = list(self.tables.values())
        return [*made[:place], *self.compared.tables, *made[place:]]

    # ---- what to think of it

    @cached_property
    def trust(self) -> list[Trust]:
        """Whether the figures can be believed, in a few lines."""
        once = {entry.measurement: entry for entry in self.entries}
        agreeing, differing = self.formulas
        told = [Trust(True, self._checked(once.values()))]
        if agreeing or differing:
            text = f"Cycles by formula and in simulation agree for {shown(agreeing)} of {shown(agreeing + len(differing))} points"
            told.append(
                Trust(not differing, f"{text}{': not for ' if differing else '.'}{', '.join(differing)}")
            )
        marked = sum(1 for entry in once.values() if entry.marks)
        if marked:
            told.append(
                Trust(False, f"{shown(marked)} marked, kept out of all comparisons: see Marked and failed.")
            )
        else:
            netlists = ": every netlist meets its clock and passes its tests" if self._silicon else ""
            told.append(Trust(True, f"None is marked{netlists}."))
        if self.failures:
            told.append(
                Trust(False, f"{shown(len(self.failures))} could not be measured: see Marked and failed.")
            )
        if self.stale:
            told.append(
                Trust(
                    False,
                    f"{shown(len(self.stale))} were measured with other sources or tools than the present ones.",
                )
            )
        if self._silicon:
            told.append(Trust(None, LIBRARY))
        if self._one_form:
            told.append(Trust(None, ONE_FORM))
        return told

    @property
    def _one_form(self) -> bool:
        """Netlists that differ in the form of a sum alone, which synthesis has rewritten, stand beside each other."""
        forms: dict[tuple[Any, ...], set[str]] = {}
        for entry in self.entries:
            if entry.stage in SILICON and str(entry.first.flow.get("hold_form")) != "True":
                other = {name: value for name, value in entry.settings.items() if name != "add_red"}
                key = (entry.subject, entry.nbits, entry.interface, entry.setup, str(sorted(other.items())))
                forms.setdefault(key, set()).add(entry.first.parameters.get("add_red", ""))
        return any(found.issuperset(SAME_SUM) for found in forms.values())

    @staticmethod
    def _checked(entries: Iterable[Entry]) -> str:
        """What ran, and gave the right results, before the figures were written down; the ledger takes no others."""
        counts = Counter(entry.stage for entry in entries)
        kinds = [
            f"{shown(count)} {says}"
            for stages, says in CHECKS
            if (count := sum(counts[stage] for stage in stages))
        ]
        return f"All {shown(counts.total())} measurements have a check that passed: {'; '.join(kinds)}."

    @property
    def _silicon(self) -> bool:
        return any(entry.stage in SILICON for entry in self.entries)

    @cached_property
    def formulas(self) -> tuple[int, list[str]]:
        """Points whose cycles by formula are those of the simulation, and the names of those where they are not."""
        expected: dict[tuple[Any, ...], float] = {}
        for entry in self.entries:
            if entry.stage == "formula":
                expected[self._work(entry)] = entry.value("cycles") or 0
        agreeing, differing = 0, []
        for entry in self.entries:
            if entry.stage in ("native", "python", "verilog") and self._work(entry) in expected:
                if expected[self._work(entry)] == entry.value("cycles"):
                    agreeing += 1
                else:
                    differing.append(f"{entry.label}, {entry.nbits} bits, {entry.operation}")
        return agreeing, differing

    @staticmethod
    def _work(entry: Entry) -> tuple[Any, ...]:
        return entry.label, entry.nbits, entry.operation, entry.interface

    @cached_property
    def interface(self) -> str:
        """Alone or with a processor: what is looked at first, as the two are not held against each other; "" if it is the same.

        Where most of what is best stands beside a published figure; among equals where there are two designs to choose from, or one.
        """
        found = {
            name: len({each.label for each in self.comparable if self._opens(each, name)}) for name in OPENING
        }
        rivals = {name: sum(tile.rival is not None for tile in self._tiles(name)) for name in OPENING}
        able = [name for name in OPENING if found[name]]
        return max(able, key=lambda name: (rivals[name], min(found[name], 2)), default="")

    def _opens(self, entry: Entry, interface: str) -> bool:
        return (entry.nbits, entry.interface) == (self.nbits, interface) and entry.stage in SILICON

    @cached_property
    def headline(self) -> Headline:
        """The answer at once: encryption at the first width, what is best at the first four criteria."""
        tiles = self._tiles(self.interface)
        return Headline(tiles[0].group if tiles else "", tiles)

    def _tiles(self, interface: str) -> list[Tile]:
        wanted = {"nbits": self.nbits, "operation": "encrypt", "interface": interface}
        best = self.tables.get("best")
        lines = best.lines if best is not None else ()
        found = [line for line in lines if all(line.of[name] == value for name, value in wanted.items())]
        return [Tile.of(line, best.by_head(line)) for line in found[:TILES]] if best is not None else []

    @property
    def finding(self) -> str:
        """The headline as a sentence: which design is best at what, and how it stands to what is published."""
        by_design: dict[str, list[str]] = {}
        for tile in self.headline.tiles:
            beside = f", {tile.beside}".replace(" (", ", ").replace(")", "") if tile.rival is not None else ""
            by_design.setdefault(tile.design, []).append(f"the {tile.criterion} ({tile.amount}{beside})")
        if not by_design:
            return ""
        parts = [f"{design} has {listed(found)}" for design, found in by_design.items()]
        return f"{self.headline.group}: {'; '.join(parts)}."


def _label(point: Mapping[str, Any]) -> str:
    """The subject of a point, of a design by a manifest without its path."""
    return str(point.get("subject")).partition("@")[0]


def gather(ledger: Ledger, asked: Sequence[str] = (), *, pictures: bool = True) -> Content:
    """Read the ledger: everything, or what is of these designs."""
    rows = ledger.rows()
    failures = ledger.failures()
    if asked:
        subjects = {
            *asked,
            *(f"{HARDWARE}{name}" for name in asked if not name.startswith((HARDWARE, SOFTWARE))),
        }
        rows = [row for row in rows if row.subject in subjects]
        failures = [each for each in failures if _label(each.point) in subjects]
    entries = entries_of(rows)
    once = {entry.measurement: entry for entry in entries}
    leaking = [number for number, entry in once.items() if entry.operation == datasets.LEAKAGE]
    wanted = [*datasets.chips(entries), *leaking[-MOST_LEAKING:]]
    details = {number: dict(ledger.measurement(number).details) for number in wanted}
    names = datasets.lines(entries)
    drawn, left_out = layouts(ledger, entries, names) if pictures else ([], 0)
    subjects_here = list(dict.fromkeys(entry.subject.removeprefix(HARDWARE) for entry in entries))
    return Content(
        path=ledger.path,
        entries=entries,
        failures=failures,
        machines=machines(),
        details=details,
        pictures=drawn,
        trees=trees(subjects_here) if pictures else [],
        compared=compared(ledger, asked) if entries else Compared(),
        cores=cores.measured(ledger, asked),
        proven=proofs.measured(ledger, asked),
        left_out=left_out,
        stale={number for number, entry in once.items() if entry.first.stale},
        asked=asked,
    )
