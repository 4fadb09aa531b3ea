"""Synthesis step: from Verilog to a mapped netlist."""

from ....kit import kit
from ....netlist import yosys
from ...job import Job

version = yosys.version


def run(job: Job) -> None:
    """Write the outputs of the step."""
    from ....synth.synthesis import synthesize

    synthesize(
        job["design.sv"],
        job.design.top,
        job.out,
        clock_ns=job.clock_ns,
        style=job.parameters["style"],
        kit_directory=job.adk,
        corner=job.corner or kit.SLOW,
        **job.options("booth", "clock_gating", "hierarchy", "goal", "adders", "leave_out"),
    )
