"""The charts, as Vega-Lite: plain dictionaries, each made once for the page, for PNG and for SVG.

Why Vega-Lite, and why without Altair: a chart is data (this file holds all of it), a browser draws it with tooltips and clicks
from the very specification that vl-convert draws as a picture, and vl-convert brings the scripts along, so that nothing is loaded
from elsewhere. Altair would write the same dictionaries in more words.

A specification names its data and leaves them out: the page puts in what its filters let through, `static` all of it.
"@x" and "@y" stand for metrics that the reader may choose, "@families" for the families that are in the data (`filled`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .metrics import METRICS
from .palette import Colours, scales, series

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"  # a name, which nobody loads
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif"
FEW = 24  # points, of which each has its name
MOST_LABELS = 14  # on a front
ON_FRONT = "(datum.before === null || datum['@y'] < datum.before)"
TIMED = "(('@x' !== 'cycles' && '@y' !== 'cycles') || !isValid(datum.clock_ns))"
POINT_SIZE = 64

PRESENT = "@families"
# a number on a logarithmic axis: thousands by their letter, and no "m", which is metres to most
BRIEF = "format(datum.value, datum.value < 1 ? '~r' : '~s')"
LABELS = {
    "type": "label",
    "size": {"signal": "[width, height]"},
    "anchor": ["top-right", "bottom-right", "top-left", "bottom-left", "right", "left"],
    "offset": [8],
}

Spec = dict[str, Any]


@dataclass(frozen=True)
class Chart:
    """A specification with what stands around it."""

    name: str
    title: str
    caption: str  # what one should see
    data: str  # the name of its data
    spec: Spec
    axes: tuple[str, str] | None = None  # metrics, where the reader may choose them
    filters: tuple[str, ...] = ("family", "nbits", "operation", "interface", "stage")


def config(colours: Colours) -> Spec:
    """Quiet axes, no frame, the system's own fonts."""
    return {
        "background": "transparent",
        "font": FONT,
        "view": {"stroke": None},
        "axis": {
            "gridColor": colours("grid"),
            "domainColor": colours("rule"),
            "tickColor": colours("rule"),
            "labelColor": colours("ink-2"),
            "titleColor": colours("ink"),
            "titleFontWeight": 600,
            "titleFontSize": 12,
            "labelFontSize": 11,
            "titlePadding": 8,
        },
        "axisY": {"labelLimit": 400},
        "legend": {
            "labelColor": colours("ink-2"),
            "titleColor": colours("ink"),
            "labelFontSize": 11,
            "titleFontSize": 12,
            "titleFontWeight": 600,
            "orient": "bottom",
            "columns": 5,
            "symbolSize": POINT_SIZE,
            "labelLimit": 200,
        },
        "text": {"color": colours("ink")},
    }


def filled(chart: Chart, records: Sequence[Mapping[str, Any]], families: Iterable[str]) -> Spec:
    """The specification of a chart with the metrics of its axes, and of the families those that are there in its legend."""
    text = json.dumps(chart.spec)
    for token, name in zip(("@x", "@y"), chart.axes or (), strict=False):
        head = json.dumps(METRICS[name].head)[1:-1]
        text = text.replace(f"{token}head", head).replace(token, name)
    drawn = (record for record in records if all(record.get(name) for name in chart.axes or ()))
    present = {record.get("family") for record in drawn}
    return json.loads(
        text.replace(json.dumps(PRESENT), json.dumps([name for name in families if name in present]))
    )


def apart(vega: Spec) -> Spec:
    """The same chart, as Vega, with names that do not lie over each other; for which there is no room is not shown.

    Vega-Lite has no word for it; app.js does the same. (To keep them off the points, too, Vega needs a canvas, which vl-convert has
    not, and a point of each kind, which a choice of filters may not leave.)
    """
    for mark in vega["marks"]:
        if mark["type"] == "text":
            mark["transform"] = [LABELS]
    return vega


