"""The report as one HTML file: everything is in it, and it loads nothing."""

from __future__ import annotations

import functools
import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from html import escape
from importlib import resources
from itertools import groupby
from string import Template
from typing import Any

from ...fl.errors import shown as shortened
from ..lab.stages import STAGES
from .charts import Chart, config
from .content import Content
from .datasets import LEAKAGE, Record, through
from .entries import INTERFACES, names_of_metrics, unit_of
from .metrics import AXES, METRICS, Metric, metric, shown
from .palette import series, style_sheet, variable
from .pictures import Picture
from .published import citation
from .tables import OPERATIONS, Cell, Line, Table

TITLE = "modexlab report"
MOST_MODULES = 24  # of a measurement, in its panel


def page(content: Content) -> str:
    """The whole file."""
    charts = {chart.name: chart for chart in content.charts(variable)}
    sections = _sections(content, charts)
    contents = "".join(f'<a href="#{name}">{escape(title)}</a>' for name, title, _ in sections)
    body = "".join(
        f'<section id="{name}"><h2>{escape(title)}</h2>\n{inside}</section>\n'
        for name, title, inside in sections
    )
    template = Template(_file("page.html"))
    return template.substitute(
        title=TITLE,
        lead=_lead(content),
        variables=style_sheet(),
        style=_file("style.css"),
        filters=_filters(content) if not content.empty else "",
        contents=contents,
        sections=body if not content.empty else _empty(content),
        footer=_footer(content),
        data=for_script(_data(content, list(charts.values()))),
        libraries=libraries() if charts else "",
        script=_file("app.js"),
    )


def for_script(value: Any) -> str:
    """JSON that can stand in a script element: no text in it ends the element, or begins a comment."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


@functools.cache
def libraries() -> str:
    """Vega, Vega-Lite and vega-embed, from vl-convert, in a scope of their own."""
    import vl_convert

    bundle = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # the stub has no default for snippet
    if "</script" in bundle.lower() or "<!--" in bundle:
        bundle = bundle.replace("</", "<\\/").replace("<!--", "<\\!--")
    return f"{{\n{bundle}\n}}"


def _file(name: str) -> str:
    return resources.files(__package__).joinpath("page", name).read_text(encoding="utf-8")


# ---- data


def packed(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Records as columns, and words only once: five thousand points have the same few hundred."""
    names = dict.fromkeys(name for record in records for name in record)
    columns: dict[str, Any] = {}
    for name in names:
        values = [record.get(name) for record in records]
        if all(isinstance(value, str) for value in values) and len(set(values)) < len(values):
            words = {word: index for index, word in enumerate(dict.fromkeys(values))}
            columns[name] = {"words": list(words), "index": [words[value] for value in values]}
        else:
            columns[name] = values
    return {"length": len(records), "columns": columns}


def _data(content: Content, charts: Sequence[Chart]) -> dict[str, Any]:
    names = names_of_metrics(content.entries)
    return {
        "datasets": {name: packed(records) for name, records in content.data.items()},
        "measurements": packed(_measurements(content)),
        "entries": packed(_figures(content)),
        "published": packed(_published(content)),
        "details": {number: _details(each) for number, each in content.details.items()},
        "charts": [asdict(chart) for chart in charts],
        "config": config(variable),
        "metrics": {
            name: _metric(metric(name, unit_of(name, content.entries))) for name in [*METRICS, *names]
        },
        "columns": _columns(content),
    }


def _metric(known: Metric) -> dict[str, str]:
    return {"head": known.head, "title": known.title, "unit": known.shown_unit}


def _columns(content: Content) -> list[dict[str, Any]]:
    """Of the table of all figures."""
    names = names_of_metrics(content.comparable)
    return [
        *(
            {"name": name, "number": name == "nbits"}
            for name in ("label", "nbits", "operation", "what", "setup")
        ),
        *({"name": name, "number": True, "metric": True} for name in names),
    ]


