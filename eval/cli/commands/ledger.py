"""Show or export what has been measured.

Every measured figure is a row in one SQLite file, with the command that measures it again (`modexlab ledger
reproduce ROW`), the tools, the hash of the Verilog, and the tests that the same hardware passed. The newest
measurement of a point counts; --history shows the older ones too.

  list             a table (the default)
  show ROW         one figure in detail
  export FILE      rows as .csv or .jsonl; --format reference: one line per point that diffs well
  diff OLD [NEW]   figures that differ between ledgers or reference files (NEW: default --ledger);
                   exit code 1 if there are any
  merge FILE...    add the measurements of other ledgers to this one; none twice, the newest of a point counts
  verify [FILE]    read a whole ledger; exit code 1 if a measurement is damaged. In a file of reference
                   results, compare measurements and verdicts with the present hardware and kits; exit code 1
                   if one is stale
  salvage [FILE]   replace a damaged ledger by its intact rows, and keep the damaged file under another name;
                   with FILE and --ledger OTHER the intact rows go to OTHER, and FILE stays as it is
  path             where the ledger is

Marks say why a figure must not be compared; a row is stale if sources or tools have changed since.

examples:
  modexlab ledger
  modexlab ledger list --subject mont --metric cycles --metric area_um2
  modexlab ledger export figures.csv
  modexlab ledger list --failures
  modexlab ledger diff before.sqlite after.sqlite --tolerance 0.005
  modexlab ledger export reference.jsonl --format reference
  modexlab ledger diff reference.jsonl
  modexlab ledger merge machine-a.sqlite machine-b.sqlite --ledger all.sqlite
  modexlab ledger verify
  modexlab ledger salvage cut-off.sqlite --ledger new.sqlite
  modexlab ledger path
"""

import shlex
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ....fl.errors import BadInput, unknown
from ...designs.catalogue import designs
from ...designs.interfaces import DEFAULT, SYSTEM
from ...designs.system_catalogue import system_names
from ...designs.workload_names import NAMES
from ...folders import check_file
from ...json_values import attributes, json_value
from ...lab.flow_settings import FLOW_DEFAULTS
from ...lab.ledger.export import NAME as REFERENCE_FORMAT
from ...lab.ledger.export import Reference
from ...lab.ledger.join import Joined, compare, join
from ...lab.ledger.ledger import Ledger, Row
from ...lab.ledger.salvage import Found, salvage, verify
from ...lab.ledger_rows import record
from ...lab.metrics import METRICS, Measurement
from ...lab.stages import STAGES
from ...progress import Progress
from ...table import cell
from ..arguments import refuse
from ..laboratory import ledger_of
from ..options import Group, Option, flag, number, option, real, repeated, shared, short
from ..render import Json, Table, answer, capped, labelled

WHICH = ("subject", "nbits", "metric", "operation", "stage", "history")
SHOWN = 10  # damaged measurements listed
OF_FIGURES = ("metric", "operation", "history")  # a failed point has none
MARKED = "marked: not comparable; `modexlab ledger show ROW` says why"
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
            f"{args.action} which ledger? give a file, as in `modexlab ledger {args.action} other.sqlite`"
        )
    return action.run(args)


def _path(args: Namespace) -> int:
    path = str(ledger_of(args).path)
    return answer(args, {"path": path}, path)


def _check_share(value: float) -> float:
    if not 0 <= value < 1:
        raise BadInput(f"{value:g} is not a share; give 0 to 1, as in 0.005")
    return value


def _other(path: str) -> Ledger:
    """A ledger that must exist."""
    ledger = Ledger(path)
    if not ledger.exists:
        raise BadInput(f"{path}: there is no such file; give a ledger")
    return ledger


def _to_compare(path: str) -> Ledger | Reference:
    """A ledger, or a file of reference results."""
    return Reference(path) if Path(path).suffix.lower() == ".jsonl" else _other(path)


def _diff(args: Namespace) -> int:
    """Compare the figures of two ledgers."""
    old, *new = args.targets
    with _to_compare(old) as before, _to_compare(new[0]) if new else ledger_of(args, read_only=True) as after:
        found = compare(before, after, args.tolerance or 0.0, **_filters(after, args))
    differences = found.differences
    report = {
        "compared": found.compared,
        "differences": [
            record(difference.row) | attributes(difference, "before", "after", "relative")
            for difference in differences
        ],
        "only_before": len(found.only_before),
        "only_after": len(found.only_after),
    }
    table = Table(
        (*POINT, "before", "after", "change"),
        [
            [
                *_point_cells(difference.row),
                difference.before,
                difference.after,
                None if difference.relative is None else f"{difference.relative:+.2%}",
            ]
            for difference in differences
        ],
    )
    alone = {"first": found.only_before, "second": found.only_after}
    only = [f"{len(rows)} figures are in the {which} alone" for which, rows in alone.items() if rows]
    differ = f"{len(differences)} of {found.compared} figures differ"
    return answer(args, report, table, "; ".join([differ, *only]), ok=not differences)


