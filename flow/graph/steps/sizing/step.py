"""Sizing step: drive strengths and buffers."""

from ....kit import kit
from ... import tools
from ...job import Job

version = tools.compiled


def run(job: Job) -> None:
    """Write the outputs of the step."""
    from ....netlist.hierarchy import Hierarchy
    from ....synth.plain import STYLE
    from ....synth.sizing import sizing

    before = job.out / "before"  # the names that sizing expects next to each other
    before.mkdir()
    for name in ("netlist.json", Hierarchy.FILE):
        mapped = "mapped.json" if name == "netlist.json" else f"mapped_{name}"
        (before / name).symlink_to(job[mapped].absolute())
    sizing.size(
        before / "netlist.json",
        job.out,
        clock_ns=job.clock_ns,
        clock_port=job.design.clock_port,
        kit_directory=job.adk,
        corner=job.corner or kit.SLOW,
        plain=job.parameters["style"] == STYLE,
        sized=job.parameters["sized"],
    )
