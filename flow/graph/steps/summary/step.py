"""Summary step: all figures of a run on one screen and as JSON."""

from ... import tools
from ...job import Job

version = tools.ours


def run(job: Job) -> None:
    """Write the outputs of the step."""
    from ... import graph
    from ...summary import summarize

    summarize(job.inputs, job.out, clock_ns=job.clock_ns, fresh=graph.ORDER)
