"""Hold repair: inserts buffers into paths that are so short that data would overtake the clock.

After the clock tree, with the wires of the placement, the flow's own analysis (nldm.py) lists the ends of
paths at which data changes too early. Each endpoint gets as many of the slowest buffers in series as it
needs, directly before it, if its setup slack allows them. Delays before an output port drive only the port;
cells on the same net read the undelayed signal. Analysis and repair are repeated for the remaining endpoints.
OpenSTA makes the final check, after routing.
"""

import itertools
import math
from dataclasses import replace

from ..kit.constraints import Constraints
from ..kit.liberty import Library
from ..netlist.buffers import EditedNetlist
from ..netlist.netlist import PORT, Netlist
from ..timing import nldm
from . import wires
from .placed import Placed
from .placement import HOLD, HoldSummary

SETUP_NS = 0.06  # that one may take of the setup slack
ROUNDS = 4


def repair(placed: Placed, asked: Constraints, fast: Library | None = None) -> HoldSummary:
    """Put delays into the netlist and its placement where they are needed with `fast`, the library at the
    corner of hold if that is another one.
    """
    delay_ns = placed.library.roles.delay_ns
    done = HoldSummary()
    margin_ns = placed.library.kit.constraints.routing_hold_ns  # routing makes other wires than placement

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
        for end in itertools.takewhile(lambda end: end.slack_ns < margin_ns, timing.hold):
            wish = math.ceil((margin_ns - end.slack_ns) / delay_ns)
            many = math.floor(min(wish, setup.get(end.name, math.inf) / SETUP_NS))
            if many > 0 and _can_wait(placed.netlist, end.name):
                wanted[end.name] = many
            else:
                done.left += end.slack_ns < 0
        if not wanted:
            break
        _delay(placed, wanted, done.buffers)
        done.buffers += sum(wanted.values())
    placed.placement.hold = done
    return done


def _can_wait(netlist: Netlist, end: str) -> bool:
    """Whether delays can go before an end: a cell's input, or the first port on a net that a cell drives."""
    owner, _, bit = end.rpartition("/")
    if owner != PORT:
        return True
    net = netlist.net(bit)
    driver = netlist.driver[net]
    return driver is not None and driver[0] != PORT and netlist.sinks[net][0] == (PORT, bit)


def _delay(placed: Placed, wanted: dict[str, int], taken: int) -> None:
    """Put so many delays before each of these ends."""
    edited = EditedNetlist(placed.netlist, placed.library, {})
    numbers = itertools.count(taken)
    delay = placed.library.cells[placed.library.roles.delay]
    # ports first, so that delays before cells on a port's net start from the undelayed net
    for name, many in sorted(wanted.items(), key=lambda item: "/" in item[0]):
        owner, _, pin = name.rpartition("/")
        at = placed.position((owner, pin))
        buffers = [f"{HOLD}.{next(numbers)}" for _ in range(many)]
        net = edited.cells[owner].pins[pin] if owner else placed.netlist.net(pin)
        source = net if owner else _cut(edited, net, f"{buffers[0]}.in")
        for buffer in buffers:
            behind = edited.add_net(f"{buffer}.out") if owner or buffer != buffers[-1] else net
            pins = {delay.inputs[0]: source, delay.outputs[0]: behind}
            edited.add_cell(buffer, delay.name, pins, HOLD)
            placed.rows.insert(buffer, delay.name, *at)
            source = behind
        if owner:
            edited.hang([(owner, pin)], source)
    placed.netlist = edited.connected()


def _cut(edited: EditedNetlist, net: int, name: str) -> int:
    """Move the cells on a port's net to a new net; return the new net."""
    terminals = filter(None, [edited.netlist.driver[net], *edited.netlist.sinks[net]])
    before = edited.add_net(name)
    edited.hang([terminal for terminal in terminals if terminal[0] != PORT], before)
    return before
