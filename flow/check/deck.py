"""Design rules of a layout by the foundry's deck for KLayout, and the layout against its netlist.

Every marker counts; the rules are those that the deck has by default. Markers inside a cell of the library
that the deck sets on the cell alone, too, are the library's and counted apart. A kit whose deck needs a newer
application has the PDK's table of values checked instead (values.py). connections.py extracts the metal and
compares it with the nets, antennas.py compares its areas with those of the gates, and transistors.py runs the
foundry's own comparison of layout and netlist.
"""

import importlib.metadata
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from ...fl.errors import BadInput
from ..files import replace_text, scratch
from ..kit.kit import Kit
from ..layout import fill
from ..layout.placed import Placed
from ..product import Product
from . import antennas, connections, transistors, values
from .application import run_deck, version
from .transistors import Transistors

NO_DECK = "the kit has none"
FILE = "rules.lyrdb"
ALONE_UM = 10  # between cells that are checked alone


class Rules(Product):
    """Markers by rule: rules.json."""

    FILE = "rules.json"
    STEP = "rules"

    deck: str  # its file; "" where no deck was run and no table of values checked
    why_not: str = ""
    tool: str = ""
    checks: int = 0  # of the deck, or by the table
    markers: Mapping[str, int] = {}  # by rule, of those with any
    of_cells: Mapping[str, int] = {}  # markers that cells of the library have by themselves, likewise
    # faults by kind, such as open nets; empty if the layout has no wires
    connections: Mapping[str, int] = {}
    antennas: dict[str, int] | None = None  # pieces beyond the LEF's ratios by layer; None where unknown
    densities: Mapping[str, float] = {}  # share of the die under metal, by layer
    transistors: Transistors | None = None  # by the kit's deck, where it has one and it ran
    no_wires: str = ""  # reason for a layout without detailed routing
    only_values: bool = False  # by the table: metal, vias, areas and grid

    @property
    def wrong(self) -> bool:
        """Whether there is a marker or a fault, or no wire that could have one."""
        different = self.transistors is not None and self.transistors.differences
        faults = self.total or sum(self.connections.values()) or self.antennas or different
        return bool(faults or self.no_wires)

    @property
    def total(self) -> int:
        """All markers."""
        return sum(self.markers.values())

    @property
    def text(self) -> str:
        """The result in a line."""
        if not self.deck:
            return f"not checked by a deck: {self.why_not}"
        count = f"{self.total:,} markers" if self.total else "no markers"
        found = "".join(f", {rule} {number:,}" for rule, number in self.markers.items())
        faults = ", ".join(f"{number:,} {what}" for what, number in self.connections.items())
        wires = f"; {faults}" if faults else f"; no wires: {self.no_wires}" if self.no_wires else ""
        if self.antennas is not None:
            beyond = ", ".join(f"{number:,} on {layer}" for layer, number in self.antennas.items())
            wires += f"; antennas beyond the LEF's ratios: {beyond or 'none'}"
        if self.densities:
            shares = ", ".join(f"{share:.0%} of {layer}" for layer, share in self.densities.items())
            wires += f"; metal is {shares}"
        if self.of_cells:
            own = ", ".join(f"{rule} {number:,}" for rule, number in self.of_cells.items())
            wires += f"; in the library's cells themselves: {own}"
        kind = "of metal, vias, areas and grid by the values in " if self.only_values else "by "
        return f"{count} of {self.checks} checks {kind}{self.deck} ({self.tool}){found}{wires}"


