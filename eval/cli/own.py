"""Commands on accelerators of any kind: requests by named fields, and the table at all levels."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...fl.errors import BadInput, shown, unknown
from ..progress import Progress
from .arguments import answer, json_number, number, settings_of
from .operations import Operation, Report, labelled

if TYPE_CHECKING:
    from ...fl.accelerator import Fields, Message
    from ..designs.own import OwnDesign
    from ..designs.runnable import Runnable
    from ..designs.session import Operated

RSA_OPTIONS = (
    *("base", "exp", "mod", "key", "encrypt", "decrypt", "crt", "verify", "blind", "unchecked"),
    *("fixed", "message", "bellcore"),
)


def add_fields(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--field",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="fields",
        help="a field of the request, of an accelerator of your own; may be repeated",
    )


def made(args: argparse.Namespace, design: OwnDesign) -> Runnable:
    """The accelerator of a command's width and settings."""
    for option in RSA_OPTIONS:
        if getattr(args, option, None) not in (None, False, "no"):
            raise BadInput(
                f"--{option} is for RSA machines, and {design.name} is none; give --field NAME=VALUE"
            )
    nbits = design.usual_nbits if args.nbits is None else args.nbits
    return design.at(nbits, **settings_of(design, args.settings))


def refuse_fields(args: argparse.Namespace) -> None:
    """BadInput for fields that RSA machines do not have."""
    if getattr(args, "fields", ()):
        raise BadInput("--field is for accelerators of your own; give --base, --exp and --mod")


@dataclass(frozen=True)
class Requests(Operation):
    """Requests in a row, whose responses are compared with the function."""

    def outcome(self, operated: Sequence[Operated]) -> Report:
        shape = self.accelerator.shape
        (requests,), (answered,) = self.parts, operated
        expected = self.accelerator.answers(requests)
        return {
            "requests": [named(shape.request, request) for request in requests],
            "responses": [named(shape.response, response) for response in answered.responses],
            "golden": [named(shape.response, response) for response in expected],
            "ok": answered.responses == expected,
        }

    def lines(self, report: Report) -> Iterator[str]:
        for request, response, golden in zip(
            report["requests"], report["responses"], report["golden"], strict=True
        ):
            yield labelled(self.name, _text(request))
            verdict = "ok" if response == golden else f"DIFFERS: {_text(golden)}"
            yield labelled("response", f"{_text(response)}  {verdict}")


def operation(args: argparse.Namespace, design: OwnDesign) -> Requests:
    """The requests of --field or --workload; without either, of the first workload."""
    accelerator = made(args, design)
    workloads = accelerator.workloads()
    if args.fields:
        if args.workload is not None:
            raise BadInput("--field beside --workload, which has its own requests; drop one of them")
        return Requests(accelerator, "request", [[_request(accelerator, args.fields)]])
    name = args.workload or next(iter(workloads))
    if name not in workloads:
        raise unknown(f"workload of {accelerator.name}", name, workloads)
    return Requests(accelerator, name, [list(workloads[name])])


def _request(accelerator: Runnable, given: Sequence[str]) -> Message:
    """The request of --field options."""
    fields = accelerator.shape.request
    values: dict[str, int] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise BadInput(f"--field {text}: write NAME=VALUE, as in --field {fields[0][0]}=12")
        if name not in dict(fields):
            raise unknown(f"field of {accelerator.name}", name, dict(fields))
        if name in values:
            raise BadInput(f"--field {name} is given twice; give it once")
        try:
            values[name] = number(value)
        except argparse.ArgumentTypeError as error:
            raise BadInput(f"--field {name}: {error}") from None
    if missing := [name for name, _ in fields if name not in values]:
        raise BadInput(
            f"no {', '.join(missing)}; give " + " ".join(f"--field {name}=..." for name in missing)
        )
    request = tuple(values[name] for name, _ in fields)
    accelerator.require(*request)
    return request


def check(args: argparse.Namespace, design: OwnDesign) -> int:
    """`modexlab check` without files: the table at all levels and stages."""
    accelerator = made(args, design)
    stages = accelerator.stages
    if args.stage is not None:
        simulated = [stage for stage in stages if stage != "cl"]
        if args.stage not in simulated:
            raise unknown("stage", args.stage, simulated)
        stages = tuple(stage for stage in stages if stage in ("cl", args.stage))
    report, lines = checked(accelerator, stages, args.json)
    answer(args, lambda: report, lambda: lines)
    return 0 if report["ok"] else 1


def checked(accelerator: Runnable, stages: Sequence[str], quiet: bool) -> tuple[dict[str, Any], list[str]]:
    """The table at these stages, for scripts and in words."""
    from ..designs import levels

    name = accelerator.name
    passed: list[levels.Passed] = []
    error = ""
    with Progress(f"{name}, {accelerator.nbits} bits", unit="run", quiet=quiet) as progress:

        def report(run: levels.Passed) -> None:
            passed.append(run)
            progress(len(passed), len(stages) * len(levels.STALLS))

        try:
            levels.check_levels(accelerator, stages, report)
        except levels.Disagreement as found:
            error = str(found)
    lines = [f"{run.where:<18}  {run.rows} rows as fl has them, {run.cycles} cycles" for run in passed]
    lines.append(f"FAILED: {error}" if error else f"{name}: all levels agree")
    runs = [vars(run) for run in passed]
    return {"design": name, "nbits": accelerator.nbits, "runs": runs, "ok": not error, "error": error}, lines


def named(fields: Fields, values: Message) -> dict[str, Any]:
    """Values by the names of their fields, for scripts."""
    return {name: json_number(value) for (name, _), value in zip(fields, values, strict=True)}


def _text(values: dict[str, Any]) -> str:
    return ", ".join(
        f"{name} = {shown(value) if isinstance(value, int) else value}" for name, value in values.items()
    )
