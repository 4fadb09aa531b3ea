"""`modexlab explore`: measure the points of a space, here or on a cluster, and print the fronts that they form."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ....fl.errors import BadInput
from ...lab.search import METHODS
from ...progress import Progress
from ...table import table
from ..arguments import (
    Commands,
    add_command,
    add_json,
    add_ledger,
    add_manifests,
    answer,
    json_value,
    ledger_of,
    number,
    positive,
)

if TYPE_CHECKING:
    from ...lab.explore import Estimate, Measured, Member, Sweep, Work
    from ...lab.ledger.ledger import Ledger
    from ...lab.pareto import Front
    from ...lab.point import Point
    from ...lab.search import Search
    from ...lab.space import Space

DEFAULT_POINTS = 100
QUEUES = {"slurm": "Slurm", "lsf": "LSF", "pbs": "PBS"}
INTERRUPTED = 130
MOST_TABLES = 4  # of fronts; more are one table
MOST_SHOWN = 10  # reasons and failures in the text; --json has all of them
LINE = 116

TEXT = """\
A space is a TOML file, or the name of a
ready-made one (--list): designs, widths, parameters, workloads, stages and settings of the flow, with constraints and
objectives. Each figure goes to the ledger as soon as it is measured. Ctrl-C, or whatever ends the sweep, loses no more
than the points under way; the same command goes on from there and measures nothing twice. A point that fails is noted
with its message, and tried again by --retry.

