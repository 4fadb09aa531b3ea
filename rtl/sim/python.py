"""Stage `python`: PyMTL3's own simulator, for RTL and for CL components."""

from pathlib import Path

from pymtl3 import Component, DefaultPassGroup

from .base import Simulation
from .ports import Ports
from .protocol import Plan, Progress, Trace
from .pydriver import PythonDriver
from .waves import check_suffix


class PythonSimulation(Simulation):
    """Simulates the component itself."""

    stage = "python"

    def __init__(self, component: Component, *, vcd: Path | None, trace: Trace | None, opt: str) -> None:
        check_suffix(vcd, self.stage, ".vcd")
        component.elaborate()
        self.ports = Ports.of(component)
        # PyMTL3 appends the suffix itself
        component.apply(DefaultPassGroup(vcdwave=vcd and str(vcd.with_suffix(""))))
        self._driver = PythonDriver(component, self.ports, self.stage, trace)

    def _drive(self, plan: Plan, progress: Progress | None) -> tuple[list[int], list[int], list[int]]:
        return self._driver.drive(plan, progress)
