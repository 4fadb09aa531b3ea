"""Hold: buffers on the paths that are so short that data would overtake the clock.

After the clock tree, with the wires of the placement, the flow's own analysis (nldm.py) lists the ends of
paths at which data changes too early. Each gets as many of the slowest buffers in a row, just before it, as
it misses, provided that its setup slack bears them. Then it is analysed again, and what is left is tried
again. OpenSTA has the last word, after routing.
"""

import itertools
import math
from dataclasses import replace

from ..kit.constraints import Constraints
from ..kit.liberty import Library
from ..netlist.buffers import EditedNetlist
from ..timing import nldm
from . import wires
from .placed import Placed
from .placement import HOLD, HoldSummary

SETUP_NS = 0.06  # that one may take of the setup slack
MARGIN_NS = 0.015  # beyond the requirement: routing makes other wires than placement
ROUNDS = 4


def repair(placed: Placed, asked: Constraints, fast: Library | None = None) -> HoldSummary:
    """Put delays into the netlist and its placement where they are needed with `fast`, the library at the
    corner of hold if that is another one.
    """
    delay_ns, done = placed.library.roles.delay_ns, HoldSummary()

    def analyze(library: Library) -> nldm.Timing:
        # the registers around the design have a clock tree like this one
        tree = wires.clock_tree(found, replace(placed, library=library))
        given = replace(asked, latency_ns=tree.mean_latency_ps / 1000)
        return nldm.analyze(placed.netlist, library, given, wires=wires.table(found, placed.netlist))

    for turn in range(ROUNDS + 1):
        found = wires.wires_of(placed)
        timing = analyze(fast or placed.library)
        if timing.hold:
            done.worst_after_ns = round(timing.hold[0].slack_ns, 6)
        if not turn:
            done.worst_before_ns = done.worst_after_ns
        if turn == ROUNDS:
            break
        slow = timing if timing.library is placed.library else analyze(placed.library)
        setup = {end.name: end.slack_ns for end in slow.setup}
        wanted = {}
        done.left = 0
        for end in itertools.takewhile(lambda end: end.slack_ns < MARGIN_NS, timing.hold):
            wish = math.ceil((MARGIN_NS - end.slack_ns) / delay_ns)
            many = math.floor(min(wish, setup.get(end.name, math.inf) / SETUP_NS))
            if many > 0 and end.name.rpartition("/")[0] in placed.netlist.cells:
                wanted[end.name] = many
            else:
                done.left += end.slack_ns < 0
        if not wanted:
            break
        _delay(placed, wanted, done.buffers)
        done.buffers += sum(wanted.values())
    placed.placement.hold = done
    return done


def _delay(placed: Placed, wanted: dict[str, int], taken: int) -> None:
    """Put so many delays before each of these pins."""
    edited, numbers = EditedNetlist(placed.netlist, placed.library, {}), itertools.count(taken)
    delay = placed.library.cells[placed.library.roles.delay]
    for name, many in wanted.items():
        owner, _, pin = name.rpartition("/")
        at, source = placed.position((owner, pin)), edited.cells[owner].pins[pin]
        for _ in range(many):
            buffer = f"{HOLD}.{next(numbers)}"
            pins = {delay.inputs[0]: source, delay.outputs[0]: edited.add_net(f"{buffer}.out")}
            edited.add_cell(buffer, delay.name, pins, HOLD)
            placed.rows.insert(buffer, delay.name, *at)
            source = pins[delay.outputs[0]]
        edited.hang([(owner, pin)], source)
    placed.netlist = edited.connected()
