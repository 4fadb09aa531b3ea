"""Simulation of a processor with its memory and manager: one entry point, several stages.

sim = simulate_proc(ProcXcel(Proc, NullXcel), stage="native")
outcome = sim.run(load_elf("kernel.elf"), timing=MemoryTiming(latency=2, stall=0.2))
outcome.exit_code, outcome.cycles, outcome.where
"""

from typing import Any

from pymtl3 import Component

from ...rtl.sim.base import Options, start
from .base import MemoryTiming, ProcSimulation
from .native import NativeProcSimulation
from .pybench import PythonProcSimulation, VerilogProcSimulation

__all__ = ["MemoryTiming", "simulate_proc"]

STAGES: dict[str, type[ProcSimulation]] = {
    kind.stage: kind for kind in (PythonProcSimulation, VerilogProcSimulation, NativeProcSimulation)
}


def simulate_proc(component: Component, stage: str = "native", **options: Any) -> ProcSimulation:
    """Build a component with the ports of a processor for one of STAGES.

    The options are those of `rtl.sim.simulate`. Stage verilog traces the commit port.
    """
    return start(STAGES, component, stage, Options(**options))
