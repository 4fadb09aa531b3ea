"""Answers of a design to many exponentiations: long ones side by side in processes, and kept where they are
cut short.

A file of the cache keeps every answer at once; its name follows from the design, its sources and the tools.
The next run begins there. A run that was not cut short removes it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ....fl.errors import BadInput
from ....fl.status import Status
from ...errors import NoMeasurement
from ...lab import keys
from ...lab.schedulers import Local, Outcome, attempt

if TYPE_CHECKING:
    from ....fl.rsa_keys import RSAKey
    from ...designs.design import Design
    from ...designs.interfaces import Operands
    from .private import Protection

Answer = tuple[Status, int]
Progress = Callable[[int, int], None]
STEP = (
    1 << 21
    # bits of the modulus times bits of the exponent: what one process is given, a few seconds of a wide
    # machine
)
LONG = 1 << 24  # with less than this in all, processes do not pay


@dataclass(frozen=True)
class Chunk:
    """Exponentiations of one width, for one process."""

    design: str
    settings: tuple[tuple[str, Any], ...]
    level: str
    stage: str | None
    nbits: int
    operands: tuple[Operands, ...]
    keys: tuple[RSAKey, ...] = ()  # one for each, where the machine takes keys


def compute(chunk: Chunk, design: Design | None = None, progress: Progress | None = None) -> list[Answer]:
    """The answers, in order."""
    if design is None:
        from ...designs.catalogue import find  # not at the top: it brings PyMTL3

        design = find(chunk.design)
    machine = design.at(chunk.nbits, **dict(chunk.settings))
    with machine.session(level=chunk.level, stage=chunk.stage) as session:
        if machine.keyed:
            bases = [base for base, _, _ in chunk.operands]
            answers = session.run_with_keys(list(zip(bases, chunk.keys, strict=True)), progress)
        else:
            answers = session.run(chunk.operands, progress)
        return [(answer.status, answer.result) for answer in answers]


@dataclass
class Answers:
    """A design at a level and stage, and how its answers are computed; with `protection`, by programs that
    take keys.
    """

    design: Design
    settings: Mapping[str, Any]
    level: str
    stage: str | None
    jobs: int = 1
    protection: Protection | None = None
    keys: dict[tuple[int, int], RSAKey] = field(default_factory=dict)  # by private exponent and modulus
    known: dict[tuple[int, Operands], Answer] = field(default_factory=dict)
    _done: int = 0
    _file: TextIO | None = None

    def settings_at(self, nbits: int) -> dict[str, Any]:
        """Return the settings of the machine of a width."""
        if self.protection is None:
            return dict(self.settings)
        return self.protection.settings(self.design, nbits, self.settings)

    @property
    def kept(self) -> Path:
        """The file of what is known when a run is cut short."""
        from ....rtl.sim import cache

        measured_at = {"fl": "formula", "cl": "cl"}.get(self.level, self.stage or "")
        what = [self.design.identity, sorted(self.settings.items()), self.level, self.stage]
        if self.protection is not None:
            what.append(sorted(vars(self.protection).items()))
        tools = [keys.sources_of_answers(), dict(keys.tools_of(measured_at))]
        return cache.root() / f"check-{cache.key(json.dumps([what, tools]))}.jsonl"

    def __enter__(self) -> Answers:
        """Read what an earlier run has kept, and open its file for more."""
        kept = self.kept
        if kept.exists():
            self._read(kept)
        kept.parent.mkdir(parents=True, exist_ok=True)
        self._file = kept.open("a")
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Remove the file, unless the run was cut short."""
        assert self._file is not None
        self._file.close()
        if kind is None:
            self.kept.unlink(missing_ok=True)

    def of(self, wanted: Sequence[tuple[int, Operands]], progress: Progress) -> None:
        """Fill `known` with the answers to these, each a width and operands."""
        assert self._file is not None, "the answers are a context"
        missing = [row for row in dict.fromkeys(wanted) if row not in self.known]
        count = len(wanted)
        self._done = count - len(missing)
        progress(self._done, count)
        for chunk, answers in self._computed(missing, lambda part: progress(self._done + part, count)):
            for operands, (status, result) in zip(chunk.operands, answers, strict=True):
                self.known[chunk.nbits, operands] = status, result
                self._file.write(json.dumps([chunk.nbits, *map(hex, (*operands, status, result))]) + "\n")
            self._file.flush()
            self._done += len(answers)
            progress(self._done, count)

    def _read(self, kept: Path) -> None:
        for line in kept.read_text().splitlines():
            try:
                nbits, *numbers = json.loads(line)
                base, exp, mod, status, result = (int(number, 16) for number in numbers)
            except ValueError:  # the last line of a run that was killed
                continue
            self.known[nbits, (base, exp, mod)] = Status(status), result

    def _computed(
        self, missing: Sequence[tuple[int, Operands]], report: Callable[[int], None]
    ) -> Iterator[tuple[Chunk, list[Answer]]]:
        chunks = list(self._chunks(missing))
        long = sum(nbits * operands[1].bit_length() for nbits, operands in missing) >= LONG
        if self.jobs == 1 or len(chunks) == 1 or not long:
            for chunk in chunks:
                yield chunk, compute(chunk, self.design, lambda part, _: report(part))
            return
        with Local(min(self.jobs, len(chunks)), _computed_there) as workers:
            for ended in workers.outcomes(iter(chunks)):
                for outcome in ended:
                    if outcome.error:
                        raise (BadInput if outcome.refused else NoMeasurement)(outcome.error)
                    yield outcome.task, outcome.result

    def _chunks(self, missing: Sequence[tuple[int, Operands]]) -> Iterator[Chunk]:
        """By width, none of much more than STEP."""
        widths: dict[int, list[Operands]] = {}
        for nbits, operands in missing:
            widths.setdefault(nbits, []).append(operands)
        for nbits, all_operands in sorted(widths.items()):
            settings = tuple(self.settings_at(nbits).items())

            def chunk(part: list[Operands], nbits: int = nbits, settings: Any = settings) -> Chunk:
                keys = tuple(self.keys[exp, mod] for _, exp, mod in part) if self.keys else ()
                return Chunk(
                    self.design.reference, settings, self.level, self.stage, nbits, tuple(part), keys
                )

            part: list[Operands] = []
            size = 0
            for operands in all_operands:
                part.append(operands)
                size += nbits * max(1, operands[1].bit_length())
                if size >= STEP:
                    yield chunk(part)
                    part, size = [], 0
            if part:
                yield chunk(part)


def _computed_there(chunk: Chunk) -> Outcome:
    """Compute a chunk in a worker."""
    return attempt(compute, chunk)
