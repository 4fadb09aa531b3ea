"""Reference verdicts: a store of their own, next to the reference results.

`modexlab prove all --record`, `prove proc --record` and `attack all --record` write it. A check that was
proved must remain proved.
"""

import shlex
from collections.abc import Collection, Iterable
from pathlib import Path

from ....fl.errors import BadInput
from ....flow.files import replacing
from ....flow.prove.report import PROVED
from ...designs.verilog_header import commit
from ..verdicts import ATTACKS, PROC, Key, Verdict, tools_of
from .entries import VerdictEntry, decode, text_of
from .lines import Lines, sealed
from .store import verdict_of

FILE = Path(__file__).parents[2] / "results" / "verdicts.jsonl"


def _entries() -> dict[Key, tuple[VerdictEntry, bytes]]:
    """The entries of the file with their texts; BadInput if one is damaged, for its check would seem new."""
    lines = Lines(FILE)
    found = {}
    for line in lines.news():
        entry = decode(line.text)
        if isinstance(entry, VerdictEntry):
            found[entry.subject, entry.nbits, entry.name] = entry, line.text
    for number in lines.damaged:
        raise BadInput(f"{FILE}, line {number}: not what was written; check it again with --record")
    return found


def reference() -> list[Verdict]:
    """The reference verdicts."""
    return [verdict_of(entry) for entry, _ in _entries().values()]


def recorded() -> dict[Key, str]:
    """The reference verdicts by design, width and check."""
    return {key: entry.verdict for key, (entry, _) in _entries().items()}


def record(verdicts: Iterable[Verdict], drop: Collection[Key] = ()) -> None:
    """Put these verdicts in place of recorded ones of the same checks, and drop checks that are gone."""
    texts = {key: text for key, (_, text) in _entries().items()}
    for item in verdicts:
        texts[item.about] = text_of(
            "verdict",
            **{name: getattr(item, name) for name in ("subject", "family", "nbits", "name", "kind")},
            verdict=item.verdict,
            how=item.how,
            command=shlex.split(item.command),
            settings=dict(item.settings) if item.kind in ATTACKS else {},
            commit=commit(),
            content=item.point.content,
            tools=tools_of(item.kind),
        )
    kept = sorted(texts.keys() - set(drop))
    with replacing(FILE) as part:
        part.write_bytes(b"".join(sealed(texts[key]) for key in kept))


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
