"""Slacks of our timing engine (nldm.py) and of OpenSTA, compared endpoint by endpoint.

Where they are further apart than `FAR_NS` and `FAR_SHARE` of the path allow, the cause is looked for by
taking away what the two engines treat differently, one thing at a time: the shape of the wires (each a star
of equal branches in place of a tree), then their resistance. What remains without resistance has no excuse,
and is wrong; nor has resistance that makes more with OpenSTA than with us, or next to nothing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ..kit.constraints import Constraints
from ..kit.kit import Kit
from ..netlist.netlist import Netlist
from ..timing import nldm, opensta
from ..timing.spef import stars
from ..timing.timing import FAR_NS as NEVER_NS
from ..timing.wire_table import NetWire, WireTable
from .report import Compared

CHECK = "timing"
FAR_NS, FAR_SHARE = 0.02, 0.01  # of a slack; of the way to it
EQUAL_NS = 1e-4  # without resistance the engines compute the same
LEAST_SEEN = 0.3  # of what resistance makes with us, at least with OpenSTA, which has 0.4 to 1 of it
SETUP, HOLD = "setup slack", "hold slack"
SHAPE = "the shape of the wires"
RESISTANCE = "the resistance of the wires, which OpenSTA's drivers see less of"


@dataclass(frozen=True)
class Slacks:
    """By endpoint, of one engine."""

    setup: Mapping[str, float]
    hold_inside: float | None

    @property
    def worst(self) -> tuple[str, float]:
        """The endpoint with the least, and that."""
        return min(self.setup.items(), key=lambda item: item[1])


@dataclass(frozen=True)
class Timed:
    """A netlist whose timing is compared."""

    netlist_v: Path
    netlist: Netlist
    top: str
    kit: Kit
    asked: Constraints
    wires: WireTable | None = None
    spef: Path | None = None  # the same wires as trees; None: each is a star

    def ours(self) -> Slacks:
        """By nldm.py."""
        library = self.kit.library
        found = nldm.analyze(self.netlist, library, self.asked, wires=self.wires)
        still = replace(self.asked, input_hold_ns=NEVER_NS)  # as if no input changed
        inside = nldm.analyze(self.netlist, library, still, wires=self.wires).hold
        return Slacks(
            {end.name: end.slack_ns for end in found.setup},
            next((end.slack_ns for end in inside if end.slack_ns < NEVER_NS / 2), None),
        )

    def theirs(self) -> Slacks:
        """By OpenSTA; BadInput if it is missing."""
        with tempfile.TemporaryDirectory(prefix="check-") as directory:
            spef = self.spef
            if spef is None and self.wires:
                spef = Path(directory) / "star.spef"
                spef.write_text(stars(self.netlist, self.wires))
            found = opensta.run(self.netlist_v, self.top, self.kit.lib, self.asked, spef, None, 1, False)
        return Slacks(found.setup, found.hold_inside)

    def simpler(self) -> Timed | None:
        """With one thing less that the engines may see differently; None where there is nothing left."""
        if self.spef is not None:
            return replace(self, spef=None)
        if self.wires and any(wire.res_ohm for wire in self.wires.values()):
            bare = {name: NetWire(wire.cap_ff, 0.0) for name, wire in self.wires.items()}
            return replace(self, wires=bare)
        return None


def supposed(netlist: Netlist, wire_ff: float) -> WireTable:
    """The wires that sizing supposes before there is a placement: so much for each reader of a net."""
    found = zip(netlist.nets, netlist.driver, netlist.sinks, strict=True)
    return {name: NetWire(wire_ff * len(sinks)) for name, driver, sinks in found if driver and sinks}


def compare(timed: Timed, where: str) -> list[Compared]:
    """The worst setup slack, that of all endpoints which is furthest off, and the worst hold slack."""
    ours, theirs = timed.ours(), timed.theirs()
    missing = sorted(set(ours.setup) ^ set(theirs.setup))
    found = [
        Compared(
            check=CHECK,
            what=f"endpoints {where}",
            ours=len(ours.setup),
            theirs=len(theirs.setup),
            unit="",
            tool=_tool(),
            agrees=not missing,
            note=f"one engine alone has {', '.join(missing[:3])}" if missing else "",
        )
    ]
    if not ours.setup or not theirs.setup:
        return found
    (end, slack), (their_end, their_slack) = ours.worst, theirs.worst
    same = "the same endpoint" if end == their_end else f"other endpoints: {end}, {their_end}"
    found.append(_compared(timed, f"worst {SETUP} {where}", slack, their_slack, note=same))
    common = ours.setup.keys() & theirs.setup.keys()
    far = max(sorted(common), key=lambda name: abs(ours.setup[name] - theirs.setup[name]))
    found.append(_compared(timed, f"{SETUP} furthest off {where}", ours.setup[far], theirs.setup[far], far))
    if ours.hold_inside is not None and theirs.hold_inside is not None:
        held = ours.hold_inside, theirs.hold_inside
        found.append(_compared(timed, f"worst {HOLD} {where}", *held, hold=True))
    return found


def near(ours: float, theirs: float, way: float) -> bool:
    """Neither 20 ps apart nor, of a way longer than they are, a hundredth."""
    return abs(ours - theirs) <= min(FAR_NS, max(FAR_SHARE * way, EQUAL_NS))


def _compared(
    timed: Timed, what: str, ours: float, theirs: float, end: str = "", *, hold: bool = False, note: str = ""
) -> Compared:
    # a hold path is short, and what is off on it is judged by the clock, as all else
    way = timed.asked.clock_ns if hold else max(timed.asked.clock_ns - theirs, 0.0)
    agrees = near(ours, theirs, way)
    return Compared(
        check=CHECK,
        what=what,
        ours=round(ours, 6),
        theirs=round(theirs, 6),
        unit="ns",
        tool=_tool(),
        agrees=agrees,
        cause="" if agrees else _cause(timed, end, hold),
        note=note or end,
    )


def _cause(timed: Timed, end: str, hold: bool) -> str:
    """Return the modelling differences to remove until the engines agree, with the effect of each; empty if
    they never do.
    """
    parts: list[str] = []
    now = _slacks(timed, end, hold)
    at: Timed | None = timed
    while (at := at.simpler() if at is not None else None) is not None:
        before, now = now, _slacks(at, end, hold)
        made, theirs_made = (one - other for one, other in zip(before, now, strict=True))
        shape = timed.spef is not None and not parts
        if not shape and not _less(made, theirs_made):
            return ""
        parts.append(f"{SHAPE if shape else RESISTANCE} {1000 * (made - theirs_made):+.1f} ps")
    ours, theirs = now
    return "" if abs(ours - theirs) > EQUAL_NS else ", ".join(parts)


def _less(made: float, theirs: float) -> bool:
    """Whether resistance makes less with OpenSTA, in the same direction, and as much as it can make."""
    return abs(made - theirs) <= EQUAL_NS or (made != 0 and LEAST_SEEN <= theirs / made <= 1)


def _slacks(timed: Timed, end: str, hold: bool) -> tuple[float, float]:
    """Ours and theirs, at an endpoint or the worst."""
    ours, theirs = timed.ours(), timed.theirs()
    if hold:
        return ours.hold_inside or 0.0, theirs.hold_inside or 0.0
    if end:
        return ours.setup[end], theirs.setup[end]
    return ours.worst[1], theirs.worst[1]


def _tool() -> str:
    return f"OpenSTA {opensta.version()}"
