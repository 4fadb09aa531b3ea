"""Equivalence step: proves that the netlist implements the design."""

from ....netlist import yosys
from ...job import Job

version = yosys.version


def run(job: Job) -> None:
    """Write the outputs of the step."""
    from ....prove.equivalence import check_equivalence
    from ....synth.plain import STYLE

    check_equivalence(
        job["design.sv"],
        job["netlist.json"],
        job.design.top,
        job.out,
        seconds=job.parameters["seconds_a_part"],
        rewritten=job.parameters["style"] != STYLE,
        kit_directory=job.adk,
    )
