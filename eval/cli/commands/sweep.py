"""Measure a space of designs and print its Pareto fronts.

A space is a TOML file or the name of a ready-made one (`modexlab show spaces` lists them): designs, widths,
parameters, workloads, stages and settings of the flow, with constraints and objectives. Without a space,
--accelerator sweeps the listed values of all parameters of your own accelerators; accelerators of one
function share a front. Each figure is written to the store when it is measured. An interrupted sweep loses
only the points in progress; the same command continues and measures nothing twice. Points that the store
lacks are taken from the reference results of modexlab if these are current; --own measures them here. A point
that fails is recorded with its message; --retry tries it again.

The sweep ends with a chart of its fronts. Without the extra [report], it ends with the command that draws it.

Points are measured by local processes, by the workers of a Dask scheduler, or by jobs of a queue; workers
need this modexlab and its tools. The exit code is 1 if no point could be measured, and 130 after Ctrl-C.

examples:
  modexlab sweep course
  modexlab sweep space.toml --dry-run
  modexlab sweep space.toml -o fronts.png
  modexlab sweep space.toml --method nsga2 --points 200 --seed 1
  modexlab sweep space.toml --accelerator cores
  modexlab sweep --accelerator one --accelerator two
  modexlab sweep widths --crt --blind both --dry-run
  modexlab sweep widths --store widths.jsonl --jobs 8 --json
  modexlab sweep space.toml --scheduler tcp://node1:8786
  modexlab sweep space.toml --slurm 20 --option queue=long --option memory=8GB
"""

import math
import re
import shlex
import textwrap
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ....fl.errors import BadInput
from ....flow.files import replacing
from ...designs.protection import Requested
from ...json_values import attributes, json_value, spelled
from ...lab.cluster import executor_for
from ...lab.point import Point
from ...lab.search import DEFAULT_POINTS, METHODS, make_search
from ...lab.space import Space
from ...lab.sweep import Measured, Member, Sweep, Work
from ...progress import duration
from ...report.standalone.sweep import FORMATS, Compared, Panel, compared, drawn, panels
from ..arguments import ACCELERATORS
from ..exit_codes import INTERRUPTED
from ..laboratory import jobs_of, store_of
from ..options import PRIVATE, Group, assigned, choice, flag, option, positive, shared, writable
from ..render import Block, Json, Table, answer, warn

RENDERER = "vl_convert"  # of charts, from the extra [report]
QUEUES = {"slurm": "Slurm", "lsf": "LSF", "pbs": "PBS"}
MOST_LISTED = 16  # points of a kind of work that the table lists, dominated ones included
ON_FRONT = "*"
MOST_SHOWN = 10  # reasons and failures in the text; --json has all
LINE = 116


OPTIONS = (
    option("space", "SPACE", "a file (SPACE.toml), or a ready-made space", nargs="?"),
    ACCELERATORS,
    *PRIVATE,
    "--store",
    flag("--own", "without the reference results of modexlab"),
    "--retry",
    shared(
        "--output",
        f"the chart: a name that ends in .{', .'.join(FORMATS)}; default: next to the store",
        convert=writable("--output", *FORMATS),
    ),
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
            assigned(
                "--option",
                "NAME=VALUE",
                "memory=8GB",
                "of such a job: queue, cores, memory, walltime, account, ... (dask-jobqueue); may be "
                "repeated",
            ),
        ),
    ),
    "--json",
)


