"""Measure a space of designs and print its Pareto fronts.

A space is a TOML file or the name of a ready-made one (--list): designs, widths, parameters, workloads,
stages and settings of the flow, with constraints and objectives. Each figure is written to the ledger when it
is measured. An interrupted sweep loses only the points in progress; the same command continues and measures
nothing twice. A point that fails is recorded with its message; --retry tries it again.

Points are measured by local processes, by the workers of a Dask scheduler, or by jobs of a queue; workers
need this modexlab and its tools. The exit code is 1 if no point could be measured, and 130 after Ctrl-C.

examples:
  modexlab sweep course
  modexlab sweep space.toml --dry-run
  modexlab sweep space.toml --method nsga2 --points 200 --seed 1
  modexlab sweep space.toml --accelerator cores
  modexlab sweep widths --ledger widths.sqlite --jobs 8 --json
  modexlab sweep space.toml --scheduler tcp://node1:8786
  modexlab sweep space.toml --slurm 20 --option queue=long --option memory=8GB
"""

import math
import re
import shlex
import textwrap
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from ....fl.errors import BadInput
from ...designs.catalogue import by_paths
from ...designs.workload_names import EXPONENTS
from ...grouping import grouped
from ...json_values import attributes, json_value, spelled
from ...lab.campaign import Estimate
from ...lab.explore import Measured, Measuring, Member, Sweep, Work, cost_of, failures, read
from ...lab.ledger.ledger import Ledger
from ...lab.point import Point
from ...lab.schedulers import scheduler_for
from ...lab.search import METHODS, Search, make_search
from ...lab.space import Space
from ...progress import duration
from ..arguments import refuse
from ..exit_codes import INTERRUPTED
from ..laboratory import jobs_of, ledger_of
from ..options import Group, choice, flag, option, positive, repeated
from ..render import Block, Json, Table, answer
from .show import spaces

DEFAULT_POINTS = 100
QUEUES = {"slurm": "Slurm", "lsf": "LSF", "pbs": "PBS"}
MOST_SHOWN = 10  # reasons and failures in the text; --json has all
LINE = 116


OPTIONS = (
    option("space", "SPACE", "a file (SPACE.toml), or a ready-made space", nargs="?"),
    flag("--list", "list the ready-made spaces"),
    flag("--dry-run", "measure nothing: list the points and estimate the time"),
    "--accelerator",
    "--ledger",
    "--retry",
    Group(
        "which points, and in which order",
        (
            choice("--method", METHODS, "all, a random choice, or a multi-objective search", "exhaustive"),
            option("--points", "N", f"size of a search (default: {DEFAULT_POINTS})", type=positive),
            "--seed (of a search; the same seed chooses the same points)",
        ),
    ),
    Group(
        "where",
        (
            "--jobs",
            option(
                "--timeout",
                "S",
                "longest time of a task in seconds (on this computer; it has failed then)",
                type=positive,
            ),
            option("--scheduler", "ADDRESS", "a Dask scheduler, such as tcp://host:8786"),
            *(
                option(f"--{name}", "N", f"submit N jobs to {title}", type=positive)
                for name, title in QUEUES.items()
            ),
            repeated(
                "--option",
                "NAME=VALUE",
                "of such a job: queue, cores, memory, walltime, account, ... (dask-jobqueue); may be "
                "repeated",
            ),
        ),
    ),
    "--json",
)


