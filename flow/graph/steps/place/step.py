"""Place step: floorplan, placement, clock tree, and the resulting area."""

from ....kit import kit
from ... import tools
from ...job import Job

version = tools.compiled


def run(job: Job) -> None:
    """Write the outputs of the step."""
    from ....layout.place import place
    from ....netlist import document, hierarchy
    from ....synth.area import PLACED, area

    place(
        job["netlist.json"],
        job["hierarchy.json"],
        job.out,
        density=job.parameters["density"],
        clock_ns=job.clock_ns,
        clock_port=job.design.clock_port,
        adk=job.adk,
        corner=job.corner,
        routes_above=job.parameters["routes_above"],
    )
    # with the cells that placement added
    library = kit.find(job.adk).library
    known = hierarchy.load(job.out / hierarchy.PLACED)
    netlist = document.module(job.out / "netlist_placed.json", job.design.top)
    area(netlist, known.cells, known.modules, library).write(job.out, PLACED)
