"""Simulation of a processor with its memory and its manager: one entry point, several stages.

sim = simulate_proc(ProcXcel(Proc, NullXcel), stage="native")
outcome = sim.run(load_elf("kernel.elf"), timing=MemoryTiming(latency=2, stall=0.2))
outcome.exit_code, outcome.cycles, outcome.where
"""

from pathlib import Path

from pymtl3 import Component

from ...fl.errors import BadInput, unknown
from ...rtl.sim.base import Options
from ...rtl.sim.protocol import BrokenPromise, Trace
from .base import HANG_CYCLES, MisalignedRequest, ProcSimulation, UnknownBubble
from .difference import first_difference
from .native import NativeProcSimulation, VerilogText
from .python import PythonProcSimulation
from .timing import MemoryTiming
from .verilog import VerilogProcSimulation

__all__ = [
    "HANG_CYCLES",
    "STAGES",
    "BrokenPromise",
    "MemoryTiming",
    "MisalignedRequest",
    "ProcSimulation",
    "UnknownBubble",
    "VerilogText",
    "first_difference",
    "simulate_proc",
]

STAGES: dict[str, type[ProcSimulation]] = {
    each.stage: each for each in (PythonProcSimulation, VerilogProcSimulation, NativeProcSimulation)
}


def simulate_proc(
    component: Component | VerilogText,
    stage: str = "native",
    *,
    vcd: Path | None = None,
    trace: Trace | None = None,
    opt: str = "-O1",
    power_up_seed: int | None = None,
) -> ProcSimulation:
    """A simulation of a component with the ports of a processor, which must not have been simulated yet.

    stage: one of STAGES. A VerilogText is simulated at stage native.
    vcd: write waveforms to this file (python, verilog: .vcd; native: .vcd or .fst).
    trace: called with (cycle, text) in every cycle (python: the component's line_trace; verilog: the commit port).
    opt: level of the C++ compiler at stages verilog and native.
    power_up_seed: start registers with random bits (native), so that a missing reset shows.
    """
    if stage not in STAGES:
        raise unknown("stage", stage, STAGES)
    if isinstance(component, VerilogText) and not issubclass(STAGES[stage], NativeProcSimulation):
        raise BadInput(f"Verilog text cannot be simulated at stage {stage}: take stage native")
    options = Options(vcd=Path(vcd) if vcd else None, trace=trace, opt=opt, power_up_seed=power_up_seed)
    return STAGES[stage](component, options)
