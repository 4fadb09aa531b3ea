"""Sizing of a mapped netlist: drive strengths, buffers and pins, chosen by timing with wires.

abc sizes without knowing registers, full adders and wires. This module sizes the whole flat netlist with the
tables of the library (the timing graph). No move changes the function of the netlist:

    size    another drive strength of the same function
    pins    two equivalent inputs exchanged, the late signal to the fast pin
    buffer  readers of a net that can wait (or all) go behind a buffer; first of all, trees for nets with many
            readers (fanout.py)
    adders  gates become full adders as cells, where there is time (full_adders.py)

Each move is estimated locally: the arrival at the cell's outputs by its own tables, the cost of its pins'
capacitance to the drivers and their other readers, and the cost of its slew to the next cells. The best moves
by gain per area that do not touch each other are made at once. A full analysis then decides: a batch that did
not help is undone and halved. Once the clock is met, area recovery reduces sizes by the same estimate. After
Coudert, "Gate sizing for constrained delay/power/area optimization", IEEE Trans. VLSI 5(4), 1997, in its form
with a local neighbourhood.

Wires: the kit's wire_ff per fan-out here, and those of the placement after it (layout/post_place_sizing.py).
The clock is ideal; `Effort.slack_ns` stands for its tree (scripts/clock.ys has the slacks after layout).
"""

import itertools
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from ...gc_pause import uncollected
from ...kit import kit
from ...kit.constraints import Constraints
from ...kit.liberty import Library
from ...netlist import document
from ...netlist import hierarchy as hierarchy_file
from ...netlist.hierarchy import Hierarchy
from ...netlist.netlist import read, write_back
from ...progress import say
from ..netlist_files import write_netlist
from .adders import with_adders
from .circuit import Circuit, wired
from .families import Families
from .fanout import with_trees
from .model import Model
from .moves import buffered, recover, speed_up
from .report import Round, Sizing

LARGE, LARGER = 20_000, 60_000  # cells


@dataclass(frozen=True)
class Effort:
    """How long to try."""

    slack_ns: float = 0.02  # to be left
    rounds: int = 6  # of buffers, with sizes and pins after each
    batches: int = 60  # of moves in a round
    recoveries: int = 40  # batches of smaller sizes, in all
    adder_rounds: int = 3
    pins: bool = True  # exchange equivalent inputs
    slower: float = 1.0  # than at 45 nm, whose delays the windows of slack around the worst path fit


def effort_for(cells: int, plain: bool) -> Effort:
    """Less effort for a larger netlist, whose batches take longer and are no larger; `plain`: drive strengths
    and buffers only.
    """
    effort = Effort()
    if cells >= LARGE:
        batches, recoveries = (20, 8) if cells < LARGER else (30, 4)
        effort = Effort(rounds=3, batches=batches, recoveries=recoveries, adder_rounds=1)
    return replace(effort, adder_rounds=0, pins=False) if plain else effort


@uncollected()
def size(
    source: Path,
    out: Path,
    *,
    clock_ns: float,
    clock_port: str | None = "clk",
    plain: bool = False,
    sized: bool = True,
    kit_directory: Path | None = None,
    corner: str = kit.SLOW,
) -> Sizing:
    """Write netlist.v, netlist.json, hierarchy.json, area.json and sizing.json of the sized netlist; return
    the last.

    hierarchy.json is read from the directory of the netlist.
    `plain`: change drive strengths and buffers only. Not `sized`: leave the netlist as it is.
    """
    say("sizing")
    started = time.perf_counter()
    files = kit.find(kit_directory, corner)
    library = files.library
    wire_ff = library.kit.constraints.wire_ff
    known = hierarchy_file.load(source.with_name(Hierarchy.FILE))
    asked = library.constraints(clock_ns, clock_port)
    netlist = read(source, library)
    name = netlist.name
    module, owners = document.module(source, name), known.cells
    report = Sizing(sized=False)
    if sized:
        effort = effort_for(len(netlist.cells), plain)
        circuit, round_ = optimise(wired(netlist, wire_ff), library, asked, owners, effort)
        write_back(module, netlist, circuit.netlist, library)
        owners = {**owners, **circuit.owners}
        owners = {cell: owners[cell] for cell in module["cells"]}
        report = Sizing(
            sized=True,
            **msgspec.structs.asdict(round_),
            clock_ns=clock_ns,
            wire_ff=wire_ff,
            seconds=round(time.perf_counter() - started, 1),
        )
    write_netlist(out, name, module, owners, known.modules, files)
    report.write(out)
    return report


def optimise(
    circuit: Circuit,
    library: Library,
    constraints: Constraints,
    modules: Mapping[str, str],
    effort: Effort,
) -> tuple[Circuit, Round]:
    """The circuit with the clock met, as far as it can be, and area given back where it is not needed."""
    model = Model(circuit, library, constraints, Families(library), effort.slack_ns)
    before = model.figures()
    counts: dict[str, int] = defaultdict(int)
    model = with_trees(model, modules, counts)
    stages = itertools.count(1)

    def sped_up() -> None:
        # how far it is: sizes at first and after each round of buffers and adders, then area
        say("sizing", next(stages) / (effort.rounds + 4))
        speed_up(model, effort.batches, counts, effort.slower, pins=effort.pins)

    sped_up()
    for _ in range(effort.rounds):
        if model.cost <= 0:
            break
        better = buffered(model, modules, counts, effort.slower)
        if better is None:
            break
        model = better
        sped_up()
    if circuit.wire_ff is not None and effort.adder_rounds:
        model = with_adders(model, modules, effort.adder_rounds, counts)
        sped_up()
    say("area back", (effort.rounds + 3) / (effort.rounds + 4))
    recover(model, effort.recoveries, counts)
    after = model.figures()
    return model.commit(), Round(before, after, dict(counts))
