"""The report as one self-contained HTML file. The templates are in page/; Jinja2 escapes all text."""

import functools
import json
import math
import shlex
from collections.abc import Mapping, Sequence
from importlib import resources
from operator import itemgetter
from typing import Any, NamedTuple

import jinja2
from markupsafe import Markup

from ...fl.errors import shown as shortened
from ..json_values import attributes
from ..lab.stages import FORMULA, STAGES
from .charts import ENDS, LABELS, Chart, config
from .datasets import LEAKAGE, through
from .findings import finding
from .metrics import AXES, METRICS, shown
from .palette import look, style_sheet, variable
from .published import citation
from .sections import Content
from .store_view import INTERFACES, Entry, Record, Records, metric_of, names_of_metrics
from .tables import OPERATIONS
from .text import without_empty_columns

TITLE = "modexlab report"
MOST_MODULES = 16  # of a measurement, in its panel
DIGITS = 8  # of a number in the data
PART, TABLE, CHART, PICTURES = "part", "table", "chart", "pictures"  # parts of a section


class Section(NamedTuple):
    """A question, its answer in one sentence, and the parts below it: (kind, value) for the template."""

    name: str
    title: str
    finding: str
    parts: Sequence[tuple[str, Any]]
    style: str


SECTIONS = (  # name, title, and names of parts
    ("choices", "What should I build, and what does it cost?", "table choices, chart choices, table terms"),
    ("best", "Which design is best at what?", "table best"),
    ("trust", "Can I trust it?", "trust.html"),
    ("fronts", "Which designs are Pareto-optimal?", "chart area-time, chart energy-time"),
    ("designs", "What does each design cost?", "table designs"),
    ("others", "What do other operations cost?", "table others"),
    ("cores", "What does a product cost?", "chart cores, table cores"),
    ("comparison", "How do we compare with the five papers?", "compared, chart ratios"),
    (
        "widths",
        "How does the cost grow with the width?",
        "chart widths, chart area_um2-width, chart time_ns-width, chart energy_nj-width",
    ),
    ("interfaces", "What do the bus and the processor cost?", "table interfaces"),
    ("area", "Where does the area go?", "chart areas"),
    ("critical", "What limits the clock?", "table critical"),
    ("energy", "Where does the energy go?", "chart energies"),
    ("leakage", "What leaks?", "table attacks, table leaks, chart leakage"),
    ("protections", "What does each protection cost?", "table protections"),
    ("proofs", "What is proved?", "table proofs"),
    ("layouts", "What do the layouts look like?", "table layouts, layouts"),
    ("figures", "All figures", "figures.html"),
    ("marked", "Marked and failed", "table marked, table failed"),
    ("method", "How to read this", "method.html"),
)
STYLES = {"choices": "columns answer", "fronts": "columns wide"}


class Chip(NamedTuple):
    """One value of a filter."""

    value: str
    words: str
    pressed: bool
    colour: str = ""


class Filter(NamedTuple):
    """A filter of the page; `single` filters allow one chip at a time."""

    name: str
    title: str
    chips: Sequence[Chip]

    @property
    def single(self) -> bool:
        return self.name == "operation"


def page(content: Content) -> str:
    """The whole page as HTML."""
    charts = {chart.name: chart for chart in content.charts(variable)}
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_file),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("page.html").render(
        title=TITLE,
        content=content,
        lead=content.lead or "Modular exponentiation in hardware.",
        sizes=_sizes(content),
        style=Markup(style_sheet() + _file("style.css")),
        filters=() if content.empty else _filters(content),
        sections=() if content.empty else _sections(content, charts),
        axes=[METRICS[name] for name in names_of_metrics(content.comparable) if name in AXES],
        columns=_columns(content),
        footer=_footer(content),
        data=Markup(for_script(_data(content, [*charts.values()]))),
        libraries=Markup(libraries() if charts else ""),
        script=Markup(_file("app.js")),
    )


def for_script(value: Any) -> str:
    """JSON for a script element: no text in it ends the element or begins a comment."""
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


