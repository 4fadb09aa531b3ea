"""RTL simulation step: simulates the design with its test vectors."""

from ... import tools
from ...job import Job

version = tools.verilator


def run(job: Job) -> None:
    """Write the outputs of the step."""
    from ....workload import simulate_rtl

    simulate_rtl(job["design.sv"], job.design, job["workload.json"], job.out)