def execute(args: Namespace) -> int:
    queues = queues_of(args)
    space = space_of(args)
    search = make_search(space, args.method, args.points, args.seed)
    store = store_of(args, reference=not args.own)
    store.check_writable()
    timeout = args.timeout or math.inf
    executor = executor_for(jobs_of(args), args.scheduler, queues, args.option, timeout)
    sweep = Sweep(space, store, search, args.retry)
    sweep.run(executor, name_of(args), quiet=args.json)
    found = compared(sweep)
    drawable = [] if sweep.interrupted else panels(sweep, found)
    chart = _chart(args, sweep, drawable) if find_spec(RENDERER) else None
    report = {
        **_as_json(args, sweep, found),
        "chart": str(chart) if chart else None,
        "draw": f"pip install 'modexlab[report]' && {args.command}" if drawable and not chart else None,
    }
    blocks: Iterable[Block] = (
        _fronts(sweep, report["fronts"]),
        _failures(sweep),
        *refusals(report),
        _not_compared(report["not_compared"]),
        _ending(args, sweep, report["points"]),
        report["chart"] and f"Chart: {report['chart']}",
        report["draw"] and f"To draw the fronts: {report['draw']}",
    )
    code = answer(args, report, *blocks, ok=sweep.measured)
    return INTERRUPTED if sweep.interrupted else code


def space_of(args: Namespace) -> Space:
    """The space with the requested protections; a warning names the designs without a program."""
    designs = args.manifests
    if args.space is not None:
        space = Space.load(args.space, {design.name: design.reference for design in designs})
    elif designs:
        space = Space.of(designs)
    else:
        raise BadInput(
            "no space; give a file (SPACE.toml), a name of `modexlab show spaces`, or --accelerator PATH for "
            "your own accelerators"
        )
    space.require_comparable()
    space = space.protected(Requested(args.crt, args.blind, args.verify))
    if names := space.unprotected:
        listed = textwrap.shorten(", ".join(names), LINE, placeholder=" ...")
        warn(f"{len(names)} designs have no program for --crt, --blind and --verify: {listed}")
    return space


def name_of(args: Namespace) -> str:
    """The name of the space, or those of the accelerators without one."""
    if args.space is not None:
        return Path(args.space).stem
    return "-".join(design.name for design in args.manifests)


def queues_of(args: Namespace) -> dict[str, int]:
    """The queue that gets the points, and its number of jobs; BadInput for contradictory options."""
    queues = {name: count for name in QUEUES if (count := vars(args)[name]) is not None}
    where = queues | attributes(args, "scheduler", "jobs")
    places = [f"--{name} {value}" for name, value in where.items() if value]
    if len(places) > 1:
        raise BadInput(f"{' and '.join(places)}: points are measured in one place; drop one of them")
    if args.timeout and (queues or args.scheduler):
        raise BadInput(f"--timeout {args.timeout} with {places[0]}: it ends points of this computer; drop it")
    for name, value in {} if queues else args.option.items():
        raise BadInput(
            f"--option {name}={value}: it is for jobs of a queue; add --slurm N, --lsf N or --pbs N"
        )
    return queues


def _chart(args: Namespace, sweep: Sweep, drawable: Sequence[Panel]) -> Path | None:
    """The chart of the fronts, written; None if there is nothing to draw."""
    if not drawable:
        return None
    name = f"{name_of(args)}-sweep.{FORMATS[0]}"
    path = sweep.store.path.with_name(name) if args.output is None else Path(args.output)
    with replacing(path.resolve()) as part:
        part.write_bytes(drawn(sweep.space.title, drawable, path.suffix.lstrip(".")))
    return path.absolute()


# ---- the result