def packed(records: Sequence[Record]) -> Record:
    """Records as columns; repeated strings are stored once, and numbers with DIGITS digits."""
    names = dict.fromkeys(name for record in records for name in record)
    columns: Record = {}
    for name in names:
        values = [_rounded(record.get(name)) for record in records]
        if all(isinstance(value, str | None) for value in values) and len(set(values)) < len(values):
            words = {word: index for index, word in enumerate(dict.fromkeys(values))}
            columns[name] = {"words": list(words), "index": [words[value] for value in values]}
        else:
            columns[name] = values
    return {"length": len(records), "columns": columns}


def _rounded(value: Any) -> Any:
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) and math.isfinite(value) else value


def _data(content: Content, charts: Sequence[Chart]) -> Record:
    metrics = {}
    for name in (*METRICS, *names_of_metrics(content.entries)):
        known = metric_of(name, content.entries)
        metrics[name] = {**attributes(known, "head", "title"), "unit": known.shown_unit}
    figures = [
        {"m": row.measurement, "row": row.id, **attributes(row, "metric", "operation", "value")}
        for row in content.rows.values()
    ]
    published = [
        citation(machine.number, machine.label, list(machine.figures.values()))
        for machine in content.machines
    ]
    return {
        "datasets": {name: packed(records) for name, records in content.data.items()},
        "measurements": packed(_measurements(content)),
        "entries": packed(figures),
        "published": packed([*published, *content.compared.citations]),
        "details": {number: _details(detail) for number, detail in content.details.items()},
        "charts": [
            {**attributes(chart, "name", "data", "spec", "filters"), "axes": chart.axes or None}
            for chart in charts
        ],
        "config": config(variable),
        "metrics": metrics,
        "columns": _columns(content),
        "families": content.families,
        "labels": LABELS,
        "ends": ENDS,
    }


def _columns(content: Content) -> Records:
    """The columns of the table of all figures."""
    titles = {
        "label": "Design",
        "nbits": "Bits",
        "operation": "Operation",
        "what": "Interface",
        "setup": "Stage",
    }
    made = [
        {"name": name, "head": title, "unit": "", "number": name == "nbits"} for name, title in titles.items()
    ]
    for name in names_of_metrics(content.comparable):
        known = metric_of(name, content.comparable)
        unit = known.shown_unit if known.shown_unit != known.title.lower() else ""
        made.append({"name": name, "head": known.title, "unit": unit, "number": True, "metric": True})
    return made


def _measurements(content: Content) -> Records:
    """The description of each measurement in its panel, without its figures."""
    return [
        {
            "m": entry.measurement,
            **attributes(entry, "label", "nbits", "tests", "setup"),
            "command": shlex.join(entry.command),
            "marks": "\n".join(entry.marks),
            "unverified": "; ".join(_doubts(entry)),
            "interface": entry.behind,
            "parameters": ", ".join(f"{name} = {_value(value)}" for name, value in entry.parameters.items()),
            "tools": ", ".join(_versions(entry)),
            "verilog": f"SHA-256 {entry.verilog_hash[:16]}…" if entry.verilog_hash else "",
            "when": when(entry),
            **content.origins[entry.measurement],
            "sources": "changed since: measure it again"
            if entry.measurement in content.stale
            else "unchanged since",
        }
        for entry in content.once
    ]


def _doubts(entry: Entry) -> list[str]:
    """The figures to measure again, with the reasons."""
    reasons: dict[str, list[str]] = {}
    for name, reason in entry.unverified.items():
        reasons.setdefault(reason, []).append(name)
    return [f"{', '.join(names)}: {reason}" for reason, names in reasons.items()]


def when(entry: Entry) -> str:
    """The date of a measurement and how long it took, as far as they are known."""
    date = entry.when and f"{entry.when.replace('T', ' ')[:16]} UTC"
    return ", ".join(filter(None, (date, entry.seconds and f"in {shown(round(entry.seconds, 2))} s")))


def _versions(entry: Entry) -> list[str]:
    """The tools of an entry with their versions."""
    return [f"{name} {version}".strip() for name, version in entry.tools.items()]