POINT = ("design", "bits", "settings", "stage", "operation", "metric")


def _point_cells(row: Row) -> list[Any]:
    return [row.subject, row.nbits, settings_text(row), row.stage, row.operation or None, row.metric]


def _merge(args: Namespace) -> int:
    """Add other ledgers to this one."""
    others = [_other(path) for path in args.targets]
    joined = []
    with ledger_of(args) as ledger:
        for path, other in zip(args.targets, others, strict=True):
            if ledger.exists and other.path.samefile(ledger.path):
                raise BadInput(f"merge {path}: that is the ledger itself; name others, or another --ledger")
        for other in others:
            with other:
                joined.append(join(ledger, other))
    reports = [{**vars(item), "path": str(item.path)} for item in joined]
    return answer(args, reports, "\n".join(map(_joined, joined)))


def _joined(item: Joined) -> str:
    """The outcome for the copied rows, as a line."""
    notes = {
        f"{item.there} were there": True,
        f"{item.noted} verdicts added": item.noted,
        f"{item.older} are history: a newer one of the point is there": item.older,
        f"{item.conflicts} have other figures than one of the same key, which stays": item.conflicts,
    }
    more = "; ".join(note for note, said in notes.items() if said)
    return f"{item.path}: {item.added} measurements added; {more}"


def _verify(args: Namespace) -> int:
    """Read a whole ledger, or compare reference results with the present hardware."""
    if args.targets and Path(args.targets[0]).suffix.lower() == ".jsonl":
        return _verify_reference(Reference(args.targets[0]), args)
    with _other(args.targets[0]) if args.targets else ledger_of(args, read_only=True) as ledger:
        path = ledger.path
        if not ledger.exists:
            raise BadInput(f"verify {path}: there is no such file; give a ledger")
    with Progress(f"{path}", unit="measurement", quiet=args.json) as progress:
        found = verify(path, progress)
    return answer(args, _found_as_json(found), "\n".join(_found(found)), ok=found.whole)


def _verify_reference(reference: Reference, args: Namespace) -> int:
    """Compare the digests of a file of results with the present hardware."""
    with Progress(f"{reference.path}", unit="measurement", quiet=args.json) as progress:
        found = reference.verify(progress)
    stale = found.stale
    judged = f"{found.measurements} measurements and {found.verdicts} verdicts"
    text = f"{len(stale)} of {judged} are stale: their hardware or their kit has changed"
    more = f"{len(found.unverified)} are unverified: `modexlab ledger show ROW` says why"
    report = {"path": str(reference.path), **found._asdict()}
    lines = ["\n  ".join([text, *capped(stale, SHOWN, "more")]), *([more] if found.unverified else [])]
    return answer(args, report, "\n".join(lines), ok=not stale)


def _salvage(args: Namespace) -> int:
    """Replace a damaged ledger by its intact rows, or copy these to `--ledger`."""
    path = Path(args.targets[0]) if args.targets else ledger_of(args).path
    into = ledger_of(args) if args.ledger is not None else Ledger(path)
    with into, Progress(f"{path}", unit="measurement", quiet=args.json) as progress:
        salvaged = salvage(path, into, progress)
    found, joined = salvaged.found, salvaged.joined
    report = {
        **_found_as_json(found),
        **attributes(joined, "added", "there", "noted"),
        "ledger": str(into.path),
        "kept": str(salvaged.kept),
    }
    lines = [
        *_found(found),
        f"{joined.added} measurements went to {into.path}, {joined.there} were there; "
        f"so did {joined.noted} failures and verdicts",
        f"the file as it was: {salvaged.kept}",
    ]
    return answer(args, report, "\n".join(lines))


def _found_as_json(found: Found) -> Json:
    return {**vars(found), "path": str(found.path), "whole": found.whole}


def _found(found: Found) -> Iterator[str]:
    """The readable content of a file, as lines."""
    unsure = f" ({found.unsure} of them by an older version, without a digest)" if found.unsure else ""
    intact = f"{found.path}: {found.intact} measurements are whole{unsure}"
    yield f"{intact}, and {found.notes} failures and verdicts"
    if not found.sound:
        yield "the file is damaged: SQLite finds pages that are missing or wrong"
    if found.damaged:
        numbers = ", ".join(capped([*map(str, found.damaged)], SHOWN, "more"))
        yield f"{len(found.damaged)} are not what was written, or cannot be read: number {numbers}"
    if found.damaged_notes:
        yield f"nor are {len(found.damaged_notes)} notes: {', '.join(found.damaged_notes[:SHOWN])}"
    if not found.whole:
        yield "repeat the sweep, or the command, that measured them"


