"""Attack all machines that promise protection.

Tests leakage of all designs whose cycles hide the exponent, and leakage and faults of protected programs of
mont-keyed, at 8, 16 and 32 bits (with CRT from 16). Verdicts go to the store, and those of the same sources
are reused, so an interrupted run continues. `modexlab report` shows them.

examples:
  modexlab attack all
  modexlab attack all --record
"""

from argparse import Namespace

from .....fl.errors import BadInput
from ....assurance.attacks.suite import attacks
from ....json_values import attributes
from ....lab.store import reference_verdicts
from ....progress import Progress
from ...laboratory import store_of
from ...options import flag
from ...render import Table, answer, interrupted, warn

OPTIONS = (
    flag("--record", "make these results the reference"),
    "--store",
    "--json",
)


def execute(args: Namespace) -> int:
    planned, found = list(attacks()), []
    with store_of(args) as store, Progress("attacks", unit="attack", quiet=args.json) as progress:
        known = {(item.key, item.subject, item.name): item for item in store.verdicts()}
        try:
            for done, attack in enumerate(planned):
                progress(done, len(planned))
                subject = attack.subject
                verdict = known.get((subject.key, subject.name, attack.name))
                if verdict is None:
                    progress.describe(f"{subject}: {attack.name}")
                    try:
                        verdict = attack.run(progress)
                    except BadInput as refused:
                        warn(f"{subject}: {attack.name}: {refused}")
                        continue
                    store.note(verdict)
                found.append(verdict)
        except KeyboardInterrupt:
            return interrupted(f"{len(found)} of {len(planned)} attacks are in the store")
    if args.record:
        reference_verdicts.record(found)
    reports = [
        {
            "design": item.subject,
            "attack": item.name,
            **attributes(item, "nbits", "verdict", "how", "command"),
        }
        for item in found
    ]
    columns = {name: name for name in ("design", "nbits", "attack", "verdict", "how")}
    return answer(args, reports, Table.of(reports, columns))