def _field(name: str, title: str, **more: Any) -> Spec:
    return {"field": name, "title": title, **more}


def _tooltip(*more: Spec) -> list[Spec]:
    """What is shown of a point at once; a click shows the rest."""
    return [
        _field("label", "design"),
        _field("nbits", "bits"),
        _field("operation", "operation"),
        _field("setup", "stage"),
        *more,
        _field("row", "row"),
    ]


def _number(name: str, title: str) -> Spec:
    return _field(name, title, type="quantitative", format=",.5~r")


def _pale(otherwise: float) -> Spec:
    """What is out of date."""
    return {"condition": {"test": "datum.stale", "value": 0.35}, "value": otherwise}


def scatter(families: Mapping[str, int], colours: Colours) -> Spec:
    """Two metrics against each other, with the front of each group of points that may be compared."""
    scale = scales(families, colours)
    kind = {"field": "family", "type": "nominal"}
    legend = {"title": None, "values": PRESENT}
    here: Spec = {
        "x": {"field": "@x", "type": "quantitative", "title": "@xhead", "scale": {"type": "log"}},
        "y": {"field": "@y", "type": "quantitative", "title": "@yhead", "scale": {"type": "log"}},
    }
    for axis in here.values():
        axis["scale"] |= {"nice": False, "padding": 24}
        axis["axis"] = {"tickCount": 6, "labelExpr": BRIEF, "labelOverlap": "greedy"}
    shown: Spec = {
        **here,
        "color": {**kind, "scale": scale["color"], "legend": legend},
        "shape": {**kind, "scale": scale["shape"], "legend": legend},
        "tooltip": _tooltip(_number("@x", "@xhead"), _number("@y", "@yhead")),
    }
    # from left to right in each group: those that are lower than all before (less is better on every axis: metrics.AXES); cycles make
    # a front only where there is no clock, as those of different clocks are no cost
    along = {"sort": [{"field": "@x"}, {"field": "@y"}], "groupby": ["group"]}
    front: list[Spec] = [
        {"filter": f"datum.kind !== 'published' && !datum.off && {TIMED}"},
        {"window": [{"op": "min", "field": "@y", "as": "lowest"}], **along, "frame": [None, 0]},
        {"window": [{"op": "lag", "field": "lowest", "as": "before"}], **along},
        {"filter": ON_FRONT},
    ]
    # names: of all published points, and of all of ours where they are few, else of those on a front; of a design at several clocks
    # only the first, as they may lie close
    published = "datum.kind === 'published'"
    named = [
        {"joinaggregate": [{"op": "count", "as": "points"}]},
        {"filter": f"{published} || !datum.off"},
        *front[1:3],
        {"filter": f"{published} || {ON_FRONT} || datum.points <= {FEW}"},
        {
            "window": [{"op": "row_number", "as": "nth"}],
            "sort": along["sort"],
            "groupby": ["group", "label"],
        },
        {"filter": f"{published} || datum.nth === 1"},
        {"joinaggregate": [{"op": "count", "as": "many"}], "groupby": ["kind"]},
        {"filter": f"{published} || datum.many <= {MOST_LABELS} || datum.points <= {FEW}"},
    ]
    return {
        "data": {"name": "points"},
        "transform": [{"filter": "datum['@x'] > 0 && datum['@y'] > 0"}],
        "height": 340,
        "layer": [
            {
                "name": "front",
                "transform": front,
                "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.2},
                "encoding": {**here, "detail": {"field": "group"}, "color": {"value": colours("ink-2")}},
            },
            {
                "name": "published",
                "transform": [{"filter": "datum.kind === 'published'"}],
                "mark": {"type": "point", "filled": False, "strokeWidth": 2, "size": 90, "opacity": 1},
                "encoding": shown,
            },
            {
                "name": "points",
                "transform": [{"filter": "datum.kind !== 'published'"}],
                "mark": {"type": "point", "filled": True, "size": POINT_SIZE},
                "encoding": {
                    **shown,
                    "stroke": {
                        "condition": {"test": "datum.kind === 'twin'", "value": colours("ink")},
                        "value": colours("paper"),
                    },
                    "strokeWidth": {
                        "condition": {"test": "datum.kind === 'twin'", "value": 1.6},
                        "value": 0.6,
                    },
                    "opacity": _pale(0.9),
                },
            },
            {
                "name": "names",
                "transform": named,
                "mark": {"type": "text", "fontSize": 10.5, "color": colours("ink-2")},
                "encoding": {**here, "text": {"field": "label"}},
            },
        ],
    }


