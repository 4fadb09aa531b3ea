"""A placed design as data: rows, cells, ports, and what was put into the netlist; the file placement.json."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...fl.errors import BadInput
from ..netlist.netlist import PORT, Netlist

TREE = "clock_tree"  # module of what placement adds for the clock, and prefix of its names
HOLD = "hold_delays"  # likewise of the buffers that make short paths longer
MAX_CELLS = 250_000  # 4 times the largest machine measured
SECONDS_A_CELL, MIB_A_CELL = (
    0.002,
    0.0125,
)  # of placing or routing, measured at 68,000 cells; more by a half at 4 times as many


@dataclass(frozen=True)
class Row:
    """A row of sites: its lower left corner and what it holds."""

    x_um: float
    y_um: float
    sites: int
    orient: str  # "N", or "FS" upside down, so that rows share their rails


@dataclass(frozen=True)
class Place:
    """Where a cell lies: the lower left corner of its outline."""

    kind: str
    x_um: float
    y_um: float
    orient: str


@dataclass(frozen=True)
class PortPin:
    """A port's bit at the edge of the die."""

    net: str
    direction: str
    layer: str
    x_um: float
    y_um: float
    side: str


@dataclass
class Placement:
    """What placement.json says."""

    design: str
    die_um: tuple[float, float]
    core_um: tuple[float, float, float, float]
    rows: list[Row]
    instances: dict[str, Place]
    pins: dict[str, PortPin]
    density: float  # area of the cells / area of the core
    clock_tree: dict[str, Any]
    hold: dict[str, Any]  # delays that were put in
    sizing: list[dict[str, Any]]  # rounds of other sizes and buffers by the wires of the placement
    seconds: dict[str, float]
    tool: str

    def as_json(self) -> dict[str, Any]:
        """The contents of placement.json."""
        return {
            "design": self.design,
            "die_um": self.die_um,
            "core_um": self.core_um,
            "density": self.density,
            "tool": self.tool,
            "seconds": self.seconds,
            "clock_tree": self.clock_tree,
            "hold": self.hold,
            "sizing": self.sizing,
            "rows": [[row.x_um, row.y_um, row.sites, row.orient] for row in self.rows],
            "pins": {
                name: [pin.net, pin.direction, pin.layer, pin.x_um, pin.y_um, pin.side]
                for name, pin in self.pins.items()
            },
            "instances": {
                name: [each.kind, each.x_um, each.y_um, each.orient] for name, each in self.instances.items()
            },
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Placement:
        """The placement that `as_json` wrote."""
        return cls(
            data["design"],
            tuple(data["die_um"]),
            tuple(data["core_um"]),
            [Row(*row) for row in data["rows"]],
            {name: Place(*each) for name, each in data["instances"].items()},
            {name: PortPin(*each) for name, each in data["pins"].items()},
            data["density"],
            data["clock_tree"],
            data["hold"],
            data["sizing"],
            data["seconds"],
            data["tool"],
        )


def load(path: Path) -> Placement:
    """The placement in placement.json."""
    try:
        return Placement.from_json(json.loads(Path(path).read_text()))
    except OSError as error:
        raise BadInput(f"the placement {path} cannot be read: {error.strerror}; run the step place") from None
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path} is no placement ({error!r}): run the step place again") from None


def refuse_large(netlist: Netlist, step: str) -> None:
    """BadInput, with the estimate, for a design that is too large for Coriolis."""
    cells = len(netlist.cells)
    if cells > MAX_CELLS:
        minutes, gib = 1.5 * cells * SECONDS_A_CELL / 60, cells * MIB_A_CELL / 1024
        raise BadInput(
            f"{netlist.name} has {cells:,} cells, of which the step {step} would take about {minutes:.0f} minutes and "
            f"{gib:.1f} GiB: at most {MAX_CELLS:,} are taken; choose a smaller design, or stop before the step place"
        )


def wired_nets(netlist: Netlist) -> list[int]:
    """The nets that are wires: of at least two terminals, and no constant (ports may be tied to one)."""
    wires = []
    for net, name in enumerate(netlist.nets):
        ends = len(netlist.sinks[net]) + (netlist.driver[net] is not None)
        if net in netlist.constants:
            cells = [terminal for terminal in netlist.sinks[net] if terminal[0] != PORT]
            if cells:
                raise BadInput(
                    f"{cells[0][0]}/{cells[0][1]} is tied to {name}: constants need cells (hilomap in synthesis) to be placed"
                )
        elif ends > 1:
            wires.append(net)
    return wires
