"""Verdicts of `modexlab prove` and `modexlab attack all`. A reference verdict has the digest of the checked
hardware (store/reference_verdicts.py).
"""

import functools
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...fl.errors import BadInput
from ...fl.param import spelled_out
from ...flow.prove.report import REFUTED
from ...rtl.sim import cache, sources
from ..designs import catalogue
from ..designs.runnable import Runnable
from ..json_values import canonical, spelled
from . import keys
from .point import Point
from .stages import FPGA, NATIVE

TIME = "time"  # kind of check: a machine keeps its promise about time
PROMISED = " of "  # in the name of a time check of promised fields other than the secret ones
OTHER_SCHEDULE = " schedule="  # in the name of a time check of a schedule other than the machine's
PROC = "proc"  # the name of the processor
PROCESSOR = Point("proc-naive", 32)  # whose hardware is the processor
LEAKAGE, FAULTS = ATTACKS = "leakage", "faults"  # kinds of checks of `modexlab attack`
TRACES, SAMPLES = 5000, 1000  # operations and faults per attack
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

    @property
    def label(self) -> str:
        """The name of the design, without its folder."""
        return self.name.partition("@")[0]

    def __str__(self) -> str:
        return f"{self.label}, {self.nbits} bits"


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
        # the name of a check states a setting that is not the machine's own
        name, _, other = self.name.removeprefix(f"{TIME} ").partition("=")
        settings = {**self.settings, **({name: other} if other else {})}
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
    tools: Mapping[str, str] = field(default_factory=dict)
    unverified: str = ""  # the reason to check it again

    @property
    def stale(self) -> bool:
        try:
            return not self.content or self.content != self.point.content
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


def _key(what: Any, sources: str) -> str:
    return cache.key(canonical(what), sources)
