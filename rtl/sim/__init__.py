"""Simulation of any val/rdy component: one entry point, several backends.

sim = simulate(MulRem(32), backend="native")
run = sim.run([(3, 5), (7, 9)], statics={"modulus": 11})
run.responses, run.latencies
"""

from pathlib import Path

from pymtl3 import Component

from .base import Options, Simulation, start
from .memory.access import MemoryFault
from .native import NativeSimulation
from .protocol import BrokenPromise, Run, SimulationTimeout, Stall, Trace, UnexpectedResponse
from .pydriver import PythonSimulation, VerilogSimulation
from .toolchain import ToolError
from .translation.translate import lint, translate

__all__ = [
    "BACKENDS",
    "BrokenPromise",
    "MemoryFault",
    "Run",
    "Simulation",
    "SimulationTimeout",
    "Stall",
    "ToolError",
    "UnexpectedResponse",
    "lint",
    "simulate",
    "translate",
]

BACKENDS: dict[str, type[Simulation]] = {
    kind.backend: kind for kind in (PythonSimulation, VerilogSimulation, NativeSimulation)
}


def simulate(
    component: Component,
    backend: str = "native",
    *,
    vcd: Path | None = None,
    trace: Trace | None = None,
    opt: str = "-O1",
    power_up_seed: int | None = None,
) -> Simulation:
    """A simulation of a component, which must not have been elaborated yet, with one of BACKENDS.

    vcd: write waveforms to this file (python, verilog: .vcd; native: .vcd or .fst). trace: called with
    (cycle, text) in every cycle (python: the component's line_trace; verilog: the streams). opt: optimisation
    level of the C++ compiler (verilog, native); -O1 compiles fast and is at most 15 % slower than -O3.
    power_up_seed: start registers with random bits (native), which exposes missing resets.
    """
    options = Options(vcd=Path(vcd) if vcd else None, trace=trace, opt=opt, power_up_seed=power_up_seed)
    return start(BACKENDS, component, backend, options)
