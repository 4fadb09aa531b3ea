"""Stage `python`: PyMTL3's own simulator."""

from collections.abc import Callable

from pymtl3 import Component

from ...rtl.sim.base import Options, elaborate
from ...rtl.sim.pymodel import prepare
from . import ports
from .base import Job, ProcSimulation, Tally
from .pybench import PythonBench


class PythonProcSimulation(ProcSimulation):
    """Simulates the component itself."""

    stage = "python"
    waves = (".vcd",)
    traces = True

    def __init__(self, component: Component, options: Options) -> None:
        self._check(options)
        elaborate(component)
        ports.check(component)
        prepare(component, options.vcd)
        line_trace = getattr(component, "line_trace", None)
        self._bench = PythonBench(component, self.stage, options.trace, line_trace)

    def _execute(self, job: Job, report: Callable[[int], None] | None) -> Tally:
        return self._bench.execute(job, report)
