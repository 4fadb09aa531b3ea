"""Verdicts of `modexlab prove` and `modexlab attack all`, as the ledger stores them, and reference verdicts.

Reference verdicts are the lines of eval/results/verdicts.jsonl, each with the digest of the checked hardware.
`modexlab prove all --record`, `prove proc --record` and `attack all --record` write them. A check that was
proved must remain proved.
"""

import functools
import json
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ...fl.errors import BadInput
from ...fl.param import spelled_out
from ...flow.prove.report import PROVED, REFUTED
from ...rtl.sim import cache, sources
from ..designs import catalogue
from ..designs.control import SCHEDULE
from ..designs.runnable import Runnable
from ..designs.verilog_header import commit
from ..json_values import Json, canonical, spelled
from . import keys
from .point import Point, is_content
from .stages import FPGA, NATIVE

TIME = "time"  # kind of check: a machine keeps its promise about time
PROMISED = " of "  # in the name of a time check of promised fields other than the secret ones
OTHER_SCHEDULE = " schedule="  # in the name of a time check of a schedule other than the machine's
PROC = "proc"  # the name of the processor
PROCESSOR = Point("proc-naive", 32)  # whose hardware is the processor
LEAKAGE, FAULTS = ATTACKS = "leakage", "faults"  # kinds of checks of `modexlab attack`
TRACES, SAMPLES = 5000, 1000  # operations and faults per attack
FILE = Path(__file__).parents[1] / "results" / "verdicts.jsonl"
RECORDED = ("content", "origin", "tools", "unverified")  # keys of a line that only reference verdicts have
Key = tuple[str, int, str]
_PROCESSOR = "eval.assurance.proof.processor.processor_checks"


class Subject(NamedTuple):
    """The subject of a proof; key: a digest of the subject and of all inputs of a verdict."""

    name: str
    family: str
    nbits: int
    settings: Mapping[str, Any]
    key: str

    @classmethod
    def of(cls, accelerator: Runnable, kind: str = "") -> "Subject":
        """A machine of the catalogue or a user's own accelerator; kind: of the checks."""
        design, settings = accelerator.design, dict(accelerator.parameters)
        digest = keys.sources_of_attacks() if kind in ATTACKS else keys.sources_of_proofs()
        key = _key([accelerator.identity, accelerator.nbits, settings], digest)
        return cls(design.reference, design.family, accelerator.nbits, settings, key)

    @classmethod
    def processor(cls) -> "Subject":
        """The processor in its default configuration."""
        return cls(PROC, "processor", 32, {}, _key([PROC], sources.digest(_PROCESSOR)))

    def __str__(self) -> str:
        return f"{self.name.partition('@')[0]}, {self.nbits} bits"


@dataclass(frozen=True)
class Verdict:
    """A check of a subject, and its verdict."""

    key: str
    subject: str
    family: str
    nbits: int
    settings: Mapping[str, Any]
    name: str
    kind: str
    verdict: str
    how: str
    seconds: float
    at: str = ""  # date; empty before it is recorded

    @property
    def by_nature(self) -> bool:
        """Whether the time depends on the secret and the accelerator does not promise otherwise."""
        if self.kind != TIME or self.verdict != REFUTED or self.name.startswith(f"{TIME}{PROMISED}"):
            return False
        # the name of a check states a schedule that is not the machine's own
        other = self.name.partition(OTHER_SCHEDULE)[2]
        settings = {**self.settings, **({SCHEDULE: other} if other else {})}
        try:
            return not catalogue.entry(self.subject).at(self.nbits, **settings).constant_time
        except BadInput:  # a design or a parameter that no longer exists
            return True

    @property
    def stale(self) -> bool:
        """Whether sources have changed since."""
        try:
            return self._now.key != self.key
        except BadInput:  # likewise
            return True

    @property
    def _now(self) -> Subject:
        if self.subject == PROC:
            return Subject.processor()
        return Subject.of(catalogue.entry(self.subject).at(self.nbits, **self.settings), self.kind)

    @property
    def _spelled(self) -> Mapping[str, Any]:
        """The settings that select its machine; all of them if the design no longer exists."""
        try:
            return spelled_out(catalogue.entry(self.subject).params, self.nbits, self.settings)
        except BadInput:
            return self.settings

    @property
    def about(self) -> Key:
        return self.subject, self.nbits, self.name

    @property
    def command(self) -> str:
        """The command that checks it again; it sets only what is not the default."""
        if self.kind in ATTACKS:
            count = {LEAKAGE: ("--traces", TRACES), FAULTS: ("--samples", SAMPLES)}[self.kind]
            settings = [
                word
                for item in sorted(self._spelled.items())
                for word in ("--set", "=".join(map(spelled, item)))
            ]
            words = ["attack", self.kind, self.subject, "--nbits", self.nbits, *settings, *count]
        else:
            width = [] if self.subject == PROC else ["--nbits", self.nbits]
            words = ["prove", self.subject, *width, "--check", self.name]
        return shlex.join(["modexlab", *map(str, words)])

    @property
    def point(self) -> Point:
        """The present hardware; BadInput if it no longer exists."""
        return _point(self.subject, self.nbits, tuple(sorted(self.settings.items())))


