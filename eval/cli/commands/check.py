"""Run test vectors, or the table of your own accelerator.

Without files, an accelerator of your own runs the rows of its table at every level and backend, with and
without stalls. FL, CL and RTL must agree in results, CL and RTL in cycles.

With files: the design computes each usable vector, and Python's own pow and the file (its result, or its
verdict on the padding) judge the answer. Results in PKCS#1 v1.5 encoding also pass through the unpadding
unit, at the same level. A vector that the design cannot compute (an even modulus on a Montgomery machine, a
base not below the modulus) counts as not applicable, with the reason. With --crt, --blind or --verify, only
private operations run, by a program that uses their key: p and q are found from d and e if a file lacks them.
An unreadable file is reported, and the others are checked. Exit code: 0 nothing failed, 1 a vector failed,
2 a file cannot be read or not one vector was checked, 130 interrupted by Ctrl-C or SIGTERM; the same command
continues.

examples:
  modexlab check rsa_signature_2048_sha256_test.json
  modexlab check naive-001 bn_tests.txt --reduce --level cl
  modexlab check rsa_pkcs1_2048_test.json --crt --blind --limit 20
  modexlab check --accelerator gcd
  modexlab check rsa_signature_2048_sha256_test.json bn_tests.txt --limit 20 --json
"""

from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from ....fl.errors import BadInput, shown
from ...designs.machine import Design
from ...designs.own import OwnDesign
from ...designs.session import LEVELS
from ...exchange.vectors import VectorFile, known_formats, load
from ...exchange.vectors.judge import Judge, Judgement
from ...exchange.vectors.private import Protection
from ...json_values import attributes, json_number
from ...progress import Progress
from .. import own
from ..arguments import one_entry, private, settings_of
from ..exit_codes import BAD_INPUT, FAILED
from ..laboratory import jobs_of, sigterm_as_ctrl_c, store_of
from ..options import SETTINGS, flag, option, positive, shared
from ..render import Json, answer, interrupted, warn

SHOWN_FAILURES = 20


DEFAULT_DESIGN = "mont"
DEFAULT_KEYED = "mont-keyed"  # with --crt, --blind or --verify
OPTIONS = (
    option(
        "files",
        "DESIGN|FILE",
        f"a design (default: {DEFAULT_DESIGN}; with --crt, --blind or --verify {DEFAULT_KEYED}), then files "
        f"of test vectors, recognised by content: {known_formats()}",
        nargs="*",
    ),
    "--accelerator",
    shared("--level", "default: rtl", choices=LEVELS),
    "--backend (default: native)",
    "--nbits (default: for each vector its length, rounded up to a multiple of 32)",
    *SETTINGS,
    flag("--reduce", "reduce bases and factors first, as the calling software would"),
    option("--limit", "N", "run at most N usable vectors of each file", type=positive),
    flag("--allow-empty", "no error if no vector could be checked"),
    "--jobs",
    "--store",
    "--json",
)


def execute(args: Namespace) -> int:
    args.design = None if args.manifests else DEFAULT_KEYED if private(args) else DEFAULT_DESIGN
    # a first word without a suffix is a design, unless there is such a file
    if args.files and {*"./"}.isdisjoint(args.files[0]) and not Path(args.files[0]).is_file():
        args.design = args.files.pop(0)
    design = one_entry(args)
    if isinstance(design, OwnDesign):
        if args.files:
            raise BadInput(f"{args.files[0]}: vectors are for RSA machines; {design.name} has its own table")
        return own.check(args, design)
    if not args.files:
        raise BadInput("no FILE; give a file of test vectors, or --accelerator FOLDER to run its table")
    judge = _judge(args, design)
    name = judge.design.name
    files, unread = _read(args)
    protected_by = judge.protection.words if judge.protection else []
    where = ", ".join([judge.backend or judge.level, *protected_by])
    everything = []
    parts = []
    failures: list[Json] = []
    try:
        with sigterm_as_ctrl_c(), Progress(name, unit="vector", quiet=args.json) as progress:
            judged = judge.run([file.items for file in files], progress)
            for file, outcomes in zip(files, judged, strict=True):
                everything += outcomes
                parts.append({"file": file.path, "format": file.format, **_count(outcomes)})
                failed = [_failure(file.path, outcome) for outcome in outcomes if outcome.kind == "failed"]
                if not args.json:
                    shown_failures = failed[: max(0, SHOWN_FAILURES - len(failures))]
                    lines = _lines(parts[-1], shown_failures, f"{name} ({where})", judge)
                    progress.put("\n".join(lines))
                failures += failed
    except KeyboardInterrupt:
        return interrupted(f"{len(judge.answers.known)} results are kept")
    report = {
        "design": name,
        "level": judge.level,
        "backend": judge.backend,
        "protected_by": protected_by,
        **_count(everything),
        "failures": failures,
        "files": parts,
        "unread": unread,
    }
    more = len(failures) - SHOWN_FAILURES
    total = [f"... and {more} more failures; --json has them all"] if more > 0 else []
    total += [f"total: {_counts(report)}"] if len(parts) > 1 else []
    if args.json or total:
        answer(args, report, "\n".join(total))
    if not report["passed"] and not report["failed"] and not args.allow_empty:
        raise BadInput(
            f"NOTHING WAS CHECKED: all {report['skipped']} vectors were skipped; "
            "give a design that suits them, or --allow-empty"
        )
    for part in parts:
        if not part["passed"] and not part["failed"]:
            warn(f"{part['file']}: NOTHING WAS CHECKED, all {part['skipped']} vectors were skipped")
    return FAILED if report["failed"] else BAD_INPUT if unread else 0


