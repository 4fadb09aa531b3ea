"""Equivalence step: proves that the netlist implements the design."""

from __future__ import annotations

from ....netlist import yosys
from ...job import Job

version = yosys.version


def run(job: Job) -> None:
    """Make the outputs of the step."""
    from ....prove.equivalence import check_equivalence

    check_equivalence(
        job.inputs["design.sv"],
        job.inputs["netlist.json"],
        job.design.top,
        job.out,
        tiles_json=job.inputs["tiles.json"],
        seconds=job.parameters["seconds_a_part"],
        kit_directory=job.adk,
    )