def execute(args: Namespace) -> int:
    if args.list:
        return spaces.execute(args)
    _check(args)
    own = {design.name: design.reference for design in by_paths(args.manifests)}
    space = Space.load(args.space, own)
    if space.listed and (args.manifests or args.method == "nsga2"):
        option = "--accelerator" if args.manifests else "--method nsga2"
        raise BadInput(f"{option} with {args.space}: a file of results has points and no axes; drop it")
    named = {subject for part in space.parts for subject in part.subjects}
    if more := [reference for reference in own.values() if reference not in named]:
        space = space.with_designs(more)
    ledger = ledger_of(args)
    seed = 1 if args.seed is None else args.seed
    search = make_search(space, args.method, args.points or DEFAULT_POINTS, seed)
    if args.dry_run:
        return _dry_run(args, space, search, ledger)
    ledger.check_writable()
    sweep = Sweep(space, ledger, search, args.retry)
    timeout = args.timeout or math.inf
    scheduler = scheduler_for(jobs_of(args), args.scheduler, _queues(args), args.option, timeout)
    sweep.run(scheduler, Path(args.space).stem, quiet=args.json)
    report = _as_json(args, sweep)
    blocks: Iterable[Block] = (
        _fronts(sweep, report["fronts"]),
        _failures(sweep),
        *_refusals(report),
        _not_compared(report["not_compared"]),
        _ending(args, sweep, report["points"]),
    )
    code = answer(args, report, *blocks, ok=sweep.measured)
    return INTERRUPTED if sweep.interrupted else code


def _check(args: Namespace) -> None:
    """BadInput for contradictory options."""
    if args.space is None:
        raise BadInput("no space; give a file (SPACE.toml), or a name of `modexlab show spaces`")
    if args.method == "exhaustive":
        for name in ("points", "seed"):
            why = ": --method exhaustive measures all points; drop it, or give --method random or nsga2"
            refuse(args, [name], f" {getattr(args, name)}{why}")
    queues = _queues(args)
    where = queues | attributes(args, "scheduler", "jobs")
    places = [f"--{name} {value}" for name, value in where.items() if value]
    if len(places) > 1:
        raise BadInput(f"{' and '.join(places)}: points are measured in one place; drop one of them")
    if args.timeout and (queues or args.scheduler):
        raise BadInput(f"--timeout {args.timeout} with {places[0]}: it ends points of this computer; drop it")
    if args.option and not queues:
        raise BadInput(
            f"--option {args.option[0]}: it is for jobs of a queue; add --slurm N, --lsf N or --pbs N"
        )


def _queues(args: Namespace) -> dict[str, int]:
    return {name: count for name in QUEUES if (count := getattr(args, name)) is not None}


# ---- dry run


def _dry_run(args: Namespace, space: Space, search: Search, ledger: Ledger) -> int:
    """Print the points to measure or, for a search that depends on results, the values to choose from."""
    asked = search.ask()
    points = {} if args.method == "nsga2" else {point.key: point for point in asked}
    states = dict.fromkeys(points, "to measure")
    if not args.retry:
        states |= dict.fromkeys(failures(ledger, points), "failed")
    states |= {item.point.key: "done" for item in read(ledger, points)}
    left = [point for key, point in points.items() if states[key] == "to measure"]
    stages = sorted({stage for part in space.parts for stage in part.stages})
    estimate = Estimate()
    for row in {row.measurement: row for row in ledger.rows(stage=stages)}.values():
        estimate.learn(cost_of(row.stage, row.subject, row.nbits, bool(row.flow.get("fmax"))), row.seconds)
    guessed = [stage for stage in stages if not any(estimate.knows((stage, fmax)) for fmax in (False, True))]
    seconds = sum(estimate.seconds(Measuring(point).cost) for point in (left if points else asked))
    if not points:  # a search is estimated by its first generation
        seconds *= search.count / max(1, len(asked))
    workers = sum(_queues(args).values()) or jobs_of(args)
    seconds /= workers
    report = {
        **attributes(args, "space", "method"),
        "points": [{**_point_json(point), "state": states[key]} for key, point in points.items()],
        "choices": {name: len(values) for name, values in space.parameters.items()},
        "count": search.count,
        **_refused(space, search),
        "seconds": round(seconds, 1),
        "rule_of_thumb": guessed,
    }
    if points:
        table = Table(["state", "point"], [[states[key], point] for key, point in points.items()])
    else:
        choices = [
            [name, len(values), _brief(", ".join(map(_value, values)))]
            for name, values in space.parameters.items()
        ]
        table = Table(["choice", "values", "which"], choices)
    how = f"; a rule of thumb for stage {', '.join(guessed)}, for which the ledger has no times"
    count = len(left) if points else search.count
    who = f"{workers} at a time" if workers > 1 else "one at a time"
    time = f"about {duration(max(seconds, 1))}, {who}{how if guessed else ''}"
    return answer(
        args, report, table, *_refusals(report), f"{search.count} points, {count} of them to measure: {time}"
    )


