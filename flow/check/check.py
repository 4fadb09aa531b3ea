"""Runs all crosschecks of a run: timing, area, power, layout rules and connectivity.

`figures` receives the files of a run (graph/runner.py) by name and makes all checks for which they suffice;
`left_out` lists the other checks.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from ...fl.errors import BadInput
from .. import description, product
from ..files import scratch
from ..gates import activity_file
from ..gates.activity_file import INERTIAL, SUFFIXES, ZERO_DELAY
from ..kit import kit
from ..kit.constraints import Constraints
from ..kit.kit import Kit
from ..layout.placed import Placed
from ..layout.routing import Routing
from ..netlist import yosys
from ..netlist.netlist import read
from ..netlist.verilog import verilog
from ..synth.area import PLACED, Area
from ..synth.sizing.report import Sizing
from ..timing import opensta, wire_table
from ..timing.report import TimingReport
from ..timing.subject import Subject
from ..timing.timing import with_openers
from . import connections, power, shapes, timing
from .report import Compared, FiguresReport

Say = Callable[[str], None]
Files = Mapping[str, Path]
AREA = "area"
DRAWN = (shapes.CHECK, connections.CHECK)
EQUAL_AREA = 5e-6  # Yosys prints six digits
BEFORE, SUPPOSED, AFTER = "before layout", "with supposed wires", "after layout"
ONE_CORNER = "one corner, typical: the kit has no other, so that nothing is said of slow and fast silicon"
NO_INTERNAL = "OpenSTA reads no tables of internal power from this library"
NO_RULES = "antennas and densities are not checked: the LEF of the kit has no rules for them"


def figures(files: Files, say: Say = lambda _: None, *, adk: Path | None = None) -> FiguresReport:
    """All comparisons of a run; BadInput if OpenSTA is missing."""
    return _Run(files, kit.find(adk), say).report()


class _Run:
    """The comparisons of one run."""

    def __init__(self, files: Files, files_of_kit: Kit, say: Say) -> None:
        self.files, self.kit, self.say = files, files_of_kit, say
        self.design = description.load(files["design.json"])
        self.left_out: dict[str, str] = {}

    def report(self) -> FiguresReport:
        """All of them."""
        compared = [*self._before(), *self._after()]
        notes = [ONE_CORNER] if len(self.kit.libraries) == 1 else []
        lef = self.kit.tech_lef.read_text() if "tech_lef" in self.kit.others else ""
        notes += [NO_RULES] if "ANTENNA" not in lef and "DENSITY" not in lef else []
        return FiguresReport(self.design.name, self.design.nbits, compared, self.left_out, notes)

    def _before(self) -> Iterator[Compared]:
        netlist = read(self.files["netlist.json"], self.kit.library)
        yield from self._area("netlist.v", Area.FILE, BEFORE)
        if (asked := self._asked("timing.json")) is None:
            return
        self.say("timing")
        subject = with_openers(Subject(self.files["netlist.v"], netlist, self.design.top, self.kit, asked))
        yield from self._corners(subject, BEFORE)
        sizing = product.read(self.files[Sizing.FILE], Sizing)
        if sizing.wire_ff is not None:
            yield from self._supposed(subject, sizing.wire_ff)
        subject = replace(subject, wire_load=self.kit.library.default_wire_load or None)
        yield from self._power("activity", subject, BEFORE)

    def _corners(self, subject: Subject, where: str) -> Iterator[Compared]:
        """The slacks at each corner of the kit."""
        several = len(self.kit.libraries) > 1
        for corner in self.kit.libraries:
            at = with_openers(replace(subject, kit=replace(self.kit, corner=corner))) if several else subject
            yield from timing.compare(at, f"{where}, {corner} corner" if several else where)

    def _supposed(self, subject: Subject, wire_ff: float) -> list[Compared]:
        """By a netlist with our names of nets: Yosys' Verilog has others for those without one."""
        wires = timing.supposed(subject.netlist, wire_ff)
        with scratch() as work:
            path = work / "netlist.v"
            path.write_text(verilog(subject.netlist))
            wired = with_openers(replace(subject, netlist_v=path, table=wires))
            return timing.compare(wired, SUPPOSED)

    def _after(self) -> Iterator[Compared]:
        if "netlist_placed.json" not in self.files:
            self.left_out |= dict.fromkeys(DRAWN, "there is no layout")
            return
        placed = Placed.read(self.files, self.kit)
        yield from self._area("netlist_placed.v", PLACED, AFTER)
        if asked := self._asked("timing_post.json"):
            self.say("timing after layout")
            table, spef = wire_table.load(self.files["wires.json"]), self.files["wires.spef"]
            place = self.files["netlist_placed.v"]
            subject = Subject(place, placed.netlist, self.design.top, self.kit, asked, table, spef)
            subject = with_openers(subject)
            yield from self._corners(subject, AFTER)
            yield from self._power("activity_post", subject, AFTER)
        yield from self._drawn(placed)

    def _drawn(self, placed: Placed) -> Iterator[Compared]:
        if "layout.gds" not in self.files:
            self.left_out |= dict.fromkeys(DRAWN, "the layout was not drawn")
            return
        self.say("shapes")
        gds, routing = self.files["layout.gds"], product.read(self.files[Routing.FILE], Routing)
        yield from shapes.compare(gds, self.kit)
        if not routing.detailed.done:
            self.left_out[connections.CHECK] = "the layout has no wires: it was not routed in detail"
            return
        self.say("connections")
        yield from connections.compare(gds, placed)

    def _asked(self, file: str) -> Constraints | None:
        """Return the constraints under which the run analysed the netlist."""
        if file not in self.files:
            self.left_out[timing.CHECK] = self.left_out[power.CHECK] = f"the run has no {file}"
            return None
        said = product.read(self.files[file], TimingReport)
        return Constraints(**{**said.constraints, "clock_ns": said.clock_ns})

    def _area(self, netlist_v: str, report: str, where: str) -> list[Compared]:
        self.say("area")
        ours = product.read(self.files[report], Area)
        return compare_area(self.files[netlist_v], self.design.top, ours, self.kit, where)

    def _power(self, folder: str, subject: Subject, where: str) -> list[Compared]:
        """The longest operation, with its glitches where they are known."""
        recorded = sorted(self.files[folder].glob("*.json")) if folder in self.files else []
        activities = [activity_file.load(path) for path in recorded if ".drawn" not in path.name]
        chosen = [item for item in activities if item.mode == INERTIAL]
        chosen = chosen or [item for item in activities if item.mode == ZERO_DELAY]
        if not chosen:
            self.left_out[power.CHECK] = "no activity was recorded"
            return []
        longest = max(chosen, key=lambda item: item.cycles)
        self.say(f"power of {longest.workload}{SUFFIXES[longest.mode]}")
        found = power.compare(power.Powered(subject, longest), where)
        if len(found) == len((power.SWITCHING, power.LEAKAGE)):
            self.left_out[f"{power.CHECK} inside cells"] = NO_INTERNAL
        return found


