"""Gate-simulation step: simulates a netlist with test vectors and records its activity, with wires after
layout.
"""

from ....kit import kit
from ... import tools
from ...job import Job

version = tools.verilator


def run(job: Job) -> None:
    """Write the outputs of the step."""
    from ....gates.activity import gate_sim

    gate_sim(
        job["netlist.json"],
        job.design,
        job["workload.json"],
        job.out,
        clock_ns=job.clock_ns,
        timed=job.parameters["glitches"],
        wires=job.inputs.get("wires.json"),
        adk=job.adk,
        corner=job.corner or kit.TYPICAL,
    )
