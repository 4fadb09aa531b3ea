"""A placed design as data: rows, cells, ports and inserted cells, in the file placement.json."""

import msgspec

from ...fl.errors import BadInput
from ..netlist.netlist import PORT, Netlist
from ..product import Product
from ..synth.sizing.report import Round

TREE = "clock_tree"  # module of what placement adds for the clock, and prefix of its names
HOLD = "hold_delays"  # likewise of the buffers that make short paths longer
MAX_CELLS = 400_000  # half as many again as the unit of heap with 1,024 bits has once it is buffered
# of placing with sizes, clock tree and hold, or of routing; seconds more by a half, MiB as many, at 200,000
# cells
SECONDS_A_CELL, MIB_A_CELL = 0.002, 0.018  # measured at 55,000 to 206,000, without sizing by routes


class Row(msgspec.Struct, frozen=True, array_like=True):
    """A row of sites: its lower left corner, its number of sites, and its orientation."""

    x_um: float
    y_um: float
    sites: int
    orient: str  # "N", or "FS" upside down, so that rows share their rails


class Place(msgspec.Struct, frozen=True, array_like=True):
    """Position of a cell: the lower left corner of its outline."""

    kind: str
    x_um: float
    y_um: float
    orient: str


class PortPin(msgspec.Struct, frozen=True, array_like=True):
    """A port's bit at the edge of the die."""

    net: str
    direction: str
    layer: str
    x_um: float
    y_um: float
    side: str


class TreeSummary(msgspec.Struct):
    """The clock tree; without a root there is none."""

    root: str | None = None
    levels: int = 0
    buffers: int = 0
    gates_copied: int = 0
    sinks: int = 0


class HoldSummary(msgspec.Struct, omit_defaults=True):
    """The delays that were put in."""

    buffers: int = 0
    worst_before_ns: float | None = None
    worst_after_ns: float | None = None
    left: int = 0  # ends of paths that have no setup slack for it


class Placement(Product, kw_only=True):
    """The whole of placement.json."""

    FILE = "placement.json"
    STEP = "place"

    design: str
    die_um: tuple[float, float]
    core_um: tuple[float, float, float, float]
    density: float  # area of the cells / area of the core
    seconds: dict[str, float]
    clock_tree: TreeSummary = msgspec.field(default_factory=TreeSummary)
    hold: HoldSummary = msgspec.field(default_factory=HoldSummary)
    # other sizes and buffers, by the wires of the placement
    sizing: list[Round] = msgspec.field(default_factory=list)
    rows: list[Row]
    pins: dict[str, PortPin]
    instances: dict[str, Place]
    taps: dict[str, Place] = msgspec.field(default_factory=dict)  # of the wells, in rows between the cells


def refuse_large(netlist: Netlist, step: str) -> None:
    """BadInput, with the estimate, for a design that is too large to be placed and routed here."""
    cells = len(netlist.cells)
    if cells > MAX_CELLS:
        minutes, gib = 1.5 * cells * SECONDS_A_CELL / 60, cells * MIB_A_CELL / 1024
        raise BadInput(
            f"{netlist.name} has {cells:,} cells, of which the step {step} would take about {minutes:.0f} "
            "minutes and "
            f"{gib:.1f} GiB: at most {MAX_CELLS:,} are taken; choose a smaller design, or stop before the "
            "step place"
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
                    f"{cells[0][0]}/{cells[0][1]} is tied to {name}: constants need cells (hilomap in "
                    "synthesis) to be placed"
                )
        elif ends > 1:
            wires.append(net)
    return wires
