"""Step summary: all figures of a run."""

from ... import metric
from .. import tools
from ..common import Clocked
from ..step import File, Job, Step, Tool

RUNS = (
    "rtl",
    "rtl-sim",
    "synthesis",
    "sizing",
    "equivalence",
    "timing",
    "gate-sim",
    "power",
    "place",
    "route",
    "timing-post",
    "gate-sim-post",
    "power-post",
    "layout",
    "rules",
)


class Summary(Step[Clocked]):
    """All figures, as one screen and as `summary.json`.

    All inputs but design.json may be missing, if their steps were left out.
    """

    name = "summary"
    params = Clocked
    reads = ("design.json",)
    optional = (
        "rtl_sim.json",
        "mapped_area.json",
        "area.json",
        "synthesis.json",
        "equivalence.json",
        "timing.json",
        "gate_sim.json",
        "power.json",
        "placement.json",
        "area_placed.json",
        "routing.json",
        "wires_summary.json",
        "timing_post.json",
        "gate_sim_post.json",
        "power_post.json",
        "rules.json",
        *(f"run-{name}.json" for name in RUNS),
    )
    writes = (File("summary.json", "all figures"), File("summary.txt", "the figures on one screen"))
    tool = Tool("modexlab", tools.ours)
    metrics = (metric.TIME, metric.CLOCK)

    def run(self, job: Job[Clocked]) -> None:
        """Write the outputs."""
        from .. import graph
        from ..summary import summarize

        summarize(job.inputs, job.out, clock_ns=job.params.clock_period, fresh=graph.ORDER)