Points are measured by processes here, or by the workers of a Dask scheduler, or of jobs that are handed in to a queue;
all of those need this modexlab and its tools. The exit code is 1 if no point could be measured, 130 after Ctrl-C."""
EXAMPLES = """\
  modexlab explore course
  modexlab explore space.toml --dry-run
  modexlab explore space.toml --design cores
  modexlab explore space.toml --method nsga2 --points 200 --seed 1
  modexlab explore widths --ledger widths.sqlite --jobs 8 --json
  modexlab explore space.toml --scheduler tcp://node1:8786
  modexlab explore space.toml --slurm 20 --option queue=long --option memory=8GB"""


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "explore",
        "measure a space of designs and print its Pareto fronts",
        text=TEXT,
        examples=EXAMPLES,
        execute=execute,
    )
    parser.add_argument(
        "space", metavar="SPACE", nargs="?", help="a file (SPACE.toml), or a ready-made space"
    )
    parser.add_argument("--list", action="store_true", help="list the ready-made spaces")
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="measure nothing: list the points, and how long they would take",
    )
    add_manifests(parser)
    add_ledger(parser)
    parser.add_argument("--retry", action="store_true", help="try again what failed before")
    search = parser.add_argument_group("which points, and in which order")
    search.add_argument(
        "--method",
        choices=METHODS,
        default="exhaustive",
        help="all (default), a random choice, or a multi-objective search",
    )
    search.add_argument(
        "--points",
        type=positive,
        metavar="N",
        help=f"how many a search measures (default: {DEFAULT_POINTS})",
    )
    search.add_argument(
        "--seed", type=number, metavar="S", help="of a search; the same seed, the same points"
    )
    where = parser.add_argument_group("where")
    where.add_argument(
        "--jobs", type=positive, metavar="N", help="processes here (default: one for each core)"
    )
    where.add_argument("--scheduler", metavar="ADDRESS", help="a Dask scheduler, such as tcp://host:8786")
    for name, title in QUEUES.items():
        where.add_argument(f"--{name}", type=positive, metavar="N", help=f"hand in N jobs of {title}")
    where.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="of such a job: queue, cores, memory, walltime, account, ... (dask-jobqueue); may be repeated",
    )
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    _check(args)
    if args.list:
        return _list(args)
    from ...lab.explore import Sweep
    from ...lab.schedulers import scheduler_for
    from ...lab.search import make_search
    from ...lab.space import Space

    space = Space.load(args.space)
    if args.manifests:
        from ...designs.catalogue import by_manifests

        space = space.with_designs([design.reference for design in by_manifests(args.manifests)])
    ledger = ledger_of(args)
    ledger.done([])  # one that cannot be read is refused now
    seed = 1 if args.seed is None else args.seed
    search = make_search(space, args.method, args.points or DEFAULT_POINTS, seed)
    if args.dry_run:
        return _dry_run(args, space, search, ledger)
    sweep = Sweep(space, ledger, search, args.retry)
    with (
        scheduler_for(_jobs(args), args.scheduler, _queues(args), args.option) as scheduler,
        Progress(_name(args), search.count, unit="point", quiet=args.json) as progress,
    ):
        progress.say(f"{_name(args)}: {search.count} points, {scheduler.name}; the ledger is {ledger.path}")
        sweep.run(scheduler, progress)
    rows = _rows(sweep)
    answer(args, lambda: _as_json(args, sweep, rows), lambda: _text(args, sweep, rows))
    if sweep.interrupted:
        return INTERRUPTED
    return 0 if sweep.measured else 1


def _check(args: argparse.Namespace) -> None:
    """Refuse what does not go together."""
    if args.list:
        return
    if args.space is None:
        raise BadInput("no space; give a file (SPACE.toml), or a name of `modexlab explore --list`")
    if args.method == "exhaustive":
        for option in ("points", "seed"):
            if getattr(args, option) is not None:
                raise BadInput(
                    f"--{option} {getattr(args, option)}: --method exhaustive measures all points; "
                    f"drop it, or give --method random or nsga2"
                )
    queues = _queues(args)
    places = [f"--{name} {count}" for name, count in queues.items()]
    places += [f"--scheduler {args.scheduler}"] if args.scheduler else []
    places += [f"--jobs {args.jobs}"] if args.jobs else []
    if len(places) > 1:
        raise BadInput(f"{' and '.join(places)}: points are measured in one place; drop one of them")
    if args.option and not queues:
        raise BadInput(
            f"--option {args.option[0]}: it is for jobs of a queue; add --slurm N, --lsf N or --pbs N"
        )


def _queues(args: argparse.Namespace) -> dict[str, int]:
    return {name: count for name in QUEUES if (count := getattr(args, name)) is not None}


def _jobs(args: argparse.Namespace) -> int:
    return args.jobs or len(os.sched_getaffinity(0))


def _workers(args: argparse.Namespace) -> int:
    """As many as will measure, as far as one can say beforehand."""
    return sum(_queues(args).values()) or _jobs(args)


def _name(args: argparse.Namespace) -> str:
    return args.space.rsplit("/", 1)[-1].removesuffix(".toml")


def _command(args: argparse.Namespace) -> str:
    """The command that goes on."""
    words = ["modexlab", "explore", args.space]
    if args.method != "exhaustive":
        words += ["--method", args.method]
    values = {"ledger": args.ledger, "points": args.points, "seed": args.seed, "jobs": args.jobs}
    values |= {"scheduler": args.scheduler, **_queues(args)}
    for name, value in values.items():
        words += [f"--{name}", str(value)] if value is not None else []
    for path in args.manifests:
        words += ["--design", path]
    for option in args.option:
        words += ["--option", option]
    words += ["--json"] if args.json else []
    return shlex.join(words)


# ---- the ready-made spaces


def _list(args: argparse.Namespace) -> int:
    from ...lab.space import Space, names

    spaces = {name: Space.load(name) for name in names()}
    lines = [[name, str(space.size()), space.title] for name, space in spaces.items()]
    answer(
        args,
        lambda: [
            {"name": name, "title": space.title, "description": space.description, "points": space.size()}
            for name, space in spaces.items()
        ],
        lambda: table(["space", "points", "what it is"], lines),
    )
    return 0


# ---- dry run


def _dry_run(args: argparse.Namespace, space: Space, search: Search, ledger: Ledger) -> int:
    """What would be measured. The course of a search depends on results: there, what it chooses from."""
    from ...lab.explore import kind_of, read

    points = {} if args.method == "nsga2" else {point.key: point for point in search.ask()}
    done = {each.point.key for each in read(ledger, points)}
    failed = {} if args.retry else {each.key: each.message for each in ledger.failures(list(points))}
    left = [point for key, point in points.items() if key not in done and key not in failed]
    estimate = _estimate(ledger, space)
    seconds = sum(estimate.seconds(*kind_of(point)) for point in left)
    if args.method == "nsga2":
        seconds = search.count * _mean_seconds(estimate, space)
    seconds /= _workers(args)
    guessed = sorted({stage for part in space.parts for stage in part.stages if not estimate.knows(stage)})
    parts = []
    if points:
        parts.append(
            table(
                ["state", "point"], [[_state(key, done, failed), str(point)] for key, point in points.items()]
            )
        )
    else:
        choices = [[name, str(len(values)), _some(values)] for name, values in space.parameters.items()]
        parts.append(table(["choice", "values", "which"], choices))
    parts.append(_refusals(space, search))
    parts.append(
        _estimate_in_words(args, search.count, len(left) if points else search.count, seconds, guessed)
    )
    answer(
        args,
        lambda: {
            "space": args.space,
            "method": args.method,
            "points": [
                {**_point_json(point), "state": _state(key, done, failed)} for key, point in points.items()
            ],
            "choices": {name: len(values) for name, values in space.parameters.items()},
            "count": search.count,
            "impossible": [{"point": what, "reason": why} for what, why in _impossible(space, search)],
            "left_out": dict(space.left_out),
            "seconds": round(seconds, 1),
            "rule_of_thumb": guessed,
        },
        lambda: "\n\n".join(part for part in parts if part),
    )
    return 0


def _state(key: str, done: Iterable[str], failed: Iterable[str]) -> str:
    return "done" if key in done else "failed" if key in failed else "to measure"


def _some(values: Sequence[Any]) -> str:
    text = ", ".join(str(value).lower() if isinstance(value, bool) else str(value) for value in values)
    return textwrap.shorten(text, 60, placeholder=" ...")


def _estimate(ledger: Ledger, space: Space) -> Estimate:
    """Estimated seconds, from earlier measurements of similar points."""
    from ...lab.explore import Estimate

    estimate = Estimate()
    stages = {stage for part in space.parts for stage in part.stages}
    seen: set[int] = set()
    for row in ledger.rows(stage=stages):
        if row.measurement not in seen:
            seen.add(row.measurement)
            estimate.learn(row.stage, row.subject, row.seconds, row.nbits, bool(row.flow.get("fmax")))
    return estimate


def _mean_seconds(estimate: Estimate, space: Space) -> float:
    """Of a point of a space, weighted by how many points its parts have."""
    weighted = [
        (part.size() / len(part.subjects) / len(part.stages), estimate.seconds(stage, subject))
        for part in space.parts
        for stage in part.stages
        for subject in part.subjects
    ]
    return sum(weight * seconds for weight, seconds in weighted) / sum(weight for weight, _ in weighted)


def _estimate_in_words(
    args: argparse.Namespace, count: int, left: int, seconds: float, guessed: Sequence[str]
) -> str:
    from ...lab.explore import duration

    how = (
        f"; a rule of thumb for stage {', '.join(guessed)}, of which the ledger has nothing"
        if guessed
        else ""
    )
    workers = _workers(args)
    who = f"{workers} at a time" if workers > 1 else "one at a time"
    return f"{count} points, {left} of them to measure: about {duration(max(seconds, 1))}, {who}{how}"


# ---- the result


def _rows(sweep: Sweep) -> dict[tuple[int, str], int]:
    """The ledger's row of the first objective of each point on a front, by measurement and operation."""
    numbers: dict[str, list[int]] = {}  # by the metric of the first objective
    for work, front in sweep.fronts.items():
        metric = sweep.goals_at(work.stage)[0].metric
        numbers.setdefault(metric, []).extend(member.measured.number for _, member in front.sorted())
    return {
        (row.measurement, row.operation): row.id
        for metric, measurements in numbers.items()
        for row in sweep.ledger.rows(history=True, measurement=measurements, metric=metric)
    }


