"""Synthesis step: synthesis and sizing."""

from ....kit import kit
from ....netlist import yosys
from ...job import Job

version = yosys.version


def run(job: Job) -> None:
    """Write the outputs of the step."""
    from ....synth.sizing import sizing
    from ....synth.synthesis import synthesize

    clock_ns, corner = job.clock_ns, job.corner or kit.SLOW
    synthesize(
        job["design.sv"],
        job.design.top,
        job.out,
        clock_ns=clock_ns,
        style=job.parameters["style"],
        kit_directory=job.adk,
        corner=corner,
        **job.options("adders", "booth", "clock_gating", "keep_hierarchy", "carry_save", "hold_form"),
    )
    if job.parameters["sizing"]:
        netlist, port = job.out / "netlist.json", job.design.clock_port
        sizing.size(
            netlist, job.out, clock_ns=clock_ns, clock_port=port, kit_directory=job.adk, corner=corner
        )
    else:
        sizing.NOT_SIZED.write(job.out)
