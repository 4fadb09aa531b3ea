"""Hold: buffers on the paths that are so short that data would overtake the clock.

After the clock tree, with the wires of the placement, the flow's own analysis (nldm.py) lists the ends of paths at which data changes too
early. Each gets as many of the slowest buffers in a row, just before it, as it misses, provided that its setup slack
bears them. Then it is analysed again, and what is left is tried again. OpenSTA has the last word, after routing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ..kit.constraints import Constraints
from ..kit.lef import Lef
from ..kit.liberty import Library
from ..netlist.netlist import Instance, Netlist, connected
from ..timing import nldm
from . import wires
from .placement import HOLD, HoldSummary, Placement
from .rows import Rows

SETUP_NS = 0.06  # that one may take of the setup slack
MARGIN_NS = 0.015  # beyond the requirement: routing makes other wires than placement
ROUNDS = 4


@dataclass(frozen=True)
class Repair:
    """What was found and done."""

    netlist: Netlist
    buffers: int
    before_ns: float | None  # the worst hold slack
    after_ns: float | None
    left: int  # ends of paths that have no setup slack for it

    @property
    def summary(self) -> HoldSummary:
        """For placement.json."""
        return HoldSummary(
            buffers=self.buffers, worst_before_ns=self.before_ns, worst_after_ns=self.after_ns, left=self.left
        )


def repair(
    netlist: Netlist, placement: Placement, rows: Rows, lef: Lef, library: Library, asked: Constraints
) -> Repair:
    """The netlist with delays where they are needed; `placement` gets them."""
    first: float | None = None
    count, left = 0, 0
    for _ in range(ROUNDS):
        timing = _timing(netlist, placement, lef, library, asked)
        worst = _worst(timing)
        first = worst if first is None else first
        setup = {end.name: end.slack_ns for end in timing.setup}
        wanted: dict[str, int] = {}
        left = 0
        for end in timing.hold:
            if end.slack_ns >= MARGIN_NS:
                break
            many = math.ceil((MARGIN_NS - end.slack_ns) / library.roles.delay_ns)
            many = min(many, math.floor(setup[end.name] / SETUP_NS)) if end.name in setup else many
            if many > 0 and end.name.rpartition("/")[0] in netlist.cells:
                wanted[end.name] = many
            elif end.slack_ns < 0:
                left += 1
        if not wanted:
            return Repair(netlist, count, _rounded(first), _rounded(worst), left)
        netlist = _delayed(netlist, placement, rows, lef, library, wanted, count)
        count += sum(wanted.values())
    worst = _worst(_timing(netlist, placement, lef, library, asked))
    return Repair(netlist, count, _rounded(first), _rounded(worst), left)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _worst(timing: nldm.Timing) -> float | None:
    return timing.hold[0].slack_ns if timing.hold else None


def _timing(
    netlist: Netlist, placement: Placement, lef: Lef, library: Library, asked: Constraints
) -> nldm.Timing:
    found = wires.wires_of(netlist, placement, lef, library)
    # the registers around the design hang on a tree like this one
    latency = wires.clock_tree(found, netlist, library, placement).mean_latency_ps / 1000
    asked = replace(asked, latency_ns=latency)
    return nldm.analyze(netlist, library, asked, wires=wires.table(found, netlist))


def _delayed(
    netlist: Netlist,
    placement: Placement,
    rows: Rows,
    lef: Lef,
    library: Library,
    wanted: dict[str, int],
    taken: int,
) -> Netlist:
    """The netlist with so many delays before each of these pins."""
    cells, nets = dict(netlist.cells), list(netlist.nets)
    delay = library.cells[library.roles.delay]
    for name, many in wanted.items():
        owner, _, pin = name.rpartition("/")
        x, y = wires.position(placement, lef, (owner, pin))
        source = cells[owner].pins[pin]
        for _ in range(many):
            buffer, fresh = f"{HOLD}.{taken}", len(nets)
            nets.append(f"{buffer}.out")
            cells[buffer] = Instance(buffer, delay.name, {delay.inputs[0]: source, delay.outputs[0]: fresh})
            rows.insert(buffer, delay.name, x, y)
            source, taken = fresh, taken + 1
        cells[owner] = replace(cells[owner], pins={**cells[owner].pins, pin: source})
    return connected(netlist, cells, nets, library)