def _row_of(rows: Mapping[tuple[int, str], int], work: Work, member: Member) -> int | None:
    number = member.measured.number
    return rows.get((number, work.operation), rows.get((number, "")))


def _impossible(space: Space, search: Search) -> list[tuple[str, str]]:
    return [*space.impossible, *search.refused.items()]


def _text(args: argparse.Namespace, sweep: Sweep, rows: Mapping[tuple[int, str], int]) -> str:
    parts = [_fronts(sweep, rows), _failures(sweep), _refusals(sweep.space, sweep.search)]
    parts += [_not_compared(sweep), _ending(args, sweep)]
    return "\n\n".join(part for part in parts if part)


def _fronts(sweep: Sweep, rows: Mapping[tuple[int, str], int]) -> str:
    """A table for each kind of work; of many one table, in which the work is a column."""
    fronts = sorted(sweep.fronts.items(), key=lambda each: each[0])
    if len(fronts) <= MOST_TABLES:
        return "\n\n".join(
            f"{work}: {_least(sweep, [work])}\n{_front(sweep, [(work, front)], rows)}"
            for work, front in fronts
        )
    return (
        f"{len(fronts)} fronts, {_least(sweep, [work for work, _ in fronts])}\n{_front(sweep, fronts, rows)}"
    )