def _judge(args: Namespace, design: Design) -> Judge:
    """The judge for the design with these options; BadInput if there is no such machine."""
    design, settings = design.form_of(settings_of(design, args.settings))
    protection = Protection.of(settings, args.crt, args.blind, args.verify)
    if protection is not None:
        design.needs_program("--crt, --blind or --verify")
    if (nbits := args.nbits) is not None:
        design.at(nbits, **(protection.settings(design, nbits, settings) if protection else settings))
    return Judge(
        design,
        **attributes(args, "level", "backend", "nbits", "reduce", "limit"),
        settings=settings,
        jobs=jobs_of(args),
        protection=protection,
        store=store_of(args),
    )


def _read(args: Namespace) -> tuple[list[VectorFile], list[dict[str, str]]]:
    """The files, and the errors of unreadable ones; BadInput if the only file is unreadable."""
    files = []
    unread = []
    with Progress("reading", total=len(args.files), unit="file", quiet=args.json) as progress:
        for path in args.files:
            progress.describe(f"reading {path}")
            try:
                files.append(load(path))
            except BadInput as error:
                if len(args.files) == 1:
                    raise
                unread.append({"file": path, "error": str(error)})
            progress(len(files) + len(unread), len(args.files))
    for item in unread:
        warn(f"not read: {item['error']}")
    for file in files:
        if file.announced not in (None, len(file.items)):
            warn(f"{file.path}: it announces {file.announced} vectors, but holds {len(file.items)}")
    return files, unread


def _count(outcomes: Sequence[Judgement]) -> Json:
    kinds = Counter(outcome.kind for outcome in outcomes)
    reasons = Counter(outcome.reason for outcome in outcomes if outcome.kind == "skipped")
    return {
        **{kind: kinds[kind] for kind in ("passed", "failed", "skipped")},
        "beyond_limit": kinds["beyond"],
        "reasons": dict(reasons.most_common()),
        "either": sum(outcome.either for outcome in outcomes),
        "unpadded": sum(outcome.opened for outcome in outcomes),
    }


def _failure(path: str, outcome: Judgement) -> Json:
    return {
        "file": path,
        "name": outcome.item.name,
        **attributes(outcome, "reason", "nbits"),
        "operands": {name: json_number(value) for name, value in outcome.operands.items()},
        "result": json_number(outcome.result),
        "golden": json_number(outcome.golden),
    }


def _lines(part: Json, failures: list[Json], design: str, judge: Judge) -> Iterator[str]:
    """The verdict on a file, as lines."""
    yield f"{part['file']}: {part['format']}, on {design}"
    yield f"  {_counts(part)}"
    for reason, count in part["reasons"].items():
        yield f"    not applicable, {count}: {reason}"
    if part["either"]:
        yield f"    passed, {part['either']}: the file accepts either verdict; the power itself is right"
    if part["unpadded"]:
        by = "in hardware" if judge.backend else "by the functional model"
        yield f"    unpadded {by} as well, {part['unpadded']}"
    for failure in failures:
        yield f"FAILED {failure['file']}: {failure['name']}: {failure['reason']}"
        for name, value in failure["operands"].items():
            yield f"  {name:<7} {_text(value)}"
        yield f"  result  {_text(failure['result'])}"
        yield f"  golden  {_text(failure['golden'])}"


def _counts(part: Json) -> str:
    left = f", beyond --limit {part['beyond_limit']}" if part["beyond_limit"] else ""
    return f"passed {part['passed']}, failed {part['failed']}, not applicable {part['skipped']}{left}"


def _text(value: int | str | None) -> str:
    return shown(value) if isinstance(value, int) else str(value)
