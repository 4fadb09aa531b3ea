"""Session: a machine at one level and stage, ready to compute: what `run`, `check` and `report` drive.

fl: the design's function on Python integers, no cycles. cl: the cycle-level model in PyMTL3's own simulator.
rtl: the hardware at any stage of `modexlab.rtl.sim`. How operands reach it
is an Interface (interfaces.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...fl.errors import BadInput
from ...fl.status import MEANING, Status
from .interfaces import DEFAULT, Carried, Message, Operands

if TYPE_CHECKING:
    from ...fl.rsa_keys import RSAKey
    from ...rtl.sim import Simulation
    from .machine import Machine

LEVELS = ("fl", "cl", "rtl")
RTL_STAGE = "native"  # of the hardware, where none is asked for


def stage_at(level: str, stage: str | None) -> str | None:
    """The stage at which a level runs: the one asked for, else the level's own."""
    if level == "rtl":
        return stage or RTL_STAGE
    if level == "cl":
        if stage not in (None, "python"):
            raise BadInput(
                f"the cycle level runs at stage python, not {stage}; drop --stage or use --level rtl"
            )
        return "python"
    if level == "fl":
        if stage is not None:
            raise BadInput(f"the functional level has no stage {stage}; drop --stage or use --level rtl")
        return None
    raise BadInput(f"unknown level {level!r}; the levels are {', '.join(LEVELS)}")


class NoResult(ArithmeticError):
    """A machine answered with a status instead of a result."""


@dataclass(frozen=True)
class Answer:
    """What a machine answered to one request; cycles is None where there is no clock.

    accesses: of the processor to registers, each a cycle at least, which are among the cycles.
    """

    status: Status
    result: int
    cycles: int | None
    accesses: int = 0

    def value(self) -> int:
        """The result, if there is one."""
        if self.status is not Status.OK:
            raise NoResult(f"the machine answered status {int(self.status)}: {MEANING[self.status]}")
        return self.result


class Session:
    """A machine that was made at one level and stage."""

    def __init__(
        self,
        machine: Machine,
        *,
        level: str = "rtl",
        stage: str | None = None,
        interface: str = DEFAULT.name,
        vcd: Path | None = None,
        trace: Callable[[int, str], None] | None = None,
    ) -> None:
        self.machine = machine
        self.level = level
        self.stage = stage_at(level, stage)
        self.interface = machine.interface(interface)
        self.cycles: list[int] = []
        self.works: list[int] = []  # cycles of a core's own work among them, of designs that tell them apart
        self.accesses = 0
        self._simulation: Simulation | None = None
        if self.stage is None:
            if vcd is not None or trace is not None:
                raise BadInput("the functional level has no clock to trace; use --level cl or --level rtl")
            return
        self._simulation = machine.simulation(self.interface, level, self.stage, vcd=vcd, trace=trace)

    def run(
        self, operands: Sequence[Operands], progress: Callable[[int, int], None] | None = None
    ) -> list[Answer]:
        """All exponentiations in one run of the simulation, in order; each lasts from its first request to its last response."""
        machine = self.machine
        carried = [machine.carried(*each) for each in operands]
        return self._run(carried, lambda: machine.most_cycles(operands), progress)

    def run_with_keys(
        self, operations: Sequence[tuple[int, RSAKey]], progress: Callable[[int, int], None] | None = None
    ) -> list[Answer]:
        """Private operations, each a message and its key: a request has all of a key, so that one machine serves many."""
        machine = self.machine
        each_with = {key: machine.with_key(key, machine.draw) for _, key in operations}
        parts = [(each_with[key], (message, key.d or 0, key.n)) for message, key in operations]
        carried = [keyed.carried(*operands) for keyed, operands in parts]
        return self._run(carried, lambda: sum(keyed.cycles(*operands) for keyed, operands in parts), progress)

    def _run(
        self,
        carried: Sequence[Carried],
        longest: Callable[[], int],
        progress: Callable[[int, int], None] | None,
    ) -> list[Answer]:
        """The operations that are carried, which take so many cycles at the longest."""
        sequences = [self.interface.requests(self.machine.nbits, each) for each in carried]
        if self._simulation is None:
            return self._functional(sequences, progress)
        # long operations are no hang: the formula says how long they may take
        flat = [request for sequence in sequences for request in sequence]
        most = 2 * (longest() + len(flat)) + 1000
        run = self._simulation.run(flat, progress=progress, max_cycles=most)
        answers = []
        end = 0
        for sequence in sequences:
            start, end = end, end + len(sequence)
            cycles = run.done[end - 1] - run.accepted[start]
            answers.append(self._answer(run.responses[start:end], cycles))
        return answers

    def _functional(
        self, sequences: Sequence[Sequence[Message]], progress: Callable[[int, int], None] | None
    ) -> list[Answer]:
        """On Python integers, by the interface's own model."""
        machine = self.machine
        answers = []
        for done, sequence in enumerate(sequences):
            if progress is not None:
                progress(done, len(sequences))
            responses = self.interface.respond(machine.nbits, machine.fl, sequence, machine.given_fields)
            answers.append(self._answer(responses, None))
        return answers

    def _answer(self, responses: Sequence[Any], cycles: int | None) -> Answer:
        status, result = self.interface.outcome(self.machine.nbits, responses)
        return Answer(status, result, cycles, len(responses) if self.interface.counts_accesses else 0)

    def mod_exp(self, base: int, exp: int, mod: int) -> int:
        """One exponentiation, as `modexlab.fl.rsa_keys` wants it; its cycles are added to `cycles`."""
        self.machine.require(base, exp, mod)
        answer = self.run([(base, exp, mod)])[0]
        if answer.cycles is not None:
            self.cycles.append(answer.cycles)
        self.accesses += answer.accesses
        return answer.value()

    def close(self) -> None:
        """Free the simulation and finish its waveform file."""
        if self._simulation is not None:
            self._simulation.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
