"""How fast the simulators are, as ratios measured in one run: `modexlab bench sim`.

The catalogue's `mont` at 32 bits does the same exponentiations at stage native (-O3), in a loop written by hand
around the same Verilated design (bench.cpp, same compiler flags), and, fewer of them, at stage python. Speeds are
cycles per second of processor time, the best of several repetitions that take turns, so that other load on the
machine disturbs all three alike. Preparing the operands and collecting the results is part of the time. All
results are compared with `pow`. The start of a native simulation is that of a whole process, from the interpreter
to the first answer, when the cache has the design.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Sequence
from pathlib import Path

from ...fl.status import Status
from ...rtl.sim import Simulation, simulate, translate
from ...rtl.sim.build import program
from ..designs.catalogue import find
from ..errors import NoMeasurement

NBITS = 32
OPT = "-O3"
REPETITIONS = 7
NATIVE_REQUESTS = 10_000
PYTHON_REQUESTS = 10
STARTS = 3
BENCH_CPP = Path(__file__).with_name("bench.cpp")

Request = tuple[int, int, int]


def bench_sim() -> dict[str, float]:
    """The ratios, the speeds (cycles per second) that they are made of, and the seconds of a start."""
    design = find("mont")
    requests = _requests(NATIVE_REQUESTS)
    component = design.at(NBITS).rtl()
    hand_written = program(translate(component, "ModExp"), "ModExp", BENCH_CPP.read_text(), OPT)
    native = simulate(design.at(NBITS).rtl(), "native", opt=OPT)
    python = simulate(design.at(NBITS).rtl(), "python")
    cpp_speed = native_speed = python_speed = 0.0
    for _ in range(REPETITIONS):
        cpp_speed = max(cpp_speed, _speed_by_hand(hand_written, requests))
        native_speed = max(native_speed, _speed(native, requests))
        python_speed = max(python_speed, _speed(python, requests[:PYTHON_REQUESTS]))
    return {
        "native_over_cpp": native_speed / cpp_speed,
        "native_over_python": native_speed / python_speed,
        "cpp_cycles_per_second": cpp_speed,
        "native_cycles_per_second": native_speed,
        "python_cycles_per_second": python_speed,
        "native_start_seconds": min(_start_seconds() for _ in range(STARTS)),
    }


def _start_seconds() -> float:
    """A fresh process makes one simulation, which the cache has by now, and runs one request."""
    code = (
        "from modexlab.eval.designs.catalogue import find\n"
        "from modexlab.rtl.sim import simulate\n"
        f"print(simulate(find('mont').at({NBITS}).rtl(), 'native', opt='{OPT}').run([(3, 5, 7)]).responses)"
    )
    start = time.monotonic()
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    seconds = time.monotonic() - start
    if printed.strip() != "[(0, 5)]":
        raise NoMeasurement(f"a fresh process answers {printed.strip()}: its start means nothing")
    return seconds


def _requests(count: int) -> list[Request]:
    """Random operands that the machine accepts: an odd modulus, a base below it."""
    rng = random.Random(1)
    moduli = [rng.getrandbits(NBITS) | 1 << (NBITS - 1) | 1 for _ in range(count)]
    return [(rng.randrange(mod), rng.getrandbits(NBITS), mod) for mod in moduli]


def _speed(sim: Simulation, requests: Sequence[Request]) -> float:
    start = time.process_time()
    run = sim.run(requests)
    seconds = time.process_time() - start
    if run.responses != [(Status.OK, pow(*request)) for request in requests]:
        raise NoMeasurement(f"stage {sim.stage} computes wrong results: its speed means nothing")
    return run.cycles / seconds


def _speed_by_hand(hand_written: Path, requests: Sequence[Request]) -> float:
    with tempfile.TemporaryDirectory(prefix="modexlab-") as directory:
        operands, results = Path(directory) / "operands", Path(directory) / "results"
        operands.write_bytes(array("I", [word for request in requests for word in request]).tobytes())
        command = [str(hand_written), str(operands), str(results)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found = array("I", results.read_bytes()).tolist()
    if found != [pow(*request) for request in requests]:
        raise NoMeasurement("the hand-written loop computes wrong results: its speed means nothing")
    cycles, seconds = printed.split()
    return int(cycles) / float(seconds)