def widths(families: Mapping[str, int], colours: Colours) -> Spec:
    """Cycles against the width: lines by formula, points as measured."""
    scale = scales(families, colours)
    kind = {"field": "family", "type": "nominal"}
    legend = {"title": None, "values": PRESENT}
    here: Spec = {
        "x": _log("nbits", "Width (bits)", base=2),
        "y": _log("cycles", METRICS["cycles"].title),
    }
    color = {**kind, "scale": scale["color"], "legend": legend}
    shape = {**kind, "scale": scale["shape"], "legend": legend}
    tooltip = _tooltip(_number("cycles", "cycles"))
    return {
        "data": {"name": "widths"},
        "height": 380,
        "layer": [
            {
                "transform": [{"filter": "datum.source === 'formula'"}],
                "mark": {"type": "line", "strokeWidth": 1.3, "opacity": 0.75},
                "encoding": {
                    **here,
                    "color": color,
                    "strokeDash": {**kind, "scale": scale["dash"], "legend": legend},
                    "detail": [{"field": "label"}, {"field": "operation"}],
                },
            },
            {
                "name": "formula",
                "transform": [{"filter": "datum.source === 'formula'"}],
                "mark": {"type": "point", "filled": True, "size": 10},
                "encoding": {**here, "color": color, "tooltip": tooltip},
            },
            {
                "name": "measured",
                "transform": [{"filter": "datum.source === 'measured'"}],
                "mark": {"type": "point", "filled": True, "size": POINT_SIZE},
                "encoding": {
                    **here,
                    "color": color,
                    "shape": shape,
                    "opacity": _pale(0.95),
                    "tooltip": tooltip,
                },
            },
            {
                "name": "published",
                "transform": [{"filter": "datum.source === 'published'"}],
                "mark": {"type": "point", "filled": False, "size": 90, "strokeWidth": 2},
                "encoding": {**here, "color": color, "shape": shape, "tooltip": tooltip},
            },
        ],
    }


def grown(metric: str, families: Mapping[str, int], colours: Colours) -> Spec:
    """A metric of silicon against the width, a line for each design, interface and operation."""
    scale = scales(families, colours)
    kind = {"field": "family", "type": "nominal"}
    legend = {"title": None, "values": PRESENT}
    here: Spec = {
        "x": _log("nbits", "Width (bits)", base=2),
        "y": _log(metric, METRICS[metric].head),
    }
    line = [{"field": name} for name in ("label", "interface", "stage", "operation")]
    color = {**kind, "scale": scale["color"], "legend": legend}
    return {
        "data": {"name": "grown"},
        "transform": [{"filter": f"datum['{metric}'] > 0"}],
        "height": 300,
        "layer": [
            {
                "mark": {"type": "line", "strokeWidth": 1.3, "opacity": 0.75},
                "encoding": {
                    **here,
                    "color": color,
                    "strokeDash": {**kind, "scale": scale["dash"], "legend": legend},
                    "detail": line,
                },
            },
            {
                "name": "points",
                "mark": {"type": "point", "filled": True, "size": POINT_SIZE},
                "encoding": {
                    **here,
                    "color": color,
                    "shape": {**kind, "scale": scale["shape"], "legend": legend},
                    "opacity": _pale(0.95),
                    "tooltip": _tooltip(_number(metric, METRICS[metric].head)),
                },
            },
        ],
    }