def _measurements(content: Content) -> list[Record]:
    """What is known of each measurement beside its figures."""
    records = []
    for number, entry in {entry.measurement: entry for entry in content.entries}.items():
        row = entry.first
        digest = row.verilog_hash
        records.append(
            {
                "m": number,
                "label": entry.label,
                "nbits": entry.nbits,
                "command": shlex.join(row.command),
                "tests": row.tests,
                "marks": "\n".join(row.marks),
                "setup": entry.setup,
                "interface": INTERFACES.get(entry.interface, entry.interface),
                "parameters": ", ".join(
                    f"{name} = {_value(value)}" for name, value in row.parameters.items()
                ),
                "tools": ", ".join(f"{name} {version}".strip() for name, version in row.tools.items()),
                "verilog": f"SHA-256 {digest[:16]}…" if digest else "",
                "when": row.when.replace("T", " ")[:16] + " UTC",
                "seconds": round(row.seconds, 2),
                "sources": "changed since: measure it again"
                if number in content.stale
                else "unchanged since",
            }
        )
    return records


def _value(value: Any) -> str:
    return shortened(value) if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _figures(content: Content) -> list[Record]:
    """All rows."""
    rows = {row.id: row for entry in content.entries for row in entry.rows.values()}
    return [
        {
            "m": row.measurement,
            "row": row.id,
            "metric": row.metric,
            "operation": row.operation,
            "value": row.value,
        }
        for row in rows.values()
    ]


def _published(content: Content) -> list[Record]:
    own = [citation(each.number, each.label, list(each.figures.values())) for each in content.machines]
    return [*own, *content.compared.citations]


def _details(details: Mapping[str, Any]) -> dict[str, Any]:
    """What the panel of a measurement shows of it."""
    made: dict[str, Any] = {}
    if modules := details.get("area_by_module"):
        largest = sorted(modules, key=lambda each: -each["area_um2"])[:MOST_MODULES]
        made["modules"] = [
            {"path": each["path"] or "all", "area_um2": each["area_um2"]}
            for each in sorted(largest, key=lambda each: each["path"])
        ]
    if path := details.get("worst_path"):
        names = ("start", "end", "cells")
        made["path"] = {name: path.get(name) for name in names} | {"through": through(path)}
    if caveats := details.get("caveats"):
        made["caveats"] = list(caveats)
    return made


# ---- what stands above


def _lead(content: Content) -> str:
    if content.empty:
        return "Modular exponentiation in hardware."
    once = {entry.measurement for entry in content.entries}
    rows = {row.id for entry in content.entries for row in entry.rows.values()}
    subjects = {entry.subject for entry in content.entries}
    widths = sorted({entry.nbits for entry in content.entries})
    bits = f"{widths[0]} bits" if len(widths) == 1 else f"{widths[0]} to {widths[-1]} bits"
    return (
        f"Modular exponentiation in hardware: {shown(len(subjects))} designs and systems, {bits}, {shown(len(once))} measurements, "
        f"{shown(len(rows))} figures. Point at a figure to see where it comes from, click it for the command that makes it again."
    )


def _footer(content: Content) -> str:
    versions: dict[str, None] = {}
    for entry in content.entries:
        versions |= dict.fromkeys(f"{name} {version}".strip() for name, version in entry.first.tools.items())
    tools = f" Tools: {', '.join(versions)}." if versions else ""
    return escape(
        f"Written by modexlab {content.when} from the ledger {content.path.name}.{tools} "
        "Charts by Vega-Lite, which is in this file; nothing is loaded from elsewhere."
    )


