"""One design at one width, level and stage, ready to compute: what `run`, `check` and `report` drive.

fl: the design's function on Python integers, no cycles. cl: the cycle-level model in PyMTL3's own simulator.
rtl: the hardware at any stage of `modexlab.rtl.sim`. The interface is the machine's own, a stream of operands, or xcel: registers
in front of it, as a processor sees an accelerator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...fl.errors import BadInput, shown
from ...fl.status import MEANING, Status
from ...fl.xcel import XcelFL
from .accesses import accesses, outcome

if TYPE_CHECKING:
    from pymtl3 import Component

    from .catalogue import Design

LEVELS = ("fl", "cl", "rtl")
INTERFACES = ("stream", "xcel")

Operands = tuple[int, int, int]


def width_for(*numbers: int) -> int:
    """The width of machine for these numbers: the longest of them, rounded up to words of 32 bits."""
    return max(32, *(-(-number.bit_length() // 32) * 32 for number in numbers))


def stage_at(level: str, stage: str | None) -> str | None:
    """The stage at which a level runs: the one asked for, else the level's own."""
    if level == "rtl":
        return stage or "native"
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


class Machine:
    """A design that was made at one width, and at one level and stage."""

    def __init__(
        self,
        design: Design,
        nbits: int,
        *,
        level: str = "rtl",
        stage: str | None = None,
        interface: str = "stream",
        settings: Mapping[str, Any] | None = None,
        vcd: Path | None = None,
        trace: Callable[[int, str], None] | None = None,
    ) -> None:
        self.design = design
        self.nbits = nbits
        self.level = level
        self.stage = stage_at(level, stage)
        self.interface = interface
        self.settings = dict(settings or {})
        self.parameters = design.resolve(nbits, self.settings)
        self.cycles: list[int] = []
        self.accesses = 0
        self._simulation = None
        if self.stage is None:
            if vcd is not None or trace is not None:
                raise BadInput("the functional level has no clock to trace; use --level cl or --level rtl")
            return
        from ...rtl.sim import simulate

        self._simulation = simulate(self._component(), self.stage, vcd=vcd, trace=trace)

    def _component(self) -> Component:
        make = self.design.cl if self.level == "cl" else self.design.rtl
        if self.interface == "stream":
            return make(self.nbits, **self.settings)
        from ...rtl.interfaces.rsa_xcel import RSAXcel

        return RSAXcel(self.nbits, lambda _: make(self.nbits, **self.settings))

    def run(
        self, operands: Sequence[Operands], progress: Callable[[int, int], None] | None = None
    ) -> list[Answer]:
        """All exponentiations in one run of the simulation, in order."""
        if self._simulation is None:
            return self._functional(operands, progress)
        # long operations are no hang: the formula says how long they may take
        longest = sum(self.design.cycles(self.nbits, *each, **self.settings) for each in operands)
        if self.interface == "xcel":
            return self._by_accesses(operands, longest, progress)
        run = self._simulation.run(list(operands), progress=progress, max_cycles=2 * longest + 1000)
        return [
            Answer(Status(status), result, latency)
            for (status, result), latency in zip(run.responses, run.latencies, strict=True)
        ]

    def _functional(
        self, operands: Sequence[Operands], progress: Callable[[int, int], None] | None
    ) -> list[Answer]:
        """What, on Python integers; behind registers, by the model of those."""

        def compute(base: int, exp: int, mod: int) -> tuple[Status, int]:
            return self.design.fl(self.nbits, base, exp, mod, **self.settings)

        xcel = XcelFL(self.nbits, compute)
        answers = []
        for done, each in enumerate(operands):
            if progress is not None:
                progress(done, len(operands))
            if self.interface == "stream":
                answers.append(Answer(*compute(*each), None))
                continue
            sequence = accesses(self.nbits, *each)
            answered = [
                (1, xcel.write(addr, data) or 0) if write else (0, xcel.read(addr))
                for write, addr, data in sequence
            ]
            answers.append(Answer(*outcome(self.nbits, answered), None, len(sequence)))
        return answers

    def _by_accesses(
        self, operands: Sequence[Operands], longest: int, progress: Callable[[int, int], None] | None
    ) -> list[Answer]:
        """All accesses of all operations in one run; an operation lasts from its first access to its last answer."""
        assert self._simulation is not None
        sequences = [accesses(self.nbits, *each) for each in operands]
        flat = [access for sequence in sequences for access in sequence]
        most = 2 * (longest + len(flat)) + 1000
        run = self._simulation.run(flat, progress=progress, max_cycles=most)
        answers = []
        end = 0
        for sequence in sequences:
            start, end = end, end + len(sequence)
            cycles = run.done[end - 1] - run.accepted[start]
            status, result = outcome(self.nbits, run.responses[start:end])
            answers.append(Answer(status, result, cycles, len(sequence)))
        return answers

    def mod_exp(self, base: int, exp: int, mod: int) -> int:
        """One exponentiation, as `modexlab.fl.rsa_keys` wants it; its cycles are added to `cycles`."""
        self.design.require(self.nbits, base, exp, mod, **self.settings)
        answer = self.run([(base, exp, mod)])[0]
        if answer.cycles is not None:
            self.cycles.append(answer.cycles)
        self.accesses += answer.accesses
        return answer.value()

    def close(self) -> None:
        """Free the simulation and finish its waveform file."""
        if self._simulation is not None:
            self._simulation.close()

    def __enter__(self) -> Machine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def max_nbits() -> int:
    """The widest that a machine can be."""
    from .design import MAX_NBITS  # not at the top: it brings PyMTL3, and --help must be quick

    return MAX_NBITS


def check_width(nbits: int) -> int:
    """`nbits`, if a machine can have it."""
    from .design import MAX_NBITS, MIN_NBITS

    if not MIN_NBITS <= nbits <= MAX_NBITS:
        raise BadInput(f"a width of {shown(nbits)} bits is out of range; give {MIN_NBITS} to {MAX_NBITS}")
    return nbits


def check_fit(nbits: int, parts: Sequence[Operands]) -> None:
    """BadInput unless the operands of all exponentiations fit in a machine; it names the width that takes them all."""
    longest, name = max(
        (value.bit_length(), name)
        for part in parts
        for name, value in zip(("base", "exponent", "modulus"), part, strict=True)
    )
    if longest <= nbits:
        return
    value = next(value for part in parts for value in part if value.bit_length() == longest)
    wide = width_for(value)
    remedy = (
        f"give --nbits {wide} or more" if wide <= max_nbits() else f"no machine is wider than {max_nbits()}"
    )
    raise BadInput(f"{name} {shown(value)} does not fit in {nbits} bits; {remedy}")
