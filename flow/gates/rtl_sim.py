"""Simulation of the design before synthesis by Verilator: test rows and the energy workload."""

import time
from pathlib import Path

from ...proc.sim.native import NativeProcSimulation, VerilogText
from ...rtl.sim.base import Options
from .. import workload
from ..description import Description
from ..workload import Simulated

FILE = "rtl_sim.json"


def simulate_rtl(design_sv: Path, design: Description, workload_json: Path, out_dir: Path) -> Simulated:
    """Write rtl_sim.json; a wrong answer is a failed test and no error."""
    start = time.perf_counter()
    work = workload.load(workload_json)
    report = run_text(design_sv.read_text(), design.top, work)
    report.seconds = round(time.perf_counter() - start, 2)
    report.write(out_dir, FILE)
    return report


def run_text(verilog: str, top: str, work: workload.Workload) -> Simulated:
    """A workload on the module `top` of a Verilog text."""
    if work.protocol == workload.SYSTEM:
        with NativeProcSimulation(VerilogText(verilog, top), Options()) as system:
            return workload.run_programs(system, work)
    assert work.ports is not None
    with workload.TextSimulation(verilog, top, work.ports, work.names, Options()) as simulation:
        return workload.run_streams(simulation, work)
