"""`modexlab check`: third parties' vectors through a design."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ....fl.errors import BadInput, shown
from ...designs.session import LEVELS
from ...designs.widths import check_width
from ...progress import Progress
from ...vectors import VectorFile, known_formats, load
from ...vectors.judge import Judge, Outcome
from ...vectors.private import Protection
from ..arguments import (
    Commands,
    add_command,
    add_json,
    add_private,
    add_settings,
    add_width,
    answer,
    find_design,
    json_number,
    positive,
    settings_of,
    warn,
)

if TYPE_CHECKING:
    from ...designs.design import Design

SHOWN_FAILURES = 20
INTERRUPTED = 130

TEXT = f"""\
Every usable vector is computed by the design and
judged twice: by Python's own power, and by the file (its result, or what the padding says to its verdict).
A result that is an encoding of PKCS#1 v1.5 is opened by the unit for unpadding as well, at the same level.
What a design cannot compute (an even modulus on a Montgomery machine, a base not below the modulus) is
counted as not applicable, with the reason.
With --crt, --blind or --verify, private operations alone are run, by a program that takes their
key: p and q are found from d and e where a file has none. All others are not applicable.
A file that cannot be read is reported, and the others are checked. Exit code: 0 nothing failed,
1 a vector failed, 2 a file cannot be read or not one vector was checked.

