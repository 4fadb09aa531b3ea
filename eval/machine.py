"""One design at one width, level and stage, ready to compute: what `run`, `check` and `report` drive.

fl: the design's function on Python integers, no cycles. cl: the cycle-level model in PyMTL3's own simulator.
rtl: the hardware at any stage of `modexlab.rtl.sim`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..fl.errors import BadInput, shown
from ..fl.status import MEANING, Status

if TYPE_CHECKING:
    from .catalogue import Design

LEVELS = ("fl", "cl", "rtl")
MAX_NBITS = 4096

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
    """What a machine answered to one request; cycles is None where there is no clock."""

    status: Status
    result: int
    cycles: int | None

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
        settings: Mapping[str, Any] | None = None,
        vcd: Path | None = None,
        trace: Callable[[int, str], None] | None = None,
    ) -> None:
        self.design = design
        self.nbits = nbits
        self.level = level
        self.stage = stage_at(level, stage)
        self.settings = dict(settings or {})
        self.parameters = design.resolve(nbits, self.settings)
        self.cycles: list[int] = []
        self._simulation = None
        if self.stage is None:
            if vcd is not None or trace is not None:
                raise BadInput("the functional level has no clock to trace; use --level cl or --level rtl")
            return
        from ..rtl.sim import simulate

        make = design.cl if level == "cl" else design.rtl
        self._simulation = simulate(make(nbits, **self.settings), self.stage, vcd=vcd, trace=trace)

    def run(
        self, operands: Sequence[Operands], progress: Callable[[int, int], None] | None = None
    ) -> list[Answer]:
        """All exponentiations in one run of the simulation, in order."""
        if self._simulation is None:
            answers = []
            for done, (base, exp, mod) in enumerate(operands):
                if progress is not None:
                    progress(done, len(operands))
                status, result = self.design.fl(self.nbits, base, exp, mod, **self.settings)
                answers.append(Answer(Status(status), result, None))
            return answers
        # long operations are no hang: the formula says how long they may take
        longest = sum(self.design.cycles(self.nbits, *each, **self.settings) for each in operands)
        run = self._simulation.run(list(operands), progress=progress, max_cycles=2 * longest + 1000)
        return [
            Answer(Status(status), result, latency)
            for (status, result), latency in zip(run.responses, run.latencies, strict=True)
        ]

    def mod_exp(self, base: int, exp: int, mod: int) -> int:
        """One exponentiation, as `modexlab.fl.rsa_keys` wants it; its cycles are added to `cycles`."""
        self.design.require(self.nbits, base, exp, mod, **self.settings)
        answer = self.run([(base, exp, mod)])[0]
        if answer.cycles is not None:
            self.cycles.append(answer.cycles)
        return answer.value()

    def close(self) -> None:
        """Free the simulation and finish its waveform file."""
        if self._simulation is not None:
            self._simulation.close()

    def __enter__(self) -> Machine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def check_width(nbits: int) -> int:
    """`nbits`, if a machine can have it."""
    if not 1 <= nbits <= MAX_NBITS:
        raise BadInput(f"a width of {shown(nbits)} bits is out of range; give 1 to {MAX_NBITS}")
    return nbits
