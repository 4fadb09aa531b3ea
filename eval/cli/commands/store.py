"""Show or export what has been measured.

Every measured figure is a row in one file, the store, with the command that measures it again (`modexlab
store reproduce ROW`), the tools, the hash of the Verilog, and the tests that the same hardware passed. The
newest measurement of a point counts; --history shows the older ones too. Reference results are a store, too.

  list             a table (the default)
  show ROW         one figure in detail
  export FILE      rows as .csv or .jsonl; --format reference: one line per point that diffs well
  diff OLD [NEW]   figures that differ between stores (NEW: default --store); exit code 1 if there are any
  merge FILE...    add the entries of other stores to this one; none twice, the newest of a point counts
  renew [FILE]     measure stale reference results again and write them back (default: those of modexlab);
                   Ctrl-C, or SIGTERM from `timeout`, writes what is there, and the same command goes on
  check [FILE]     read a whole store; exit code 1 if a line is damaged. Reference results and verdicts are
                   compared with the present hardware and kits; exit code 1 if one is stale
  path             where the store is

Marks say why a figure must not be compared; a row is stale if sources or tools have changed since.

examples:
  modexlab store
  modexlab store list --subject mont --metric cycles --metric area_um2
  modexlab store export figures.csv
  modexlab store list --failures
  modexlab store diff before.jsonl after.jsonl --tolerance 0.005
  modexlab store export reference.jsonl --format reference
  modexlab store diff reference.jsonl
  modexlab store merge machine-a.jsonl machine-b.jsonl --store all.jsonl
  modexlab store check
  modexlab store renew --sample --dry-run
  timeout 3h modexlab store renew --subject mont --subject heap
  modexlab store path
"""

import shlex
import sys
from argparse import ArgumentTypeError, Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ....fl.errors import BadInput, unknown
from ...designs.catalogue import designs
from ...designs.system_catalogue import system_names
from ...designs.workload_names import NAMES
from ...folders import check_file
from ...json_values import attributes, json_value
from ...lab.metrics import METRICS, Measurement
from ...lab.stages import STAGES
from ...lab.store.entries import kind_of
from ...lab.store.export import NAME as REFERENCE_FORMAT
from ...lab.store.export import export
from ...lab.store.merge import Merged, compare, merge
from ...lab.store.reference import Reference, Verified
from ...lab.store.rows import Row, record
from ...lab.store.store import Store
from ...progress import Progress
from ...table import cell
from ..arguments import refuse
from ..laboratory import store_of
from ..options import Group, Option, flag, number, option, real, repeated, shared, short
from ..render import Json, Table, answer, capped, labelled
from ..rows import POINT, difference_as_json, difference_table, point_cells
from .renew import TOLERANCE, renew

WHICH = ("subject", "nbits", "metric", "operation", "stage", "history")
SHOWN = 10  # damaged measurements listed
OF_FIGURES = ("metric", "operation", "history")  # a failed point has none
MARKED = "marked: not comparable; `modexlab store show ROW` says why"
FORMAT_OF = {".csv": "csv", ".jsonl": "jsonl"}


def execute(args: Namespace) -> int:
    """Run the action; BadInput for options that it would ignore, and for too many or too few arguments."""
    action, targets = ACTIONS[args.action], args.targets
    for name in dict.fromkeys(name for other in ACTIONS.values() for name in other.options):
        if name not in action.options:
            others = " and ".join(key for key, other in ACTIONS.items() if name in other.options)
            refuse(args, [name], f" with {args.action}: it is an option of {others}; drop it")
    if args.failures:
        refuse(args, OF_FIGURES, " with --failures: a point that failed has no figures; drop one of them")
    if len(targets) > (most := action.most):
        takes = "no argument" if not most else "one argument" if most == 1 else f"at most {most} arguments"
        raise BadInput(f"{args.action} {short(targets[most])}: it takes {takes}; drop it")
    if len(targets) < action.least:
        raise BadInput(
            f"{args.action} which store? give a file, as in `modexlab store {args.action} other.jsonl`"
        )
    return action.run(args)


def _path(args: Namespace) -> int:
    path = str(store_of(args).path)
    return answer(args, {"path": path}, path)