# ---- the result


def _as_json(args: Namespace, sweep: Sweep) -> Json:
    space, search = sweep.space, sweep.search
    fronts = [(work, front.sorted()) for work, front in sorted(sweep.fronts.items(), key=itemgetter(0))]
    numbers = [member.measured.number for _, front in fronts for _, member in front]
    rows = {
        (row.measurement, row.operation, row.metric): row.id
        for row in sweep.ledger.rows(history=True, measurement=numbers)
    }

    def member_json(work: Work, member: Member) -> Json:
        """A point on a front, with its values by metric and the row of the first of them."""
        metrics = list(sweep.goals_at(work.stage))
        number, metric = member.measured.number, metrics[0]
        return {
            **_point_json(member.measured.point),
            "row": rows.get((number, work.operation, metric), rows.get((number, "", metric))),
            "values": dict(zip(metrics, member.values, strict=True)),
        }

    return {
        **attributes(args, "space", "method"),
        "points": {
            "measured": sweep.new,
            "reused": sweep.reused,
            "failed": len(sweep.failed),
            "impossible": len(space.impossible) + len(search.refused),
            "left_out": space.left_out.total(),
            "dropped": sweep.dropped,
            "total": search.count,
        },
        "seconds": round(sweep.seconds, 3),
        "interrupted": sweep.interrupted,
        "objectives": dict(space.objectives),
        "fronts": [
            {
                "work": str(work),
                **attributes(work, "nbits", "operation", "stage", "interface"),
                "points": [member_json(work, member) for _, member in front],
            }
            for work, front in fronts
        ],
        "failures": [
            {**_point_json(failed.point), **attributes(failed, "message", "earlier")}
            for failed in sweep.failed.values()
        ],
        **_refused(space, search),
        "not_compared": [
            {**_point_json(measured.point), "reasons": reasons}
            for measured in sweep.measured.values()
            if (reasons := _reasons(sweep, measured))
        ],
        "ledger": str(sweep.ledger.path),
        "resume": args.command if sweep.interrupted else None,
    }


def _point_json(point: Point) -> Json:
    data = point.as_json()
    for name in ("settings", "flow"):
        data[name] = {key: json_value(value) for key, value in data[name].items()}
    return {"key": point.key, **data, "command": point.command}


def _refused(space: Space, search: Search) -> Json:
    """Impossible points with the reason, and the points that each constraint excludes."""
    impossible = [*space.impossible, *search.refused.items()]
    return {
        "impossible": [{"point": what, "reason": why} for what, why in impossible],
        "left_out": dict(space.left_out.most_common()),
    }


def _reasons(sweep: Sweep, measured: Measured) -> list[str]:
    """Why a measured point is on no front."""
    point = measured.point
    metrics = {figure.metric for figure in measured.figures}
    goals = sweep.goals_at(point.stage) or sweep.goals
    reasons = [*measured.marks, *(f"breaks the constraint {text}" for text in measured.broken)]
    if point.workload == EXPONENTS:
        reasons.append(f"workload {EXPONENTS} is not a cost: it shows whether cycles depend on the exponent")
    if lacking := [metric for metric in goals if metric not in metrics]:
        reasons.append(f"stage {point.stage} has no {' and no '.join(lacking)}")
    return reasons


# ---- text