@dataclass(frozen=True)
class Recorded(Verdict):
    """A reference verdict with its tools, and the digest of its hardware, empty if that was not recorded."""

    content: str = ""
    origin: str = ""  # of the hardware, see content.py
    tools: Mapping[str, str] = field(default_factory=dict)
    unverified: str = ""  # the reason to check it again

    @property
    def stale(self) -> bool:
        try:
            return not self.content or not is_content(self.content, self.origin, self.point)
        except BadInput:
            return True


@functools.cache
def _point(subject: str, nbits: int, settings: tuple[tuple[str, Any], ...]) -> Point:
    """Verdicts on one machine share a point, which caches its digests."""
    return PROCESSOR if subject == PROC else Point(subject, nbits, settings)


def tools_of(kind: str) -> dict[str, str]:
    """Names and versions of the tools of a kind of checks. Proofs of units also simulate all operands."""
    solver = {} if kind in ATTACKS else {"Yosys": keys.tools_of(FPGA)["Yosys"]}
    return dict(sorted({**keys.tools_of(NATIVE), **keys.ours(), **solver}.items()))


# ---- reference verdicts


def _lines() -> dict[Key, Json]:
    """The lines of the file, by design, width and check."""
    lines = {}
    for number, text in enumerate(FILE.read_text().splitlines(), 1):
        try:
            line = keys.unsealed(json.loads(text))
            lines[line["design"], line["nbits"], line["check"]] = line
        except (ValueError, KeyError, AttributeError) as error:
            remedy = "check it again with --record"
            raise BadInput(f"{FILE}, line {number}: not a verdict ({error}); {remedy}") from None
    return lines


def reference() -> Iterator[Recorded]:
    """The reference verdicts."""
    for line in _lines().values():
        processor = line["design"] == PROC
        yield Recorded(
            key="",
            subject=line["design"],
            family="processor" if processor else catalogue.entry(line["design"]).family,
            name=line["check"],
            seconds=0.0,
            settings=line.get("settings", {}),
            how=line.get("how", ""),
            **{name: line[name] for name in RECORDED if name in line},
            **{name: line[name] for name in ("nbits", "kind", "verdict")},
        )


def recorded() -> dict[Key, str]:
    """The reference verdicts by design, width and check."""
    return {key: line["verdict"] for key, line in _lines().items()}


def record(verdicts: Iterable[Verdict], drop: Collection[Key] = ()) -> None:
    """Put these verdicts in place of recorded ones of the same checks, and drop checks that are gone."""
    lines = _lines()
    for item in verdicts:
        lines[item.about] = {
            "design": item.subject,
            "nbits": item.nbits,
            "check": item.name,
            "verdict": item.verdict,
            "kind": item.kind,
            "how": item.how,
            "command": item.command,
            **({"settings": dict(item.settings)} if item.kind in ATTACKS else {}),
            "commit": commit(),
            "content": item.point.content,
            "origin": item.point.origin,
            "tools": tools_of(item.kind),
        }
    kept = sorted(lines.keys() - set(drop))
    FILE.write_text("".join(json.dumps(keys.sealed(lines[key])) + "\n" for key in kept))


def lost(verdicts: Iterable[Verdict]) -> list[str]:
    """Descriptions of the checks that were proved and no longer are."""
    before = recorded()
    return [
        f"{verdict.subject} {verdict.name}: was proved, is {verdict.verdict} now"
        for verdict in verdicts
        if verdict.verdict != PROVED and before.get(verdict.about) == PROVED
    ]


def gone(verdicts: Iterable[Verdict], nbits: int) -> list[Key]:
    """The recorded checks of this width that a complete run, of all designs or of the processor, lacks."""
    asked = {verdict.about for verdict in verdicts}
    processor = any(subject == PROC for subject, *_ in asked)
    return sorted(
        item.about
        for item in reference()
        if item.kind not in ATTACKS
        and item.about not in asked
        and item.nbits == nbits
        and (item.subject == PROC) == processor
    )


def _key(what: Any, sources: str) -> str:
    return cache.key(canonical(what), sources)