def _as_json(args: Namespace, sweep: Sweep, found: Mapping[Work, Compared]) -> Json:
    space = sweep.space
    few = {
        work: points.others if len(points.best) + len(points.others) <= MOST_LISTED else []
        for work, points in found.items()
    }
    shown = (item for work, points in found.items() for item in (*points.best, *few[work]))
    numbers = [item.measured.number for item in shown]
    rows = {
        (row.measurement, row.operation, row.metric): row.id
        for row in sweep.store.rows(history=True, measurement=numbers)
    }

    def member_json(work: Work, member: Member) -> Json:
        """A point on a front, with its values by metric and the row of the first of them."""
        metrics = list(sweep.goals_at(work.stage))
        number, metric = member.measured.number, metrics[0]
        return {
            **point_json(member.measured.point),
            "row": rows.get((number, work.operation, metric), rows.get((number, "", metric))),
            "values": dict(zip(metrics, member.values, strict=True)),
        }

    return {
        **attributes(args, "space", "method"),
        "points": _counts(sweep),
        "seconds": round(sweep.seconds, 3),
        "interrupted": sweep.interrupted,
        "objectives": dict(space.objectives),
        "fronts": [
            {
                "work": str(work),
                **attributes(work, "nbits", "operation", "stage", "interface"),
                "points": [member_json(work, member) for member in points.best],
                "dominated": len(points.others),
                "others": [member_json(work, member) for member in few[work]],  # if they are few
            }
            for work, points in found.items()
        ],
        "failures": [
            {**point_json(failed.point), **attributes(failed, "message", "earlier")}
            for failed in sweep.failed.values()
        ],
        **refused(space),
        "not_compared": [
            {**point_json(measured.point), "reasons": reasons}
            for measured in sweep.measured.values()
            if (reasons := _reasons(sweep, measured))
        ],
        "store": str(sweep.store.path),
        "resume": args.command if sweep.interrupted else None,
    }


def _counts(sweep: Sweep) -> dict[str, int]:
    """The number of points of each fate."""
    return {
        "measured": sweep.new,
        "reused": sweep.reused,
        "reference": sweep.reference,
        "failed": len(sweep.failed),
        "impossible": len(sweep.space.impossible),
        "left_out": len(sweep.space.excluded),
        "dropped": sweep.dropped,
        "total": sweep.search.count,
    }


def point_json(point: Point) -> Json:
    data = point.as_json()
    for name in ("settings", "flow"):
        data[name] = {key: json_value(value) for key, value in data[name].items()}
    return {"key": point.key, **data, "command": point.command}


def refused(space: Space) -> Json:
    """Impossible points with the reason, and the points that each constraint excludes."""
    return {
        "impossible": [{"point": what, "reason": why} for what, why in space.impossible.items()],
        "left_out": dict(space.left_out.most_common()),
    }


def _reasons(sweep: Sweep, measured: Measured) -> list[str]:
    """Why a measured point is on no front."""
    point = measured.point
    metrics = {figure.metric for figure in measured.figures}
    goals = sweep.goals_at(point.stage) or sweep.goals
    reasons = [*measured.marks, *(f"breaks the constraint {text}" for text in measured.broken)]
    if not point.is_cost:
        reasons.append(
            f"workload {point.workload} is not a cost: it shows whether cycles depend on the exponent"
        )
    if lacking := [metric for metric in goals if metric not in metrics]:
        reasons.append(f"stage {point.stage} has no {' and no '.join(lacking)}")
    return reasons


# ---- text


def _fronts(sweep: Sweep, fronts: Sequence[Json]) -> Table:
    """The points on all fronts, marked, and the others of each kind of work if they are few; sorted by the
    first objective.

    A dash means that the stage of this work does not measure an objective.
    """
    goals = {metric: sign for front in fronts for metric, sign in sweep.goals_at(front["stage"]).items()}
    least = " and ".join(f"{'least' if sign > 0 else 'most'} {metric}" for metric, sign in goals.items())
    points = [point for front in fronts for point in (*front["points"], *front["others"])]
    found: dict[str, set[str]] = {}  # values of each setting of the flow
    for name, value in (item for point in points for item in point["flow"].items()):
        found.setdefault(name, set()).add(str(value))
    flow = [name for name, values in found.items() if len(values) > 1]
    metrics = list(goals)
    lines = [
        [
            "" if number else front["work"],
            ON_FRONT if number < len(front["points"]) else "",
            point["subject"].partition("@")[0],
            " ".join(f"{name}={value_text(value)}" for name, value in point["settings"].items()),
            *(value_text(point["flow"].get(name)) for name in flow),
            *(_figure(point["values"].get(metric)) for metric in metrics),
            point["row"],
        ]
        for front in fronts
        for number, point in enumerate((*front["points"], *front["others"]))
    ]
    head = ["work", "front", "design", "parameters", *flow, *metrics, "row"]
    title = f"{len(fronts)} front{'s' if len(fronts) > 1 else ''}, {least}"
    unlisted = sum(front["dominated"] - len(front["others"]) for front in fronts)
    made = Table(head, lines, title).folded(())
    note = f"{ON_FRONT}: on the front." + (
        f" Dominated and not listed: {unlisted} points." if unlisted else ""
    )
    return replace(made, note=note)