def row_number(text: str | None) -> int:
    """The number of a row, from the first column of `modexlab ledger list`; negative for reference
    results.
    """
    if text is None:
        raise BadInput("which row? give its number, the first column of `modexlab ledger list`")
    try:
        return -number(text[1:]) if text.startswith("-") else number(text)
    except ArgumentTypeError as error:
        raise BadInput(f"row {error}") from None


def _filters(ledger: Ledger | Reference, args: Namespace) -> Json:
    """Filters for `Ledger.rows`; BadInput for a name that is neither measurable nor in the ledger, which may
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
        there = {getattr(row, name) for row in ledger.rows(history=True, **{name: wanted})} if wanted else ()
        for item in wanted or ():
            if item not in there and item not in names:
                raise unknown(kind, item, names)
    return filters


def _list(args: Namespace) -> int:
    with ledger_of(args, read_only=True) as ledger:
        if args.failures:
            return _list_failures(ledger, args)
        rows = ledger.rows(history=args.history, **_filters(ledger, args))
        note = MARKED if any(row.marks for row in rows) else ""
        if not rows:
            note = "no such rows; `modexlab ledger list` without filters shows all"
            if not ledger.rows(history=True):
                where = f"nothing has been measured yet ({ledger.path})"
                note = f"{where}; `modexlab sweep course` measures a first space"
    lines = [
        [
            row.id,
            *_point_cells(row),
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


def settings_text(row: Row) -> str:
    """The settings of a point other than defaults; a flow's clock period always."""
    defaults = {**FLOW_DEFAULTS.get(row.stage, {}), "clock_period": None}
    flow = {name: value for name, value in row.flow.items() if value != defaults.get(name)}
    chosen = {**row.point.get("settings", {}), **flow}
    if row.interface not in (DEFAULT.name, SYSTEM):
        chosen["interface"] = row.interface
    return " ".join(f"{name}={short(str(value))}" for name, value in chosen.items()) or "-"


def when_text(when: str) -> str:
    """Date and time to the minute."""
    return when[:16].replace("T", " ")


def _list_failures(ledger: Ledger, args: Namespace) -> int:
    wanted = _filters(ledger, args)
    failures = [
        item
        for item in ledger.failures()
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
    with ledger_of(args, read_only=True, reference=True) as ledger:
        row = ledger.row(number)
        whole = ledger.measurement(row.measurement)
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
        raise BadInput("export to which file? give its name, as in `modexlab ledger export figures.csv`")
    (target,) = args.targets
    check_file("export", target)
    path = Path(target)
    format = args.format or FORMAT_OF.get(path.suffix.lower())
    if format is None:
        raise BadInput(
            f"export {path}: no format has this suffix; name the file .csv or .jsonl, or add --format"
        )
    with ledger_of(args, read_only=True) as ledger:
        if format == REFERENCE_FORMAT and path.suffix.lower() != ".jsonl":
            raise BadInput(
                f"export {path}: other actions know reference results by their suffix; give {path}.jsonl"
            )
        if format == REFERENCE_FORMAT and path.is_file():  # keep the points of other ledgers
            ledger.reference = Reference(path)
        count = ledger.export(format, path, history=args.history, **_filters(ledger, args))
    print(f"{count} rows to {path} ({format})", file=sys.stderr)
    return 0


class _Action(NamedTuple):
    """An action, its options in addition to --ledger, and its number of arguments."""

    run: Callable[[Namespace], int]
    options: tuple[str, ...] = ("json",)
    least: int = 0
    most: int = 0


ACTIONS = {
    "list": _Action(_list, (*WHICH, "failures", "json")),
    "show": _Action(_show, most=1),
    "export": _Action(_export, (*WHICH, "format"), most=1),
    "diff": _Action(_diff, (*WHICH[:-1], "tolerance", "json"), 1, 2),
    "merge": _Action(_merge, least=1, most=sys.maxsize),
    "verify": _Action(_verify, most=1),
    "salvage": _Action(_salvage, most=1),
    "path": _Action(_path),
}
OPTIONS = (
    Option("action", choices=tuple(ACTIONS), nargs="?", default="list", help="what to do (default: list)"),
    option("targets", "ROW|FILE", "of show, export, diff, merge, verify and salvage", nargs="*"),
    "--ledger",
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
        "of diff: the largest relative difference that counts as equal (default: 0)",
        type=real(_check_share, "0.005"),
    ),
    shared("--format", "of export; default: by suffix", choices=(*FORMAT_OF.values(), REFERENCE_FORMAT)),
    "--json",
)