def _log(name: str, title: str, base: int = 10) -> Spec:
    """A logarithmic axis with some room around."""
    scale: Spec = {"type": "log", "nice": False, "padding": 16}
    axis: Spec = {"labelOverlap": "greedy"}
    if base == 2:
        scale["base"] = base
        axis |= {"format": "d", "values": [2**power for power in range(3, 13)]}
    else:
        axis |= {"tickCount": 6, "labelExpr": BRIEF}
    return {"field": name, "type": "quantitative", "title": title, "scale": scale, "axis": axis}


def _bars(data: str, x: Spec, **more: Any) -> Spec:
    """Horizontal bars, one a line."""
    return {
        "data": {"name": data},
        "height": {"step": 22},
        "encoding": {
            "y": {
                "field": "name",
                "type": "nominal",
                "title": None,
                "sort": {"field": "order", "op": "min"},
                "axis": {"domain": False, "ticks": False, "labelPadding": 6},
            },
            "x": {"type": "quantitative", "axis": {"tickCount": 8}, **x},
        },
        **more,
    }


def areas(classes: Sequence[str], colours: Colours) -> Spec:
    """Area by the classes of the modules in it."""
    colour = {
        "field": "part",
        "type": "nominal",
        "title": None,
        "scale": {
            "domain": list(classes),
            "range": [
                colours("rule") if name == classes[-1] else colours(series(index))
                for index, name in enumerate(classes)
            ],
        },
    }
    spec = _bars("areas", {"field": "area_um2", "title": METRICS["area_um2"].head, "stack": "zero"})
    spec["mark"] = {"type": "bar", "stroke": colours("paper"), "strokeWidth": 0.7, "height": {"band": 0.76}}
    spec["encoding"] |= {
        "color": colour,
        "order": {"field": "rank", "type": "quantitative"},
        "tooltip": [
            _field("name", "design"),
            _field("part", "module"),
            _field("units", "of these"),
            _number("area_um2", METRICS["area_um2"].head),
            _field("share", "share", type="quantitative", format=".1%"),
            _field("row", "row"),
        ],
    }
    return spec


def paths(families: Mapping[str, int], colours: Colours) -> Spec:
    """How long the longest path is, and how long the clock lets it be."""
    y = _bars("paths", {"field": "path_ns", "title": "Longest path (ns)"})
    encoding = y.pop("encoding")
    tooltip = [
        _field("name", "design"),
        _number("path_ns", "longest path (ns)"),
        _number("clock_ns", "clock period (ns)"),
        _field("start", "from"),
        _field("end", "to"),
        _field("through", "through"),
        _field("row", "row"),
    ]
    return {
        **y,
        "layer": [
            {
                "mark": {"type": "bar", "height": {"band": 0.6}},
                "encoding": {
                    **encoding,
                    "color": {
                        "field": "family",
                        "type": "nominal",
                        "scale": scales(families, colours)["color"],
                        "legend": {"title": None, "values": PRESENT},
                    },
                    "tooltip": tooltip,
                },
            },
            {
                "mark": {"type": "tick", "thickness": 2.5, "color": colours("ink"), "height": {"band": 0.9}},
                "encoding": {**encoding, "x": {**encoding["x"], "field": "clock_ns"}, "tooltip": tooltip},
            },
        ],
    }


