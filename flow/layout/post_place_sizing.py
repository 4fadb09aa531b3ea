"""Setup after placement: sizes, pins and buffers chosen by the wires that are there, in the rows as they are.

Synthesis and sizing before placement suppose a little wire on every net; a placement has some that are a
hundred times as long. So nets whose wire alone takes long are cut (repeaters.py), and sizing.py goes over the
placed netlist with the wires of the placement. What it changes is changed in place: a cell of another size
stays about where it was, a buffer goes half-way to what it drives, and neighbours make way (row_legalizer.py). Placing
anew would make other wires. Then the same again with the wires that came of it; and again when the clock tree
is in, whose copies of clock gates lie far from what enables them: on a system of mont-001 that cost 0.13 ns,
and 50 other sizes, 30 um^2, brought it back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..kit.constraints import Constraints
from ..kit.liberty import Library
from ..netlist.netlist import Netlist
from ..synth.sizing import sizing
from ..synth.sizing.circuit import wired
from ..synth.sizing.report import Round
from . import wires
from .repeaters import with_repeaters
from .row_legalizer import Rows

SLACK_NS = 0.06  # to be left for the skew of the clock tree and the wires' detours
ROUNDS = 2
EFFORT = sizing.Effort(slack_ns=SLACK_NS, rounds=4, batches=40, recoveries=0)
LARGE_EFFORT = sizing.Effort(slack_ns=SLACK_NS, rounds=2, batches=20, recoveries=0)
LARGE = 20_000  # cells


@dataclass
class Improved:
    """The netlist, the modules of the buffers in it that were added, and what was done."""

    netlist: Netlist
    owners: dict[str, str] = field(default_factory=dict)
    rounds: list[Round] = field(default_factory=list)


def improve(
    netlist: Netlist, rows: Rows, library: Library, asked: Constraints, modules: Mapping[str, str]
) -> Improved:
    """Resize and buffer towards the clock, using the placement's wires; update the placement."""
    done = Improved(*with_repeaters(netlist, rows, library, asked, modules))
    ideal = replace(asked, propagated=False)
    for _ in range(ROUNDS):
        found = wires.wires_of(done.netlist, rows.placement, rows.lef)
        circuit = wired(done.netlist, 0.0, wires.table(found, done.netlist))
        circuit.owners = done.owners
        effort = EFFORT if len(done.netlist.cells) < LARGE else LARGE_EFFORT
        result = sizing.optimise(circuit, library, ideal, {**modules, **done.owners}, effort)
        if not any(result.sizing.moves.values()):
            break
        done.rounds.append(result.sizing)
        _move(done.netlist, result.circuit.netlist, rows, library)
        done.netlist, done.owners = result.circuit.netlist, dict(result.circuit.owners)
    return done


def _move(before: Netlist, after: Netlist, rows: Rows, library: Library) -> None:
    """Bring the placement from one netlist to the other."""
    placement, lef = rows.placement, rows.lef
    for name, cell in before.cells.items():
        if after.cells[name].kind != cell.kind:
            rows.resize(name, after.cells[name].kind)
    waiting = {name: cell for name, cell in after.cells.items() if name not in before.cells}
    while waiting:
        # a buffer behind another one waits for it
        for name, cell in list(waiting.items()):
            ends = library.cells[cell.kind]
            driver = after.driver[cell.pins[ends.inputs[0]]]
            if driver is None or driver[0] in waiting:
                continue
            points = [
                wires.position(placement, lef, sink)
                for sink in after.sinks[cell.pins[ends.outputs[0]]]
                if sink[0] not in waiting
            ] or [wires.position(placement, lef, driver)]
            x0, y0 = wires.position(placement, lef, driver)
            x1, y1 = (sum(values) / len(points) for values in zip(*points, strict=True))
            rows.insert(name, cell.kind, (x0 + x1) / 2, (y0 + y1) / 2)
            del waiting[name]
