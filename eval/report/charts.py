"""The charts, as Vega-Lite: plain dictionaries, each made once for the page, for PNG and for SVG.

Why Vega-Lite, and why without Altair: a chart is data (this file holds all of it), a browser draws it with
tooltips and clicks from the very specification that vl-convert draws as a picture, and vl-convert brings the
scripts along, so that nothing is loaded from elsewhere. Altair would write the same dictionaries in more
words.

A specification names its data and leaves them out: the page puts in what its filters let through, `static`
all of it. "@x" and "@y" stand for metrics that the reader may choose, "@families" for the families that are
in the data (`filled`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .captions import CHARTS
from .metrics import METRICS
from .palette import Colours, module_colours, scales, series

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
ENDS = "ends_marks"  # Vega's name for the labels at the ends of lines, which have places of their own
LABEL_ROOM = 130  # pixels to the right of the lines
LABEL_PITCH = 13.5  # pixels from one label to the next

Spec = dict[str, Any]


@dataclass(frozen=True)
class Chart:
    """A specification with what stands around it."""

    name: str
    data: str  # the name of its data
    spec: Spec
    filters: tuple[str, ...]
    axes: tuple[str, str] | None = None  # metrics, where the reader may choose them

    @property
    def title(self) -> str:
        return CHARTS[self.name][0]

    @property
    def caption(self) -> str:
        """The finding that the chart shows."""
        return CHARTS[self.name][1]


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
    """The specification of a chart with the metrics of its axes, and of the families those that are there in
    its legend.
    """
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
    """Return the same chart, as Vega, with point labels that do not overlap; a label without room is hidden.

    Vega-Lite cannot express this; app.js does the same. Keeping labels off the points as well would need a
    canvas, which vl-convert lacks, and a point of every kind, which a choice of filters may not leave.
    """
    for mark in vega["marks"]:
        if mark["type"] == "text" and mark.get("name") != ENDS:
            mark["transform"] = [LABELS]
    return vega


def _fields(**titles: str) -> list[Spec]:
    """Fields by name, with the titles that a tooltip gives them."""
    return [{"field": name, "title": title} for name, title in titles.items()]


def _number(name: str, title: str) -> Spec:
    return {"field": name, "title": title, "type": "quantitative", "format": ",.5~r"}


def _tooltip(*more: Spec) -> list[Spec]:
    """The summary of a point; a click shows the rest."""
    return [
        *_fields(label="design", nbits="bits", operation="operation", setup="stage"),
        *more,
        *_fields(row="row"),
    ]


class _Families:
    """The channels that distinguish families."""

    def __init__(self, families: Sequence[str], colours: Colours) -> None:
        self._scales = scales(families, colours)

    def __getitem__(self, channel: str) -> Spec:
        """The encoding of a channel: color, shape or dash."""
        legend = {"title": None, "values": PRESENT}
        return {"field": "family", "type": "nominal", "scale": self._scales[channel], "legend": legend}

    @property
    def signs(self) -> Spec:
        """The encoding of points."""
        return {"color": self["color"], "shape": self["shape"]}


POINT: Spec = {"type": "point", "filled": True, "size": POINT_SIZE}
HOLLOW: Spec = {"type": "point", "filled": False, "strokeWidth": 2, "size": 90}  # a published figure
PALE: Spec = {"test": "datum.stale", "value": 0.35}
RANK: Spec = {"field": "rank", "type": "quantitative"}  # the order of parts of a bar


def _opacity(otherwise: float = 0.95) -> Spec:
    """Paler if out of date."""
    return {"condition": PALE, "value": otherwise}


def _layer(mark: Spec, encoding: Spec, where: str | Sequence[Spec] = (), name: str = "") -> Spec:
    """A layer of the records that pass a test, or come out of transforms."""
    transform = [{"filter": where}] if isinstance(where, str) else list(where)
    return {
        **({"name": name} if name else {}),
        **({"transform": transform} if transform else {}),
        "mark": mark,
        "encoding": encoding,
    }


def _names(field: str, here: Spec, colours: Colours, where: str | Sequence[Spec]) -> Spec:
    """A layer of names at points."""
    mark = {"type": "text", "fontSize": 10.5, "color": colours("ink-2")}
    return _layer(mark, {**here, "text": {"field": field}}, where, "names")


def _reference(value: int, colours: Colours) -> Spec:
    """A vertical line to compare with."""
    mark = {"type": "rule", "color": colours("ink-2"), "strokeWidth": 1}
    return _layer(mark, {"x": {"datum": value, "type": "quantitative"}})


def _tick(colours: Colours) -> Spec:
    """A tick across a bar."""
    return {"type": "tick", "thickness": 2.5, "color": colours("ink"), "height": {"band": 0.9}}


def _layers(data: str, height: int | Spec, layers: Sequence[Spec], **more: Any) -> Spec:
    """A chart of layers over the same data."""
    return {"data": {"name": data}, "height": height, "layer": layers, **more}


def _nominal(field: str, domain: Sequence[str], looks: Sequence[str]) -> Spec:
    """A channel with a look for each value of a field."""
    scale = {"domain": list(domain), "range": list(looks)}
    return {"field": field, "type": "nominal", "title": None, "scale": scale}


def scatter(families: Sequence[str], colours: Colours) -> Spec:
    """Two metrics against each other, with the front of each group of points that may be compared."""
    family = _Families(families, colours)
    here: Spec = {"x": _log("@x", "@xhead", padding=24), "y": _log("@y", "@yhead", padding=24)}
    shown: Spec = {
        **here,
        **family.signs,
        "tooltip": _tooltip(_number("@x", "@xhead"), _number("@y", "@yhead")),
    }
    # from left to right in each group: those that are lower than all before (less is better on every axis:
    # metrics.AXES); cycles make a front only where there is no clock, as those of different clocks are no
    # cost
    along = {"sort": [{"field": "@x"}, {"field": "@y"}], "groupby": ["group"]}
    front: list[Spec] = [
        {"filter": f"datum.kind !== 'published' && !datum.off && {TIMED}"},
        {"window": [{"op": "min", "field": "@y", "as": "lowest"}], **along, "frame": [None, 0]},
        {"window": [{"op": "lag", "field": "lowest", "as": "before"}], **along},
        {"filter": ON_FRONT},
    ]
    # names: of all published points, and of all of ours where they are few, else of those on a front; of a
    # design at several clocks only the first, as they may lie close
    published = "datum.kind === 'published'"
    twin = {"test": "datum.kind === 'twin'"}
    named: list[Spec] = [
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
    outlined = {
        **shown,
        "stroke": {"condition": {**twin, "value": colours("ink")}, "value": colours("paper")},
        "strokeWidth": {"condition": {**twin, "value": 1.6}, "value": 0.6},
        "opacity": _opacity(0.9),
    }
    return _layers(
        "points",
        340,
        [
            _layer(
                {"type": "line", "interpolate": "step-after", "strokeWidth": 1.2},
                {**here, "detail": {"field": "group"}, "color": {"value": colours("ink-2")}},
                front,
                "front",
            ),
            _layer({**HOLLOW, "opacity": 1}, shown, published, "published"),
            _layer(POINT, outlined, "datum.kind !== 'published'", "points"),
            _names("label", here, colours, named),
        ],
        transform=[{"filter": "datum['@x'] > 0 && datum['@y'] > 0"}],
    )


def _line_ends(here: Spec, height: int, fields: Sequence[str], only: str, colours: Colours) -> list[Spec]:
    """Return the layers that label lines at their right ends, stacked without overlap and tied to the line.

    A label at rank i and height h (in labels) moves to the mean of i plus the running maximum of h - i from
    below and i plus the running minimum of h - i from above. Both keep labels apart, and so does their mean.
    """

    def distinguished(name: str) -> str:
        return f"(datum.{name}s > 1 ? ', ' + datum.{name} : '')"

    y, pitch, more = here["y"]["field"], LABEL_PITCH / height, fields[1:]
    along: Spec = {"sort": [{"field": y}], "groupby": ["nbits"]}
    transform: list[Spec] = [
        {"filter": only},
        {
            "joinaggregate": [
                {"op": "min", "field": y, "as": "least"},
                {"op": "max", "field": y, "as": "most"},
                *({"op": "distinct", "field": name, "as": f"{name}s"} for name in more),
            ]
        },
        {
            "joinaggregate": [
                {"op": "max", "field": "nbits", "as": "end"},
                {"op": "distinct", "field": "nbits", "as": "steps"},
            ],
            "groupby": list(fields),
        },
        {"filter": "datum.nbits === datum.end && datum.steps > 1"},
        {
            "aggregate": [{"op": "max", "field": y, "as": y}],
            "groupby": [*fields, "nbits", "least", "most", *(f"{name}s" for name in more)],
        },
        {"joinaggregate": [{"op": "count", "as": "lines"}], "groupby": ["nbits"]},
        # labels may need more room than the lines: the axis grows for them
        {"calculate": f"max(0.5, log(datum.most / datum.least)) * {pitch}", "as": "pitch"},
        {"calculate": f"datum.pitch / max(0.3, 1 - {pitch} * datum.lines / 3)", "as": "pitch"},
        {"window": [{"op": "row_number", "as": "rank"}], **along},
        {"calculate": f"log(datum['{y}']) / datum.pitch - datum.rank", "as": "height"},
        {"window": [{"op": "max", "field": "height", "as": "low"}], **along, "frame": [None, 0]},
        {"window": [{"op": "min", "field": "height", "as": "high"}], **along, "frame": [0, None]},
        {"calculate": "exp(((datum.low + datum.high) / 2 + datum.rank) * datum.pitch)", "as": "place"},
        {"calculate": " + ".join(["datum.label", *map(distinguished, more)]), "as": "text"},
    ]
    quiet = colours("ink-2")
    tie = {"type": "rule", "strokeWidth": 0.7, "color": quiet, "xOffset": 6, "x2Offset": 19}
    label = {"type": "text", "align": "left", "baseline": "middle", "dx": 22, "fontSize": 10.5}
    place = {**here["y"], "field": "place"}
    return [
        _layer(tie, {**here, "x2": {"field": "nbits"}, "y2": {"field": "place"}}, transform, "ties"),
        _layer(
            label,
            {**here, "y": place, "text": {"field": "text"}, "color": {"value": quiet}},
            transform,
            ENDS.removesuffix("_marks"),
        ),
    ]


def _lines(
    metric: str,
    title: str,
    height: int,
    fields: Sequence[str],
    only: str,
    family: _Families,
    colours: Colours,
) -> tuple[Spec, list[Spec]]:
    """Return the axes of a metric against the width, and the layers of its lines."""
    here: Spec = {"x": _log("nbits", "Width (bits)", base=2, right=LABEL_ROOM), "y": _log(metric, title)}
    detail = [{"field": name} for name in fields]
    line = _layer(
        {"type": "line", "strokeWidth": 1.3, "opacity": 0.75},
        {**here, "color": family["color"], "strokeDash": family["dash"], "detail": detail},
        only,
    )
    return here, [*_line_ends(here, height, fields, only, colours), line]


def widths(families: Sequence[str], colours: Colours) -> Spec:
    """Cycles against the width: lines by formula, points as measured."""
    family, height, title = _Families(families, colours), 460, METRICS["cycles"].title
    formula, measured, published = (
        f"datum.source === '{source}'" for source in ("formula", "measured", "published")
    )
    here, lines = _lines("cycles", title, height, ("label", "operation"), formula, family, colours)
    plain = {**here, "color": family["color"], "tooltip": _tooltip(_number("cycles", "cycles"))}
    shaped = {**plain, **family.signs}
    layers = [
        *lines,
        _layer({**POINT, "size": 10}, plain, formula, "formula"),
        _layer(POINT, {**shaped, "opacity": _opacity()}, measured, "measured"),
        _layer(HOLLOW, shaped, published, "published"),
    ]
    return _layers("widths", height, layers)


def grown(metric: str, families: Sequence[str], colours: Colours) -> Spec:
    """A metric of silicon against the width, a line for each design, interface and operation."""
    family, height, title = _Families(families, colours), 320, METRICS[metric].head
    positive = f"datum['{metric}'] > 0"
    fields = ("label", "interface", "stage", "operation")
    here, lines = _lines(metric, title, height, fields, positive, family, colours)
    shown = {**here, **family.signs, "opacity": _opacity(), "tooltip": _tooltip(_number(metric, title))}
    return _layers("grown", height, [*lines, _layer(POINT, shown, positive, "points")])


def _log(name: str, title: str, base: int = 10, right: int = 0, padding: int = 16) -> Spec:
    """A logarithmic axis with some room around, and as many more pixels for labels on the right."""
    scale: Spec = {"type": "log", "nice": False, "padding": padding}
    if right:
        scale["range"] = [0, {"expr": f"width - {right}"}]
    axis: Spec = {"labelOverlap": "greedy"}
    if base == 2:
        scale["base"] = base
        axis |= {"format": "d", "values": [2**power for power in range(3, 13)]}
    else:
        axis |= {"tickCount": 6, "labelExpr": BRIEF}
    return {"field": name, "type": "quantitative", "title": title, "scale": scale, "axis": axis}


def _bars(x: Spec, step: int = 22) -> tuple[Spec, Spec]:
    """Horizontal bars, one a line: the encoding, and their height."""
    y = {
        "field": "name",
        "type": "nominal",
        "title": None,
        "sort": {"field": "order", "op": "min"},
        "axis": {"domain": False, "ticks": False, "labelPadding": 6},
    }
    return {"y": y, "x": {"type": "quantitative", "axis": {"tickCount": 8}, **x}}, {"step": step}


def areas(classes: Sequence[str], families: Sequence[str], colours: Colours) -> Spec:
    """Area by classes of modules: multipliers in the colour of their family, all else in greys."""
    head = METRICS["area_um2"].head
    encoding, height = _bars({"field": "area_um2", "title": head, "stack": "zero"})
    looks = [*map(colours, module_colours(classes[:-1], families)), colours("rule")]
    tooltip = [
        *_fields(name="design", part="module", units="of these"),
        _number("area_um2", head),
        {**_number("share", "share"), "format": ".1%"},
        *_fields(row="row"),
    ]
    more = {"color": _nominal("part", classes, looks), "order": RANK, "tooltip": tooltip}
    return {
        "data": {"name": "areas"},
        "height": height,
        "mark": {"type": "bar", "stroke": colours("paper"), "strokeWidth": 0.7, "height": {"band": 0.76}},
        "encoding": {**encoding, **more},
    }


def paths(families: Sequence[str], colours: Colours) -> Spec:
    """How long the longest path is, and how long the clock lets it be."""
    encoding, height = _bars({"field": "path_ns", "title": "Longest path (ns)"})
    tooltip = [
        *_fields(name="design"),
        _number("path_ns", "longest path (ns)"),
        _number("clock_ns", "clock period (ns)"),
        *_fields(start="from", end="to", through="through", row="row"),
    ]
    bar = {**encoding, "color": _Families(families, colours)["color"], "tooltip": tooltip}
    clock = {**encoding, "x": {**encoding["x"], "field": "clock_ns"}, "tooltip": tooltip}
    layers = [_layer({"type": "bar", "height": {"band": 0.6}}, bar), _layer(_tick(colours), clock)]
    return _layers("paths", height, layers)


def cores(families: Sequence[str], colours: Colours) -> Spec:
    """Area against the time of a product, with a floor of area x time for each width."""
    family, head = _Families(families, colours), METRICS["area_um2"].head
    here: Spec = {"x": _log("product_ns", "Interval between products (ns)"), "y": _log("area_um2", head)}
    floor, core = (f"datum.kind === '{kind}'" for kind in ("floor", "core"))
    quiet = {**here, "color": {"value": colours("ink-2")}}
    tooltip = [
        *_fields(label="core", nbits="bits", setup="stage"),
        _number("product_ns", "interval (ns)"),
        _number("area_um2", head),
        _number("area_time", "area × time (mm² ns)"),
        _number("floor_ratio", "of the floor"),
        *_fields(row="row"),
    ]
    layers = [
        _layer(
            {"type": "line", "strokeWidth": 1.2, "strokeDash": [5, 3]},
            {**quiet, "detail": {"field": "name"}},
            floor,
            "floor",
        ),
        _layer(
            {"type": "text", "align": "left", "dx": 4, "dy": -4, "fontSize": 10.5},
            {**quiet, "text": {"field": "name"}},
            [{"filter": floor}, {"filter": "!datum.last"}],
            "floors",
        ),
        _layer(POINT, {**here, **family.signs, "opacity": _opacity(), "tooltip": tooltip}, core, "points"),
        _names("name", here, colours, core),
    ]
    return _layers("cores", 400, layers)


SHARES = ("without glitches", "glitches")


def energies(families: Sequence[str], colours: Colours) -> Spec:
    """Energy of an operation without glitches, and what these add: a bar for each operation."""
    unit = METRICS["energy_nj"].shown_unit
    head = f"Energy without glitches, and what these add ({unit})"
    encoding, height = _bars({"field": "energy_nj", "title": head})
    encoding["tooltip"] = [
        *_fields(name="design", operation="operation", part="share"),
        _number("energy_nj", unit),
        *_fields(row="row"),
    ]
    bar = {
        **encoding,
        "color": _Families(families, colours)["color"],
        "opacity": {
            "field": "part",
            "type": "ordinal",
            "title": None,
            "scale": {"domain": list(SHARES), "range": [1, 0.4]},
        },
        "order": RANK,
    }
    layers = [
        _layer({"type": "bar", "height": {"band": 0.6}}, bar, "datum.part !== 'published'"),
        _layer(_tick(colours), encoding, "datum.part === 'published'"),
    ]
    return _layers("energies", height, layers)


CONSTANT, DEPENDS, BY_FORMULA = "as many cycles for all", "depends on the exponent", "by formula"


def leakage(colours: Colours) -> Spec:
    """The cycles of many exponents of one length: a constant-time design has one tick."""
    encoding, height = _bars(
        {
            "field": "relative",
            "title": "Cycles, of the design's mean",
            "scale": {"zero": False, "nice": True},
            "axis": {"format": ".0%"},
        }
    )
    looks = [colours(name) for name in ("series-2", "series-1", "ink-2")]
    tooltip = _fields(
        name="design",
        cycles="cycles",
        weight="ones in the exponent",
        verdict="verdict",
        setup="stage",
        row="row",
    )
    kind = _nominal("kind", [CONSTANT, DEPENDS, BY_FORMULA], looks)
    return {
        "data": {"name": "leakage"},
        "height": height,
        "mark": {"type": "tick", "thickness": 1.5, "opacity": 0.55, "height": {"band": 0.7}},
        "encoding": {**encoding, "color": kind, "tooltip": tooltip},
    }


def protections(shares: Sequence[str], colours: Colours) -> Spec:
    """What programs cost, of what one costs without protection."""
    x = {
        "field": "percent",
        "title": "Of the fixed window alone (%)",
        "scale": {"zero": True, "nice": True},
        "axis": {"tickCount": 8, "format": "d"},
    }
    encoding, height = _bars(x, 26)
    looks = [colours(name) for name in ("series-0", "series-5", "series-1")]
    tooltip = [
        *_fields(name="program", part="of"),
        _number("value", "figure"),
        *_fields(unit="unit"),
        _number("percent", "of the fixed window alone (%)"),
        *_fields(row="row"),
    ]
    shown = {
        **encoding,
        "color": {**_nominal("part", shares, looks), "sort": list(shares)},
        "shape": {**_nominal("part", shares, ["circle", "square", "diamond"]), "sort": list(shares)},
        "opacity": _opacity(),
        "tooltip": tooltip,
    }
    layers = [_reference(100, colours), _layer({**POINT, "size": 80}, shown, name="points")]
    return _layers("protections", height, layers)


GREEN = 2  # of the series: here it would look like a verdict


def ratios(colours: Colours) -> Spec:
    """Ours to what was published, around 1: a point, or a bar where only bounds are known."""
    x = {
        "field": "ratio",
        "title": "Ours / published (left of 1: ours is less)",
        "scale": {"type": "log", "nice": False, "padding": 16},
        "axis": {"format": "~r", "tickCount": 7},
    }
    encoding, height = _bars(x, 17)
    tooltip = [
        *_fields(name="published", ours="ours"),
        _number("value", "our figure"),
        _number("published", "published"),
        *_fields(unit="unit"),
        _number("ratio", "ratio"),
    ]
    verdict = _fields(verdict="verdict")
    bounds = [_number("upper", "with glitches"), _number("ratio_to", "ratio with glitches")]
    scale = {"range": [colours(series(index)) for index in range(9) if index != GREEN]}
    shown = {**encoding, "color": {"field": "kind", "type": "nominal", "title": None, "scale": scale}}
    exact, between = "!isValid(datum.ratio_to)", "isValid(datum.ratio_to)"
    layers = [
        _layer(
            {"type": "rule", "strokeWidth": 1.2, "color": colours("rule")},
            {**encoding, "x2": {"datum": 1}},
            exact,
        ),
        _reference(1, colours),
        _layer(
            {**POINT, "size": 50, "opacity": 1}, {**shown, "tooltip": [*tooltip, *verdict]}, exact, "points"
        ),
        _layer(
            {"type": "bar", "height": 7},
            {**shown, "x2": {"field": "ratio_to"}, "tooltip": [*tooltip, *bounds, *verdict]},
            between,
            "ranges",
        ),
    ]
    return _layers("ratios", height, layers)
