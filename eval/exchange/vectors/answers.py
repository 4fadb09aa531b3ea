"""Results of many exponentiations on one design: computed in chunks."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ....fl.rsa_keys import RSAKey
from ....fl.status import Status
from ....rtl.sim import cache
from ...designs.catalogue import find
from ...designs.interfaces import Operands
from ...designs.machine import Design
from ...lab import keys
from ...lab.executors import Here, Processes, Report
from ...lab.runner import Results, Runner, Task
from ...lab.store.store import Store
from .private import Protection

Answer = tuple[Status, int]
# in bits of the modulus times bits of the exponent: the size of a chunk (a few seconds on a wide machine),
# and the total below which several processes do not pay off
STEP, LONG = 1 << 21, 1 << 24


@dataclass(frozen=True)
class Chunk(Task):
    """Exponentiations of one width, computed by one process."""

    made_by: str  # digest of the machine, its level, the sources and the tools
    design: str
    settings: tuple[tuple[str, Any], ...]
    level: str
    backend: str | None
    nbits: int
    operands: tuple[Operands, ...]
    keys: tuple[RSAKey, ...] = ()  # one for each exponentiation, if the machine takes keys

    @property
    def key(self) -> str:  # type: ignore[override]
        return cache.key(
            self.made_by, json.dumps([self.nbits, [list(map(hex, row)) for row in self.operands]])
        )

    @property
    def size(self) -> int:  # type: ignore[override]
        return len(self.operands)

    def run(self, report: Report) -> list[tuple[int, str]]:
        """The status and the result of each exponentiation."""
        machine = find(self.design).at(self.nbits, **dict(self.settings))
        with machine.session(level=self.level, backend=self.backend) as session:
            if machine.keyed:
                bases = [base for base, _, _ in self.operands]
                answers = session.run_with_keys(list(zip(bases, self.keys, strict=True)), report)
            else:
                answers = session.run(self.operands, report)
            return [(int(answer.status), hex(answer.result)) for answer in answers]


@dataclass
class Answers:
    """The answers of a design at a level with a backend. With `protection`, programs that take keys compute
    them.

    A store keeps the known answers until the block ends without an exception, so an interrupted run can be
    resumed.
    """

    design: Design
    settings: Mapping[str, Any]
    level: str
    backend: str | None
    jobs: int = 1
    protection: Protection | None = None
    store: Store | None = None
    keys: dict[tuple[int, int], RSAKey] = field(default_factory=dict)  # by private exponent and modulus
    known: dict[tuple[int, Operands], Answer] = field(default_factory=dict)
    _chunks_done: list[str] = field(default_factory=list)  # keys

    def settings_at(self, nbits: int) -> dict[str, Any]:
        """The settings of the machine of this width."""
        if self.protection is None:
            return dict(self.settings)
        return self.protection.settings(self.design, nbits, self.settings)

    @property
    def made_by(self) -> str:
        """Digest of everything that the answers depend on except the operands."""
        measured_at = {"fl": "formula", "cl": "cl"}.get(self.level, self.backend or "")
        what = [self.design.identity, sorted(self.settings.items()), self.level, self.backend]
        what.append(sorted(vars(self.protection).items()) if self.protection is not None else [])
        return cache.key(json.dumps([what, keys.sources_of_answers(), dict(keys.tools_of(measured_at))]))

    def __enter__(self) -> "Answers":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self.store is not None:
            self.store.forget(self._chunks_done)

    def of(self, wanted: Sequence[tuple[int, Operands]], progress: Report) -> None:
        """Add to `known` the answers for all pairs of width and operands in `wanted`."""
        missing = [row for row in dict.fromkeys(wanted) if row not in self.known]
        there, chunks = len(wanted) - len(missing), list(self._chunks(missing))
        long = sum(nbits * operands[1].bit_length() for nbits, operands in missing) >= LONG
        alone = self.jobs == 1 or len(chunks) < 2 or not long
        with Here() if alone else Processes(min(self.jobs, len(chunks))) as executor:
            runner = Runner(
                executor,
                lambda done, _: progress(there + done, len(wanted)),
                Results(self.store),
            )
            for outcome in runner.results(chunks):
                chunk = outcome.task
                self._chunks_done.append(chunk.key)
                for operands, (status, result) in zip(chunk.operands, outcome.result, strict=True):
                    self.known[chunk.nbits, operands] = Status(status), int(result, 16)

    def _chunks(self, missing: Sequence[tuple[int, Operands]]) -> Iterator[Chunk]:
        """Chunks of one width each, not much larger than STEP."""
        made_by = self.made_by
        widths: dict[int, list[Operands]] = {}
        for nbits, operands in missing:
            widths.setdefault(nbits, []).append(operands)
        for nbits, rows in sorted(widths.items()):
            settings = tuple(self.settings_at(nbits).items())
            while rows:
                size = count = 0
                while count < len(rows) and size < STEP:
                    size += nbits * max(1, rows[count][1].bit_length())
                    count += 1
                part, rows = tuple(rows[:count]), rows[count:]
                yield Chunk(
                    made_by,
                    self.design.reference,
                    settings,
                    self.level,
                    self.backend,
                    nbits,
                    part,
                    tuple(self.keys[exp, mod] for _, exp, mod in part) if self.keys else (),
                )