def _check_share(value: float) -> float:
    if not 0 <= value < 1:
        raise BadInput(f"{value:g} is not a share; give 0 to 1, as in 0.005")
    return value


def _other(path: str) -> Store:
    """A store that must exist."""
    store = Store(path)
    if not store.exists:
        raise BadInput(f"{path}: there is no such file; give a store")
    return store


def _diff(args: Namespace) -> int:
    """Compare the figures of two stores."""
    old, *new = args.targets
    with _other(old) as before, _other(new[0]) if new else store_of(args, read_only=True) as after:
        found = compare(before, after, args.tolerance or 0.0, **_filters(after, args))
    differences = found.differences
    report = {
        "compared": found.compared,
        "differences": list(map(difference_as_json, differences)),
        "only_before": len(found.only_before),
        "only_after": len(found.only_after),
    }
    alone = {"first": found.only_before, "second": found.only_after}
    only = [f"{len(rows)} figures are in the {which} alone" for which, rows in alone.items() if rows]
    differ = f"{len(differences)} of {found.compared} figures differ"
    return answer(args, report, difference_table(differences), "; ".join([differ, *only]), ok=not differences)


def _merge(args: Namespace) -> int:
    """Add other stores to this one."""
    others = [_other(path) for path in args.targets]
    merged = []
    with store_of(args) as store:
        for path, other in zip(args.targets, others, strict=True):
            if store.exists and other.path.samefile(store.path):
                raise BadInput(f"merge {path}: that is the store itself; name others, or another --store")
        for other in others:
            with other:
                merged.append(merge(store, other))
    reports = [{**vars(item), "path": str(item.path), "added": dict(item.added)} for item in merged]
    return answer(args, reports, "\n".join(map(_merged, merged)))


def _merged(item: Merged) -> str:
    """The counts of a merged store, as a line."""
    added = _counted(item.added)
    return f"{item.path}: {added or 'nothing'} added; {item.there} were there"


def _counted(counts: Mapping[str, int]) -> str:
    """Numbers of entries by kind, in words."""
    return ", ".join(f"{count} {kind}{'s' * (count != 1)}" for kind, count in sorted(counts.items()))


def _check(args: Namespace) -> int:
    """Read a whole store, and compare reference results with the present hardware."""
    with _other(args.targets[0]) if args.targets else store_of(args, read_only=True) as store:
        if not store.exists:
            raise BadInput(f"check {store.path}: there is no such file; give a store")
        counts = Counter(map(kind_of, store.entries()))
        damaged, torn = list(store.damaged), store.torn
    with Progress(f"{store.path}", unit="line", quiet=args.json) as progress:
        found = Verified(0, 0, [], []) if damaged else Reference(store.path).verify(progress)
    report = {
        "path": str(store.path),
        "entries": dict(counts),
        "damaged": damaged,
        "torn": torn,
        **found._asdict(),
    }
    lines = [f"{store.path}: {_counted(counts) or 'no entries'}", *_faults(damaged, torn)]
    if found.measurements or found.verdicts:
        lines += _stale(found)
    return answer(args, report, "\n".join(lines), ok=not damaged and not found.stale)


def _faults(damaged: Sequence[int], torn: bool) -> Iterator[str]:
    """Damage of a store, as lines."""
    if damaged:
        numbers = ", ".join(capped([*map(str, damaged)], SHOWN, "more"))
        yield f"{len(damaged)} lines are damaged and skipped: {numbers}"
        yield "repeat the sweep, or the command, that measured them"
    if torn:
        yield "the last line is incomplete: it is being written, or its writer was killed"


def _stale(found: Verified) -> Iterator[str]:
    """Reference results to measure again, as lines."""
    judged = f"{found.measurements} reference results and {found.verdicts} verdicts"
    text = f"{len(found.stale)} of {judged} are stale: their hardware or their kit has changed"
    yield "\n  ".join([text, *capped(found.stale, SHOWN, "more")])
    if found.unverified:
        yield f"{len(found.unverified)} are unverified: `modexlab store show ROW` says why"


