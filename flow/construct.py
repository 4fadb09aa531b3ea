"""The flow as an mflowgen graph: `mkdir build; cd build; mflowgen run --design ../flow; make list; make
status; make 4`.

Parameters are passed as in `mflowgen run --design ../flow --graph-kwargs "{'design': 'mont', 'nbits': 8}"`;
docs/reference/flow.md lists them. Steps whose tools are missing are left out, with all steps that need them,
and printed with the command that installs the tool.

mflowgen executes this file by its path, outside the package, hence the absolute imports.
"""

from pathlib import Path
from typing import Any

from mflowgen.components import Graph, Step
from modexlab.flow.graph import graph


def construct(**parameters: Any) -> Graph:
    """The graph with these values of its parameters."""
    library = parameters.pop("kit", graph.KIT)
    values, vectors = graph.mflowgen_parameters({**graph.clock_of(library), **parameters})
    left_out = graph.left_out(graph.ORDER, vectors)
    for name, reason in left_out.items():
        print(f"step {name} is left out: {reason}")

    flow = Graph()
    flow.sys_path.append(str(Path.cwd()))
    flow.set_adk(graph.adk_of(library, Path.cwd()))
    steps = [flow.get_adk_step()]
    for name in graph.ORDER:
        if name not in left_out:
            step = Step(str(graph.STEPS / name))
            flow.add_step(step)
            for source in steps:
                flow.connect_by_name(source, step)
            steps.append(step)

    flow.update_params({**values, "adk_view": graph.ADK_VIEW} if library == graph.KIT else values)
    return flow
