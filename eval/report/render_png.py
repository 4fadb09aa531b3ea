"""A chart as a picture, by vl-convert: the same specification as in the page, in the colours of the light
theme, as wide as one or two columns of a journal.

For papers, each file comes with the drawn data as CSV and their provenance as JSON: the command that draws
the figure, the version and commit of modexlab that drew it, the drawn records, the measurements behind them
with their commands, commits and rows, and the published sources.
"""

import csv
import io
import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from ...flow.files import replace_json, replace_text, replacing
from ..designs.verilog_header import commit, origin
from ..grouping import grouped
from ..json_values import attributes, json_value
from ..lab.comparison.published_data import UNKNOWN
from ..lab.store.rows import Row
from .charts import Chart, Spec, apart, config, filled
from .palette import light
from .published import citation
from .sections import Content
from .store_view import Record, Records

FORMATS = ("png", "svg")
DPI = 96  # units of a chart, in which text has 10.5 to 12 units: 8 to 9 points in print
WIDTHS = {1: round(3.5 * DPI), 2: round(7.16 * DPI)}  # of one and two columns of an IEEE journal
WIDTH = WIDTHS[2]
PNG_SCALE = 300 / DPI
POINT = 72 / DPI  # a point of a PDF is the unit of its pages
SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)" viewBox')
LEGENDS = {"layout": {"bottom": {"direction": "vertical", "anchor": "start"}}}
# one column: names of bars break before a parenthesis and after a colon
BREAKS = "split(replace(replace(datum.label, ' (netlist', '\\n(netlist'), ': ', ':\\n'), '\\n')"
NARROW: Spec = {
    "axisX": {"titleAnchor": "end"},
    "axisY": {
        "labelLimit": 170,
        "labelExpr": f"length(datum.label) > 20 ? {BREAKS} : datum.label",
        "labelLineHeight": 11,
    },
    "legend": {"columns": 2},
}
BREAK = 9  # added to the height of a bar for its second line of text


def specification(chart: Chart, content: Content, columns: int = 2) -> Spec:
    """The specification of a chart in these columns of a journal, with the data that the page shows first."""
    records, looks = first_records(chart, content), printed()
    made = filled(chart, records, content.families)
    looks["legend"] |= LEGENDS
    if columns == 1:
        looks |= {name: {**looks.get(name, {}), **more} for name, more in NARROW.items()}
        if isinstance(made["height"], dict):
            made["height"]["step"] += BREAK
    return {
        **made,
        "data": {"name": chart.data, "values": records},
        "width": WIDTHS[columns],
        "autosize": {"type": "fit-x", "contains": "padding"},
        "padding": 2,
        "config": looks,
    }


def printed() -> Spec:
    """The configuration of charts on paper."""
    return {**config(light), "background": light("paper")}


def first_records(chart: Chart, content: Content) -> Records:
    """The records that pass the filters when the page is opened."""
    wanted = content.opening._asdict() if content.opening is not None else {}
    return [
        record
        for record in content.data[chart.data]
        if all(record.get(name) in (None, "", wanted[name]) for name in chart.filters if name in wanted)
    ]


def drawn(spec: Spec, format: str) -> bytes:
    """A chart as PNG, SVG or PDF."""
    import vl_convert

    vega = apart(vl_convert.vegalite_to_vega(spec))
    if format == "png":
        return vl_convert.vega_to_png(vega, scale=PNG_SCALE)
    svg = vl_convert.vega_to_svg(vega)
    return svg.encode() if format == "svg" else vl_convert.svg_to_pdf(SIZE.sub(_in_points, svg, count=1))


def _in_points(size: re.Match[str]) -> str:
    """The size of a page with the same drawing."""
    return 'width="{:g}" height="{:g}" viewBox'.format(*(POINT * float(value) for value in size.groups()))


def pictures(content: Content, format: str, columns: int = 2) -> Iterator[tuple[Chart, str, bytes]]:
    """Every chart with data in the initial view, with its file name and its picture."""
    for chart in content.charts(light):
        if first_records(chart, content):
            yield chart, f"{chart.name}.{format}", drawn(specification(chart, content, columns), format)


def write_all(
    content: Content, directory: Path, format: str, columns: int, command: Sequence[str]
) -> list[Path]:
    """Write every chart, with its data and provenance; return the paths of the charts. command: that of the
    user.
    """
    measurements = grouped(content.results.history, lambda row: row.measurement)
    published = {
        item["p"]: item
        for item in (
            *(
                citation(machine.number, machine.label, [*machine.figures.values()])
                for machine in content.machines
            ),
            *content.compared.citations,
        )
    }
    paths = []
    for chart, name, picture in pictures(content, format, columns):
        paths.append(directory / name)
        with replacing(paths[-1]) as part:
            part.write_bytes(picture)
        records = first_records(chart, content)
        numbers, cited = (
            dict.fromkeys(filter(None, (record.get(name) for record in records))) for name in "mp"
        )
        provenance = {
            "figure": chart.name,
            **attributes(chart, "title", "caption"),
            "command": shlex.join(command),
            "modexlab": origin()[0],
            "commit": commit() or UNKNOWN,
            "data": records,
            "measurements": [_measurement(measurements[number]) for number in numbers],
            "published": [published[number] for number in cited],
        }
        replace_json(paths[-1].with_suffix(".json"), provenance)
        replace_text(paths[-1].with_suffix(".csv"), as_csv(records))
    return paths


def _measurement(rows: Sequence[Row]) -> Record:
    """A measurement with all of its rows; its command computes them again."""
    first = rows[0]
    return {
        "m": first.measurement,
        "command": shlex.join(first.command),
        "commit": first.details.get("commit") or UNKNOWN,
        **attributes(first, "tests", "tools", "stale"),
        "rows": [
            {"row": row.id, **attributes(row, "operation", "metric", "unit"), "value": json_value(row.value)}
            for row in rows
        ],
    }


def as_csv(records: Records) -> str:
    """The drawn records, with a column for each field that a record has."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [*dict.fromkeys(chain.from_iterable(records))], lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()
