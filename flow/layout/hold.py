"""Hold: buffers on the paths that are so short that data would overtake the clock.

After the clock tree, with the wires of the placement, the flow's own analysis (nldm.py) lists the ends of
paths at which data changes too early. Each gets as many of the slowest buffers in a row, just before it, as
it misses, provided that its setup slack bears them. Then it is analysed again, and what is left is tried
again. OpenSTA has the last word, after routing.
"""

from __future__ import annotations

import math
from dataclasses import replace

from ..kit.constraints import Constraints
from ..kit.liberty import Library
from ..netlist.netlist import Instance, Netlist, connected
from ..timing import nldm
from . import wires
from .placement import HOLD, HoldSummary
from .row_legalizer import Rows

SETUP_NS = 0.06  # that one may take of the setup slack
MARGIN_NS = 0.015  # beyond the requirement: routing makes other wires than placement
ROUNDS = 4


def repair(netlist: Netlist, rows: Rows, library: Library, asked: Constraints) -> tuple[Netlist, HoldSummary]:
    """Put delays into the netlist and its placement where needed; return the netlist and what was done."""
    first: float | None = None
    worst: float | None = None
    count, left = 0, 0
    for _ in range(ROUNDS):
        timing = _timing(netlist, rows, library, asked)
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
            break
        netlist = _delayed(netlist, rows, library, wanted, count)
        count += sum(wanted.values())
    else:
        worst = _worst(_timing(netlist, rows, library, asked))
    return netlist, HoldSummary(count, _rounded(first), _rounded(worst), left)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _worst(timing: nldm.Timing) -> float | None:
    return timing.hold[0].slack_ns if timing.hold else None


def _timing(netlist: Netlist, rows: Rows, library: Library, asked: Constraints) -> nldm.Timing:
    found = wires.wires_of(netlist, rows.placement, rows.lef)
    # the registers around the design hang on a tree like this one
    latency = wires.clock_tree(found, netlist, library, rows.placement).mean_latency_ps / 1000
    asked = replace(asked, latency_ns=latency)
    return nldm.analyze(netlist, library, asked, wires=wires.table(found, netlist))


def _delayed(netlist: Netlist, rows: Rows, library: Library, wanted: dict[str, int], taken: int) -> Netlist:
    """The netlist with so many delays before each of these pins."""
    cells, nets = dict(netlist.cells), list(netlist.nets)
    delay = library.cells[library.roles.delay]
    for name, many in wanted.items():
        owner, _, pin = name.rpartition("/")
        x, y = wires.position(rows.placement, rows.lef, (owner, pin))
        source = cells[owner].pins[pin]
        for _ in range(many):
            buffer, fresh = f"{HOLD}.{taken}", len(nets)
            nets.append(f"{buffer}.out")
            cells[buffer] = Instance(buffer, delay.name, {delay.inputs[0]: source, delay.outputs[0]: fresh})
            rows.insert(buffer, delay.name, x, y)
            source, taken = fresh, taken + 1
        cells[owner] = replace(cells[owner], pins={**cells[owner].pins, pin: source})
    return connected(netlist, cells, nets, library)
