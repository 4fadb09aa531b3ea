"""Simulation of a processor with its memory and manager: one entry point, several backends.

sim = simulate_proc(ProcXcel(Proc, NullXcel), backend="native")
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

BACKENDS: dict[str, type[ProcSimulation]] = {
    kind.backend: kind for kind in (PythonProcSimulation, VerilogProcSimulation, NativeProcSimulation)
}


def simulate_proc(component: Component, backend: str = "native", **options: Any) -> ProcSimulation:
    """Build a component with the ports of a processor for one of BACKENDS.

    The options are those of `rtl.sim.simulate`. Backend verilog traces the commit port.
    """
    return start(BACKENDS, component, backend, Options(**options))
