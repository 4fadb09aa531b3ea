"""Tables of the reference results of two ready-made spaces, for pages of the site.

`explored` has a table for each part of the space `exploration`: the settings that differ, and the figures.
`passes` has what each pass of the style optimised gives to each point of the space `passes`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ...flow.synth.optimised import PASSES
from ..designs.interfaces import UNIT
from ..json_values import spelled
from ..lab.ledger.export import Reference
from ..lab.point import Point, Settings
from ..lab.space import Space
from ..table import markdown_table

EXPLORATION, OF_PASSES, LEAVE_OUT = "exploration", "passes", "leave_out"
MOVED = 0.03  # of a figure: what a pass must give somewhere
PJ_PER_NJ = 1000


class Figures(NamedTuple):
    """The figures of a netlist, and its energy by operation."""

    area_um2: float
    clock_ns: float
    slack_ns: float
    cycles: Mapping[str, int]
    energy_nj: Mapping[str, float]

    @property
    def path_ns(self) -> float:
        """The longest path: the clock that is just met."""
        return self.clock_ns - self.slack_ns


def figures(reference: Reference, point: Point) -> Figures | None:
    """The recorded figures of a point."""
    rows = reference.rows(subject=point.subject, nbits=point.nbits, stage=point.stage)
    wanted = point.as_json()
    values = {(row.metric, row.operation): row.value for row in rows if row.point == wanted}
    if not values:
        return None
    by_operation: dict[str, dict[str, Any]] = {
        metric: {operation: value for (name, operation), value in values.items() if name == metric}
        for metric in ("cycles", "energy_nj")
    }
    shared = (values[name, ""] for name in ("area_um2", "clock_ns", "wns_ns"))
    return Figures(*shared, by_operation["cycles"], by_operation["energy_nj"])


def explored(reference: Reference) -> Iterator[tuple[str, str]]:
    """A table for each part of the exploration, by the name of its first design."""
    space = Space.load(EXPLORATION)
    for part in space.parts:
        several = len(part.subjects) > 1
        names = [name for name, values in part.settings.items() if len(values) > 1]
        rows, operations = [], ()
        for point in replace(space, parts=(part,)).points():
            found = figures(reference, point)
            assert found, (
                f"{point}: the results lack it; measure it by `modexlab sweep {EXPLORATION}` and export it"
            )
            operations = tuple(sorted(found.cycles, reverse=True))
            rows.append(
                [
                    *([f"`{point.subject}`"] if several else []),
                    *(spelled(point.resolved[name]) for name in names),
                    f"{found.area_um2:,.0f}",
                    f"{found.slack_ns:+.2f}",
                    f"{found.path_ns:.2f}",
                    *(cell for name in operations for cell in _costs(found, name)),
                ]
            )
        work = [f"{name}: {cost}" for name in operations for cost in ("cycles", "time, ns", "energy, pJ")]
        head = [*(["design"] if several else []), *names, "area, µm²", "slack, ns", "longest path, ns", *work]
        yield part.subjects[0], "\n".join(markdown_table(head, rows))


def _costs(found: Figures, operation: str) -> tuple[str, str, str]:
    """Cycles, time at the clock that is met, and energy."""
    cycles = found.cycles[operation]
    period = max(found.clock_ns, found.path_ns)
    return str(cycles), f"{cycles * period:.0f}", f"{found.energy_nj[operation] * PJ_PER_NJ:.1f}"


def passes(reference: Reference) -> str:
    """The table of passes: a line for each point, and a column for each pass with the change of area and of
    the longest path when it is left out.
    """
    points = {
        (replace(point, flow=without(point.flow)), dict(point.flow).get(LEAVE_OUT, "")): point
        for point in Space.load(OF_PASSES).points()
    }
    found = {place: figures(reference, point) for place, point in points.items()}
    rows = []
    for point, name in points:
        if name:
            continue
        whole = found[point, ""]
        assert whole, (
            f"{point}: the results lack it; measure it by `modexlab sweep {OF_PASSES}` and export it"
        )
        unit = " unit" if point.interface == UNIT else ""
        changes = [_change(whole, found.get((point, each))) for each in PASSES]
        rows.append(
            [
                f"`{point.subject}`{unit}, {point.nbits} bits",
                f"{whole.area_um2:,.0f}",
                f"{whole.path_ns:.2f}",
                *changes,
            ]
        )
    return "\n".join(markdown_table(["point", "area, µm²", "longest path, ns", *PASSES], rows))


def without(flow: Settings) -> Settings:
    """Settings of the flow with all passes."""
    return tuple((name, value) for name, value in flow if name != LEAVE_OUT)


def _change(whole: Figures, less: Figures | None) -> str:
    """The change of area and of the longest path, in bold if it counts; a dash for what is not measured."""
    if less is None:
        return "-"
    shares = (less.area_um2 / whole.area_um2 - 1, less.path_ns / whole.path_ns - 1)
    if not any(shares):
        return "0"
    text = ", ".join(f"{share:+.1%}" for share in shares)
    return f"**{text}**" if max(map(abs, shares)) >= MOVED else text
