"""A chart as a picture, by vl-convert: the same specification as in the page, in the colours of the light
theme.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...flow.files import replacing
from .charts import Chart, Spec, apart, config, filled
from .palette import light
from .sections import Content

FORMATS = ("png", "svg")
WIDTH = 660
SCALE = 2.0  # pixels of a PNG for each of its points


def specification(chart: Chart, content: Content) -> Spec:
    """The specification of a chart, with the data that the page shows first."""
    records = first_records(chart, content)
    return {
        **filled(chart, records, content.families),
        "data": {"name": chart.data, "values": records},
        "width": WIDTH,
        "config": printed(),
        "title": headed(chart.title),
    }


def printed() -> Spec:
    """The configuration of charts on paper."""
    return {**config(light), "background": light("paper")}


def headed(title: str) -> Spec:
    """The title above a picture."""
    return {"text": title, "anchor": "start", "fontSize": 14, "color": light("ink")}


def first_records(chart: Chart, content: Content) -> list[dict[str, Any]]:
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
    if format == "svg":
        return vl_convert.vega_to_svg(vega).encode()
    if format == "pdf":
        return vl_convert.vega_to_pdf(vega)
    return vl_convert.vega_to_png(vega, scale=SCALE)


def pictures(content: Content, format: str) -> Iterator[tuple[Chart, str, bytes]]:
    """Every chart with data in the initial view, with its file name and its picture."""
    for chart in content.charts(light):
        if first_records(chart, content):
            yield chart, f"{chart.name}.{format}", drawn(specification(chart, content), format)


def write_all(content: Content, directory: Path, format: str) -> list[Path]:
    """Write every chart to a file of its own; return the paths."""
    paths = []
    for _, name, picture in pictures(content, format):
        paths.append(directory / name)
        with replacing(paths[-1]) as part:
            part.write_bytes(picture)
    return paths
