"""Slacks of our timing engine (nldm.py) and of OpenSTA, compared endpoint by endpoint.

If slacks differ by more than `FAR_NS` and `FAR_SHARE` of the path allow, modelling differences of the two
engines are removed one at a time to find the cause: first the shape of the wires (each becomes a star of
equal branches instead of a tree), then their resistance. A difference without resistance is an error, and so
is a difference by resistance that has almost no effect in OpenSTA. If resistance has more effect in OpenSTA
than in our engine, it lengthens the slews of OpenSTA's drivers beyond those of the tables, like slews from 10
to 90 %; the delays of the wires themselves must then be close.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..netlist.netlist import Netlist
from ..timing import opensta
from ..timing.report import TimedPath
from ..timing.subject import Subject
from ..timing.wire_table import NetWire, WireTable
from .report import Compared

CHECK = "timing"
FAR_NS, FAR_SHARE = 0.02, 0.01  # of a slack; of the way to it
EQUAL_NS = 1e-4  # without resistance the engines compute the same
LEAST_SEEN = 0.3  # of what resistance makes with us, at least with OpenSTA, which has 0.4 to 1 of it
SETUP, HOLD = "setup slack", "hold slack"
SHAPE = "the shape of the wires"
RESISTANCE = "the resistance of the wires, which OpenSTA's drivers see less of"
LONGER_SLEWS = "the slews of OpenSTA's drivers, which the resistance of the wires lengthens"
NEAR_WIRES = 4  # factor between the delays of the wires of the worst paths, a star's and a tree's


class Slacks(NamedTuple):
    """By endpoint, of one engine."""

    setup: Mapping[str, float]
    hold_inside: float | None
    wires: float  # their delay on the worst path

    @property
    def worst(self) -> str:
        """The endpoint with the least."""
        return min(self.setup, key=self.setup.__getitem__)

    def at(self, end: str, hold: bool) -> float:
        """The setup slack of an endpoint, the worst one without a name, or the worst hold slack."""
        return self.hold_inside or 0.0 if hold else self.setup[end or self.worst]


def ours(subject: Subject) -> Slacks:
    """The slacks by nldm.py."""
    _, inside = subject.estimate_inside()
    timing = subject.estimate()
    setup = {end.name: end.slack_ns for end in timing.setup}
    paths = [timing.path(end) for end in timing.setup[:1]]
    return Slacks(setup, next((end.slack_ns for end in inside), None), _wires(paths))


def theirs(subject: Subject) -> Slacks:
    """The slacks by OpenSTA; BadInput if it is missing."""
    found = opensta.run(subject)
    return Slacks(found.slacks["setup"], found.worst("inside"), _wires(found.paths))


def _wires(paths: Sequence[TimedPath]) -> float:
    """The delay of the wires of the first path, whose points after a wire drive nothing."""
    points = paths[0].points[1:] if paths else []
    return sum(point.delay_ns or 0.0 for point in points if point.load_ff is None)


def simpler(subject: Subject) -> Subject | None:
    """With one thing less that the engines may see differently; None where there is nothing left."""
    if subject.spef is not None:
        return replace(subject, spef=None)
    if subject.table and any(wire.res_ohm for wire in subject.table.values()):
        return replace(subject, table={name: NetWire(wire.cap_ff) for name, wire in subject.table.items()})
    return None


def supposed(netlist: Netlist, wire_ff: float) -> WireTable:
    """The wires that sizing supposes before there is a placement: so much for each reader of a net."""
    found = zip(netlist.nets, netlist.driver, netlist.sinks, strict=True)
    return {name: NetWire(wire_ff * len(sinks)) for name, driver, sinks in found if driver and sinks}


def compare(subject: Subject, where: str) -> list[Compared]:
    """The worst setup slack, that of all endpoints which is furthest off, and the worst hold slack."""
    mine, other = ours(subject), theirs(subject)
    missing = sorted(set(mine.setup) ^ set(other.setup))
    note = f"one engine alone has {', '.join(missing[:3])}" if missing else ""
    counts, tool = (len(mine.setup), len(other.setup)), opensta.tool()
    found = [Compared(CHECK, f"endpoints {where}", *counts, not missing, tool, note=note)]
    if not mine.setup or not other.setup:
        return found

    def row(what: str, end: str = "", *, hold: bool = False, note: str = "") -> None:
        slack, reference = mine.at(end, hold), other.at(end, hold)
        # hold paths are short, so their differences are judged relative to the clock
        clock_ns, figures = subject.asked.clock_ns, (round(slack, 6), round(reference, 6))
        agrees = near(slack, reference, clock_ns if hold else max(clock_ns - reference, 0.0))
        cause = "" if agrees else _cause(subject, (mine, other), end, hold)
        found.append(Compared(CHECK, f"{what} {where}", *figures, agrees, tool, "ns", cause, note or end))

    same = mine.worst == other.worst
    note = "the same endpoint" if same else f"other endpoints: {mine.worst}, {other.worst}"
    row(f"worst {SETUP}", note=note)
    common = sorted(mine.setup.keys() & other.setup.keys())
    row(f"{SETUP} furthest off", max(common, key=lambda name: abs(mine.setup[name] - other.setup[name])))
    if mine.hold_inside is not None and other.hold_inside is not None:
        row(f"worst {HOLD}", hold=True)
    return found


def near(ours: float, theirs: float, way: float) -> bool:
    """Neither 20 ps apart nor, of a way longer than they are, a hundredth."""
    return abs(ours - theirs) <= min(FAR_NS, max(FAR_SHARE * way, EQUAL_NS))


def _cause(subject: Subject, found: tuple[Slacks, Slacks], end: str, hold: bool) -> str:
    """Return the modelling differences to remove until the engines agree, with the effect of each; empty if
    they never do.
    """
    parts: list[str] = []
    at = simpler(subject)
    while at is not None:
        now = ours(at), theirs(at)
        made, theirs_made = (
            old.at(end, hold) - new.at(end, hold) for old, new in zip(found, now, strict=True)
        )
        # resistance makes less with OpenSTA, in the same direction, and as much as it can make
        less = abs(made - theirs_made) <= EQUAL_NS or (made and LEAST_SEEN <= theirs_made / made <= 1)
        if subject.spef is not None and not parts:
            cause = SHAPE
        elif less:
            cause = RESISTANCE
        elif theirs_made / (made or theirs_made) > 1 and _near_wires(*found):
            cause = LONGER_SLEWS
        else:
            return ""
        parts.append(f"{cause} {1000 * (made - theirs_made):+.1f} ps")
        found, at = now, simpler(at)
    return "" if abs(found[0].at(end, hold) - found[1].at(end, hold)) > EQUAL_NS else ", ".join(parts)


def _near_wires(ours: Slacks, theirs: Slacks) -> bool:
    low, high = sorted((ours.wires, theirs.wires))
    return 0 < high <= NEAR_WIRES * low