def check(gds: Path, kit: Kit, out: Path, placed: Placed | None = None, no_wires: str = "") -> Rules:
    """Run the kit's deck over a layout, and compare its metal with a netlist that has wires; write rules.json
    and the markers.
    """
    report = out / FILE
    try:
        found = _by_deck(gds, kit, kit.drc, report) if kit.drc else _by_values(gds, kit, report)
    except BadInput as error:
        found = Rules("", str(error))
    if found.why_not != NO_DECK and placed is not None:
        faults = connections.compare(gds, placed)
        found.connections = {fault.what: int(fault.theirs) for fault in faults}
        found.antennas = antennas.exceeded(gds, placed)
        found.densities = fill.densities(gds, placed.lef)
        if found.deck:
            found.transistors = transistors.compare(gds, kit, placed)
    elif found.deck:
        found.no_wires = no_wires
    if not report.exists():
        replace_text(report, "<report-database/>\n")
    found.write(out)
    return found


def _by_deck(gds: Path, kit: Kit, deck: Path, report: Path) -> Rules:
    """Run the deck over a layout and, if it has markers, over each of its cells alone."""
    tool = f"KLayout {version()}"
    run_deck(deck, {"in_gds": gds, "report_file": report}, report)
    found = Rules(deck.name, "", tool, *read(report))
    if not found.markers:
        return found
    with scratch() as folder:
        alone = folder / gds.name
        _write_alone(gds, kit, alone)
        run_deck(deck, {"in_gds": alone, "report_file": folder / FILE}, folder / FILE)
        own = {marker for marker in _markers(folder / FILE) if marker.cell in kit.geometry.macros}
    found.checks, found.markers = read(report, own)
    found.of_cells = _counted(marker for marker in _markers(report) if marker in own)
    return found


def _write_alone(gds: Path, kit: Kit, path: Path) -> None:
    """Write a layout of the library's cells in another one, as they stand there, far from one another."""
    import klayout.db as db  # not at the top: not everyone has it

    content, macros = db.Layout(), kit.geometry.macros
    content.read(str(gds))
    top = content.top_cell()
    kinds = {
        (item.cell_index, item.trans.rot): item.trans for item in top.each_inst() if item.cell.name in macros
    }
    top.clear()
    x = 0
    for (cell, _), turn in kinds.items():
        turn.disp = db.Vector()
        box = content.cell(cell).bbox().transformed(turn)
        turn.disp = db.Vector(x - box.left, -box.bottom)
        top.insert(db.CellInstArray(cell, turn))
        x += box.width() + round(ALONE_UM / content.dbu)
    for index in [cell.cell_index() for cell in content.top_cells() if cell.name != top.name]:
        content.prune_cell(index, -1)
    content.write(str(path))


def _by_values(gds: Path, kit: Kit, report: Path) -> Rules:
    """Check by the table of values, if the kit has one."""
    if kit.values is None:
        return Rules("", NO_DECK)
    values.markers(gds, kit, kit.values, report)
    tool = f"the package klayout {importlib.metadata.version('klayout')}"
    return Rules(kit.values.name, "", tool, *read(report), only_values=True)


class _Marker(NamedTuple):
    """A marker of a report: its rule, the cell that it is in, and where."""

    rule: str
    cell: str
    shape: str


def read(report: Path, own: Container[_Marker] = ()) -> tuple[int, dict[str, int]]:
    """The number of checks in a report of KLayout, and by rule the markers that are not the cells' own."""
    found = _markers(report)
    checks = sum(1 for _ in ElementTree.parse(report).getroot().iter("category")) - len(found)
    return checks, _counted(marker for marker in found if marker not in own)


def _counted(markers: Iterable[_Marker]) -> dict[str, int]:
    return dict(sorted(Counter(marker.rule for marker in markers).items()))


def _markers(report: Path) -> list[_Marker]:
    """All markers; a rule without its description, and variants of a cell by the cell's name."""
    return [
        _Marker(
            re.sub(r"^'(.*)'$", r"\1", item.findtext("category", "")).partition(" : ")[0],
            item.findtext("cell", "").partition("$VAR")[0],
            " ".join(value.text or "" for value in item.iterfind("values/value")),
        )
        for item in ElementTree.parse(report).getroot().iter("item")
    ]
