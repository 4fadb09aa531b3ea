"""Commands on accelerators of any kind: requests by named fields, and the table at all levels."""

from argparse import Namespace
from collections.abc import Mapping, Sequence

from ...fl.accelerator import Fields, Message, answer_in_words, in_words
from ...fl.errors import BadInput, shown, unknown
from ..designs import levels
from ..designs.own import OwnDesign
from ..designs.runnable import Runnable
from ..designs.session import Operated
from ..json_values import json_number
from ..progress import Progress
from .arguments import accelerator_of, numbers, refuse
from .operations import Labelled, Operation
from .options import RSA_OPERANDS
from .render import Json, answer

RSA_OPTIONS = (
    *RSA_OPERANDS,
    "key",
    "encrypt",
    "decrypt",
    "crt",
    "verify",
    "blind",
    "unchecked",
    "fixed",
    "message",
    "bellcore",
)


def made(args: Namespace, design: OwnDesign) -> Runnable:
    """The accelerator at the width and settings of a command."""
    refuse(args, RSA_OPTIONS, f" is for RSA machines, and {design.name} is not one; give --field NAME=VALUE")
    return accelerator_of(args, design)


def refuse_fields(args: Namespace) -> None:
    """BadInput if --field is given for an RSA machine."""
    refuse(args, ["fields"], " is for accelerators of your own; give --base, --exp and --mod")


def operation(args: Namespace, design: OwnDesign) -> Operation:
    """The requests of --field or --workload; without either, those of the first workload."""
    accelerator = made(args, design)
    workloads = accelerator.workloads()
    if args.fields:
        refuse(args, ["workload"], " with --field, which gives the request; drop one of them")
        return _requests(accelerator, "request", _given(accelerator, args.fields))
    name = args.workload or next(iter(workloads))
    if name not in workloads:
        raise unknown(f"workload of {accelerator.name}", name, workloads)
    return _requests(accelerator, name, list(workloads[name]))


def _requests(accelerator: Runnable, name: str, requests: list[Message]) -> Operation:
    """Requests in series, whose responses are compared with the function."""

    def judge(operated: Sequence[Operated]) -> tuple[Json, Labelled]:
        shape, (answered,) = accelerator.shape, operated
        expected = accelerator.answers(requests)
        asked = [named(shape.request, request) for request in requests]
        got = [named(shape.response, response) for response in answered.responses]
        golden = [named(shape.response, response) for response in expected]
        lines = []
        for request, response, right in zip(asked, answered.responses, expected, strict=True):
            words = answer_in_words(shape, response, right)
            verdict = "ok" if response == right else f"DIFFERS: {in_words(shape.response, right)}"
            lines += [(name, _text(request)), ("response", f"{words}  {verdict}")]
        ok = answered.responses == expected
        report = {"requests": asked, "responses": got, "golden": golden, "ok": ok}
        if answered.latency is not None and answered.interval is not None:
            report |= {"latency": answered.latency, "interval": answered.interval}
            lines.append(("latency", f"{answered.latency} cycles at most"))
            lines.append(("interval", f"{answered.interval:,.4g} cycles from response to response"))
        return report, lines

    return Operation(accelerator, name, [requests], judge)


def _given(accelerator: Runnable, given: Mapping[str, str]) -> list[Message]:
    """The requests of --field options: one, or as many as each field has values."""
    fields = [name for name, _ in accelerator.shape.request]
    values = {}
    for name, found in numbers("--field", given):
        if name not in fields:
            raise unknown(f"field of {accelerator.name}", name, fields)
        values[name] = found
    if missing := [name for name in fields if name not in values]:
        options = " ".join(f"--field {name}=..." for name in missing)
        raise BadInput(f"no {', '.join(missing)}; give {options}")
    if len(counts := {len(found) for found in values.values()}) > 1:
        listed = ", ".join(f"{len(values[name])} of {name}" for name in fields)
        raise BadInput(
            f"{listed}: requests in series need one value of each field; give {max(counts)} of each"
        )
    requests = list(zip(*(values[name] for name in fields), strict=True))
    for request in requests:
        accelerator.require(*request)
    return requests


def check(args: Namespace, design: OwnDesign) -> int:
    """`modexlab check` without files: the table at all levels and backends."""
    accelerator = made(args, design)
    backends = accelerator.backends
    if args.level == levels.CL:
        refuse(args, ["backend"], " with --level cl, which is Python alone; drop one of them")
        backends = tuple(backend for backend in backends if backend == levels.CL)
    if args.backend is not None:
        simulated = [backend for backend in backends if backend != "cl"]
        if args.backend not in simulated:
            raise unknown("backend", args.backend, simulated)
        backends = tuple(backend for backend in backends if backend in ("cl", args.backend))
    report, text = checked(accelerator, backends, args.json)
    return answer(args, report, text, ok=report["ok"])


def checked(accelerator: Runnable, backends: Sequence[str], quiet: bool) -> tuple[Json, str]:
    """Check the table with these backends; return the report as JSON and as text."""
    name, nbits = accelerator.name, accelerator.nbits
    passed = []
    error = ""
    with Progress(f"{name}, {nbits} bits", unit="run", quiet=quiet) as progress:

        def report(run: levels.Passed) -> None:
            passed.append(run)
            progress(len(passed), len(backends) * len(levels.STALLS))

        try:
            levels.check_levels(accelerator, backends, report)
        except levels.Disagreement as disagreement:
            error = str(disagreement)
    lines = [f"{run.where:<18}  {run.rows} rows equal to fl, {run.cycles} cycles" for run in passed]
    lines.append(f"FAILED: {error}" if error else f"{name}: all levels agree")
    found = {"design": name, "nbits": nbits, "runs": [run._asdict() for run in passed]}
    return {**found, "ok": not error, "error": error}, "\n".join(lines)


def named(fields: Fields, values: Message) -> Json:
    """Values by field name, as JSON."""
    return {name: json_number(value) for (name, _), value in zip(fields, values, strict=True)}


def _text(values: Json) -> str:
    return ", ".join(
        f"{name} = {shown(value) if isinstance(value, int) else value}" for name, value in values.items()
    )
