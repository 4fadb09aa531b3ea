"""Operations: the requests that a command sends to an accelerator, and the report of their results."""

import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...fl.accelerator import Message
from ..designs.session import Operated
from ..json_values import attributes
from ..progress import Progress
from .arguments import described
from .options import short
from .render import Json, labelled

Labelled = list[tuple[str, str]]  # values with their labels


def tracer(args: Namespace) -> Callable[[int, str], None] | None:
    """A function that prints the line of each cycle, for --trace; on stderr if JSON goes to stdout."""
    if not args.trace:
        return None
    out = sys.stderr if args.json else sys.stdout
    return lambda cycle, line: print(f"{cycle:6}: {line}", file=out)


def backend_of(args: Namespace) -> str | None:
    """The backend of --backend; a trace of RTL needs backend python."""
    return "python" if args.trace and args.level == "rtl" and not args.backend else args.backend


@dataclass(frozen=True)
class Operation:
    """Requests to an accelerator, in parts that each start from reset."""

    accelerator: Any
    name: str
    parts: Sequence[Sequence[Message]]
    judge: Callable[[Sequence[Operated]], tuple[Json, Labelled]]  # JSON with `ok`, and lines of text
    times: Sequence[int] = ()  # factors for the cycles of each part; default: 1
    title: str = ""  # instead of the parameters

    def run(self, args: Namespace) -> tuple[Json, str]:
        """Simulate with the options of `modexlab run`; return the report as JSON and as text."""
        accelerator = self.accelerator
        label = f"{accelerator.name}, {accelerator.nbits} bits"
        first = "compiling the simulator" if args.level == "rtl" else args.level
        with (
            Progress(f"{label}: {first}", quiet=args.json) as progress,
            accelerator.session(
                level=args.level,
                backend=backend_of(args),
                interface=args.interface,
                vcd=Path(args.vcd) if args.vcd else None,
                trace=tracer(args),
            ) as session,
        ):
            progress.describe(f"{label}, {args.level}")
            operated = session.operate(self.parts)
        counts = [part.cycles for part in operated if part.cycles is not None]
        times = self.times or [1] * len(self.parts)
        counted = [count * cycles for count, cycles in zip(times, counts, strict=False)]
        total = sum(counted) if counted else None
        interface = session.interface
        judged, lines = self.judge(operated)
        report = {
            **described(accelerator),
            **attributes(session, "level", "backend"),
            "interface": interface.name,
            "operation": self.name,
            "cycles": total,
            **judged,
        }
        if interface.counts_accesses:
            accesses = sum(part.accesses for part in operated)
            report["accesses"] = accesses
            note = "of registers, for operands, start, status and result; each takes a cycle or more"
            lines.append(("accesses", f"{accesses}: {note}"))
        if len(counts) > 1:
            report["cycles_of_parts"] = counts
            if max(times) > 1:
                report["times"] = times
        split = f" ({' + '.join(map(str, counted))})" if len(counted) > 1 else ""
        formula = f" (formula {report['formula']})" if report.get("formula") is not None else ""
        none = "none: this level has no clock"
        lines.append(("cycles", none if total is None else f"{total}{split}{formula}"))
        where = ", ".join(filter(None, (session.level, session.backend))) + interface.behind
        params = (f"{name}={short(str(value))}" for name, value in report["params"].items())
        title = self.title or " ".join(params)
        title = f"{report['design']}, {report['nbits']} bits ({where}){': ' if title else ''}{title}"
        return report, labelled(lines, title)
