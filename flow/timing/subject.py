"""The subject of a timing analysis: a netlist with its constraints and its wires."""

from dataclasses import dataclass, replace
from pathlib import Path

from ..kit.constraints import Constraints
from ..kit.kit import Kit
from ..kit.liberty import Library
from ..netlist.netlist import Netlist
from . import nldm, wire_table
from .wire_table import Source, WireTable

NO_WIRES = "no_wires"  # a wire-load model of a library of its own
FAR_NS = 1e9


@dataclass(frozen=True)
class Subject:
    """A netlist under constraints; wires of a table, by a model of the library, or none."""

    netlist_v: Path
    netlist: Netlist
    top: str
    kit: Kit
    asked: Constraints
    table: WireTable | None = None
    spef: Path | None = None  # the same wires as trees; None: each is a star
    wire_load: str | None = None

    @property
    def library(self) -> Library:
        return self.kit.library

    @property
    def source(self) -> Source:
        """The source of the wires."""
        known = wire_table.source(self.table) if self.table is not None else "none"
        if known != "none":
            return known
        if self.wire_load:
            return "model"
        return "placement" if self.spef else "none"

    @property
    def other_model(self) -> str | None:
        """The model, or NO_WIRES, whose setup slack is reported as well; None once the wires are known."""
        if self.source not in ("none", "model") or self.spef is not None:
            return None
        return NO_WIRES if self.wire_load else self.library.default_wire_load or None

    def estimate(self, asked: Constraints | None = None) -> nldm.Timing:
        """Analyse by the flow's own engine."""
        load = None if self.wire_load == NO_WIRES else self.wire_load
        return nldm.analyze(self.netlist, self.library, asked or self.asked, wires=self.table, wire_load=load)

    def estimate_inside(self) -> tuple[nldm.Timing, list[nldm.Endpoint]]:
        """An analysis as if no input changed, and its ends of paths for hold, worst first."""
        timing = self.estimate(replace(self.asked, input_hold_ns=FAR_NS))
        return timing, [end for end in timing.hold if end.slack_ns < FAR_NS / 2]
