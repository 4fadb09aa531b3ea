"""Simulation of any val/rdy component: one entry point, several stages.

    sim = simulate(MulRem(32), stage="native")
    run = sim.run([(3, 5), (7, 9)], statics={"modulus": 11})
    run.responses, run.latencies
"""

from pathlib import Path

from pymtl3 import Component

from ...fl.errors import BadInput
from .base import Simulation
from .native import NativeSimulation
from .protocol import Run, SimulationTimeout, Stall, Trace, UnexpectedResponse
from .python import PythonSimulation
from .verilog import VerilogSimulation
from .translate import translate

__all__ = [
    "STAGES",
    "Run",
    "Simulation",
    "SimulationTimeout",
    "Stall",
    "UnexpectedResponse",
    "simulate",
    "translate",
]

STAGES: dict[str, type[Simulation]] = {
    each.stage: each for each in (PythonSimulation, VerilogSimulation, NativeSimulation)
}


def simulate(
    component: Component,
    stage: str = "native",
    *,
    vcd: Path | None = None,
    trace: Trace | None = None,
    opt: str = "-O1",
) -> Simulation:
    """Make a simulation of a component that has not been elaborated yet."""
    if stage not in STAGES:
        raise BadInput(f"no stage named {stage!r}: choose one of {', '.join(STAGES)}")
    return STAGES[stage](component, vcd=vcd, trace=trace, opt=opt)
