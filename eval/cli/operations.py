"""Operations: the requests that a command sends to an accelerator, and the report of their results."""

from __future__ import annotations

import argparse
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..progress import Progress
from .arguments import described, short

if TYPE_CHECKING:
    from ...fl.accelerator import Message
    from ..designs.interfaces import Interface
    from ..designs.session import Operated

Report = dict[str, Any]  # for scripts


@dataclass(frozen=True)
class Operation(ABC):
    """Requests to an accelerator, in parts that each start from reset."""

    accelerator: Any
    name: str
    parts: Sequence[Sequence[Message]]
    times: Sequence[int] = ()  # how often the cycles of each part count, if not once

    @abstractmethod
    def outcome(self, operated: Sequence[Operated]) -> Report:
        """The fields of the report that are its own, among them `ok`."""

    @abstractmethod
    def lines(self, report: Report) -> Iterator[str]:
        """The requests and their outcome in words."""

    def title(self, report: Report) -> str:
        """The parameters of the accelerator in words."""
        return " ".join(f"{name}={short(str(value))}" for name, value in report["params"].items())

    def last_lines(self, report: Report) -> Iterator[str]:
        """Lines after the cycles."""
        yield from ()

    def run(self, args: argparse.Namespace) -> tuple[Report, list[str]]:
        """The report of a simulation, as the options of `modexlab run` have it, for scripts and in words."""
        accelerator = self.accelerator
        out = sys.stderr if args.json else sys.stdout
        trace = (lambda cycle, line: print(f"{cycle:6}: {line}", file=out)) if args.trace else None
        with (
            Progress(f"{accelerator.name}, {accelerator.nbits} bits, {args.level}", quiet=args.json),
            accelerator.session(
                level=args.level,
                stage="python" if args.trace and args.level == "rtl" and not args.stage else args.stage,
                interface=args.interface,
                vcd=Path(args.vcd) if args.vcd else None,
                trace=trace,
            ) as session,
        ):
            operated = session.operate(self.parts)
        counts = [part.cycles for part in operated if part.cycles is not None]
        times = self.times or [1] * len(self.parts)
        counted = [count * cycles for count, cycles in zip(times, counts, strict=False)]
        interface = session.interface
        report: Report = {
            **described(accelerator),
            "level": session.level,
            "stage": session.stage,
            "interface": interface.name,
            "operation": self.name,
            "cycles": sum(counted) if counted else None,
            **self.outcome(operated),
        }
        if interface.counts_accesses:
            report["accesses"] = sum(part.accesses for part in operated)
        if len(counts) > 1:
            report["cycles_of_parts"] = counts
            if max(times) > 1:
                report["times"] = times
        return report, list(self._lines(report, interface, counted))

    def _lines(self, report: Report, interface: Interface, counted: Sequence[int]) -> Iterator[str]:
        where = ", ".join(filter(None, (report["level"], report["stage"]))) + interface.behind
        title = self.title(report)
        yield f"{report['design']}, {report['nbits']} bits ({where}){': ' if title else ''}{title}"
        yield from self.lines(report)
        if "accesses" in report:
            yield labelled(
                "accesses",
                f"{report['accesses']}: of registers, for operands, start, status and result; "
                "each takes a cycle or more",
            )
        split = f" ({' + '.join(map(str, counted))})" if len(counted) > 1 else ""
        formula = f" (formula {report['formula']})" if report.get("formula") is not None else ""
        cycles = report["cycles"]
        yield labelled(
            "cycles", "none: this level has no clock" if cycles is None else f"{cycles}{split}{formula}"
        )
        yield from self.last_lines(report)


def labelled(label: str, text: str) -> str:
    """A line of a report in words."""
    return f"{label:<14}  {text}"