def _filters(content: Content) -> str:
    entries = content.comparable or content.entries
    present = {
        "nbits": [str(each) for each in sorted({entry.nbits for entry in entries})],
        "operation": sorted(
            {entry.operation for entry in entries} - {"", LEAKAGE},
            key=lambda name: (name not in OPERATIONS, name != "encrypt", name),
        ),
        "interface": [name for name in INTERFACES if any(entry.interface == name for entry in entries)],
        "stage": [name for name in STAGES if any(entry.stage == name for entry in entries)],
    }
    first = {
        "nbits": str(content.nbits),
        "operation": "encrypt" if "encrypt" in present["operation"] else (present["operation"] or [""])[0],
        "interface": content.interface,
    }
    names = [name for name in names_of_metrics(entries) if name in AXES]
    groups = [
        ("family", "Family", [(name, name, series(place)) for name, place in content.families.items()]),
        ("nbits", "Bits", [(name, name, "") for name in present["nbits"]]),
        ("operation", "Operation", [(name, name, "") for name in present["operation"]]),
        ("interface", "What", [(name, INTERFACES[name], "") for name in present["interface"]]),
        ("stage", "Stage", [(name, name, "") for name in present["stage"]]),
        ("metric", "Metric", [(name, METRICS[name].title, "") for name in names]),
    ]
    made = []
    for name, title, values in groups:
        if len(values) < 2 and name != "family":
            continue
        chips = "".join(
            f'<button type="button" class="chip" data-filter="{name}" data-value="{escape(value)}"'
            f"{' data-single' if name == 'operation' else ''} "
            f'aria-pressed="{str(first.get(name) == value).lower()}">'
            f"{f'<i style=background:var(--{colour})></i>' if colour else ''}{escape(words)}</button>"
            for value, words, colour in values
        )
        made.append(f'<fieldset><span class="name">{title}</span>{chips}</fieldset>')
    buttons = (
        '<button type="button" class="quiet" id="all" title="Choose nothing: show everything">All</button> '
        '<button type="button" class="quiet" id="first" title="As the page was opened">Reset</button>'
    )
    return (
        f'<div class="filters screen" role="search" aria-label="Filters"><form onsubmit="return false">{"".join(made)}'
        f'<span>{buttons}</span><span id="shown" role="status"></span></form></div>'
    )


# ---- sections


def _sections(content: Content, charts: Mapping[str, Chart]) -> list[tuple[str, str, str]]:
    """(name, title, HTML) of those that have something to show."""
    if content.empty:
        return []
    tables = content.tables

    def columns(*parts: str, style: str = "columns") -> str:
        there = [part for part in parts if part]
        return f'<div class="{style}">{"".join(there)}</div>' if len(there) > 1 else "".join(there)

    def chart(name: str) -> str:
        return _chart(charts[name], content) if name in charts else ""

    def table(name: str) -> str:
        return _table(tables[name]) if name in tables else ""

    sections = [
        ("summary", "Summary", _summary(content)),
        ("fronts", "Fronts", columns(chart("area-time"), chart("energy-time"), style="columns wide")),
        ("designs", "Every design", table("designs")),
        (
            "comparison",
            "Beside the papers",
            "".join(_table(each) for each in content.compared.tables) + chart("ratios"),
        ),
        ("widths", "Cycles by width", chart("widths")),
        ("area", "Where the area is", chart("areas")),
        ("critical", "Critical paths", chart("paths") + table("critical")),
        ("energy", "Energy of an operation", chart("energies")),
        ("leakage", "Leakage", table("leaks") + chart("leakage")),
        ("layouts", "Layouts", _pictures(content.pictures, _left_out(content))),
        ("trees", "Trees", _pictures(content.trees, TREES)),
        ("figures", "All figures", _all_figures(content)),
        ("marked", "Marked and failed", table("marked") + table("failed")),
        ("method", "How to read this", _file("method.html")),
    ]
    return [(name, title, inside) for name, title, inside in sections if inside]


ONLY = (
    "Every design",
    "Cycles by width",
    "Where the area is",
    "Energy of an operation",
)  # sections of one part
TREES = "Multipliers of paper 000 are trees of compressors for one modulus; drawn from the plan that the hardware is built from."


