"""Timing step: slack, paths and the highest clock of a netlist, with wires after layout."""

from ...job import Job


def version() -> str:
    """The version of the tool."""
    # imported here because it loads numpy, and a sweep's start only needs versions
    from ....timing import timing

    return timing.version("opensta")


def run(job: Job) -> None:
    """Write the outputs of the step."""
    from ....timing.timing import analyze

    analyze(
        job["netlist.v"],
        job.design.top,
        job.out,
        clock_ns=job.clock_ns,
        clock_port=job.design.clock_port,
        wire_load=job.parameters.get("wire_load") or None,
        spef=job.inputs.get("wires.spef"),
        wires=job.inputs.get("wires.json"),
        hierarchy=job["hierarchy.json"],
        netlist_json=job["netlist.json"],
        fmax=job.parameters["fmax"],
        adk=job.adk,
        corner=job.corner,
        propagated="wires.spef" in job.inputs,
    )
