"""`modexlab ledger`: list, show, export, merge, verify and salvage measurements."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....fl.errors import BadInput, unknown
from ...json_values import attributes
from ...progress import Progress
from ...table import table
from ..arguments import (
    add_json,
    add_ledger,
    answer,
    check_directory,
    json_value,
    ledger_of,
    number,
    real,
    short,
)

if TYPE_CHECKING:
    from ...lab.ledger.join import Comparison, Joined
    from ...lab.ledger.ledger import Failure, Ledger, Row
    from ...lab.ledger.reference import Reference
    from ...lab.ledger.salvage import Found
    from ...lab.metrics import Measurement

SUMMARY = "show or export what has been measured"
TEXT = """\
Every measured figure is a row in one SQLite file, with
the command that measures it again (`modexlab ledger reproduce ROW`), the tools, the hash of the Verilog, and the tests that the
same hardware passed. Of each point the newest measurement counts; --history shows the older ones too.

  list             a table (the default)
  show ROW         all that is known of one figure
  export FILE      rows as .csv, .jsonl or .parquet; --format reference: one line per point that diffs well
  diff OLD [NEW]   figures that differ between ledgers or reference files (NEW: default --ledger);
                   exit code 1 if there are any
  merge FILE...    add the measurements of other ledgers to this one; none twice, the newest of a point counts
  verify [FILE]    read all of a ledger: each measurement must be as it was written; exit code 1 if one is not
  salvage [FILE]   replace a damaged ledger by its intact rows, and keep the damaged file under another name;
                   with FILE and --ledger OTHER the intact rows go to OTHER, and FILE stays as it is
  path             where the ledger is

