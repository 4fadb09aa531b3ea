"""Power and energy of a mapped netlist under a workload, from the library's tables at each instance's slews
and loads.

    internal   energy inside the cell per transition of a pin, by cell_energy.py: tables, conditions,
               probabilities
    switching  1/2 C V^2 per transition of an output; C is the wire and the `capacitance` of the pins (7 fF at
               a port)
    leakage    the leakage of the states, weighted by the fraction of the time that the pins are at 1

Slews are those of nldm.py, with wires by a model of the library, from placement or from routing. Every
instance belongs to one group and one module, and so do all parts of its energy, except that the energy of a
register's clock pin belongs to the group `clock`:

    clock          buffers and gates of the clock network, clock pins of registers, and the net of the clock
                   port, without which a clock before its tree would need almost no power (OpenSTA counts no
                   net that a port drives)
    registers      flip-flops and latches without their clock pins
    combinational  everything else

The nets of the other input ports are charged by external drivers and are not counted. Nets that are not in
the activity, such as those of clock buffers inserted after it was recorded, have the activity of the net at
the other side of the buffer; the clock has 2 toggles per cycle. The library states the whole energy of a cell
with several outputs at each of them (a full adder at S and at CO). All of it is counted, as in signoff tools;
`twice_mw` is the possible overestimate.

power.json: {clock_ns, mode, wires, corner, total_mw, by_group, by_module, energy_nj: {workload: ...},
with_glitches, workloads: [...], drop_mv, caveats}. The energy is that of the activity's window, which is the
kernel; for a program, the energy of the row "dummy" is subtracted if there is one.

`energy_nj` and the other figures at the top level use the activity without delays; `with_glitches` adds the
glitches. Thus one measure holds for all designs: simulation with delays does not finish in time for all of
them, its counts depend on whether the delays include wires, and it counts each pulse with its full swing,
which overestimates short pulses. Paper 001 does not state the source of its activity; its Table 3 for the
Montgomery system (2.86 and 4.46 nJ) lies between the two figures of the twin.
"""

from operator import attrgetter
from pathlib import Path

from .. import product
from ..gates import activity_file
from ..kit import kit
from ..layout.placed import Placed
from ..layout.placement import Placement
from ..netlist.hierarchy import Hierarchy
from ..netlist.netlist import read
from ..timing import wire_table
from ..timing.spef import Spef
from .estimator import Estimator
from .report import PowerReport, report
from .supply_drop import worst_drops


def analyze(
    netlist_json: Path,
    activity: Path,
    out_dir: Path,
    *,
    clock_ns: float,
    top: str | None = None,
    clock_port: str | None = "clk",
    hierarchy: Path,
    wires: Path | None = None,
    spef: Path | None = None,
    placement: Path | None = None,
    wire_load: str | None = None,
    adk: Path | None = None,
    corner: str = kit.TYPICAL,
) -> PowerReport:
    """Write power.json and return its content; `activity` is an activity file or a directory of them.

    `wires` is the wires.json of a layout with its clock tree, `spef` the same wires by another tool. Without
    them and without `wire_load`, wires follow the library's default wire-load model. With a placement, the
    report has the IR drop under the activity of the highest power.
    """
    chosen = kit.find(adk, corner)
    library = chosen.library
    netlist = read(netlist_json, library, top)
    table = wire_table.load(wires) if wires else Spef(spef, netlist).table() if spef else None
    if table is None and wire_load is None:
        wire_load = library.default_wire_load or None
    files = sorted(activity.glob("*.json")) if activity.is_dir() else [activity]
    activities = [activity_file.load(file) for file in files]
    estimator = Estimator(
        netlist,
        library,
        clock_ns,
        clock_port=clock_port,
        wires=table,
        wire_load=wire_load,
        propagated=table is not None,
    )
    estimates = [(item, estimator.estimate(item)) for item in activities]
    found = report(estimates, product.read(hierarchy, Hierarchy))
    if table is not None:
        found.wires = wire_table.source(table)
    else:
        found.wires = "model" if wire_load else "none"
    found.wire_load = wire_load
    found.corner = chosen.at
    if placement is not None:
        placed = Placed(netlist, product.read(placement, Placement), library, chosen.geometry)
        most = max((estimate for _, estimate in estimates), key=attrgetter("total_mw"))
        found.drop_mv = worst_drops(placed, most.by_cell())
    found.write(out_dir)
    return found
