"""Stage `python`: PyMTL3's own simulator, for RTL and for CL components."""

from pymtl3 import Component

from .base import Options, Simulation
from .protocol import Plan, Progress
from .pydriver import PythonDriver
from .pymodel import prepare


class PythonSimulation(Simulation):
    """Simulates the component itself."""

    stage = "python"
    waves = (".vcd",)
    traces = True

    def __init__(self, component: Component, options: Options) -> None:
        super().__init__(component, options)
        prepare(component, options.vcd)
        line_trace = getattr(component, "line_trace", None)
        self._driver = PythonDriver(component, self.ports, self.stage, options.trace, line_trace)

    def _drive(self, plan: Plan, progress: Progress | None) -> tuple[list[int], list[int], list[int]]:
        return self._driver.drive(plan, progress)
