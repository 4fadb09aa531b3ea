"""Speed of the simulators, as ratios measured in one run, next to what a quiet machine reaches: `make bench`.

Each machine of MACHINES runs the same operations with backend native and in a hand-written loop (bench.cpp)
around the same Verilog, compiled with the same options; mont at 32 bits also runs a few of them with backend
python. Speeds are cycles per second of CPU time, the best of several repetitions that take turns, so that
other load on the computer disturbs all alike. Preparing the operands and collecting the results is part of
the time. All results are compared with `pow`. The start of a native simulation is that of a whole process,
from the interpreter to the first answer, when the cache has the design.
"""

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from modexlab.eval.designs.catalogue import find
from modexlab.eval.designs.protection import BY_CRT
from modexlab.eval.errors import NoMeasurement
from modexlab.fl.status import Status
from modexlab.flow.isolated import PREAMBLE
from modexlab.rtl.sim import simulate, translate
from modexlab.rtl.sim.build import program
from modexlab.rtl.sim.native import from_words, to_words

# at least so much; seconds at most. A missed goal is only reported: other load makes the simulators slower
GOALS = {
    "native_over_cpp_mont_32": 0.95,
    "native_over_cpp_heap_256": 0.95,
    "native_over_cpp_heap_2048_crt": 0.95,
    "native_over_python": 800.0,
    "native_start_seconds": 0.5,
}
PYTHON_REQUESTS = 10
STARTS = 3
BENCH_CPP = Path(__file__).with_name("bench.cpp")
TOP = "Bench"


@dataclass(frozen=True)
class Raced:
    """A machine that runs with backend native and in the hand-written loop."""

    name: str
    design: str
    nbits: int
    requests: int
    repetitions: int
    opt: str = "-O1"  # the default of `simulate`; g++ takes minutes for a heap at -O3
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def machine(self):
        return find(self.design).at(self.nbits, **self.settings)

    def operations(self):
        """Random operands that the machine accepts, and the result of each."""
        machine, rng = self.machine, random.Random(1)
        for _ in range(self.requests):
            if machine.keyed:
                exp, mod = machine.key.d, machine.key.n
            else:
                mod = rng.getrandbits(self.nbits) | 1 << (self.nbits - 1) | 1
                exp = rng.getrandbits(self.nbits)
            base = rng.randrange(mod)
            yield machine.carried(base, exp, mod), pow(base, exp, mod)


MACHINES = (  # the first runs with backend python too
    Raced("mont_32", "mont", 32, 10_000, 7, "-O3"),
    Raced("heap_256", "heap", 256, 20, 7),
    Raced("heap_2048_crt", "heap", 2048, 1, 3, settings=BY_CRT),
)


def bench_sim():
    """The ratios, the speeds (cycles per second) of the first machine, and the seconds of a start."""
    ratios = {}
    speeds = {}
    for raced in MACHINES:
        cpp_speed, native_speed, python_speed = _race(raced)
        ratios[f"native_over_cpp_{raced.name}"] = native_speed / cpp_speed
        if python_speed:
            ratios["native_over_python"] = native_speed / python_speed
            speeds |= {
                "cpp_cycles_per_second": cpp_speed,
                "native_cycles_per_second": native_speed,
                "python_cycles_per_second": python_speed,
            }
    return {**ratios, **speeds, "native_start_seconds": min(_start_seconds() for _ in range(STARTS))}


def _race(raced):
    """Cycles per second in the hand-written loop and with native; for the first machine also with python."""
    operations = list(raced.operations())
    verilog = translate(raced.machine.rtl(), TOP)
    hand_written = program(verilog, TOP, BENCH_CPP.read_text(), raced.opt)
    cpp_speed = native_speed = python_speed = 0.0
    with simulate(raced.machine.rtl(), "native", opt=raced.opt) as native:
        for _ in range(raced.repetitions):
            cpp_speed = max(cpp_speed, _speed_by_hand(hand_written, native, operations))
            native_speed = max(native_speed, _speed(native, operations))
    if raced is MACHINES[0]:
        with simulate(raced.machine.rtl(), "python") as python:
            for _ in range(raced.repetitions):
                python_speed = max(python_speed, _speed(python, operations[:PYTHON_REQUESTS]))
    return cpp_speed, native_speed, python_speed


def _start_seconds():
    """A fresh process makes one simulation, which the cache has by now, and runs one request."""
    small = MACHINES[0]
    code = (
        f"{PREAMBLE}\n"
        "from modexlab.eval.designs.catalogue import find\n"
        "from modexlab.rtl.sim import simulate\n"
        f"machine = find({small.design!r}).at({small.nbits})\n"
        f"print(simulate(machine.rtl(), 'native', opt='{small.opt}').run([(3, 5, 7)]).responses)"
    )
    start = time.monotonic()
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    seconds = time.monotonic() - start
    if printed.strip() != "[(0, 5)]":
        raise NoMeasurement(f"a fresh process answers {printed.strip()}: its start means nothing")
    return seconds


def _speed(sim, operations):
    requests = [request for request, _ in operations]
    start = time.process_time()
    run = sim.run(requests)
    seconds = time.process_time() - start
    _check(run.responses, operations, f"backend {sim.backend}")
    return run.cycles / seconds


def _speed_by_hand(hand_written, sim, operations):
    ports = sim.ports
    with tempfile.TemporaryDirectory(prefix="modexlab-") as directory:
        sent, received = Path(directory) / "requests", Path(directory) / "responses"
        messages = ports.request.pack_all([request for request, _ in operations])
        sent.write_bytes(to_words(messages, ports.request.nbits))
        command = [str(hand_written), str(sent), str(received)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        responses = ports.response.unpack_all(from_words(received.read_bytes(), ports.response.nbits))
    _check(responses, operations, "the hand-written loop")
    cycles, seconds = printed.split()
    return int(cycles) / float(seconds)


def _check(responses, operations, where):
    """NoMeasurement unless every response has the result of its operation."""
    if list(responses) != [(Status.OK, result) for _, result in operations]:
        raise NoMeasurement(f"{where} returned wrong results, so its speed is meaningless")


def lines(report):
    """A figure on a line, with its goal if it has one."""
    for name, value in report.items():
        verdict = ""
        if name in GOALS:
            reached = value <= GOALS[name] if name.endswith("_seconds") else value >= GOALS[name]
            verdict = f"  goal {GOALS[name]:g}: {'met' if reached else 'MISSED'}"
        yield f"{name:<30}  {value:>14,.2f}{verdict}"


if __name__ == "__main__":
    print(*lines(bench_sim()), sep="\n")