def _fronts(sweep: Sweep, fronts: Sequence[Json]) -> Table:
    """The points on all fronts, sorted by the first objective within each kind of work.

    A dash means that the stage of this work does not measure an objective.
    """
    goals = {metric: sign for front in fronts for metric, sign in sweep.goals_at(front["stage"]).items()}
    least = " and ".join(f"{'least' if sign > 0 else 'most'} {metric}" for metric, sign in goals.items())
    points = [point for front in fronts for point in front["points"]]
    found: dict[str, set[str]] = {}  # values of each setting of the flow
    for name, value in (item for point in points for item in point["flow"].items()):
        found.setdefault(name, set()).add(str(value))
    flow = [name for name, values in found.items() if len(values) > 1]
    metrics = list(goals)
    lines = [
        [
            "" if number else front["work"],
            point["subject"].partition("@")[0],
            " ".join(f"{name}={_value(value)}" for name, value in point["settings"].items()),
            *(_value(point["flow"].get(name)) for name in flow),
            *(_figure(point["values"].get(metric)) for metric in metrics),
            point["row"],
        ]
        for front in fronts
        for number, point in enumerate(front["points"])
    ]
    head = ["work", "design", "parameters", *flow, *metrics, "row"]
    return Table(head, lines, f"{len(fronts)} front{'s' if len(fronts) > 1 else ''}, {least}").folded(())


def _brief(text: str) -> str:
    return textwrap.shorten(text, 60, placeholder=" ...")


def _value(value: Any) -> str:
    return "-" if value is None else spelled(value)


def _figure(value: float | None) -> str:
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
    return _value(value)


def _failures(sweep: Sweep) -> Table:
    failed = list(sweep.failed.values())
    lines = [
        [failure.point, "before" if failure.earlier else "now", textwrap.shorten(failure.message, LINE)]
        for failure in failed[:MOST_SHOWN]
    ]
    again = "; --retry tries them again" if any(failure.earlier for failure in failed) else ""
    return Table(["point", "when", "message"], lines, f"Failed ({len(failed)}{again}):", _more(len(failed)))


def _more(count: int, what: str = "") -> str:
    return f"... and {count - MOST_SHOWN} more{what}" if count > MOST_SHOWN else ""


def _refusals(report: Json) -> Iterator[Table]:
    """Impossible points by reason, and the number of points that constraints leave out."""
    impossible = report["impossible"]
    examples = grouped(impossible, itemgetter("reason"))
    common = sorted(examples.items(), key=lambda item: -len(item[1]))[:MOST_SHOWN]
    lines = [[len(points), textwrap.shorten(why, LINE), _brief(points[0]["point"])] for why, points in common]
    head = ["points", "reason", "for example"]
    yield Table(head, lines, f"Impossible ({len(impossible)}):", _more(len(examples), " reasons"))
    left_out = [[count, text] for text, count in report["left_out"].items()]
    yield Table(["points", "constraint"], left_out, "Left out by constraints:")


def _not_compared(points: Sequence[Json]) -> Table:
    """Measured points that are on no front, by reason; reasons that differ only in their numbers
    are merged.
    """
    reasons = (reason for point in points for reason in point["reasons"])
    kinds = grouped(reasons, lambda reason: re.sub(r"\d+", "", reason.partition(":")[0]))
    lines = [[len(reasons), textwrap.shorten(reasons[0], LINE)] for reasons in kinds.values()]
    return Table(["points", "because (for example)"], lines, "Measured, but on no front:")


def _ending(args: Namespace, sweep: Sweep, counts: Json) -> str:
    """The number of points, the time, and the place of the figures."""
    rate = f" ({sweep.new / sweep.seconds:.3g} a second)" if sweep.new and sweep.seconds >= 1 else ""
    words = [f"{counts['measured']} measured in {duration(sweep.seconds)}{rate}"]
    words += [f"{counts['reused']} were in the ledger"] if counts["reused"] else []
    words += [f"{counts['failed']} failed"] if counts["failed"] else []
    lines = [f"{counts['total']} points: {', '.join(words)}"]
    if unchecked := sum(measured.point.unchecked for measured in sweep.measured.values()):
        lines.append(f"{unchecked} of them have CRT or blinding and no result check (verify=false)")
    if sweep.interrupted:
        have = f"{len(sweep.measured)} of {counts['total']} points are in the ledger"
        lines.insert(
            0, f"Interrupted: {have}, and {counts['dropped']} under way are not. To go on: {args.command}"
        )
    show = "modexlab ledger" + (f" --ledger {shlex.quote(args.ledger)}" if args.ledger else "")
    lines.append(
        f"The ledger is {sweep.ledger.path} (`{show}` shows it; a row: `modexlab ledger reproduce ROW`)"
    )
    return "\n".join(lines)