def _summary(content: Content) -> str:
    group, lines = content.headline
    tiles = "".join(_tile(line, content.tables["best"]) for line in lines)
    headline = f'<p class="caption">{escape(group)}</p><div class="tiles">{tiles}</div>' if tiles else ""
    trust = "".join(
        f'<li class="{"quiet-cell" if each.good is None else "good" if each.good else "bad"}">{escape(each.text)}</li>'
        for each in content.trust
    )
    best = _table(content.tables["best"]) if "best" in content.tables else ""
    return (
        f'<p class="note paper-only" id="filtered"></p>{headline}<div class="columns lopsided">{best}'
        f'<div class="block"><h3>Can I trust it?</h3><ul class="trust">{trust}</ul></div></div>'
    )


def _tile(line: Line, best: Table) -> str:
    """One figure of the headline."""
    cells = {column.head: cell for column, cell in zip(best.columns, line.cells, strict=True)}
    criterion, design, ours, unit, quotient, rival = (
        cells[head] for head in ("Best at", "Design", "Ours", "Unit", "Ratio", "Of paper")
    )
    beside = (
        f"{quotient.text} × paper {rival.text}"
        if quotient.value is not None
        else "nothing comparable is published"
    )
    return (
        f'<div class="tile"><span>{escape(criterion.text)}</span><strong>{_link(ours)} <small>{escape(unit.text)}</small></strong>'
        f'<span class="by">{escape(design.text)}</span><span class="beside {_style(quotient)}">{escape(beside)}</span></div>'
    )


def _chart(chart: Chart, content: Content) -> str:
    selects = ""
    if chart.axes:
        present = [name for name in names_of_metrics(content.comparable) if name in AXES]
        pairs = zip(("y", "x"), (chart.axes[1], chart.axes[0]), strict=True)
        selects = " × ".join(_select(axis, present, chosen) for axis, chosen in pairs)
        selects = f"<label>Axes {selects}</label>"
    save = '<button type="button" class="quiet save push" title="Save this chart as it is shown">SVG</button>'
    return (
        f'<div class="block chart" id="chart-{chart.name}" data-chart="{chart.name}">{_heading(chart.title)}'
        f'<p class="caption">{escape(chart.caption)}</p><div class="bar">{selects}{save}</div>'
        f'<div class="plot"></div><p class="empty">Nothing was measured for this choice of filters.</p></div>'
    )


def _select(axis: str, names: Iterable[str], chosen: str) -> str:
    options = "".join(
        f'<option value="{name}"{" selected" if name == chosen else ""}>{escape(METRICS[name].title)}</option>'
        for name in names
    )
    return f'<select name="{axis}" aria-label="{axis} axis">{options}</select>'


def _table(table: Table) -> str:
    """A table that can be sorted; the filters hide lines."""
    heads = "".join(
        f'<th{" class=n" if column.number else ""} scope="col">{escape(column.head)}'
        f"{f' <span class=unit>{escape(column.unit)}</span>' if column.unit else ''}</th>"
        for column in table.columns
    )
    bodies = []
    for group, lines in groupby(table.lines, lambda line: line.group):
        head = (
            f'<tr class="group"><th colspan="{len(table.columns)}" scope="rowgroup">{escape(group)}</th></tr>\n'
            if group
            else ""
        )
        bodies.append(f"<tbody>{head}{''.join(_line(line, table) for line in lines)}</tbody>")
    kind = "sortable" if len(bodies) == 1 else "grouped"
    filters = sorted({name for line in table.lines for name in line.of})
    return (
        f'<div class="block">{_heading(table.title)}<p class="caption">{escape(table.caption)}</p><div class="scroll">'
        f'<table id="table-{table.name}" class="{kind}" data-filters="{" ".join(filters)}"><thead><tr>{heads}</tr></thead>'
        f'{"".join(bodies)}</table></div><p class="empty">Nothing for this choice of filters.</p></div>'
    )