def brief(text: str) -> str:
    return textwrap.shorten(text, 60, placeholder=" ...")


def value_text(value: Any) -> str:
    return "-" if value is None else spelled(value)


def _figure(value: float | None) -> str:
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
    return value_text(value)


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


def refusals(report: Json) -> Iterator[Table]:
    """Impossible points by reason, and the number of points that constraints leave out."""
    impossible = report["impossible"]
    found = _counted([(item["reason"], item["point"]) for item in impossible])
    lines = [[count, textwrap.shorten(why, LINE), brief(point)] for count, why, point in found[:MOST_SHOWN]]
    head = ["points", "reason", "for example"]
    yield Table(head, lines, f"Impossible ({len(impossible)}):", _more(len(found), " reasons"))
    left_out = [[count, text] for text, count in report["left_out"].items()]
    yield Table(["points", "constraint"], left_out, "Left out by constraints:")


def _not_compared(points: Sequence[Json]) -> Table:
    """Measured points that are on no front, by reason; reasons that differ only in their numbers
    are merged.
    """
    reasons = [reason for point in points for reason in point["reasons"]]
    found = _counted([(re.sub(r"\d+", "", reason.partition(":")[0]), reason) for reason in reasons])
    lines = [[count, textwrap.shorten(reason, LINE)] for count, _, reason in found]
    return Table(["points", "because (for example)"], lines, "Measured, but on no front:")


def _counted(items: Sequence[tuple[str, str]]) -> list[tuple[int, str, str]]:
    """The number of items of each kind, the kind and its first example; the most frequent kind first."""
    first = dict(reversed(items))
    return [(count, kind, first[kind]) for kind, count in Counter(kind for kind, _ in items).most_common()]


def _ending(args: Namespace, sweep: Sweep, counts: Json) -> str:
    """The number of points, the time, and the place of the figures."""
    rate = f" ({sweep.new / sweep.seconds:.3g} a second)" if sweep.new and sweep.seconds >= 1 else ""
    words = [f"{counts['measured']} measured in {duration(sweep.seconds)}{rate}"]
    words += [f"{counts['reused']} were in the store"] if counts["reused"] else []
    words += [f"{counts['reference']} are reference results"] if counts["reference"] else []
    words += [f"{counts['failed']} failed"] if counts["failed"] else []
    lines = [f"{counts['total']} points: {', '.join(words)}"]
    if unchecked := sum(measured.point.unchecked for measured in sweep.measured.values()):
        lines.append(f"{unchecked} of them have CRT or blinding and no result check (verify=false)")
    if counts["reference"]:
        lines.append("--own measures the points of reference results here")
    if sweep.interrupted:
        have = f"{counts['measured'] + counts['reused']} of {counts['total']} points are in the store"
        lines.insert(
            0, f"Interrupted: {have}, and {counts['dropped']} under way are not. To go on: {args.command}"
        )
    show = "modexlab store" + (f" --store {shlex.quote(args.store)}" if args.store else "")
    lines.append(
        f"The store is {sweep.store.path} (`{show}` shows it; a row: `modexlab store reproduce ROW`)"
    )
    return "\n".join(lines)
