"""Vega-Lite specifications of the charts, shared by the page, PNG, SVG and PDF.

vl-convert renders the pictures and bundles the scripts for the page, so the page loads nothing. Altair would
write the same dictionaries with more code.

A specification names its data set and does not contain it: the page inserts the filtered records, render_png
all of them. `filled` replaces "@x" and "@y" by the metrics of the axes, and "@families" by the families in
the data.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .captions import CHARTS
from .metrics import METRICS
from .palette import FAMILIES, NAMED, SERIES, Colours, look, module_colours, scales

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"  # an identifier; nothing loads it
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif"
FEW = 24  # a chart with at most this many points labels all of them
MOST_LABELS = 14  # on a front
ON_FRONT = "(datum.before === null || datum['@y'] < datum.before)"
TIMED = "(('@x' !== 'cycles' && '@y' !== 'cycles') || !isValid(datum.clock_ns))"
POINT_SIZE = 64

PRESENT = "@families"
# numbers on a logarithmic axis: SI suffixes from 1 upwards; below, "m" would read as metres
BRIEF = "format(datum.value, datum.value < 1 ? '~r' : '~s')"
LABELS = {
    "type": "label",
    "size": {"signal": "[width, height]"},
    "anchor": ["top-right", "bottom-right", "top-left", "bottom-left", "right", "left"],
    "offset": [8],
    "sort": {"field": "datum.alone", "order": "descending"},  # labels that must find room come first
}
ENDS = "ends_marks"  # Vega's name for the labels at the ends of lines, which _line_ends places
LABEL_ROOM = 130  # pixels to the right of the lines
LABEL_PITCH = 13.5  # pixels from one label to the next

AREA = METRICS["area_um2"].head
LINE_NAME = {"type": "text", "align": "left", "dx": 4, "dy": -4, "fontSize": 10.5}

Spec = dict[str, Any]


class Chart(NamedTuple):
    """A specification with its name, filters and axes."""

    name: str
    spec: Spec
    filters: tuple[str, ...]
    axes: tuple[str, str] | tuple[()] = ()  # metrics, if the reader can choose them

    @property
    def data(self) -> str:
        """The name of its data."""
        return self.spec["data"]["name"]

    @property
    def title(self) -> str:
        return CHARTS[self.name][0]

    @property
    def caption(self) -> str:
        """How to read the chart."""
        return CHARTS[self.name][1]


def config(colours: Colours) -> Spec:
    """Vega-Lite configuration: light axes, no frame, system fonts."""
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
            "symbolBaseFillColor": colours("ink-2"),
            "symbolBaseStrokeColor": colours("ink-2"),
        },
        "text": {"color": colours("ink")},
    }


def filled(chart: Chart, records: Sequence[Mapping[str, Any]], families: Iterable[str]) -> Spec:
    """The specification with the metrics of its axes, and with those families in the legend that the records
    have.
    """
    text = json.dumps(chart.spec)
    for token, name in zip(("@x", "@y"), chart.axes, strict=False):
        head = json.dumps(METRICS[name].head)[1:-1]
        text = text.replace(f"{token}head", head).replace(token, name)
    drawn = (record for record in records if all(record.get(name) for name in chart.axes))
    present = {record.get("family") for record in drawn}
    return json.loads(
        text.replace(json.dumps(PRESENT), json.dumps([name for name in families if name in present]))
    )


def apart(vega: Spec) -> Spec:
    """Return the same chart, as Vega, with point labels that do not overlap; a label without room is hidden.

    Vega-Lite cannot express this; app.js does the same. Keeping labels off the points as well would need a
    canvas, which vl-convert lacks, and at least one point in every layer, which filters may remove.
    """
    _place_labels(vega["marks"], "width", "height")
    return vega


def _place_labels(marks: Sequence[Spec], width: str, height: str) -> None:
    """Place the labels of a view, whose size these signals have, and of the views in it."""
    for mark in marks:
        if mark["type"] == "group":
            sides = (mark["encode"]["update"][side].get("signal") for side in ("width", "height"))
            inner = [own or outer for own, outer in zip(sides, (width, height), strict=True)]
            _place_labels(mark["marks"], *inner)  # a group of a view's lines is as large as the view
        elif mark["type"] == "text" and mark.get("name", "").rpartition("child__")[2] != ENDS:
            mark["transform"] = [{**LABELS, "size": {"signal": f"[{width}, {height}]"}}]


def _tips(*texts: str) -> list[Spec]:
    """Fields of a tooltip from strings "FIELD TITLE", or "FIELD# TITLE" for numbers."""
    tips = []
    for text in texts:
        field, _, title = text.partition(" ")
        number = {"type": "quantitative", "format": ",.5~r"} if field.endswith("#") else {}
        tips.append({"field": field.rstrip("#"), "title": title, **number})
    return tips


def _tooltip(*more: str) -> list[Spec]:
    """The tooltip of a point, a summary; a click shows the rest."""
    return _tips("label design", "nbits bits", "operation operation", "setup stage", *more, "row row")


class Style:
    """The colours of a chart, and the channels that distinguish families."""

    def __init__(self, families: Sequence[str], colours: Colours) -> None:
        self.families, self._colours, self._scales = families, colours, scales(families, colours)

    def __call__(self, name: str) -> str:
        """The colour with this name."""
        return self._colours(name)

    def __getitem__(self, channel: str) -> Spec:
        """The encoding of a channel: color, shape or dash."""
        legend = {"title": None, "values": PRESENT}
        return {"field": "family", "type": "nominal", "scale": self._scales[channel], "legend": legend}

    @property
    def signs(self) -> Spec:
        """The encoding of points: colour and shape."""
        return {"color": self["color"], "shape": self["shape"]}


POINT: Spec = {"type": "point", "filled": True, "size": POINT_SIZE}
HOLLOW: Spec = {"type": "point", "filled": False, "strokeWidth": 2, "size": 90}  # a published figure
PALE: Spec = {"test": "datum.stale", "value": 0.35}
RANK: Spec = {"field": "rank", "type": "quantitative"}  # the order of parts of a bar


def _opacity(otherwise: float = 0.95) -> Spec:
    """Opacity, lower for stale records."""
    return {"condition": PALE, "value": otherwise}


def _layer(mark: Spec, encoding: Spec, where: str | Sequence[Spec] = (), name: str = "") -> Spec:
    """A layer of the records that pass a test or result from transforms."""
    transform = [{"filter": where}] if isinstance(where, str) else where
    layer = {"name": name, "transform": transform, "mark": mark, "encoding": encoding}
    return {key: value for key, value in layer.items() if value}


def _names(field: str, here: Spec, style: Style, where: str | Sequence[Spec]) -> Spec:
    """A layer of text labels at points."""
    mark = {"type": "text", "fontSize": 10.5, "color": style("ink-2")}
    return _layer(mark, {**here, "text": {"field": field}}, where, "names")


def _reference(value: int, style: Style) -> Spec:
    """A vertical reference line."""
    mark = {"type": "rule", "color": style("ink-2"), "strokeWidth": 1}
    return _layer(mark, {"x": {"datum": value, "type": "quantitative"}})


def _tick(style: Style) -> Spec:
    """A tick across a bar."""
    return {"type": "tick", "thickness": 2.5, "color": style("ink"), "height": {"band": 0.9}}


def _chart(data: str, height: int | Spec, *layers: Spec, **more: Any) -> Spec:
    """A chart of one layer, or of several over the same data."""
    drawn = layers[0] if len(layers) == 1 else {"layer": [*layers]}
    return {"data": {"name": data}, "height": height, **drawn, **more}


def _nominal(field: str, domain: Sequence[str], looks: Sequence[str]) -> Spec:
    """An encoding that maps each value of a field to a colour or shape."""
    scale = {"domain": [*domain], "range": [*looks]}
    return {"field": field, "type": "nominal", "title": None, "scale": scale}


def _op(op: str, field: str, name: str) -> Spec:
    """A Vega-Lite operation on a field, and the name of its result."""
    return {"op": op, "field": field, "as": name}


def _count(name: str, *by: str) -> Spec:
    return {"joinaggregate": [{"op": "count", "as": name}], **({"groupby": by} if by else {})}


def _numbered(name: str, along: Spec) -> Spec:
    return {"window": [{"op": "row_number", "as": name}], **along}


def scatter(style: Style) -> Spec:
    """Two metrics against each other, with the Pareto front of each group of comparable points."""
    here = {"x": _log("@x", "@xhead", padding=24), "y": _log("@y", "@yhead", padding=24)}
    shown = {
        **here,
        **style.signs,
        "tooltip": _tooltip("@x# @xhead", "@y# @yhead"),
    }
    # from left to right in each group, the points that are lower than all before (less is better on every
    # axis, see metrics.AXES); cycles form a front only among points without a clock, because at different
    # clocks they are not a cost
    sort = [{"field": "@x"}, {"field": "@y"}]
    along = {"sort": sort, "groupby": ["group"]}
    lowest: list[Spec] = [
        {"window": [_op("min", "@y", "lowest")], **along, "frame": [None, 0]},
        {"window": [_op("lag", "lowest", "before")], **along},
    ]
    front = [
        {"filter": f"datum.kind !== 'published' && !datum.off && {TIMED}"},
        *lowest,
        {"filter": ON_FRONT},
    ]
    # labels: all published points, and all of ours if they are few, else those on a front; of a design at
    # several clocks only the first point, because they may be close together
    published = "datum.kind === 'published'"
    twin = {"test": "datum.kind === 'twin'"}
    named = [
        _count("points"),
        {"filter": f"{published} || !datum.off"},
        *lowest,
        {"filter": f"{published} || {ON_FRONT} || datum.points <= {FEW}"},
        _numbered("nth", {"sort": sort, "groupby": ["group", "label"]}),
        {"filter": f"{published} || datum.nth === 1"},
        _count("many", "kind"),
        {"filter": f"{published} || datum.many <= {MOST_LABELS} || datum.points <= {FEW}"},
    ]
    outlined = {
        **shown,
        "stroke": {"condition": {**twin, "value": style("ink")}, "value": style("paper")},
        "strokeWidth": {"condition": {**twin, "value": 1.6}, "value": 0.6},
        "opacity": _opacity(0.9),
    }
    line = {"type": "line", "interpolate": "step-after", "strokeWidth": 1.2}
    return _chart(
        "points",
        340,
        _layer(
            line, {**here, "detail": {"field": "group"}, "color": {"value": style("ink-2")}}, front, "front"
        ),
        _layer({**HOLLOW, "opacity": 1}, shown, published, "published"),
        _layer(POINT, outlined, "datum.kind !== 'published'", "points"),
        _names("label", here, style, named),
        transform=[{"filter": "datum['@x'] > 0 && datum['@y'] > 0"}],
    )


def _line_ends(here: Spec, height: int, fields: Sequence[str], only: str, style: Style) -> list[Spec]:
    """Return the layers that label lines at their right ends, stacked without overlap and tied to the line.

    A label at rank i and height h (in labels) moves to the mean of i plus the running maximum of h - i from
    below and i plus the running minimum of h - i from above. Both keep labels apart, and so does their mean.
    """
    y, pitch, more = here["y"]["field"], LABEL_PITCH / height, fields[1:]
    along = {"sort": [{"field": y}], "groupby": ["nbits"]}
    text = ["datum.label", *(f"(datum.{name}s > 1 ? ', ' + datum.{name} : '')" for name in more)]
    counts = [f"{name}s" for name in more]
    distinct = [_op("distinct", name, count) for name, count in zip(more, counts, strict=True)]
    transform: list[Spec] = [
        {"filter": only},
        {"joinaggregate": [_op("min", y, "least"), _op("max", y, "most"), *distinct]},
        {"joinaggregate": [_op("max", "nbits", "end"), _op("distinct", "nbits", "steps")], "groupby": fields},
        {"filter": "datum.nbits === datum.end && datum.steps > 1"},
        {"aggregate": [_op("max", y, y)], "groupby": [*fields, "nbits", "least", "most", *counts]},
        _count("lines", "nbits"),
        # labels may need more room than the lines: the axis grows for them
        {"calculate": f"max(0.5, log(datum.most / datum.least)) * {pitch}", "as": "pitch"},
        {"calculate": f"datum.pitch / max(0.3, 1 - {pitch} * datum.lines / 3)", "as": "pitch"},
        _numbered("rank", along),
        {"calculate": f"log(datum['{y}']) / datum.pitch - datum.rank", "as": "height"},
        {"window": [_op("max", "height", "low")], **along, "frame": [None, 0]},
        {"window": [_op("min", "height", "high")], **along, "frame": [0, None]},
        {"calculate": "exp(((datum.low + datum.high) / 2 + datum.rank) * datum.pitch)", "as": "place"},
        {"calculate": " + ".join(text), "as": "text"},
    ]
    quiet = style("ink-2")
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
    metric: str, title: str, height: int, fields: Sequence[str], only: str, style: Style
) -> tuple[Spec, list[Spec]]:
    """Return the axes of a metric against the width, and the layers of its lines."""
    here = {"x": _log("nbits", "Width (bits)", base=2, right=LABEL_ROOM), "y": _log(metric, title)}
    detail = [{"field": name} for name in fields]
    line = _layer(
        {"type": "line", "strokeWidth": 1.3, "opacity": 0.75},
        {**here, "color": style["color"], "strokeDash": style["dash"], "detail": detail},
        only,
    )
    return here, [*_line_ends(here, height, fields, only, style), line]


def widths(style: Style) -> Spec:
    """Cycles against the width: lines by formula, points by measurement and from papers."""
    height, title = 460, METRICS["cycles"].title
    formula, measured, published = (
        f"datum.source === '{source}'" for source in ("formula", "measured", "published")
    )
    here, lines = _lines("cycles", title, height, ("label", "operation"), "datum.line", style)
    plain = {**here, "color": style["color"], "tooltip": _tooltip("cycles# cycles")}
    shaped = {**plain, **style.signs}
    return _chart(
        "widths",
        height,
        *lines,
        _layer({**POINT, "size": 10}, plain, formula, "formula"),
        _layer(POINT, {**shaped, "opacity": _opacity()}, measured, "measured"),
        _layer(HOLLOW, shaped, published, "published"),
    )


def grown(metric: str, style: Style) -> Spec:
    """A metric of silicon against the width, a line for each design, interface, stage and operation."""
    height, title = 320, METRICS[metric].head
    positive = f"datum['{metric}'] > 0"
    fields = ("label", "interface", "stage", "operation")
    here, lines = _lines(metric, title, height, fields, positive, style)
    shown = {**here, **style.signs, "opacity": _opacity(), "tooltip": _tooltip(f"{metric}# {title}")}
    return _chart("grown", height, *lines, _layer(POINT, shown, positive, "points"))


def _log(name: str, title: str, base: int = 10, right: int = 0, padding: int = 16) -> Spec:
    """A logarithmic axis with padding, and with `right` pixels reserved for labels."""
    scale = {"type": "log", "nice": False, "padding": padding}
    if right:
        scale["range"] = [0, {"expr": f"width - {right}"}]
    axis: Spec = {"labelOverlap": "greedy"}
    if base == 2:
        scale["base"] = base
        axis |= {"format": "d", "values": [2**power for power in range(3, 13)]}
    else:
        axis |= {"tickCount": 6, "labelExpr": BRIEF}
    return {"field": name, "type": "quantitative", "title": title, "scale": scale, "axis": axis}


def _bars(field: str, title: str, step: int = 22, **x: Any) -> tuple[Spec, Spec]:
    """The encoding of horizontal bars, one per line, and their height."""
    y = {
        "field": "name",
        "type": "nominal",
        "title": None,
        "sort": {"field": "order", "op": "min"},
        "axis": {"domain": False, "ticks": False, "labelPadding": 6},
    }
    x = {"field": field, "title": title, "type": "quantitative", "axis": {"tickCount": 8}, **x}
    return {"y": y, "x": x}, {"step": step}


def _bar(band: float, **more: Any) -> Spec:
    return {"type": "bar", "height": {"band": band}, **more}


def areas(classes: Sequence[str], style: Style) -> Spec:
    """Area by class of module: multipliers in the colour of their family, everything else grey."""
    encoding, height = _bars("area_um2", AREA, stack="zero")
    looks = map(style, [*module_colours(classes[:-1], style.families), "rule"])
    *tips, share, row = _tips(
        "name design", "part module", "units modules", f"area_um2# {AREA}", "share# share", "row row"
    )
    tooltip = [*tips, {**share, "format": ".1%"}, row]
    more = {"color": _nominal("part", classes, [*looks]), "order": RANK, "tooltip": tooltip}
    bar = _bar(0.76, stroke=style("paper"), strokeWidth=0.7)
    return _chart("areas", height, _layer(bar, encoding | more))


def cores(style: Style) -> Spec:
    """Area against the time of a product, with a floor of area x time for each width."""
    here = {"x": _log("product_ns", "Interval between products (ns)"), "y": _log("area_um2", AREA)}
    floor, core = (f"datum.kind === '{kind}'" for kind in ("floor", "core"))
    quiet = {**here, "color": {"value": style("ink-2")}}
    tooltip = _tips(
        "label core",
        "nbits bits",
        "setup stage",
        "product_ns# interval (ns)",
        f"area_um2# {AREA}",
        "area_time# area × time (mm² ns)",
        "floor_ratio# of the floor",
        "row row",
    )
    line = {"type": "line", "strokeWidth": 1.2, "strokeDash": [5, 3]}
    return _chart(
        "cores",
        400,
        _layer(line, {**quiet, "detail": {"field": "name"}}, floor, "floor"),
        _layer(LINE_NAME, {**quiet, "text": {"field": "name"}}, f"{floor} && !datum.last", "floors"),
        _layer(POINT, {**here, **style.signs, "opacity": _opacity(), "tooltip": tooltip}, core, "points"),
        _names("name", here, style, core),
    )


KINDS = {"ours": "circle", "twin": "square", "foreign": "triangle-up", "published": "diamond"}


def private(style: Style) -> Spec:
    """Area against the time of a private operation, with lines of equal area x time and floors of area."""
    here = {
        "x": _log("operation_us", "Time of a private operation (µs)"),
        "y": _log("area_um2", AREA),
    }
    equal, floor = "datum.kind === 'equal'", "datum.kind === 'floor'"
    machine = f"!({equal} || {floor})"
    quiet = {**here, "color": {"value": style("rule")}, "detail": {"field": "name"}}
    named = {**here, "color": {"value": style("ink-2")}, "text": {"field": "name"}}
    groups = [*filter(FAMILIES.__contains__, style.families), NAMED]
    looks = {
        "color": _nominal("group", groups, [style(look(name).colour) for name in groups]),
        "shape": _nominal("kind", [*KINDS], [*KINDS.values()]),
    }
    tooltip = _tips(
        "label machine",
        "kind kind",
        "nbits bits",
        "operation_us# time (µs)",
        f"area_um2# {AREA}",
        "area_time# area × time (mm² µs)",
        "constant_time constant time",
        "setup stage",
        "row row",
    )
    sort = {"sort": [{"field": "operation_us"}], "groupby": ["nbits", "published"]}
    lowest: list[Spec] = [
        {"filter": machine},
        {"calculate": "datum.kind === 'published'", "as": "published"},
        {"window": [_op("min", "area_um2", "lowest")], **sort, "frame": [None, 0]},
        {"joinaggregate": [_op("max", "nbits", "widest")], "groupby": ["family"]},
        {"calculate": f"datum.group === '{NAMED}' || datum.nbits === datum.widest", "as": "alone"},
        {"filter": "datum.alone || datum.area_um2 <= datum.lowest"},
    ]
    return _chart(
        "choices",
        390,
        _layer({"type": "line", "strokeWidth": 1}, quiet, equal, "equal"),
        _layer({"type": "line", "strokeDash": [5, 3]}, quiet, floor, "floor"),
        _layer(LINE_NAME, named, f"{equal} && !datum.last", "lines"),
        _layer({**LINE_NAME, "align": "right"}, named, f"{floor} && datum.last", "ends"),
        _layer(POINT, {**here, **looks, "opacity": _opacity(), "tooltip": tooltip}, machine, "points"),
        _names("name", here, style, lowest),
    )


SHARES = ("without glitches", "glitches")


def energies(style: Style) -> Spec:
    """Energy of an operation without glitches, and the energy that glitches add: a bar for each operation."""
    unit = METRICS["energy_nj"].shown_unit
    encoding, height = _bars("energy_nj", f"Energy without glitches, and added by glitches ({unit})")
    encoding["tooltip"] = _tips(
        "name design", "operation operation", "part share", f"energy_nj# {unit}", "row row"
    )
    scale = {"domain": SHARES, "range": [1, 0.4]}
    shares = {"field": "part", "type": "ordinal", "title": None, "scale": scale}
    bar = {**encoding, "color": style["color"], "opacity": shares, "order": RANK}
    return _chart(
        "energies",
        height,
        _layer(_bar(0.6), bar, "datum.part !== 'published'"),
        _layer(_tick(style), encoding, "datum.part === 'published'"),
    )


CONSTANT, DEPENDS, BY_FORMULA = "as many cycles for all", "depends on the exponent", "by formula"


def leakage(style: Style) -> Spec:
    """The cycles of many exponents of one length: a constant-time design has one tick."""
    encoding, height = _bars(
        "relative",
        "Cycles relative to the design's mean",
        scale={"zero": False, "nice": True},
        axis={"format": ".0%"},
    )
    looks = [*map(style, ("series-2", "series-1", "ink-2"))]
    encoding["color"] = _nominal("kind", (CONSTANT, DEPENDS, BY_FORMULA), looks)
    encoding["tooltip"] = _tips(
        "name design",
        "cycles cycles",
        "weight ones in the exponent",
        "verdict verdict",
        "setup stage",
        "row row",
    )
    tick = {"type": "tick", "thickness": 1.5, "opacity": 0.55, "height": {"band": 0.7}}
    return _chart("leakage", height, _layer(tick, encoding))


GREEN = 2  # index of the series colour that would look like a verdict here


def ratios(style: Style) -> Spec:
    """Our figures divided by published ones: a point, or a bar if only bounds are known."""
    encoding, height = _bars(
        "ratio",
        "Ours / published (left of 1: ours is lower)",
        17,
        scale={"type": "log", "nice": False, "padding": 16},
        axis={"format": "~r", "tickCount": 7},
    )
    tips = (
        "name published",
        "ours ours",
        "value# our figure",
        "published# published",
        "unit unit",
        "ratio# ratio",
    )
    bounds = ("upper# with glitches", "ratio_to# ratio with glitches")
    scale = {"range": [style(f"series-{index}") for index in range(len(SERIES)) if index != GREEN]}
    shown = {**encoding, "color": {"field": "kind", "type": "nominal", "title": None, "scale": scale}}
    exact, between = "!isValid(datum.ratio_to)", "isValid(datum.ratio_to)"
    rule = {"type": "rule", "strokeWidth": 1.2, "color": style("rule")}
    points = {**shown, "tooltip": _tips(*tips, "verdict verdict")}
    ranges = {**shown, "x2": {"field": "ratio_to"}, "tooltip": _tips(*tips, *bounds, "verdict verdict")}
    return _chart(
        "ratios",
        height,
        _layer(rule, {**encoding, "x2": {"datum": 1}}, exact),
        _reference(1, style),
        _layer({**POINT, "size": 50, "opacity": 1}, points, exact, "points"),
        _layer({"type": "bar", "height": 7}, ranges, between, "ranges"),
    )