def _line(line: Line, table: Table) -> str:
    of = "".join(f' data-{name}="{escape(str(value))}"' for name, value in line.of.items())
    cells = "".join(
        _cell(cell, column.number) for cell, column in zip(line.cells, table.columns, strict=True)
    )
    return f"<tr{of}>{cells}</tr>\n"


def _cell(cell: Cell, number: bool) -> str:
    style = " ".join(filter(None, ["n" if number else "", _style(cell)]))
    attributes = f' class="{style}"' if style else ""
    if number:
        attributes += f' data-v="{"" if cell.value is None else cell.value}"'
    return f"<td{attributes}>{_link(cell)}</td>"


def _style(cell: Cell) -> str:
    return "quiet-cell" if cell.tone == "quiet" else cell.tone


def _link(cell: Cell) -> str:
    """Its text, which leads to where it comes from."""
    text = escape(cell.text)
    if cell.measurement is not None:
        return f'<button class="fig" data-m="{cell.measurement}" data-r="{cell.row}">{text}</button>'
    if cell.published is not None:
        return f'<button class="fig" data-p="{cell.published}">{text}</button>'
    return text


def _pictures(pictures: Sequence[Picture], caption: str) -> str:
    if not pictures:
        return ""
    made = []
    for each in pictures:
        of = f' data-family="{escape(each.entry.family)}"' if each.entry else ""
        title = escape(each.title)
        if each.entry is not None:
            row = each.entry.source("area_um2") or each.entry.first.id
            title = f'<button class="fig" data-m="{each.entry.measurement}" data-r="{row}">{title}</button>'
        command = f" <code>{escape(each.command)}</code>" if each.command else ""
        alt = escape(f"{each.title}: {each.caption}")
        made.append(
            f'<figure{of}{" class=large" if each.large else ""}><img src="{each.uri}" alt="{alt}">'
            f"<figcaption><strong>{title}.</strong> {escape(each.caption)}{command}</figcaption></figure>"
        )
    return f'<p class="caption">{escape(caption)}</p><div class="pictures">{"".join(made)}</div>'


def _heading(title: str) -> str:
    """Above a table or a chart; not where the section is called the same."""
    return "" if title in ONLY else f"<h3>{escape(title)}</h3>"


def _left_out(content: Content) -> str:
    says = "Placed and routed with open tools; each figure's own command makes its pictures again."
    if content.left_out:
        says += f" {content.left_out} more are in the ledger, and left out so that this page stays small."
    return says


def _all_figures(content: Content) -> str:
    if not content.comparable:
        return ""
    titles = {"label": "Design", "nbits": "Bits", "operation": "Operation", "what": "What", "setup": "Stage"}
    heads = []
    for column in _columns(content):
        known: Metric | None = metric(column["name"]) if column.get("metric") else None
        head = escape(known.title if known else titles[column["name"]])
        unit = (
            f" <span class=unit>{escape(known.shown_unit)}</span>"
            if known and known.shown_unit != known.title.lower()
            else ""
        )
        heads.append(f'<th{" class=n" if column["number"] else ""} scope="col">{head}{unit}</th>')
    return (
        '<p class="caption">Every measurement that is not marked, one operation a line, by the filters above; '
        'the metrics chosen there are the columns.</p><div class="bar"><span id="listed"></span>'
        '<button type="button" class="quiet push" id="csv">CSV</button></div>'
        f'<div class="scroll"><table id="figures-table"><thead><tr>{"".join(heads)}</tr></thead><tbody></tbody></table></div>'
        '<p class="bar"><button type="button" class="quiet" id="more">More</button>'
        '<button type="button" class="quiet" id="every">All</button></p>'
    )


def _empty(content: Content) -> str:
    which = f" of {', '.join(content.asked)}" if content.asked else ""
    failures = _table(content.tables["failed"]) if "failed" in content.tables else ""
    template = Template(_file("empty.html"))
    return template.substitute(ledger=escape(str(content.path)), which=escape(which), failures=failures)
