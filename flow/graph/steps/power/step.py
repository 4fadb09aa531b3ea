"""Power step: power and energy of a netlist from its activity, with wires after layout."""

from ....kit import kit
from ... import tools
from ...job import Job

version = tools.ours


def run(job: Job) -> None:
    """Write the outputs of the step."""
    from ....power.power import analyze

    analyze(
        job["netlist.json"],
        job["activity"],
        job.out,
        top=job.design.top,
        clock_ns=job.clock_ns,
        clock_port=job.design.clock_port,
        hierarchy=job["hierarchy.json"],
        wires=job.inputs.get("wires.json"),
        placement=job.inputs.get("placement.json"),
        wire_load=job.parameters.get("wire_load") or None,
        adk=job.adk,
        corner=job.corner or kit.TYPICAL,
    )