Marks say why a figure must not be compared; a row is stale if sources or tools have changed since."""
EXAMPLES = """\
  modexlab ledger
  modexlab ledger list --design mont --metric cycles --metric area_um2
  modexlab ledger list --failures
  modexlab ledger export figures.csv
  modexlab ledger diff before.sqlite after.sqlite --tolerance 0.005
  modexlab ledger export reference.jsonl --format reference
  modexlab ledger diff reference.jsonl
  modexlab ledger merge machine-a.sqlite machine-b.sqlite --ledger all.sqlite
  modexlab ledger verify
  modexlab ledger salvage cut-off.sqlite --ledger new.sqlite
  modexlab ledger path"""
WHICH = ("design", "nbits", "metric", "operation", "stage", "history")
SHOWN = 10  # measurements that are damaged
OF_FIGURES = ("metric", "operation", "history")  # a point that failed has none
FORMAT_OF = {".csv": "csv", ".jsonl": "jsonl", ".parquet": "parquet"}


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", choices=[*ACTIONS], nargs="?", default="list", help="what to do (default: list)"
    )
    parser.add_argument(
        "targets", metavar="ROW|FILE", nargs="*", help="of show, export, diff, merge, verify and salvage"
    )
    add_ledger(parser)
    rows = parser.add_argument_group("which rows")
    for name, type, what in (
        ("design", str, "a design, or a system"),
        ("nbits", number, "a width"),
        ("metric", str, "cycles, area_um2, energy_nj, ..."),
        ("operation", str, "encrypt, decrypt, ..."),
        ("stage", str, "formula, native, flow, ..."),
    ):
        rows.add_argument(
            f"--{name}",
            type=type,
            action="append",
            metavar="N" if name == "nbits" else "NAME",
            help=f"{what}; may be repeated",
        )
    rows.add_argument("--history", action="store_true", help="older measurements of the same points too")
    rows.add_argument("--failures", action="store_true", help="points that could not be measured, and why")
    parser.add_argument(
        "--tolerance",
        type=real(_check_share, "0.005"),
        metavar="SHARE",
        help="of diff: a relative difference that is none (default: 0)",
    )
    parser.add_argument(
        "--format", choices=(*FORMAT_OF.values(), "reference"), help="format of export (default: by suffix)"
    )
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    action = ACTIONS[args.action]
    _check_options(args, action)
    _check_targets(args, action)
    return action.run(args)


def _check_options(args: argparse.Namespace, action: _Action) -> None:
    """Refuse what the action would leave aside."""
    for option in dict.fromkeys(name for other in ACTIONS.values() for name in other.options):
        if option not in action.options and getattr(args, option):
            others = " and ".join(name for name, other in ACTIONS.items() if option in other.options)
            raise BadInput(f"--{option} with {args.action}: it is an option of {others}; drop it")
    for option in OF_FIGURES:
        if args.failures and getattr(args, option):
            raise BadInput(
                f"--{option} with --failures: a point that failed has no figures; drop one of them"
            )


def _check_targets(args: argparse.Namespace, action: _Action) -> None:
    """Refuse too many arguments, and too few."""
    most = action.most
    if len(args.targets) > most:
        extra = short(args.targets[most])
        takes = "no argument" if not most else "one argument" if most == 1 else f"at most {most} arguments"
        raise BadInput(f"{args.action} {extra}: it takes {takes}; drop it")
    if len(args.targets) < action.least:
        raise BadInput(
            f"{args.action} which ledger? give a file, as in `modexlab ledger {args.action} other.sqlite`"
        )


def _path(args: argparse.Namespace) -> int:
    path = str(ledger_of(args).path)
    answer(args, lambda: {"path": path}, lambda: path)
    return 0


def _check_share(value: float) -> float:
    if not 0 <= value < 1:
        raise BadInput(f"{value:g} is no share; give 0 to 1, as in 0.005")
    return value


def _other(path: str) -> Ledger:
    """A ledger that must be there."""
    from ...lab.ledger.ledger import Ledger

    ledger = Ledger(path)
    if not ledger.exists:
        raise BadInput(f"{path}: there is no such file; give a ledger")
    return ledger


def _to_compare(path: str) -> Ledger | Reference:
    """A ledger, or a file of reference results."""
    from ...lab.ledger.reference import Reference

    return Reference(path) if Path(path).suffix.lower() == ".jsonl" else _other(path)


def _diff(args: argparse.Namespace) -> int:
    """Figures of two ledgers, matched by what they say."""
    from ...lab.ledger.join import compare
    from ...lab.ledger_rows import record

    old, *new = args.targets
    with (
        _to_compare(old) as before,
        _to_compare(new[0]) if new else ledger_of(args, read_only=True) as after,
    ):
        found = compare(before, after, args.tolerance or 0.0, **_filters(after, args))
    answer(
        args,
        lambda: {
            "compared": found.compared,
            "differences": [
                {
                    **record(difference.row),
                    **attributes(difference, "before", "after", "relative"),
                }
                for difference in found.differences
            ],
            "only_before": len(found.only_before),
            "only_after": len(found.only_after),
        },
        lambda: _differences(found),
    )
    return 1 if found.differences else 0


def _differences(found: Comparison) -> Iterator[str]:
    """A line for each."""
    if found.differences:
        head = ["design", "bits", "settings", "stage", "operation", "metric", "before", "after", "change"]
        lines = [
            [
                difference.row.subject,
                str(difference.row.nbits),
                settings_text(difference.row),
                difference.row.stage,
                difference.row.operation or "-",
                difference.row.metric,
                value_text(difference.before),
                value_text(difference.after),
                "-" if difference.relative is None else f"{difference.relative:+.2%}",
            ]
            for difference in found.differences
        ]
        yield table(head, lines) + "\n"
    alone = [(found.only_before, "the first"), (found.only_after, "the second")]
    only = "; ".join(f"{len(rows)} figures are in {which} alone" for rows, which in alone if rows)
    yield f"{len(found.differences)} of {found.compared} figures differ" + (f"; {only}" if only else "")


def _merge(args: argparse.Namespace) -> int:
    """Other ledgers into this one."""
    from ...lab.ledger.join import join

    others = [_other(path) for path in args.targets]
    with ledger_of(args) as ledger:
        for path, other in zip(args.targets, others, strict=True):
            if ledger.exists and other.path.samefile(ledger.path):
                raise BadInput(f"merge {path}: that is the ledger itself; name others, or another --ledger")
        joined = []
        for other in others:
            with other:
                joined.append(join(ledger, other))
    answer(
        args,
        lambda: [{**vars(item), "path": str(item.path)} for item in joined],
        lambda: _joined(joined),
    )
    return 0


def _joined(joined: Sequence[Joined]) -> Iterator[str]:
    """Describe the fate of the copied rows."""
    for item in joined:
        notes = [
            f"{item.there} were there",
            *([f"{item.noted} verdicts added"] if item.noted else []),
            *([f"{item.older} are history: a newer one of the point is there"] if item.older else []),
            *(
                [f"{item.conflicts} have other figures than one of the same key, which stays"]
                if item.conflicts
                else []
            ),
        ]
        yield f"{item.path}: {item.added} measurements added; {'; '.join(notes)}"


def _verify(args: argparse.Namespace) -> int:
    """All of a ledger is read."""
    from ...lab.ledger.salvage import verify

    with _other(args.targets[0]) if args.targets else ledger_of(args, read_only=True) as ledger:
        if not ledger.exists:
            raise BadInput(f"verify {ledger.path}: there is no such file; give a ledger")
        path = ledger.path
    with Progress(f"{path}", unit="measurement", quiet=args.json) as progress:
        found = verify(path, progress)
    answer(args, lambda: _found_as_json(found), lambda: _found(found))
    return 0 if found.whole else 1


def _salvage(args: argparse.Namespace) -> int:
    """Copy the intact rows to a new file in the place of the damaged one, or to `--ledger`."""
    from ...lab.ledger.ledger import Ledger
    from ...lab.ledger.salvage import salvage

    path = Path(args.targets[0]) if args.targets else ledger_of(args).path
    into = ledger_of(args) if args.ledger is not None else Ledger(path)
    with into, Progress(f"{path}", unit="measurement", quiet=args.json) as progress:
        salvaged = salvage(path, into, progress)
    found, joined = salvaged.found, salvaged.joined
    answer(
        args,
        lambda: {
            **_found_as_json(found),
            "added": joined.added,
            "there": joined.there,
            "noted": joined.noted,
            "ledger": str(into.path),
            "kept": str(salvaged.kept),
        },
        lambda: [
            *_found(found),
            f"{joined.added} measurements went to {into.path}, {joined.there} were there; "
            f"so did {joined.noted} failures and verdicts",
            f"the file as it was: {salvaged.kept}",
        ],
    )
    return 0


def _found_as_json(found: Found) -> dict[str, Any]:
    lists = {"damaged": list(found.damaged), "damaged_notes": list(found.damaged_notes)}
    return {**vars(found), "path": str(found.path), **lists, "whole": found.whole}


def _found(found: Found) -> Iterator[str]:
    """Describe the readable content of a file."""
    unsure = f" ({found.unsure} of them by an older version, without a digest)" if found.unsure else ""
    yield (
        f"{found.path}: {found.intact} measurements are whole{unsure}, and {found.notes} failures and "
        "verdicts"
    )
    if not found.sound:
        yield "the file is damaged: SQLite finds pages that are missing or wrong"
    if found.damaged:
        numbers = ", ".join(map(str, found.damaged[:SHOWN]))
        more = f" and {len(found.damaged) - SHOWN} more" if len(found.damaged) > SHOWN else ""
        yield f"{len(found.damaged)} are not what was written, or cannot be read: number {numbers}{more}"
    if found.damaged_notes:
        yield f"nor are {len(found.damaged_notes)} notes: {', '.join(found.damaged_notes[:SHOWN])}"
    if not found.whole:
        yield "what they measured is measured again by the sweep, or the command, that they came from"


def row_number(text: str | None) -> int:
    """The number of a row, as `modexlab ledger list` has it in its first column."""
    if text is None:
        raise BadInput("which row? give its number, the first column of `modexlab ledger list`")
    try:
        return number(text)
    except argparse.ArgumentTypeError as error:
        raise BadInput(f"row {error}") from None


def _filters(ledger: Ledger | Reference, args: argparse.Namespace) -> dict[str, Any]:
    """As `Ledger.rows` takes them; BadInput for a name that nothing has."""
    given = {name: getattr(args, name) for name in ("nbits", "metric", "operation", "stage")}
    given["subject"] = args.design
    given = {name: value for name, value in given.items() if value is not None}
    for name, wanted in given.items():
        if name != "nbits":
            _check_names(ledger, name, wanted)
    return given


def _check_names(ledger: Ledger | Reference, name: str, wanted: list[str]) -> None:
    """Refuse names that nothing can be measured for and that the ledger, which may be older, does not
    have.
    """
    there = {str(getattr(row, name)) for row in ledger.rows(history=True, **{name: wanted})}
    for item in wanted:
        if item not in there and item not in (known := _known(name)):
            raise unknown("design or system" if name == "subject" else name, item, known)


def _known(name: str) -> list[str]:
    from ...designs.workload_names import NAMES
    from ...lab.metrics import METRICS
    from ...lab.stages import STAGES

    if name != "subject":
        return list({"metric": METRICS, "operation": NAMES, "stage": STAGES}[name])
    from ...designs.catalogue import designs
    from ...designs.system_catalogue import system_names

    return [*(design.name for design in designs()), *system_names()]


def _list(args: argparse.Namespace) -> int:
    with ledger_of(args, read_only=True) as ledger:
        if args.failures:
            return _list_failures(ledger, args)
        rows = ledger.rows(history=args.history, **_filters(ledger, args))
        answer(
            args,
            lambda: [row_as_json(row) for row in rows],
            lambda: _rows(rows) if rows else _nothing(ledger),
        )
    return 0


def _rows(rows: Sequence[Row]) -> Iterator[str]:
    """A table."""
    head = [
        "row",
        "design",
        "bits",
        "settings",
        "stage",
        "operation",
        "metric",
        "value",
        "unit",
        "measured",
        "",
    ]
    lines = [
        [
            str(row.id),
            row.subject,
            str(row.nbits),
            settings_text(row),
            row.stage,
            row.operation or "-",
            row.metric,
            value_text(row.value),
            row.unit,
            when_text(row.when),
            ", ".join(["stale"] * row.stale + ["marked"] * bool(row.marks)),
        ]
        for row in rows
    ]
    yield table(head, lines)
    if any(row.marks for row in rows):
        yield ("\nmarked: not comparable; `modexlab ledger show ROW` says why")


def _nothing(ledger: Ledger) -> str:
    if not ledger.rows(history=True):
        return (
            f"nothing has been measured yet ({ledger.path}); `modexlab sweep course` measures a first space"
        )
    return "no such rows; `modexlab ledger list` without filters shows all"


def settings_text(row: Row) -> str:
    """Return the settings of a point other than defaults; the clock period of a flow always."""
    from ...designs.interfaces import DEFAULT, SYSTEM
    from ...lab.flow_settings import FLOW_DEFAULTS

    defaults = {**FLOW_DEFAULTS.get(row.stage, {}), "clock_period": None}
    flow = {name: value for name, value in row.flow.items() if value != defaults.get(name)}
    chosen = {**row.point.get("settings", {}), **flow}
    if row.interface not in (DEFAULT.name, SYSTEM):
        chosen["interface"] = row.interface
    return " ".join(f"{name}={short(str(value))}" for name, value in chosen.items()) or "-"


def value_text(value: float | None) -> str:
    """A figure with its significant digits, or a dash if there is none."""
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.6g}"


def when_text(when: str) -> str:
    """Date and time to the minute."""
    return when[:16].replace("T", " ")


def _list_failures(ledger: Ledger, args: argparse.Namespace) -> int:
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
    none = "no such point has failed" if wanted else "no point has failed"
    answer(args, lambda: [_failure_as_json(failure) for failure in failures], lambda: lines or none)
    return 0


def _failure_as_json(failure: Failure) -> dict[str, Any]:
    return {
        "command": shlex.join(failure.command),
        **attributes(failure, "message", "seconds", "when", "key"),
    }


def row_as_json(row: Row) -> dict[str, Any]:
    """A figure for scripts."""
    from ...lab.ledger_rows import record

    return {**record(row), "stale": row.stale}


def _show(args: argparse.Namespace) -> int:
    number = row_number(args.targets[0] if args.targets else None)
    with ledger_of(args, read_only=True) as ledger:
        row = ledger.row(number)
        whole = ledger.measurement(row.measurement)
    answer(
        args,
        lambda: {
            **row_as_json(row),
            "figures": [
                attributes(figure, "metric", "operation", "value", "unit") for figure in whole.figures
            ],
            "details": whole.details,
            "artifacts": {name: len(content) for name, content in whole.artifacts.items()},
        },
        lambda: _details(row, whole),
    )
    return 0


def _details(row: Row, whole: Measurement) -> list[str]:
    operation = f", {row.operation}" if row.operation else ""
    lines = [f"{row.metric} = {value_text(row.value)} {row.unit}: {row.subject}, {row.nbits} bits{operation}"]

    def line(name: str, text: str) -> None:
        if text:
            lines.append(f"  {name:<13} {text}")

    line("command", shlex.join(row.command))
    line(
        "parameters",
        ", ".join(f"{name}={short(str(json_value(value)))}" for name, value in row.parameters.items()),
    )
    line("stage", f"{row.stage}, interface {row.interface}" + (f", {row.workload}" if row.workload else ""))
    line("flow", ", ".join(f"{name}={value}" for name, value in row.flow.items()))
    line("tests", row.tests)
    for mark in row.marks:
        line("mark", mark)
    line("Verilog", f"sha256 {row.verilog_hash}" if row.verilog_hash else "")
    line("tools", ", ".join(f"{name} {version}" for name, version in row.tools.items()))
    line("measured", f"{when_text(row.when)} UTC, in {row.seconds:.1f} s")
    line("sources", "changed since (stale)" if row.stale else "the present ones")
    line("with it", ", ".join(_figure_text(figure) for figure in whole.figures))
    for caveat in whole.details.get("caveats", ()):
        line("caveat", caveat)
    line("pictures", ", ".join(whole.artifacts))
    return lines


def _figure_text(figure: Any) -> str:
    operation = f"{figure.operation} " if figure.operation else ""
    return f"{operation}{figure.metric} {value_text(figure.value)}"


def _export(args: argparse.Namespace) -> int:
    if not args.targets:
        raise BadInput("export to which file? give its name, as in `modexlab ledger export figures.csv`")
    check_directory("export", args.targets[0])
    path = Path(args.targets[0])
    format = args.format or FORMAT_OF.get(path.suffix.lower())
    if format is None:
        raise BadInput(
            f"export {path}: no format has this suffix; name the file .csv, .jsonl or .parquet, or add "
            "--format"
        )
    with ledger_of(args, read_only=True) as ledger:
        count = ledger.export(format, path, history=args.history, **_filters(ledger, args))
    print(f"{count} rows to {path} ({format})", file=sys.stderr)
    return 0


@dataclass(frozen=True)
class _Action:
    """An action, the options that it obeys besides --ledger, and how many arguments it takes."""

    run: Callable[[argparse.Namespace], int]
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
