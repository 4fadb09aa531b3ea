"""Power and energy of a mapped netlist under a workload, from the library's tables at each instance's slews
and loads.

    internal   energy inside the cell at each transition of a pin, by cell_energy.py: tables, conditions,
               probabilities
    switching  1/2 C V^2 for each transition of an output; C is its wire and the `capacitance` of the pins (7
               fF at a port)
    leakage    by the states' own leakage, weighed by how long the pins are at 1

Slews are those of nldm.py, with wires by a model of the library, from placement or from routing. Every
instance is in one group and one module; so is each part of its energy, but of a register, where what its
clock pin costs goes to the group `clock`:

    clock          buffers and gates of the clock's network, clock pins of registers, and the net of the
                   clock's port, without
                   which a clock before its tree would weigh nothing (OpenSTA counts no net that a port
                   drives)
    registers      flip-flops and latches without their clock pins
    combinational  everything else

What the other input ports' nets take is paid by whoever drives them: `inputs_mw`, in no sum. Nets that are
not in the activity, as of clock buffers made after it was recorded, have that of the net at the other side of
the buffer; the clock has 2 toggles a cycle. Cells with several outputs are stated by the library with their
whole energy at each (a full adder at S and at CO), and all are counted, as signoff tools do: `twice_mw` is
what that may be too much.

power.json: {clock_ns, mode, wires, corner, total_mw, by_group, by_module, energy_nj: {workload: ...},
with_glitches, workloads: [...], caveats}. Energy is that of the window of the activity, so of the kernel; of
a program, less that of the row "dummy" where there is one.

`energy_nj`, and all that stands at the top, is by the activity without delays; what glitches add stands
beside it in `with_glitches`. So one measure holds for all designs: simulation with delays is for those where
it ends in time, what it counts depends on delays before or after wires, and each pulse counts with its full
swing, which is too much for short ones. Paper 001 does not say where its activity comes from; its Table 3 for
the Montgomery system (2.86 and 4.46 nJ) lies between the two figures of the twin.
"""

from pathlib import Path

from ..gates import activity_file
from ..kit import kit
from ..netlist import hierarchy as hierarchy_file
from ..netlist.netlist import read
from ..timing import wire_table
from .estimator import Estimator
from .report import PowerReport, report


def analyze(
    netlist_json: str | Path,
    activity: str | Path,
    out_dir: str | Path,
    *,
    clock_ns: float,
    top: str | None = None,
    clock_port: str | None = "clk",
    hierarchy: str | Path | None = None,
    wires: str | Path | None = None,
    wire_load: str | None = None,
    adk: Path | None = None,
    corner: str = kit.TYPICAL,
) -> PowerReport:
    """Write power.json; returns what it says. `activity` is a directory of activity files, or one of them.

    Without `wires` (a wires.json of a layout with its clock tree) and `wire_load` the library's own default
    model stands for the wires.
    """
    chosen = kit.find(adk, corner)
    library = chosen.library
    netlist = read(netlist_json, library, top)
    table = wire_table.load(wires) if wires is not None else None
    if table is None and wire_load is None:
        wire_load = library.default_wire_load or None
    places = hierarchy_file.load(hierarchy) if hierarchy is not None else None
    path = Path(activity)
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    activities = [activity_file.load(file) for file in files]
    estimator = Estimator(
        netlist,
        library,
        clock_ns,
        clock_port=clock_port,
        wires=table,
        wire_load=wire_load,
        propagated=wires is not None,
    )
    found = report([(item, estimator.estimate(item)) for item in activities], places)
    found.wires = wire_table.source(table) if table is not None else "model" if wire_load else "none"
    found.wire_load, found.corner = wire_load, chosen.at
    found.write(out_dir)
    return found
