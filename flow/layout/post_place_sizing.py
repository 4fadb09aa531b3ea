"""Setup after placement: sizes, pins and buffers chosen by the wires that are there, in the rows as they are.

Synthesis and sizing before placement assume a short wire on every net; after placement some wires are a
hundred times as long. Nets with a slow wire are cut (repeaters.py), and sizing.py goes over the placed
netlist with the wires of the placement. Changes are made in place, because placing again would change the
wires: a resized cell stays about where it was, a buffer goes half-way to its readers, and neighbours make
way (row_legalizer.py). The pass is repeated with the resulting wires, and once more with the clock tree,
whose copies of clock gates lie far from the logic that enables them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..kit.constraints import Constraints
from ..netlist.netlist import Netlist
from ..synth.sizing import sizing
from ..synth.sizing.circuit import wired
from ..synth.sizing.report import Round
from . import wires
from .placed import Placed
from .repeaters import insert_repeaters

SLACK_NS = 0.06  # to be left for the skew of the clock tree and the wires' detours
ROUNDS = 2
EFFORT = sizing.Effort(slack_ns=SLACK_NS, rounds=4, batches=40, recoveries=0)
LARGE_EFFORT = sizing.Effort(slack_ns=SLACK_NS, rounds=2, batches=20, recoveries=0)
LARGE = 20_000  # cells


@dataclass
class Improved:
    """The modules of the buffers that were added, and what was done."""

    owners: dict[str, str]
    rounds: list[Round] = field(default_factory=list)


def improve(placed: Placed, asked: Constraints, modules: Mapping[str, str]) -> Improved:
    """Resize and buffer towards the clock, using the placement's wires."""
    done = Improved(insert_repeaters(placed, asked, modules))
    ideal = replace(asked, propagated=False)
    for _ in range(ROUNDS):
        circuit = wired(placed.netlist, 0.0, wires.table(wires.wires_of(placed), placed.netlist))
        circuit.owners = done.owners
        effort = EFFORT if len(placed.netlist.cells) < LARGE else LARGE_EFFORT
        circuit, moved = sizing.optimise(circuit, placed.library, ideal, {**modules, **done.owners}, effort)
        if not any(moved.moves.values()):
            break
        done.rounds.append(moved)
        _move(placed, circuit.netlist)
        done.owners = dict(circuit.owners)
    return done


def _move(placed: Placed, after: Netlist) -> None:
    """Bring the placement to another netlist, which becomes its own."""
    before, placed.netlist = placed.netlist, after
    for name, cell in before.cells.items():
        if after.cells[name].kind != cell.kind:
            placed.rows.resize(name, after.cells[name].kind)
    waiting = after.cells.keys() - before.cells.keys()
    while waiting:
        # a buffer behind another one waits for it
        for name in [name for name in after.cells if name in waiting]:
            cell, ends = after.cells[name], placed.cell(name)
            driver = after.driver[cell.pins[ends.inputs[0]]]
            if driver is None or driver[0] in waiting:
                continue
            sinks = after.sinks[cell.pins[ends.outputs[0]]]
            x0, y0 = placed.position(driver)
            points = [placed.position(sink) for sink in sinks if sink[0] not in waiting] or [(x0, y0)]
            x1, y1 = (sum(values) / len(points) for values in zip(*points, strict=True))
            placed.rows.insert(name, cell.kind, (x0 + x1) / 2, (y0 + y1) / 2)
            waiting.remove(name)