def compare_area(netlist_v: Path, top: str, ours: Area, kit: Kit, where: str) -> list[Compared]:
    """Area and number of cells, by Yosys (`stat -liberty`)."""
    with scratch() as work:
        lib, netlist = yosys.scripted(kit.lib, work), yosys.scripted(netlist_v, work)
        script = (
            f"read_liberty -lib {lib}\nread_verilog {netlist}\nhierarchy -check -top {top}\n"
            f"tee -q -o stat.json stat -liberty {lib} -json\n"
        )
        yosys.run("stat", script, work)
        text = (work / "stat.json").read_text()
    found = json.loads(text[text.index("{") :])["design"]
    area, cells, tool = float(found["area"]), int(found["num_cells"]), f"Yosys {yosys.version()}"
    near = abs(ours.area_um2 - area) <= EQUAL_AREA * area
    return [
        Compared(AREA, f"area {where}", ours.area_um2, round(area, 6), near, tool, "um2"),
        Compared(AREA, f"cells {where}", ours.cells, cells, ours.cells == cells, tool),
    ]


def require() -> None:
    """BadInput if OpenSTA is missing, without which there is no second opinion."""
    try:
        opensta.program()
    except BadInput as error:
        raise BadInput(
            f"{str(error).partition(':')[0]}, and is the second opinion: {opensta.INSTALL}"
        ) from None
