"""Chart of a sweep: a panel for each kind of work, in which the points on its front are marked and named.

The axes are the first two objectives of the stage; with one objective, the width and the objective. Marks
come from the fronts of the sweep, which count all objectives.
"""

from collections.abc import Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from ...lab.pareto import Goals
from ...lab.point import Point
from ...lab.sweep import Member, Sweep, Work
from .. import render_png
from ..charts import MOST_LABELS, Spec, Style
from ..metrics import METRICS
from ..palette import light
from ..store_view import Records, labels

FORMATS = ("svg", "png", "pdf")
MOST_PANELS = 6
MOST_OTHERS = 300  # dominated points of a kind of work that are drawn
HEIGHT, GAP = 250, 90  # of a panel; between two panels, for the axis of the second one
NBITS = "nbits"


class Compared(NamedTuple):
    """The points of one kind of work."""

    best: list[Member]  # on the front, the best value of the first objective first
    others: list[Member]  # dominated, in the same order


def compared(sweep: Sweep) -> dict[Work, Compared]:
    """The points on each front, and those that they dominate."""
    made = {}
    for work, front in sorted(sweep.fronts.items(), key=itemgetter(0)):
        best = [member for _, member in front.sorted()]
        numbers = {member.measured.number for member in best}
        others = (member for member in sweep.members[work] if member.measured.number not in numbers)
        made[work] = Compared(best, sorted(others, key=attrgetter("values")))
    return made


class Mark(NamedTuple):
    """A point of the chart."""

    point: Point
    values: tuple[float, ...]
    front: bool

    @property
    def subject(self) -> str:
        return self.point.label

    @property
    def settings(self) -> dict[str, Any]:
        """Settings that differ from the defaults."""
        return dict(self.point.settings)

    @property
    def parameters(self) -> dict[str, Any]:
        return dict(self.point.resolved)


class Panel(NamedTuple):
    """The points of one kind of work."""

    title: str
    axes: tuple[str, str]
    stepped: bool  # two objectives that are to be small: the front is a staircase
    records: Records


def panels(sweep: Sweep, found: Mapping[Work, Compared]) -> list[Panel]:
    """The panels with at least two points, those with the most points first."""
    kinds: dict[tuple[str, str], list[Mark]] = {}
    for work, points in found.items():
        single = len(sweep.goals_at(work.stage)) == 1
        title = str(work._replace(nbits=0) if single else work).removeprefix("0 bits, ")
        marks = kinds.setdefault((title, work.stage), [])
        marks += (Mark(item.measured.point, item.values, True) for item in points.best)
        marks += (Mark(item.measured.point, item.values, False) for item in points.others[:MOST_OTHERS])
    made = (_panel(title, sweep.goals_at(stage), marks) for (title, stage), marks in kinds.items())
    return sorted((panel for panel in made if len(panel.records) > 1), key=lambda panel: -len(panel.records))


def _panel(title: str, goals: Goals, marks: Sequence[Mark]) -> Panel:
    label, names = labels(marks, lambda mark: mark.point.nbits), [*goals]
    records = [
        {
            "label": label(mark),
            "front": mark.front,
            "family": "" if mark.point.design is None else mark.point.design.family,
            NBITS: mark.point.nbits,
            **dict(zip(names, mark.values, strict=True)),
        }
        for mark in marks
    ]
    axes = (names[0], names[1]) if len(names) > 1 else (NBITS, names[0])
    return Panel(title, axes, len(names) == 2 and min(goals.values()) > 0, records)


def drawn(title: str, found: Sequence[Panel], format: str) -> bytes:
    """The chart as a picture."""
    return render_png.drawn(specification(title, found), format)


def specification(title: str, found: Sequence[Panel]) -> Spec:
    """The Vega-Lite specification of the chart, with its data."""
    shown = found[:MOST_PANELS]
    families = [*dict.fromkeys(record["family"] for panel in shown for record in panel.records)]
    style, columns = Style(families, light), min(2, len(shown))
    width = render_png.WIDTH // columns - GAP
    more = (
        f"; {len(found) - MOST_PANELS} kinds of work with fewer points are left out"
        if len(found) > MOST_PANELS
        else ""
    )
    return {
        "title": {
            "text": title,
            "anchor": "start",
            "fontSize": 14,
            "color": light("ink"),
            "subtitle": f"Filled: on the front. Hollow: dominated{more}.",
            "subtitleColor": light("ink-2"),
        },
        "config": render_png.printed(),
        "padding": 4,
        "columns": columns,
        "spacing": 24,
        "concat": [_drawn_panel(panel, style, families, width) for panel in shown],
        "resolve": {"scale": {"color": "shared", "shape": "shared"}},
    }


def _drawn_panel(panel: Panel, style: Style, families: Sequence[str], width: int) -> Spec:
    x, y = (_axis(name, panel.records) for name in panel.axes)
    here: Spec = {"x": x, "y": y}
    signs: dict[str, Any] = {name: {**style[name], "legend": {"title": None}} for name in ("color", "shape")}
    on_front: list[Spec] = [{"filter": "datum.front"}]
    line: Spec = {"type": "line", "interpolate": "step-after", "strokeWidth": 1.2, "color": light("ink-2")}
    point: Spec = {"type": "point", "size": 64}
    names: list[Spec] = [
        *on_front,
        {"window": [{"op": "row_number", "as": "nth"}], "sort": [{"field": panel.axes[0]}]},
        {"filter": f"datum.nth <= {MOST_LABELS}"},
    ]
    layers: list[Spec] = [
        {
            "transform": [{"filter": "!datum.front"}],
            "mark": {**point, "strokeWidth": 1.4, "opacity": 0.45},
            "encoding": {**here, **signs},
        },
        *([{"transform": on_front, "mark": line, "encoding": here}] if panel.stepped else []),
        {
            "transform": on_front,
            "mark": {**point, "filled": True, "opacity": 1, "stroke": light("ink"), "strokeWidth": 1.2},
            "encoding": {**here, **signs},
        },
        {
            "transform": names,
            "mark": {"type": "text", "fontSize": 10, "color": light("ink-2")},
            "encoding": {**here, "text": {"field": "label"}},
        },
    ]
    title = {"text": panel.title, "anchor": "start", "fontSize": 11.5, "color": light("ink")}
    data = {"values": panel.records}
    return {"title": title, "data": data, "width": width, "height": HEIGHT, "layer": layers}


def _axis(name: str, records: Records) -> Spec:
    """A logarithmic axis, or a linear one for values that are not all positive."""
    title = "Width (bits)" if name == NBITS else METRICS[name].head
    positive = all(record[name] > 0 for record in records)
    scale = {"type": "log" if positive else "linear", "nice": False, "zero": False, "padding": 24}
    axis: Spec = {"tickCount": 5, "labelOverlap": "greedy", "format": "~s"}
    if name == NBITS:
        axis |= {"values": sorted({record[NBITS] for record in records}), "format": "d"}
    return {"field": name, "type": "quantitative", "title": title, "scale": scale, "axis": axis}
