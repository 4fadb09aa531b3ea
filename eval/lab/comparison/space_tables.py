"""Tables of the reference results of two ready-made spaces, for pages of the site.

`explored` has a table for each part of the space `exploration`: the settings that differ, and the figures.
`published` has the areas of paper 001 next to ours. `passes` has what each pass of the style optimised gives
to each point of the space `passes`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import mean
from typing import NamedTuple

from ....flow.synth.optimised import PASSES
from ...designs.interfaces import UNIT
from ...json_values import spelled
from ...papers.published import paper
from ...table import markdown_table
from ..point import Point, Settings
from ..space import Space
from ..stages import FLOW
from ..store.reference import Reference
from .compare import CLOCK_NS

EXPLORATION, OF_PASSES, LEAVE_OUT = "exploration", "passes", "leave_out"
MOVED = 0.03  # of a figure: what a pass must give somewhere
PJ_PER_NJ = 1000
MULTIPLIERS = ("_MulRem", "_MontMulRem")  # ends of the names of their modules
COSTS = ("cycles", "time, ns", "pJ")  # of an operation


class Figures(NamedTuple):
    """The figures of a netlist: cycles and energy by operation, and the areas of its multipliers."""

    area_um2: float
    cells: int
    clock_ns: float
    slack_ns: float
    cycles: Mapping[str, int]
    energy_nj: Mapping[str, float]
    multipliers: Sequence[float]

    @property
    def path_ns(self) -> float:
        """The longest path: the clock that is just met."""
        return self.clock_ns - self.slack_ns

    @property
    def size(self) -> tuple[float, float, float]:
        """The figures that a pass may change."""
        return self.area_um2, self.cells, self.path_ns

    @property
    def operations(self) -> list[str]:
        return sorted(self.cycles, reverse=True)  # encrypt before decrypt

    def costs(self, operation: str) -> tuple[str, str, str]:
        """Cycles, time at the clock that is met, and energy."""
        cycles = self.cycles[operation]
        time_ns = cycles * max(self.clock_ns, self.path_ns)
        return str(cycles), f"{time_ns:.0f}", f"{self.energy_nj[operation] * PJ_PER_NJ:.1f}"


def figures(reference: Reference, point: Point) -> Figures | None:
    """The recorded figures of a point."""
    rows = reference.rows(subject=point.subject, nbits=point.nbits, stage=point.stage)
    wanted = point.as_json()
    found = [row for row in rows if row.point == wanted]
    if not found:
        return None
    values = {(row.metric, row.operation): row.value for row in found}
    modules = found[0].details["area_by_module"]
    return Figures(
        values["area_um2", ""],
        int(values["cells", ""]),
        values["clock_ns", ""],
        values["wns_ns", ""],
        {row.operation: int(row.value) for row in found if row.metric == "cycles"},
        {row.operation: row.value for row in found if row.metric == "energy_nj"},
        [module["area_um2"] for module in modules if module["module"].endswith(MULTIPLIERS)],
    )


def recorded(reference: Reference, point: Point, space: str) -> Figures:
    """The figures of a point that a page needs."""
    found = figures(reference, point)
    assert found, f"{point}: the results lack it; `modexlab sweep {space}` measures it"
    return found


def explored(reference: Reference) -> Iterator[tuple[str, str]]:
    """A table for each part of the exploration, by the name of its first design."""
    space = Space.load(EXPLORATION)
    for part in space.parts:
        several = ["design"] if len(part.subjects) > 1 else []
        names = [name for name, values in part.settings.items() if len(values) > 1]
        measured = [
            (point, recorded(reference, point, EXPLORATION))
            for point in replace(space, parts=(part,)).points()
        ]
        operations = measured[0][1].operations
        of = {name: f"{name}: " if len(operations) > 1 else "" for name in operations}
        work = [f"{of[name]}{cost}" for name in operations for cost in COSTS]
        rows = [
            [
                *(f"`{point.subject}`" for _ in several),
                *(spelled(point.resolved[name]) for name in names),
                f"{found.area_um2:,.0f}",
                f"{found.slack_ns:+.2f}",
                f"{found.path_ns:.2f}",
                *(cost for operation in operations for cost in found.costs(operation)),
            ]
            for point, found in measured
        ]
        chosen = [name.replace("_", " ") for name in names]
        head = [*several, *chosen, "area, µm²", "slack, ns", "longest path, ns", *work]
        yield part.subjects[0], "\n".join(markdown_table(head, rows))


def published(reference: Reference) -> str:
    """The areas of paper 001 next to those of our twins: whole accelerators and systems, and the mean of
    their multipliers.
    """
    rows = []
    for figure in paper("001").figures():
        if figure.metric != "area_um2" or figure.amount is None:
            continue
        flow = (("clock_period", CLOCK_NS),)
        point = Point(figure.twin, figure.nbits, interface=figure.interface, stage=FLOW, flow=flow)
        found = recorded(reference, point, EXPLORATION)
        part, area = figure.column, found.area_um2
        if figure.caveat:  # an area of a part
            part, area = f"{part}, a multiplier on average", mean(found.multipliers)
        ratio = f"{area / figure.amount:.3f}"
        rows.append([part, f"`{figure.twin}`", f"{figure.amount:,.0f}", f"{area:,.0f}", ratio])
    return "\n".join(markdown_table(["paper 001", "twin", "published, µm²", "`plain`, µm²", "×"], rows))


def passes(reference: Reference) -> str:
    """The table of passes: a line for each point, and a column for each pass with the change of area,
    cells and the longest path when it is left out.
    """
    found: dict[Point, dict[str, Figures]] = {}
    for point in Space.load(OF_PASSES).points():
        whole = replace(point, flow=with_all_passes(point.flow))
        left_out = str(dict(point.flow).get(LEAVE_OUT, ""))
        found.setdefault(whole, {})[left_out] = recorded(reference, point, OF_PASSES)
    rows = []
    for point, by_pass in found.items():
        unit = " unit" if point.interface == UNIT else ""
        every = by_pass[""]
        changes = [change(every, by_pass.get(name)) for name in PASSES]
        rows.append(
            [
                f"`{point.subject}`{unit}, {point.nbits} bits",
                f"{every.area_um2:,.0f}",
                f"{every.cells:,}",
                f"{every.path_ns:.2f}",
                *changes,
            ]
        )
    return "\n".join(markdown_table(["point", "area, µm²", "cells", "longest path, ns", *PASSES], rows))


def with_all_passes(flow: Settings) -> Settings:
    """Settings of the flow without those that leave passes out."""
    return tuple((name, value) for name, value in flow if name != LEAVE_OUT)


def change(whole: Figures, less: Figures | None) -> str:
    """The change of area, cells and longest path, in bold if it counts; a dash if it is not measured."""
    if less is None:
        return "-"
    pairs = zip(less.size, whole.size, strict=True)
    shares = [there / here - 1 for there, here in pairs]
    if not any(shares):
        return "0"
    text = ", ".join(f"{share:+.1%}" for share in shares)
    return f"**{text}**" if max(map(abs, shares)) >= MOVED else text
