"""The attacks behind the reference verdicts: leakage of all machines that promise to hide the exponent's
timing, and leakage and faults of protected programs.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from ....fl.errors import BadInput
from ....fl.rsa_keys import SMALLEST_NBITS
from ...designs import catalogue
from ...designs.machine import Machine
from ...designs.protection import PROGRAMS, fitted
from ...lab.verdicts import ATTACKS, LEAKAGE, SAMPLES, TRACES, Subject, Verdict
from ...progress import Progress
from .fault_campaign import FaultCampaign
from .leakage import assess
from .rsa_leakage import compared

DESIGN = "mont-keyed"
PROGRAM_NAMES = ("fixed-window", "crt", "crt, check", "crt, check, blinded")
WIDTHS = (8, 16, 32)
SEED = 1


class Attack(NamedTuple):
    """A leakage test of a machine, or a fault campaign on it."""

    machine: Machine
    kind: str
    name: str

    @property
    def subject(self) -> Subject:
        return Subject.of(self.machine, self.kind)

    def run(self, progress: Progress) -> Verdict:
        """Run the attack; BadInput if the machine is too small for it."""
        outcome, how, seconds = (self._leakage if self.kind == LEAKAGE else self._faults)(progress)
        subject = self.subject._asdict() | {"subject": self.subject.name, "name": self.name}
        return Verdict(**subject, kind=self.kind, verdict=outcome, how=how, seconds=seconds)

    def _leakage(self, progress: Progress) -> tuple[str, str, float]:
        found = assess(compared(self.machine, "exponent", "random", SEED), TRACES, "distance", progress)
        shown = [word for word, leaks in (("time", found.time_leaks), ("power", found.power_leaks)) if leaks]
        outcome = f"{' and '.join(shown)} leak" if shown else "no leak found"
        report = found.as_json()
        return outcome, f"largest t {report['max_t']}, of {found.traces:,} operations", found.seconds

    def _faults(self, progress: Progress) -> tuple[str, str, float]:
        campaign = FaultCampaign(self.machine, seed=SEED)
        campaign.run(campaign.faults(SAMPLES, False), progress, None, None)
        report = campaign.as_json()
        outcome = "releases wrong results" if report["wrong_result"] else "no wrong result released"
        counts = [f"{report[name]:,} {name.replace('_', ' ')}" for name in ("wrong_result", "caught", "hang")]
        return outcome, f"{', '.join(counts)}, of {report['injected']:,} faults", report["seconds"]


def attacks() -> Iterator[Attack]:
    """All attacks, narrow machines first."""
    for nbits in WIDTHS:
        for design in catalogue.designs():
            machine = design.at(nbits)
            if design.name != DESIGN and machine.promises.every_exponent:
                yield Attack(machine, LEAKAGE, LEAKAGE)
        design = catalogue.find(DESIGN)
        for name in PROGRAM_NAMES:
            settings = PROGRAMS[name]
            if settings.get("crt") and nbits < SMALLEST_NBITS:
                continue
            with suppress(BadInput):  # a width without room for the program
                machine = design.at(nbits, **fitted(design, nbits, settings, bool(settings.get("crt"))))
                yield from (Attack(machine, kind, f"{kind}, {name}") for kind in ATTACKS)
