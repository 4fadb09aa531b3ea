"""The flow as an mflowgen graph: `mkdir build; cd build; mflowgen run --design ../flow; make list; make
status; make 4`.

Parameters are passed as in `mflowgen run --design ../flow --graph-kwargs "{'design': 'mont', 'nbits': 8}"`;
docs/reference/flow.md lists them. Steps whose tools are missing are left out, with all steps that need them,
and printed with the command that installs the tool. `mflowgen run` writes the folders of the steps to
.mflowgen-steps in its directory.

mflowgen executes this file by its path, outside the package, hence the absolute imports.
"""

from typing import Any

from mflowgen.components import Graph
from modexlab.flow.graph import graph
from modexlab.flow.graph.mflowgen_graph import FlowGraph


def construct(**parameters: Any) -> Graph:
    """The graph with these values of its parameters."""
    flow = FlowGraph(parameters)
    flow.steps(graph.ORDER)
    return flow.done()
