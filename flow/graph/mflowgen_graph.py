"""An mflowgen graph under construction, for construct.py and the graphs in examples/.

Each node is connected to the nodes before it by the names of files. mflowgen_steps.py writes the folders of
our steps below the directory in which mflowgen runs.
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from mflowgen.components import Graph, Step

from ...fl.errors import BadInput
from ...rtl.sim.toolchain import run
from .. import description
from ..description import Description
from ..files import scratch
from . import graph, mflowgen_steps


class FlowGraph:
    """A graph with a kit, a design and their parameters."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        given = dict(parameters)
        library = given.pop("kit", mflowgen_steps.KIT)
        self.here = Path.cwd()
        clock = mflowgen_steps.clock_of(library)
        self.values, self.has_vectors = mflowgen_steps.parameters({**clock, **given})
        if library == mflowgen_steps.KIT:
            self.values["adk_view"] = mflowgen_steps.ADK_VIEW
        self.graph = Graph()
        self.graph.sys_path.append(str(self.here / mflowgen_steps.FOLDER))
        self.graph.set_adk(mflowgen_steps.adk_of(library, self.here))
        self._nodes = [self.graph.get_adk_step()]

    def add(self, node: Step) -> Step:
        """Add a node and connect it to all nodes before it."""
        self.graph.add_step(node)
        for before in self._nodes:
            self.graph.connect_by_name(before, node)
        self._nodes.append(node)
        return node

    def step(self, name: str) -> Step:
        """Add a step of ours; BadInput if its tool is missing."""
        graph.tool(name)
        declared = mflowgen_steps.declaration(graph.step(name))
        return self.add(Step(str(mflowgen_steps.write(name, declared, self.here))))

    def steps(self, names: Collection[str]) -> None:
        """Add these steps without those that cannot run here, which are printed with the reason."""
        left_out = graph.left_out(names, self.has_vectors)
        for name, reason in left_out.items():
            print(f"step {name} is left out: {reason}")
        for name in names:
            if name not in left_out:
                self.step(name)

    def stock(self, name: str) -> Step:
        """Add a node of mflowgen."""
        return self.add(Step(name, default=True))

    def design(self) -> Description:
        """The description of the design, which the command of the step rtl exports; BadInput if it fails."""
        words = self.values[mflowgen_steps.EXPORT]
        command = graph.step("rtl").command.format(export=words)
        with scratch() as work:
            done = run(["bash", "-c", command], cwd=work)
            if done.returncode:
                raise BadInput((done.stderr.strip().splitlines() or ["the design cannot be exported"])[-1])
            return description.load(work / "outputs" / Description.FILE)

    def done(self, **more: Any) -> Graph:
        """The graph, with the values of the parameters; `more` are those of other nodes."""
        self.graph.update_params({**self.values, **more})
        return self.graph
