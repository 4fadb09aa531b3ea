"""Simulation of the design before synthesis: the rows of its tests and the energy workload, by Verilator."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from ...rtl.sim.base import Options
from .. import workload
from ..description import Description
from ..files import replace_json


def simulate_rtl(design_sv: Path, design: Description, workload_json: Path, out_dir: Path) -> dict[str, Any]:
    """Write rtl_sim.json; a wrong answer is a failed test and no error."""
    start = time.perf_counter()
    work = workload.load(workload_json)
    report = run_text(design_sv.read_text(), design.top, work)
    report["seconds"] = round(time.perf_counter() - start, 2)
    replace_json(out_dir / "rtl_sim.json", report)
    return report


def run_text(verilog: str, top: str, work: workload.Workload) -> dict[str, Any]:
    """A workload on the module `top` of a Verilog text."""
    if work.protocol == workload.SYSTEM:
        return run_programs(verilog, top, work)
    assert work.ports is not None
    with workload.TextSimulation(verilog, top, work.ports, work.names, Options()) as simulation:
        return workload.run_streams(simulation, work)


def run_programs(verilog: str, top: str, work: workload.Workload) -> dict[str, Any]:
    """The programs of a workload on a processor."""
    from ...proc.sim.native import NativeProcSimulation, VerilogText

    cycles: dict[str, int] = {}
    failures = []
    rows = [(row.name, row) for row in work.rows] + list(work.energy.items())
    with NativeProcSimulation(VerilogText(verilog, top), Options()) as simulation:
        for name, row in rows:
            outcome = simulation.run(workload.program(row), max_cycles=work.max_cycles)
            if outcome.exit_code:
                failures.append({"name": name, "exit_code": outcome.exit_code, "reason": outcome.reason})
            if outcome.window.cycles is not None:
                cycles[name] = outcome.window.cycles
    dummy = cycles.get(workload.DUMMY, 0)
    return {
        "tests_passed": len(rows) - len(failures),
        "tests_failed": len(failures),
        "failures": failures,
        "cycles": {name: cycles[name] - dummy for name in work.energy if name in cycles},
    }
