"""How fast programs run, at each level: `modexlab bench proc`.

One program, RSA in software on many words, runs on the instruction-set simulator and on the RTL of the processor at
stage native, and its first cycles at stage python. Speeds are per second of processor time, the best of several
repetitions that take turns; loading the program and collecting the outcome is part of the time. The program itself
compares its result, and all levels must retire the same instructions.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from ...proc.iss.outcome import Outcome
from ...proc.software.kernels import kernel_program
from ..designs.system import System
from ..designs.systems import workloads
from ..errors import NoMeasurement

KERNEL, NBITS = "naive", 512
REPETITIONS = 3
PYTHON_CYCLES = 3_000


def bench_proc() -> dict[str, float]:
    """The ratio, and the speeds."""
    work, _ = workloads(NBITS)
    program = kernel_program(KERNEL, NBITS, *work.operands)
    iss_speed = native_speed = python_speed = 0.0
    with System(level="fl") as fl, System() as native, System(stage="python") as python:
        for _ in range(REPETITIONS):
            seconds, iss = _timed(lambda: fl.run(program))
            iss_speed = max(iss_speed, iss.instructions / seconds)
            seconds, whole = _timed(lambda: native.run(program))
            native_speed = max(native_speed, (whole.cycles or 0) / seconds)
            seconds, first = _timed(lambda: python.run(program, limit=PYTHON_CYCLES))
            python_speed = max(python_speed, (first.cycles or 0) / seconds)
    if (iss.exit_code, whole.exit_code) != (0, 0) or iss.instructions != whole.instructions:
        raise NoMeasurement(
            f"exit codes {iss.exit_code} and {whole.exit_code} after {iss.instructions} and "
            f"{whole.instructions} instructions: the speeds mean nothing"
        )
    return {
        "native_over_python": native_speed / python_speed,
        "iss_instructions_per_second": iss_speed,
        "native_cycles_per_second": native_speed,
        "python_cycles_per_second": python_speed,
        "native_cycles": float(whole.cycles or 0),
    }


def _timed(run: Callable[[], Outcome]) -> tuple[float, Outcome]:
    """Processor time, and what came of it."""
    start = time.process_time()
    outcome = run()
    return time.process_time() - start, outcome