formats, told apart by content:
  {known_formats().replace("; ", chr(10) + "  ")}"""
EXAMPLES = """\
  modexlab check rsa_signature_2048_sha256_test.json
  modexlab check bn_tests.txt --design naive-001 --reduce --level cl
  modexlab check rsa_pkcs1_2048_test.json --crt --blind --limit 20
  modexlab check SigVer15_186-3.rsp modexp.json --limit 20 --json"""


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "check",
        "run third parties' test vectors through a design",
        text=TEXT,
        examples=EXAMPLES,
        execute=execute,
    )
    parser.add_argument("files", metavar="FILE", nargs="+", help="file of test vectors")
    parser.add_argument(
        "--design",
        metavar="DESIGN",
        default="mont",
        help="the design, or the design.toml of your own (default: mont)",
    )
    parser.add_argument(
        "--level", choices=LEVELS, default="rtl", help="functional, cycle-level or hardware (default: rtl)"
    )
    parser.add_argument("--stage", help="how RTL is simulated: python, verilog or native (default: native)")
    add_width(parser, "default: for each vector its length, rounded up to a multiple of 32")
    add_settings(parser)
    add_private(parser)
    parser.add_argument(
        "--reduce", action="store_true", help="reduce bases and factors first, as software in front would"
    )
    parser.add_argument(
        "--limit", type=positive, metavar="N", help="run at most N usable vectors of each file"
    )
    parser.add_argument(
        "--allow-empty", action="store_true", help="no error where not one vector could be checked"
    )
    parser.add_argument(
        "--jobs", type=positive, metavar="N", help="processes for long exponentiations (default: one a core)"
    )
    parser.add_argument("--resume", action="store_true", help="go on where an interrupted check has stopped")
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    design = find_design(args.design)
    settings = settings_of(design, args.settings)
    protection = _protection(args, design, settings)
    if args.nbits is not None:
        nbits = check_width(args.nbits)
        design.at(nbits, **(protection.settings(design, nbits, settings) if protection else settings))
    with Progress("reading", total=len(args.files), unit="file", quiet=args.json) as progress:
        files: list[VectorFile] = []
        unread: list[dict[str, str]] = []
        for path in args.files:
            progress.describe(f"reading {path}")
            try:
                files.append(load(path))
            except BadInput as error:
                if len(args.files) == 1:
                    raise
                unread.append({"file": path, "error": str(error)})
            progress(len(files) + len(unread), len(args.files))
    for each in unread:
        warn(f"not read: {each['error']}")
    for file in files:
        if file.announced not in (None, len(file.items)):
            warn(f"{file.path}: it announces {file.announced} vectors, but holds {len(file.items)}")
    judge = Judge(
        design,
        level=args.level,
        stage=args.stage,
        settings=settings,
        nbits=args.nbits,
        reduce=args.reduce,
        limit=args.limit,
        quiet=args.json,
        jobs=args.jobs or len(os.sched_getaffinity(0)),
        resume=args.resume,
        protection=protection,
    )
    try:
        outcomes = judge.run([file.items for file in files])
    except KeyboardInterrupt:
        kept = len(judge.answers.known)
        warn(f"interrupted: {kept} results are kept; the same command with --resume goes on from there")
        return INTERRUPTED
    everything = [outcome for per_file in outcomes for outcome in per_file]
    report = {
        "design": design.name,
        "level": judge.level,
        "stage": judge.stage,
        "protected_by": protection.words(settings) if protection else [],
        **_count(everything),
        "failures": [
            _failure(file.path, outcome)
            for file, per_file in zip(files, outcomes, strict=True)
            for outcome in per_file
            if outcome.kind == "failed"
        ],
        "files": [
            {"file": file.path, "format": file.format, **_count(per_file)}
            for file, per_file in zip(files, outcomes, strict=True)
        ],
        "unread": unread,
    }
    answer(args, lambda: report, lambda: _lines(report))
    if not report["passed"] and not report["failed"] and not args.allow_empty:
        raise BadInput(
            f"NOTHING WAS CHECKED: all {report['skipped']} vectors were skipped; "
            "take a design that suits them, or say --allow-empty"
        )
    for part in report["files"]:
        if not part["passed"] and not part["failed"]:
            warn(f"{part['file']}: NOTHING WAS CHECKED, all {part['skipped']} vectors were skipped")
    if report["failed"]:
        return 1
    return 2 if unread else 0


def _protection(args: argparse.Namespace, design: Design, settings: dict[str, Any]) -> Protection | None:
    """How private operations are done, if they alone are asked for."""
    protection = Protection.of(settings, args.crt, args.blind, args.verify)
    if protection is not None and not design.programmed:
        raise BadInput(
            f"{design.name} has a control of its own and no program: --crt, --blind and --verify are for designs such as mont"
        )
    return protection


def _count(outcomes: list[Outcome]) -> dict[str, Any]:
    kinds = Counter(outcome.kind for outcome in outcomes)
    reasons = Counter(outcome.reason for outcome in outcomes if outcome.kind == "skipped")
    return {
        "passed": kinds["passed"],
        "failed": kinds["failed"],
        "skipped": kinds["skipped"],
        "beyond_limit": kinds["beyond"],
        "reasons": dict(reasons.most_common()),
        "either": sum(outcome.either for outcome in outcomes),
        "unpadded": sum(outcome.opened for outcome in outcomes),
    }


def _failure(path: str, outcome: Outcome) -> dict[str, Any]:
    return {
        "file": path,
        "name": outcome.item.name,
        "reason": outcome.reason,
        "nbits": outcome.nbits,
        "operands": {name: json_number(value) for name, value in outcome.operands.items()},
        "result": json_number(outcome.result),
        "golden": json_number(outcome.golden),
    }


def _lines(report: dict[str, Any]) -> Iterator[str]:
    for part in report["files"]:
        where = ", ".join([report["stage"] or report["level"], *report["protected_by"]])
        yield f"{part['file']}: {part['format']}, on {report['design']} ({where})"
        left = f", beyond --limit {part['beyond_limit']}" if part["beyond_limit"] else ""
        yield f"  passed {part['passed']}, failed {part['failed']}, not applicable {part['skipped']}{left}"
        for reason, count in part["reasons"].items():
            yield f"    not applicable, {count}: {reason}"
        if part["either"]:
            yield f"    passed, {part['either']}: the file accepts either verdict; the power itself is right"
        if part["unpadded"]:
            yield (
                f"    unpadded in hardware as well, {part['unpadded']}"
                if report["stage"]
                else (f"    unpadded by the functional model as well, {part['unpadded']}")
            )
    for failure in report["failures"][:SHOWN_FAILURES]:
        yield f"FAILED {failure['file']}: {failure['name']}: {failure['reason']}"
        for name, value in failure["operands"].items():
            yield f"  {name:<7} {_text(value)}"
        yield f"  result  {_text(failure['result'])}"
        yield f"  golden  {_text(failure['golden'])}"
    more = len(report["failures"]) - SHOWN_FAILURES
    if more > 0:
        yield f"... and {more} more failures; --json has them all"
    if len(report["files"]) > 1:
        left = f", beyond --limit {report['beyond_limit']}" if report["beyond_limit"] else ""
        yield (
            f"total: passed {report['passed']}, failed {report['failed']}, not applicable {report['skipped']}{left}"
        )


def _text(value: int | str | None) -> str:
    return shown(value) if isinstance(value, int) else str(value)