def _value(value: Any) -> str:
    return shortened(value) if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _details(details: Record) -> Record:
    """The details of a measurement in its panel."""
    made: Record = {}
    if modules := details.get("area_by_module"):
        largest = sorted(modules, key=lambda module: -module["area_um2"])[:MOST_MODULES]
        made["modules"] = packed(
            [
                {"path": item["path"] or "all", "area_um2": item["area_um2"]}
                for item in sorted(largest, key=itemgetter("path"))
            ]
        )
    if path := details.get("worst_path"):
        names = ("start", "end", "cells")
        made["path"] = {name: path.get(name) for name in names} | {"through": through(path)}
    if caveats := details.get("caveats"):
        made["caveats"] = list(caveats)
    return made


# ---- header, footer and filters


def _sizes(content: Content) -> str:
    """The size of the report, and how to use the page."""
    if content.empty:
        return ""
    subjects = {entry.subject for entry in content.entries}
    widths = {entry.nbits for entry in content.entries}
    bits = f"{min(widths)} to {max(widths):,} bits" if len(widths) > 1 else f"{widths.pop()} bits"
    formulas = sum(entry.stage == FORMULA for entry in content.once)
    by_formula = f"{shown(formulas)} points by formula, " if formulas else ""
    figures = shown(len(content.rows))
    return (
        f"Modular exponentiation in hardware: {shown(len(subjects))} designs and systems, {bits}, "
        f"{shown(len(content.once) - formulas)} measurements, {by_formula}{figures} figures. "
        "Click a figure for its source and the command that reproduces it."
    )


def _footer(content: Content) -> str:
    versions = dict.fromkeys(version for entry in content.entries for version in _versions(entry))
    tools = f" Tools: {', '.join(versions)}." if versions else ""
    return (
        f"Written by modexlab {content.when} from the store {content.path.name}.{tools} "
        "Charts by Vega-Lite, which this file contains; nothing is loaded from elsewhere."
    )


def _filters(content: Content) -> list[Filter]:
    """The filters with more than one value, in their initial state."""
    entries = content.comparable or content.entries
    operations = sorted(
        {entry.operation for entry in entries} - {"", LEAKAGE},
        key=lambda name: ([*OPERATIONS, name].index(name), name),
    )
    first = content.opening._asdict() if content.opening is not None else {}
    there = {name: {str(getattr(entry, name)) for entry in entries} for name in ("interface", "stage")}
    metrics = [name for name in names_of_metrics(entries) if name in AXES]
    filters = [
        Filter("family", "Family", [Chip(name, name, False, look(name).colour) for name in content.families])
    ]
    for name, title, words in (
        ("nbits", "Bits", {str(width): str(width) for width in sorted({entry.nbits for entry in entries})}),
        ("operation", "Operation", {name: name for name in operations}),
        (
            "interface",
            "Interface",
            {key: says for key, says in INTERFACES.items() if key in there["interface"]},
        ),
        ("stage", "Stage", {key: key for key in STAGES if key in there["stage"]}),
        ("metric", "Metric", {key: METRICS[key].title for key in metrics}),
    ):
        if len(words) > 1:
            chips = [Chip(value, said, str(first.get(name)) == value) for value, said in words.items()]
            filters.append(Filter(name, title, chips))
    return filters


def _sections(content: Content, charts: Mapping[str, Chart]) -> list[Section]:
    """The sections with data."""
    pictures = "Placed and routed with open tools; the command of each figure reproduces its pictures."
    if content.left_out:
        pictures += f" {content.left_out} more are in the store; they are left out to keep this page small."
    there: dict[str, list[tuple[str, Any]]] = {
        **{f"chart {name}": [(CHART, chart)] for name, chart in charts.items()},
        **{
            f"table {name}": [(TABLE, without_empty_columns(table))] for name, table in content.tables.items()
        },
        **{name: [(PART, name)] for name in ("trust.html", "method.html")},
        "compared": [(TABLE, table) for table in content.compared.tables],
        "layouts": [(PICTURES, (content.pictures, pictures))] if content.pictures else [],
        "figures.html": [(PART, "figures.html")] if content.comparable else [],
    }
    return [
        Section(name, title, finding(content, name), parts, STYLES.get(name, ""))
        for name, title, names in SECTIONS
        if (parts := [part for part_name in names.split(", ") for part in there.get(part_name, ())])
    ]
