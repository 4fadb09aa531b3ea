"""Chart of a leakage assessment: Welch's t of both halves by cycle, and the thresholds. Parts that are not
judged are grey.
"""

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from ...assurance.attacks.leakage import Assessment
from ...assurance.attacks.welch import HALVES, THRESHOLD, Point
from .. import render_png
from ..charts import SCHEMA, Spec
from ..palette import light

FORMATS = ("png", "svg", "html")
HALF_NAMES = ("first half", "second half")
MOST_POINTS = 1500  # in a line; longer lines are reduced to extremes
HEIGHT = 300


def specification(assessment: Assessment, title: str) -> Spec:
    """The Vega-Lite specification of the chart, with its data."""
    x = {"field": "cycle", "type": "quantitative", "title": "Cycle", "axis": {"tickCount": 8}}
    x["scale"] = {"nice": False}
    # both thresholds are in the domain
    values = [value for point in assessment.curve for value in point[1:]] + [THRESHOLD, -THRESHOLD]
    domain = {"domain": [1.08 * min(values), 1.08 * max(values)], "nice": True}
    y = {"field": "t", "type": "quantitative", "title": "t (Welch)", "scale": domain}
    colours = {"domain": HALF_NAMES, "range": [light("series-0"), light("series-1")]}
    half = {"field": "half", "type": "nominal", "scale": colours, "title": None}
    grey = sorted({part for part in assessment.part_of if part in assessment.compared.excused})
    said = f"; grey, not judged: {'; '.join(grey)}" if grey else ""
    shown = [
        (
            _spans(assessment),
            {"type": "rect", "color": light("grid")},
            {"x": {**x, "field": "from"}, "x2": {"field": "to"}, "tooltip": {"field": "part"}},
        ),
        (
            _points(assessment.curve),
            {"type": "line", "strokeWidth": 1.1, "opacity": 0.85},
            {"x": x, "y": y, "color": half},
        ),
        (
            [{"t": THRESHOLD}, {"t": -THRESHOLD}],
            {"type": "rule", "strokeDash": [5, 3], "color": light("bad"), "strokeWidth": 1.2},
            {"y": y},
        ),
    ]
    return {
        "$schema": SCHEMA,
        "width": render_png.WIDTH,
        "height": HEIGHT,
        "config": render_png.printed(),
        "title": {
            "text": title,
            "anchor": "start",
            "fontSize": 14,
            "color": light("ink"),
            "subtitle": f"dashed: {THRESHOLD}{said}",
            "subtitleColor": light("ink-2"),
        },
        "layer": [
            {"data": {"values": values}, "mark": mark, "encoding": encoding}
            for values, mark, encoding in shown
        ],
    }


def drawn(assessment: Assessment, title: str, format: str) -> bytes:
    """The chart as PNG, as SVG, or as a self-contained HTML page."""
    spec = specification(assessment, title)
    if format != "html":
        return render_png.drawn(spec, format)
    import vl_convert

    return vl_convert.vegalite_to_html(spec, bundle=True).encode()


def _spans(assessment: Assessment) -> list[dict[str, Any]]:
    found = []
    at = -0.5
    for part, cycles in groupby(assessment.part_of):
        start, at = at, at + sum(1 for _ in cycles)
        if part in assessment.compared.excused:
            found.append({"from": start, "to": at, "part": part})
    return found


def _points(curve: Sequence[Point]) -> list[dict[str, Any]]:
    """The points of both halves; dense stretches are reduced to their extremes."""
    stretch = -(-2 * len(curve) // MOST_POINTS) if len(curve) > MOST_POINTS else 1
    found = []
    for half, name in zip(HALVES, HALF_NAMES, strict=True):
        values = [(point[1 + half], at) for at, point in enumerate(curve)]
        for start in range(0, len(curve), stretch):
            part = values[start : start + stretch]
            for t, at in sorted({min(part), max(part)}, key=itemgetter(1)):
                found.append({"cycle": at, "t": round(t, 3), "half": name})
    return found