def row_number(text: str | None) -> int:
    """The number of a row, from the first column of `modexlab store list`; negative for reference
    results.
    """
    if text is None:
        raise BadInput("which row? give its number, the first column of `modexlab store list`")
    try:
        return -number(text[1:]) if text.startswith("-") else number(text)
    except ArgumentTypeError as error:
        raise BadInput(f"row {error}") from None


def _filters(store: Store, args: Namespace) -> Json:
    """Filters for `Store.rows`; BadInput for a name that is neither measurable nor in the store, which may
    be older.
    """
    known = {
        "subject": ("design or system", (*(design.name for design in designs()), *system_names())),
        "metric": ("metric", METRICS),
        "operation": ("operation", NAMES),
        "stage": ("stage", STAGES),
    }
    asked = attributes(args, "subject", "nbits", "metric", "operation", "stage")
    filters = {name: wanted for name, wanted in asked.items() if wanted}
    for name, (kind, names) in known.items():
        wanted = filters.get(name)
        there = {getattr(row, name) for row in store.rows(history=True, **{name: wanted})} if wanted else ()
        for item in wanted or ():
            if item not in there and item not in names:
                raise unknown(kind, item, names)
    return filters


def _list(args: Namespace) -> int:
    with store_of(args, read_only=True) as store:
        if args.failures:
            return _list_failures(store, args)
        rows = store.rows(history=args.history, **_filters(store, args))
        note = MARKED if any(row.marks for row in rows) else ""
        if not rows:
            note = "no such rows; `modexlab store list` without filters shows all"
            if not store.rows(history=True):
                where = f"nothing has been measured yet ({store.path})"
                note = f"{where}; `modexlab sweep course` measures a first space"
    lines = [
        [
            row.id,
            *point_cells(row),
            row.value,
            row.unit,
            when_text(row.when),
            ", ".join(
                ["stale"] * row.stale + ["marked"] * bool(row.marks) + ["unverified"] * bool(row.unverified)
            ),
        ]
        for row in rows
    ]
    table = Table(("row", *POINT, "value", "unit", "measured", ""), lines)
    return answer(args, [row_as_json(row) for row in rows], table, note)


def when_text(when: str) -> str:
    """Date and time to the minute."""
    return when[:16].replace("T", " ")


def _list_failures(store: Store, args: Namespace) -> int:
    wanted = _filters(store, args)
    failures = [
        item
        for item in store.failures()
        if all(item.point.get(name) in values for name, values in wanted.items())
    ]
    lines = [
        f"{when_text(item.when)}  {shlex.join(item.command)}\n  {item.message} (after {item.seconds:.1f} s)"
        for item in failures
    ]
    report = [
        {"command": shlex.join(item.command), **attributes(item, "message", "seconds", "when", "key")}
        for item in failures
    ]
    none = "no such point has failed" if wanted else "no point has failed"
    return answer(args, report, "\n".join(lines) or none)


def row_as_json(row: Row) -> Json:
    """A figure as JSON."""
    return {**record(row), "stale": row.stale}


def _show(args: Namespace) -> int:
    number = row_number(args.targets[0] if args.targets else None)
    with store_of(args, read_only=True, reference=True) as store:
        row = store.row(number)
        whole = store.measurement(row.measurement)
    report = {
        **row_as_json(row),
        "figures": [attributes(figure, "metric", "operation", "value", "unit") for figure in whole.figures],
        "details": whole.details,
        "artifacts": {name: len(content) for name, content in whole.artifacts.items()},
    }
    operation = f", {row.operation}" if row.operation else ""
    title = f"{row.metric} = {cell(row.value)} {row.unit}: {row.subject}, {row.nbits} bits{operation}"
    return answer(args, report, labelled(_details(row, whole), title))