def cores(families: Mapping[str, int], colours: Colours) -> Spec:
    """Area against the time of a product, with a floor of area x time for each width."""
    scale = scales(families, colours)
    kind = {"field": "family", "type": "nominal"}
    legend = {"title": None, "values": PRESENT}
    here: Spec = {
        "x": _log("product_ns", "Time of a product (ns)"),
        "y": _log("area_um2", METRICS["area_um2"].head),
    }
    floor = {"filter": "datum.kind === 'floor'"}
    quiet = {"color": {"value": colours("ink-2")}}
    return {
        "data": {"name": "cores"},
        "height": 400,
        "layer": [
            {
                "name": "floor",
                "transform": [floor],
                "mark": {"type": "line", "strokeWidth": 1.2, "strokeDash": [5, 3]},
                "encoding": {**here, **quiet, "detail": {"field": "name"}},
            },
            {
                "name": "floors",
                "transform": [floor, {"filter": "!datum.last"}],
                "mark": {"type": "text", "align": "left", "dx": 4, "dy": -4, "fontSize": 10.5},
                "encoding": {**here, **quiet, "text": {"field": "name"}},
            },
            {
                "name": "points",
                "transform": [{"filter": "datum.kind === 'core'"}],
                "mark": {"type": "point", "filled": True, "size": POINT_SIZE},
                "encoding": {
                    **here,
                    "color": {**kind, "scale": scale["color"], "legend": legend},
                    "shape": {**kind, "scale": scale["shape"], "legend": legend},
                    "opacity": _pale(0.95),
                    "tooltip": [
                        _field("label", "core"),
                        _field("nbits", "bits"),
                        _field("setup", "stage"),
                        _number("product_ns", "product (ns)"),
                        _number("area_um2", METRICS["area_um2"].head),
                        _number("area_time", "area × time (mm² ns)"),
                        _number("floor_ratio", "of the floor"),
                        _field("row", "row"),
                    ],
                },
            },
            {
                "name": "names",
                "transform": [{"filter": "datum.kind === 'core'"}],
                "mark": {"type": "text", "fontSize": 10.5, "color": colours("ink-2")},
                "encoding": {**here, "text": {"field": "name"}},
            },
        ],
    }


SHARES = ("without glitches", "glitches")


def energies(colours: Colours) -> Spec:
    """Energy of an operation without glitches, and what these add."""
    head = f"Energy without glitches, and what these add ({METRICS['energy_nj'].shown_unit})"
    bars = _bars("energies", {"field": "energy_nj", "title": head})
    encoding = bars.pop("encoding")
    tooltip = [
        _field("name", "design"),
        _field("operation", "operation"),
        _field("part", "share"),
        _number("energy_nj", METRICS["energy_nj"].shown_unit),
        _field("row", "row"),
    ]
    return {
        **bars,
        "layer": [
            {
                "transform": [{"filter": "datum.part !== 'published'"}],
                "mark": {"type": "bar", "height": {"band": 0.6}},
                "encoding": {
                    **encoding,
                    "color": {
                        "field": "part",
                        "type": "nominal",
                        "title": None,
                        "scale": {
                            "domain": [*SHARES, "published"],
                            "range": [colours(name) for name in ("series-0", "series-5", "ink")],
                        },
                    },
                    "order": {"field": "rank", "type": "quantitative"},
                    "tooltip": tooltip,
                },
            },
            {
                "transform": [{"filter": "datum.part === 'published'"}],
                "mark": {"type": "tick", "thickness": 2.5, "color": colours("ink"), "height": {"band": 0.9}},
                "encoding": {**encoding, "tooltip": tooltip},
            },
        ],
    }


CONSTANT, DEPENDS, BY_FORMULA = "as many cycles for all", "depends on the exponent", "by formula"


def leakage(colours: Colours) -> Spec:
    """The cycles of many exponents of one length: a constant-time design has one tick."""
    spec = _bars(
        "leakage",
        {
            "field": "relative",
            "title": "Cycles, of the design's mean",
            "scale": {"zero": False, "nice": True},
            "axis": {"format": ".0%"},
        },
    )
    spec["mark"] = {"type": "tick", "thickness": 1.5, "opacity": 0.55, "height": {"band": 0.7}}
    spec["encoding"] |= {
        "color": {
            "field": "kind",
            "type": "nominal",
            "title": None,
            "scale": {
                "domain": [CONSTANT, DEPENDS, BY_FORMULA],
                "range": [colours("series-2"), colours("series-1"), colours("ink-2")],
            },
        },
        "tooltip": [
            _field("name", "design"),
            _field("cycles", "cycles"),
            _field("weight", "ones in the exponent"),
            _field("verdict", "verdict"),
            _field("setup", "stage"),
            _field("row", "row"),
        ],
    }
    return spec


