"""Stage `verilog`: the translated Verilog, imported back into PyMTL3 through Verilator."""

from collections.abc import Callable

from pymtl3 import Component

from ...rtl.sim.base import Options, elaborate
from ...rtl.sim.verilog import checked_waves, finalize, import_back
from . import ports
from .base import Job, ProcSimulation, Tally
from .pybench import PythonBench


class VerilogProcSimulation(ProcSimulation):
    """Simulates the imported component with the testbench of stage `python`."""

    stage = "verilog"
    waves = (".vcd",)
    traces = True

    def __init__(self, component: Component, options: Options) -> None:
        self._check(options)
        elaborate(component)
        ports.check(component)
        self._imported = import_back(component, options)
        self._bench = PythonBench(self._imported, self.stage, options.trace)

    def _execute(self, job: Job, report: Callable[[int], None] | None) -> Tally:
        return checked_waves(self._imported, self._bench.execute(job, report))

    def close(self) -> None:
        finalize(self._imported)
