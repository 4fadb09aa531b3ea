"""Published machines as points: the figures of one machine and operation, gathered from the tables of a
paper.

eval/papers/published.py has the cells. Only comparable cells count, and the first of several of the same
kind.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..designs.interfaces import DEFAULT, SYSTEM
from ..designs.system_catalogue import SOFTWARE, subject_of
from ..lab.comparison.compare import label
from ..papers import published
from ..papers.published import Published
from .metrics import of_paper
from .store_view import INTERFACES

SAME_LIBRARY = ("001",)
# paper -> the cell with the clock period of all of its machines, in nanoseconds
CLOCKS = {"001": ("text", "clock period (ns)", "printed")}


@dataclass(frozen=True)
class Machine:
    """One machine of a paper at one width and operation."""

    number: str  # its key in the page
    figures: Mapping[str, Published]  # by metric
    operation: str
    derived: Mapping[str, float]

    @cached_property
    def first(self) -> Published:
        return next(iter(self.figures.values()))

    def __getattr__(self, name: str) -> Any:
        """Attributes other than amounts (subject, width, settings) are the same in all figures."""
        return getattr(self.first, name)

    @property
    def label(self) -> str:
        return f"{self.paper} {label(self.first)}"

    @property
    def family(self) -> str:
        return subject_of(self.subject).family

    @property
    def interface(self) -> str:
        return self.first.interface or (SYSTEM if self.subject.startswith("proc") else DEFAULT.name)

    @property
    def group(self) -> str:
        words = INTERFACES.get(self.interface, self.interface)
        return f"{self.nbits} bits · {self.operation} · {words} · published"

    @property
    def same_library(self) -> bool:
        """Its area, time and energy are comparable with ours; other papers have FPGA figures."""
        return self.first.paper in SAME_LIBRARY

    def value(self, name: str) -> float | None:
        """A figure, in the metric's unit."""
        if name in self.figures:
            return self.figures[name].amount
        return self.derived.get(name)


def machines() -> list[Machine]:
    """All published machines, in the order of the papers."""
    return gathered(published.figures())


def gathered(figures: Iterable[Published]) -> list[Machine]:
    """Group figures by machine, width and operation; figures without an operation (such as an area) join all
    of them.
    """
    found: dict[tuple[Any, ...], dict[str, dict[str, Published]]] = {}
    processors: dict[tuple[str, int], dict[str, Published]] = {}  # all software runs on the same processor
    for figure in figures:
        if figure.comparable:
            machine = (figure.subject, figure.design, figure.interface, str(sorted(figure.settings.items())))
            by_operation = found.setdefault((figure.paper, figure.nbits, *machine), {})
            by_operation.setdefault(figure.operation, {}).setdefault(figure.metric, figure)
            if figure.subject.startswith(SOFTWARE) and not figure.operation:
                processor = processors.setdefault((figure.paper, figure.nbits), {})
                processor.setdefault(figure.metric, figure)
    made: list[Machine] = []
    for (paper, nbits, subject, *_), by_operation in found.items():
        shared = by_operation.pop("", {})
        if subject.startswith(SOFTWARE):
            shared = {**processors.get((paper, nbits), {}), **shared}
        for operation, own in (by_operation or {"": {}}).items():
            together = own | {name: item for name, item in shared.items() if name not in own}
            made.append(Machine(f"m{len(made)}", together, operation, _derived(together)))
    return made


def _derived(figures: dict[str, Published]) -> dict[str, float]:
    """Time and clock of a machine whose paper gives cycles and one clock for all machines."""
    number = next(iter(figures.values())).paper
    if "time_ns" in figures or "cycles" not in figures or number not in CLOCKS:
        return {}
    table, row, column = CLOCKS[number]
    clock = published.paper(number).table(table).at(row, column).value
    cycles = figures["cycles"].amount
    return {"time_ns": cycles * clock, "clock_ns": clock} if cycles and clock else {}


def sources(figures: Iterable[Published]) -> str:
    """The places in the papers that print these figures."""
    return "; ".join(dict.fromkeys(figure.source for figure in figures))


def citation(number: str, title: str, figures: Sequence[Published]) -> dict[str, str]:
    """The description of published figures on the page."""
    first = figures[0]
    corrected = [f"printed {figure.printed}: {figure.erratum}" for figure in figures if figure.erratum]
    return {
        "p": number,
        "label": title,
        "figures": "; ".join(
            f"{of_paper(figure.metric).title} {figure.printed} {figure.unit}".strip() for figure in figures
        ),
        "source": sources(figures),
        "paper": published.paper(first.paper).citation,
        "technology": first.technology,
        "ours": ", ".join(dict.fromkeys(filter(None, (first.twin, *first.ours)))),
        "note": first.note,
        "erratum": " ".join(corrected),
    }