def _least(sweep: Sweep, works: Sequence[Work]) -> str:
    """What is wanted, of these works together; a dash in a column says which of them do not have it."""
    goals = dict.fromkeys(goal for work in works for goal in sweep.goals_at(work.stage))
    return " and ".join(f"{'least' if goal.sign > 0 else 'most'} {goal.metric}" for goal in goals)


def _front(
    sweep: Sweep, fronts: Sequence[tuple[Work, Front[Member]]], rows: Mapping[tuple[int, str], int]
) -> str:
    """The points on these fronts, the best of the first objective first."""
    members = [(work, member) for work, front in fronts for _, member in front.sorted()]
    settings = any(member.measured.point.settings for _, member in members)
    flow = _differing([dict(member.measured.point.flow) for _, member in members])
    head = [*(["work"] if len(fronts) > 1 else []), "design", *(["parameters"] if settings else []), *flow]
    metrics = dict.fromkeys(goal.metric for work, _ in fronts for goal in sweep.goals_at(work.stage))
    head += [*metrics, "row"]
    lines = []
    last = None
    for work, member in members:
        point = member.measured.point
        line = ["" if work == last else str(work)] if len(fronts) > 1 else []
        line += [point.label, *([_words(point.settings) or "-"] if settings else [])]
        line += [_value(dict(point.flow).get(name)) for name in flow]
        values = _values(sweep, work, member)
        line += [_figure(values[metric]) if metric in values else "-" for metric in metrics]
        row = _row_of(rows, work, member)
        lines.append([*line, "-" if row is None else str(row)])
        last = work
    return table(head, lines)


def _values(sweep: Sweep, work: Work, member: Member) -> dict[str, float]:
    """By metric."""
    metrics = [goal.metric for goal in sweep.goals_at(work.stage)]
    return dict(zip(metrics, member.values, strict=True))