def protections(shares: Sequence[str], colours: Colours) -> Spec:
    """What programs cost, of what one costs without protection."""
    x = {
        "field": "percent",
        "title": "Of the fixed window alone (%)",
        "scale": {"zero": True, "nice": True},
        "axis": {"tickCount": 8, "format": "d"},
    }
    bars = _bars("protections", x)
    encoding = bars.pop("encoding")
    kind = {"field": "part", "type": "nominal", "title": None, "sort": list(shares)}
    names = ("series-0", "series-5", "series-1")
    tooltip = [
        _field("name", "program"),
        _field("part", "of"),
        _number("value", "figure"),
        _field("unit", "unit"),
        _number("percent", "of the fixed window alone (%)"),
        _field("row", "row"),
    ]
    return {
        **bars,
        "height": {"step": 26},
        "layer": [
            {
                "mark": {"type": "rule", "color": colours("ink-2"), "strokeWidth": 1},
                "encoding": {"x": {"datum": 100, "type": "quantitative"}},
            },
            {
                "name": "points",
                "mark": {"type": "point", "filled": True, "size": 80},
                "encoding": {
                    **encoding,
                    "color": {
                        **kind,
                        "scale": {"domain": list(shares), "range": [colours(name) for name in names]},
                    },
                    "shape": {
                        **kind,
                        "scale": {"domain": list(shares), "range": ["circle", "square", "diamond"]},
                    },
                    "opacity": _pale(0.95),
                    "tooltip": tooltip,
                },
            },
        ],
    }


GREEN = 2  # of the series: here it would look like a verdict


def ratios(colours: Colours) -> Spec:
    """Ours to what was published, around 1: a point, or a bar where only bounds are known."""
    x = {
        "field": "ratio",
        "title": "Ours / published (left of 1: ours is less)",
        "scale": {"type": "log", "nice": False, "padding": 16},
        "axis": {"format": "~r", "tickCount": 7},
    }
    bars = _bars("ratios", x)
    encoding = bars.pop("encoding")
    tooltip = [
        _field("name", "published"),
        _field("ours", "ours"),
        _number("value", "our figure"),
        _number("published", "published"),
        _field("unit", "unit"),
        _number("ratio", "ratio"),
    ]
    verdict = _field("verdict", "verdict")
    bounds = [_number("upper", "with glitches"), _number("ratio_to", "ratio with glitches")]
    color = {
        "field": "kind",
        "type": "nominal",
        "title": None,
        "scale": {"range": [colours(series(index)) for index in range(9) if index != GREEN]},
    }
    exact, between = ({"filter": f"{sign}isValid(datum.ratio_to)"} for sign in ("!", ""))
    return {
        **bars,
        "height": {"step": 17},
        "layer": [
            {
                "transform": [exact],
                "mark": {"type": "rule", "strokeWidth": 1.2, "color": colours("rule")},
                "encoding": {**encoding, "x2": {"datum": 1}},
            },
            {
                "mark": {"type": "rule", "color": colours("ink-2"), "strokeWidth": 1},
                "encoding": {"x": {"datum": 1, "type": "quantitative"}},
            },
            {
                "name": "points",
                "transform": [exact],
                "mark": {"type": "point", "filled": True, "size": 50, "opacity": 1},
                "encoding": {**encoding, "color": color, "tooltip": [*tooltip, verdict]},
            },
            {
                "name": "ranges",
                "transform": [between],
                "mark": {"type": "bar", "height": 7},
                "encoding": {
                    **encoding,
                    "x2": {"field": "ratio_to"},
                    "color": color,
                    "tooltip": [*tooltip, *bounds, verdict],
                },
            },
        ],
    }
