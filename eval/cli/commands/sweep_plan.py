"""List the points of a sweep, and estimate its time.

Nothing is measured. For a search that depends on results, the values of its choices are listed instead of
points. Without measurements of a stage in the store, its time is a rule of thumb.

examples:
  modexlab sweep space.toml --dry-run
  modexlab sweep widths --crt --blind both --dry-run
  modexlab sweep space.toml --method nsga2 --points 200 --dry-run --json
"""

from argparse import Namespace

from ...json_values import attributes
from ...lab.search import make_search
from ...lab.sweep import Measuring, estimate_from, failures, read
from ...progress import duration
from ..laboratory import jobs_of, store_of
from ..render import Table, answer
from . import sweep

OPTIONS = sweep.OPTIONS
REFERENCE = "reference"  # state of a point whose reference result is current


def execute(args: Namespace) -> int:
    workers = sum(sweep.queues_of(args).values()) or jobs_of(args)
    space = sweep.space_of(args)
    search = make_search(space, args.method, args.points, args.seed)
    store = store_of(args, reference=not args.own)
    asked = search.ask()
    points = {} if args.method == "nsga2" else {point.key: point for point in asked}
    states = dict.fromkeys(points, "to measure")
    if not args.retry:
        states |= dict.fromkeys(failures(store, points), "failed")
    states |= {item.point.key: REFERENCE if item.reference else "done" for item in read(store, points)}
    left = [point for key, point in points.items() if states[key] == "to measure"]
    stages = sorted({stage for part in space.parts for stage in part.stages})
    estimate = estimate_from(store.rows(stage=stages))
    guessed = [stage for stage in stages if not any(estimate.knows((stage, fmax)) for fmax in (False, True))]
    seconds = sum(estimate.seconds(Measuring(point).cost) for point in (left if points else asked))
    if not points:  # a search is estimated by its first generation
        seconds *= search.count / max(1, len(asked))
    seconds /= workers
    report = {
        **attributes(args, "space", "method"),
        "points": [{**sweep.point_json(point), "state": states[key]} for key, point in points.items()],
        "choices": {name: len(values) for name, values in space.parameters.items()},
        "count": search.count,
        **sweep.refused(space),
        "seconds": round(seconds, 1),
        "rule_of_thumb": guessed,
    }
    if points:
        table = Table(["state", "point"], [[states[key], point] for key, point in points.items()])
    else:
        choices = [
            [name, len(values), sweep.brief(", ".join(map(sweep.value_text, values)))]
            for name, values in space.parameters.items()
        ]
        table = Table(["choice", "values", "which"], choices)
    how = f"; a rule of thumb for stage {', '.join(guessed)}, for which the store has no times"
    count = len(left) if points else search.count
    who = f"{workers} at a time" if workers > 1 else "one at a time"
    time = f"about {duration(max(seconds, 1))}, {who}{how if guessed else ''}"
    recorded = sum(state == REFERENCE for state in states.values())
    return answer(
        args,
        report,
        table,
        *sweep.refusals(report),
        f"{search.count} points, {count} of them to measure: {time}",
        f"{recorded} of them are reference results; --own measures these here" if recorded else None,
    )
