"""`modexlab store renew`: measure stale reference results again, and write them back."""

from argparse import Namespace
from collections.abc import Sequence

from ...lab.comparison.compare import compare, missing
from ...lab.executors import Processes
from ...lab.renewal import Renewal
from ...lab.store.merge import Difference
from ...lab.store.reference import REFERENCE, Reference
from ...lab.store.snapshot import Snapshot
from ...lab.store.store import Store
from ...papers import published
from ...progress import Progress, duration
from ..exit_codes import INTERRUPTED
from ..laboratory import jobs_of, store_of
from ..render import Block, answer, capped
from ..rows import difference_as_json, difference_table

TOLERANCE = 0.005  # smaller changes are not listed by default
SHOWN = 10  # points listed by --dry-run, and failures


def renew(args: Namespace) -> int:
    """Measure the selected stale results; print the figures that moved."""
    path = args.targets[0] if args.targets else REFERENCE
    with store_of(args) as store, Reference(path) as reference:
        store.check_writable()
        renewal = Renewal(reference, store)
        with Progress(f"{reference.path}", unit="result", quiet=args.json) as progress:
            renewal.find(progress)
        stale = len(renewal.stale)
        renewal.select(args.subject or (), args.nbits or (), args.stage or ())
        if args.sample:
            tables = missing(compare(published.figures(), Snapshot(Store(store.path, reference))))
            renewal.sample([*tables.quick, *tables.long])
        jobs = max(1, min(jobs_of(args), len(renewal.stale)))
        seconds = renewal.seconds() / jobs
        chosen = len(renewal.stale)
        estimate = f"{stale} results are stale, {chosen} of them chosen: about {duration(max(seconds, 1))}"
        report = {
            "path": str(reference.path),
            "stale": stale,
            "chosen": [point.as_json() for point in renewal.stale],
            "gone": renewal.gone,
            "seconds": round(seconds, 1),
        }
        if args.dry_run:
            listed = "\n".join(capped(list(map(str, renewal.stale)), SHOWN))
            return answer(args, report, listed, estimate, _gone(renewal))
        if not args.json:
            print(estimate, flush=True)
        renewal.run(Processes(jobs), retry=args.retry, quiet=args.json)
        moved = renewal.differences(TOLERANCE if args.tolerance is None else args.tolerance)
        renewed = renewal.write()
    report |= {
        "renewed": renewed,
        "differences": list(map(difference_as_json, moved)),
        "failed": [{"point": item.point.as_json(), "message": item.message} for item in renewal.failed],
    }
    code = answer(args, report, *_result(args, renewal, renewed, moved), ok=not renewal.failed)
    if renewal.interrupted:
        return INTERRUPTED
    renewal.record_contents()
    return code


def _result(
    args: Namespace, renewal: Renewal, renewed: int, moved: Sequence[Difference]
) -> list[Block | None]:
    """The figures that moved, the failures, and a summary."""
    failures = [f"{item.point}: failed: {item.message}" for item in renewal.failed]
    left = len(renewal.stale) - renewed - len(failures)
    again = f"; {left} are left: {args.command} goes on from there" if left else ""
    return [
        difference_table(moved) if moved else None,
        "\n".join(capped(failures, SHOWN)),
        f"{renewed} of {len(renewal.stale)} results are renewed in {renewal.reference.path}{again}",
        _gone(renewal),
    ]


def _gone(renewal: Renewal) -> str | None:
    """Results of points that no longer exist."""
    if not renewal.gone:
        return None
    text = f"{len(renewal.gone)} results are of points that no longer exist; remove their lines:"
    return "\n  ".join([text, *capped(renewal.gone, SHOWN)])