def _details(row: Row, whole: Measurement) -> Iterator[tuple[str, str]]:
    def pairs(values: Mapping[str, Any], sign: str = "=") -> str:
        return ", ".join(f"{name}{sign}{value}" for name, value in values.items())

    yield "  command", shlex.join(row.command)
    yield (
        "  parameters",
        pairs({name: short(str(json_value(value))) for name, value in row.parameters.items()}),
    )
    yield "  stage", ", ".join(filter(None, (row.stage, f"interface {row.interface}", row.workload)))
    yield "  flow", pairs(row.flow)
    yield "  tests", row.tests
    yield from (("  mark", mark) for mark in row.marks)
    yield "  Verilog", f"sha256 {row.verilog_hash}" if row.verilog_hash else ""
    yield "  tools", pairs(row.tools, " ")
    yield "  measured", f"{when_text(row.when)} UTC, in {row.seconds:.1f} s" if row.when else ""
    yield "  commit", whole.details.get("commit", "")
    yield "  unverified", row.unverified
    yield "  sources", "changed since (stale)" if row.stale else "the present ones"
    figures = (f"{figure.operation} {figure.metric} {cell(figure.value)}".strip() for figure in whole.figures)
    yield "  with it", ", ".join(figures)
    yield from (("  caveat", caveat) for caveat in whole.details.get("caveats", ()))
    yield "  pictures", ", ".join(whole.artifacts)


def _export(args: Namespace) -> int:
    if not args.targets:
        raise BadInput("export to which file? give its name, as in `modexlab store export figures.csv`")
    (target,) = args.targets
    check_file("export", target)
    path = Path(target)
    format = args.format or FORMAT_OF.get(path.suffix.lower())
    if format is None:
        raise BadInput(
            f"export {path}: no format has this suffix; name the file .csv or .jsonl, or add --format"
        )
    with store_of(args, read_only=True) as store:
        if format == REFERENCE_FORMAT and path.suffix.lower() != ".jsonl":
            raise BadInput(
                f"export {path}: other actions know reference results by their suffix; give {path}.jsonl"
            )
        if format == REFERENCE_FORMAT and path.is_file():  # keep the points of other stores
            store.reference = Reference(path)
        count = export(store, format, path, history=args.history, **_filters(store, args))
    print(f"{count} rows to {path} ({format})", file=sys.stderr)
    return 0


class _Action(NamedTuple):
    """An action, its options in addition to --store, and its number of arguments."""

    run: Callable[[Namespace], int]
    options: tuple[str, ...] = ("json",)
    least: int = 0
    most: int = 0


WHICH_POINTS = ("subject", "nbits", "stage")
RENEWAL = (*WHICH_POINTS, "sample", "tolerance", "dry_run", "retry", "jobs", "json")
ACTIONS = {
    "list": _Action(_list, (*WHICH, "failures", "json")),
    "show": _Action(_show, most=1),
    "export": _Action(_export, (*WHICH, "format"), most=1),
    "diff": _Action(_diff, (*WHICH[:-1], "tolerance", "json"), 1, 2),
    "merge": _Action(_merge, least=1, most=sys.maxsize),
    "renew": _Action(renew, RENEWAL, most=1),
    "check": _Action(_check, most=1),
    "path": _Action(_path),
}
OPTIONS = (
    Option("action", choices=tuple(ACTIONS), nargs="?", default="list", help="what to do (default: list)"),
    option("targets", "ROW|FILE", "of show, export, diff, merge, renew and check", nargs="*"),
    "--store",
    Group(
        "which rows; names and widths may be repeated",
        (
            repeated("--subject", "NAME", "a design or a system"),
            shared("--nbits", action="append"),
            repeated("--metric", "NAME", "cycles, area_um2, energy_nj, ..."),
            shared("--operation", "encrypt, decrypt, ...", action="append"),
            repeated("--stage", "STAGE", "formula, native, flow, ..."),
            flag("--history", "older measurements of the same points too"),
            flag("--failures", "points that could not be measured, and why"),
        ),
    ),
    option(
        "--tolerance",
        "SHARE",
        f"of diff and renew: the largest relative difference that counts as equal (default: 0; of renew: "
        f"{TOLERANCE:g})",
        type=real(_check_share, "0.005"),
    ),
    Group(
        "of renew",
        (
            flag(
                "--sample",
                "rows of published tables, and one result of each design, interface, stage and style",
            ),
            flag("--dry-run", "measure nothing: list the stale results and estimate the time"),
            "--retry",
            "--jobs",
        ),
    ),
    shared("--format", "of export; default: by suffix", choices=(*FORMAT_OF.values(), REFERENCE_FORMAT)),
    "--json",
)