def _differing(each: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names whose values are not the same in all of these that have them."""
    names = dict.fromkeys(name for one in each for name in one)
    return [name for name in names if len({str(one[name]) for one in each if name in one}) > 1]


def _words(settings: Iterable[tuple[str, Any]]) -> str:
    return " ".join(f"{name}={_value(value)}" for name, value in settings)


def _value(value: Any) -> str:
    return "-" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _figure(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    return f"{value:.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def _failures(sweep: Sweep) -> str:
    if not sweep.failed:
        return ""
    failed = list(sweep.failed.values())
    lines = [
        [str(each.point), "before" if each.earlier else "now", textwrap.shorten(each.message, LINE)]
        for each in failed[:MOST_SHOWN]
    ]
    more = f"\n... and {len(failed) - MOST_SHOWN} more" if len(failed) > MOST_SHOWN else ""
    again = "; --retry tries them again" if any(each.earlier for each in failed) else ""
    return f"Failed ({len(failed)}{again}):\n{table(['point', 'when', 'message'], lines)}{more}"


def _refusals(space: Space, search: Search) -> str:
    """What there cannot be, by reason, and what constraints leave out."""
    parts = []
    impossible = _impossible(space, search)
    if impossible:
        reasons = Counter(why for _, why in impossible)
        example = {why: what for what, why in reversed(impossible)}
        lines = [
            [str(count), textwrap.shorten(why, LINE), textwrap.shorten(example[why], 60, placeholder=" ...")]
            for why, count in reasons.most_common(MOST_SHOWN)
        ]
        more = f"\n... and {len(reasons) - MOST_SHOWN} more reasons" if len(reasons) > MOST_SHOWN else ""
        head = ["points", "reason", "for example"]
        parts.append(f"Impossible ({len(impossible)}):\n{table(head, lines)}{more}")
    if space.left_out:
        lines = [[str(count), text] for text, count in space.left_out.most_common()]
        parts.append(f"Left out by constraints:\n{table(['points', 'constraint'], lines)}")
    return "\n\n".join(parts)


def _not_compared(sweep: Sweep) -> str:
    """Measured points that are on no front, by reason; reasons that differ in their numbers alone are one."""
    kinds: dict[str, list[str]] = {}
    for each in sweep.measured.values():
        for reason in _reasons(sweep, each):
            kinds.setdefault(re.sub(r"\d+", "", reason.partition(":")[0]), []).append(reason)
    if not kinds:
        return ""
    lines = [[str(len(each)), textwrap.shorten(each[0], LINE)] for each in kinds.values()]
    return f"Measured, but on no front:\n{table(['points', 'because (for example)'], lines)}"


def _reasons(sweep: Sweep, measured: Measured) -> list[str]:
    from ...designs.mixes import EXPONENTS

    broken = [f"breaks the constraint {text}" for text in measured.broken]
    point = measured.point
    metrics = {figure.metric for figure in measured.figures}
    goals = sweep.goals_at(point.stage) or sweep.goals
    lacking = " and no ".join(goal.metric for goal in goals if goal.metric not in metrics)
    no_cost = f"workload {EXPONENTS} is no cost: whether the cycles depend on the exponent"
    return [
        *measured.marks,
        *broken,
        *([no_cost] if point.workload == EXPONENTS else []),
        *([f"stage {point.stage} has no {lacking}"] if lacking else []),
    ]


def _counts(sweep: Sweep) -> dict[str, int]:
    return {
        "measured": sweep.new,
        "reused": len(sweep.measured) - sweep.new,
        "failed": len(sweep.failed),
        "impossible": len(_impossible(sweep.space, sweep.search)),
        "left_out": sum(sweep.space.left_out.values()),
        "dropped": sweep.dropped,
        "total": sweep.search.count,
    }


def _ending(args: argparse.Namespace, sweep: Sweep) -> str:
    """How many points, how long, and where the figures are."""
    from ...lab.explore import duration

    counts = _counts(sweep)
    rate = f" ({sweep.new / sweep.seconds:.3g} a second)" if sweep.new and sweep.seconds >= 1 else ""
    words = [f"{counts['measured']} measured in {duration(sweep.seconds)}{rate}"]
    words += [f"{counts['reused']} were in the ledger"] if counts["reused"] else []
    words += [f"{counts['failed']} failed"] if counts["failed"] else []
    lines = []
    if sweep.interrupted:
        have = len(sweep.measured)
        lines.append(
            f"Interrupted: {have} of {counts['total']} points are in the ledger, and {counts['dropped']} under way "
            f"are not. To go on: {_command(args)}"
        )
    lines.append(f"{counts['total']} points: {', '.join(words)}")
    show = "modexlab ledger" + (f" --ledger {shlex.quote(args.ledger)}" if args.ledger else "")
    lines.append(f"The ledger is {sweep.ledger.path} (`{show}` shows it; a row: `modexlab reproduce ROW`)")
    return "\n".join(lines)


# ---- JSON


def _point_json(point: Point) -> dict[str, Any]:
    data = point.as_json()
    for name in ("settings", "flow"):
        data[name] = {key: json_value(value) for key, value in data[name].items()}
    return {"key": point.key, **data, "command": point.command}


def _as_json(args: argparse.Namespace, sweep: Sweep, rows: Mapping[tuple[int, str], int]) -> dict[str, Any]:
    return {
        "space": args.space,
        "method": args.method,
        "points": _counts(sweep),
        "seconds": round(sweep.seconds, 3),
        "interrupted": sweep.interrupted,
        "objectives": dict(sweep.space.objectives),
        "fronts": [
            {
                "work": str(work),
                "nbits": work.nbits,
                "operation": work.operation,
                "stage": work.stage,
                "interface": work.interface,
                "points": [
                    {
                        **_point_json(member.measured.point),
                        "row": _row_of(rows, work, member),
                        "values": _values(sweep, work, member),
                    }
                    for _, member in front.sorted()
                ],
            }
            for work, front in sorted(sweep.fronts.items(), key=lambda each: each[0])
        ],
        "failures": [
            {**_point_json(each.point), "message": each.message, "earlier": each.earlier}
            for each in sweep.failed.values()
        ],
        "impossible": [
            {"point": what, "reason": why} for what, why in _impossible(sweep.space, sweep.search)
        ],
        "not_compared": [
            {**_point_json(each.point), "reasons": reasons}
            for each in sweep.measured.values()
            if (reasons := _reasons(sweep, each))
        ],
        "ledger": str(sweep.ledger.path),
        "resume": _command(args) if sweep.interrupted else None,
    }
