"""Stages of measurement, from a closed formula to a layout; the one list of them."""

from typing import NamedTuple


class Stage(NamedTuple):
    """One way to measure."""

    name: str
    title: str  # shown to readers
    implemented: bool = False  # hardware is implemented; one run does all operations, so there is no workload
    # first estimate of the duration of a point: means over the spaces report, course, paper-001 and
    # paper-004, measured on two cores with an empty cache
    seconds: float = 1.0


FORMULA, CL, PYTHON, VERILOG, NATIVE = "formula", "cl", "python", "verilog", "native"
FLOW, LAYOUT, FPGA = "flow", "layout", "fpga"

STAGES: dict[str, Stage] = {
    stage.name: stage
    for stage in (
        Stage(FORMULA, "formula", seconds=0.02),
        Stage(CL, "cycle level", seconds=0.2),
        Stage(PYTHON, "RTL (PyMTL3)", seconds=2.0),
        Stage(VERILOG, "RTL (Verilator)", seconds=5.0),
        Stage(NATIVE, "RTL (native)", seconds=3.0),
        Stage(FLOW, "netlist", implemented=True, seconds=40.0),
        Stage(LAYOUT, "layout", implemented=True, seconds=50.0),
        Stage(FPGA, "FPGA", implemented=True, seconds=100.0),
    )
}
DEFAULT = NATIVE
IMPLEMENTED = tuple(name for name, stage in STAGES.items() if stage.implemented)
CYCLES = tuple(name for name, stage in STAGES.items() if not stage.implemented)
RTL = (NATIVE, VERILOG, PYTHON)  # stages that run the RTL, the fastest first
NETLIST = (FLOW, LAYOUT)  # stages with a netlist of library cells


def title(name: str) -> str:
    """The title for readers; a stage of an older store is shown by its name."""
    return STAGES[name].title if name in STAGES else name
