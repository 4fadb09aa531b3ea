"""The curve of a leakage assessment: t of both halves over the cycles, the two thresholds, and in grey what
is not judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from ..assurance.attacks.leakage import Assessment
from ..assurance.attacks.welch import HALVES, THRESHOLD, Point
from .charts import SCHEMA, Spec, config
from .palette import light
from .render_png import SCALE, WIDTH

FORMATS = ("png", "svg", "html")
HALF_NAMES = ("first half", "second half")
MOST_POINTS = 1500  # of a line: of longer ones the extremes of each stretch
HEIGHT = 300


def specification(assessment: Assessment, title: str) -> Spec:
    """The whole of it, with its data, in Vega-Lite."""
    axis = {"axis": {"tickCount": 8}}
    x = {"field": "cycle", "type": "quantitative", "title": "Cycle", "scale": {"nice": False}, **axis}
    y = {
        "field": "t",
        "type": "quantitative",
        "title": "t (Welch)",
        "scale": {"domain": _domain(assessment.curve), "nice": True},
    }
    colours = {"domain": HALF_NAMES, "range": [light("series-0"), light("series-1")]}
    return {
        "$schema": SCHEMA,
        "width": WIDTH,
        "height": HEIGHT,
        "config": {**config(light), "background": light("paper")},
        "title": {
            "text": title,
            "subtitle": _subtitle(assessment),
            "anchor": "start",
            "fontSize": 14,
            "color": light("ink"),
            "subtitleColor": light("ink-2"),
        },
        "layer": [
            {
                "data": {"values": _spans(assessment)},
                "mark": {"type": "rect", "color": light("grid")},
                "encoding": {
                    "x": {**x, "field": "from"},
                    "x2": {"field": "to"},
                    "tooltip": {"field": "part"},
                },
            },
            {
                "data": {"values": _points(assessment)},
                "mark": {"type": "line", "strokeWidth": 1.1, "opacity": 0.85},
                "encoding": {
                    "x": x,
                    "y": y,
                    "color": {"field": "half", "type": "nominal", "scale": colours, "title": None},
                },
            },
            {
                "data": {"values": [{"t": THRESHOLD}, {"t": -THRESHOLD}]},
                "mark": {"type": "rule", "strokeDash": [5, 3], "color": light("bad"), "strokeWidth": 1.2},
                "encoding": {"y": y},
            },
        ],
    }


def drawn(assessment: Assessment, title: str, format: str) -> bytes:
    """The picture, or a page that needs nothing from elsewhere."""
    import vl_convert

    spec = specification(assessment, title)
    if format == "html":
        return vl_convert.vegalite_to_html(spec, bundle=True).encode()
    if format == "svg":
        return vl_convert.vegalite_to_svg(spec).encode()
    return vl_convert.vegalite_to_png(spec, scale=SCALE)


def _subtitle(assessment: Assessment) -> str:
    grey = sorted({part.value for part in assessment.part_of if part in assessment.compared.excused})
    return f"dashed: {THRESHOLD}; grey, not judged: {'; '.join(grey)}" if grey else f"dashed: {THRESHOLD}"


def _domain(curve: Sequence[Point]) -> list[float]:
    """Both thresholds are in it."""
    values = [value for point in curve for value in point[1:]] + [THRESHOLD, -THRESHOLD]
    return [1.08 * min(values), 1.08 * max(values)]


def _spans(assessment: Assessment) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    at = 0
    for part, cycles in groupby(assessment.part_of):
        count = len(list(cycles))
        if part in assessment.compared.excused:
            found.append({"from": at - 0.5, "to": at + count - 0.5, "part": part.value})
        at += count
    return found


def _points(assessment: Assessment) -> list[dict[str, Any]]:
    """Of each half; of a stretch that has no room, the extremes in their order."""
    curve = assessment.curve
    stretch = -(-2 * len(curve) // MOST_POINTS) if len(curve) > MOST_POINTS else 1
    found = []
    for half in HALVES:
        for start in range(0, len(curve), stretch):
            values = [(curve[at][1 + half], at) for at in range(start, min(start + stretch, len(curve)))]
            for t, at in sorted({min(values), max(values)}, key=lambda item: item[1]):
                found.append({"cycle": at, "t": round(t, 3), "half": HALF_NAMES[half]})
    return found
