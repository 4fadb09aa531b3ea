"""Reference verdicts, in eval/results/proofs.jsonl: a check that was proved must stay proved.

`modexlab prove all --record` writes them, one on a line.
"""

import json
from collections.abc import Collection, Iterable
from pathlib import Path

from ....flow.prove.report import PROVED
from ...lab.verdicts import PROC, Verdict

FILE = Path(__file__).parents[2] / "results" / "proofs.jsonl"
KEYS = ("design", "nbits", "check")
Key = tuple[str, int, str]


def recorded() -> dict[Key, str]:
    """The verdicts by design, width and check."""
    lines = map(json.loads, FILE.read_text().splitlines())
    return {tuple(line[key] for key in KEYS): line["verdict"] for line in lines}


def record(verdicts: Iterable[Verdict], drop: Collection[Key] = ()) -> None:
    """Put these verdicts in place of recorded ones of the same checks, and drop checks that are gone."""
    found = recorded() | {_key(verdict): verdict.verdict for verdict in verdicts}
    keys = sorted(found.keys() - set(drop))
    lines = [dict(zip(KEYS, key, strict=True)) | {"verdict": found[key]} for key in keys]
    FILE.write_text("".join(json.dumps(line) + "\n" for line in lines))


def lost(verdicts: Iterable[Verdict]) -> list[str]:
    """The checks that were proved and are not proved now, in words."""
    before = recorded()
    return [
        f"{verdict.subject} {verdict.name}: was proved, is {verdict.verdict} now"
        for verdict in verdicts
        if verdict.verdict != PROVED and before.get(_key(verdict)) == PROVED
    ]


def gone(verdicts: Iterable[Verdict], nbits: int) -> list[Key]:
    """The recorded checks of this width that a complete run, of all designs or of the processor, lacks."""
    asked = {_key(verdict) for verdict in verdicts}
    subjects = {subject for subject, *_ in asked}
    return sorted(
        key for key in recorded().keys() - asked if key[1] == nbits and (key[0] == PROC) == (PROC in subjects)
    )


def _key(verdict: Verdict) -> Key:
    return verdict.subject, verdict.nbits, verdict.name
