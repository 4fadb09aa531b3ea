"""The report as one HTML file: everything is in it, and it loads nothing. The markup is in page/, written by
Jinja2, which escapes.
"""

from __future__ import annotations

import functools
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from ...fl.errors import shown as shortened
from ..json_values import attributes
from ..lab.stages import FORMULA, STAGES
from .charts import ENDS, LABELS, Chart, config
from .datasets import GROWING, LEAKAGE, Record, through
from .ledger_view import INTERFACES, names_of_metrics, unit_of
from .metrics import AXES, METRICS, Metric, metric, shown
from .palette import look, style_sheet, variable
from .published import citation
from .sections import Content
from .tables import OPERATIONS

TITLE = "modexlab report"
MOST_MODULES = 24  # of a measurement, in its panel
PART, TABLE, CHART, PICTURES = "part", "table", "chart", "pictures"  # what a section is made of
TREES = (
    "Multipliers of paper 000 are trees of compressors for one modulus; drawn from the plan that the "
    "hardware is built from."
)


@dataclass(frozen=True)
class Section:
    """A heading, and what stands below it: (kind, value) for the template."""

    name: str
    title: str
    parts: Sequence[tuple[str, Any]]
    style: str = ""


@dataclass(frozen=True)
class Chip:
    """One choice of a filter."""

    value: str
    words: str
    pressed: bool
    colour: str = ""


@dataclass(frozen=True)
class Filter:
    """What a reader may choose: of `single` filters one chip at a time."""

    name: str
    title: str
    chips: Sequence[Chip]

    @property
    def single(self) -> bool:
        return self.name == "operation"


def page(content: Content) -> str:
    """The whole file."""
    charts = {chart.name: chart for chart in content.charts(variable)}
    return (
        _templates()
        .get_template("page.html")
        .render(
            title=TITLE,
            content=content,
            lead=content.finding or "Modular exponentiation in hardware.",
            sizes=_sizes(content),
            style=Markup(style_sheet() + _file("style.css")),
            filters=_filters(content) if not content.empty else (),
            sections=_sections(content, charts) if not content.empty else (),
            axes=[METRICS[name] for name in names_of_metrics(content.comparable) if name in AXES],
            columns=_columns(content),
            footer=_footer(content),
            data=Markup(for_script(_data(content, list(charts.values())))),
            libraries=Markup(libraries() if charts else ""),
            script=Markup(_file("app.js")),
        )
    )


@functools.cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(_file),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
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
        "details": {number: _details(detail) for number, detail in content.details.items()},
        "charts": [asdict(chart) for chart in charts],
        "config": config(variable),
        "metrics": {
            name: _metric(metric(name, unit_of(name, content.entries))) for name in [*METRICS, *names]
        },
        "columns": _columns(content),
        "families": content.families,
        "labels": LABELS,
        "ends": ENDS,
    }


def _metric(known: Metric) -> dict[str, str]:
    return {"head": known.head, "title": known.title, "unit": known.shown_unit}


def _columns(content: Content) -> list[dict[str, Any]]:
    """Of the table of all figures."""
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
        known = metric(name, unit_of(name, content.comparable))
        unit = known.shown_unit if known.shown_unit != known.title.lower() else ""
        made.append({"name": name, "head": known.title, "unit": unit, "number": True, "metric": True})
    return made


def _measurements(content: Content) -> list[Record]:
    """What is known of each measurement beside its figures."""
    records = []
    for number, entry in {entry.measurement: entry for entry in content.entries}.items():
        row = entry.first
        digest = row.verilog_hash
        records.append(
            {
                "m": number,
                **attributes(entry, "label", "nbits"),
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
        {"m": row.measurement, "row": row.id, **attributes(row, "metric", "operation", "value")}
        for row in rows.values()
    ]


def _published(content: Content) -> list[Record]:
    own = [
        citation(machine.number, machine.label, list(machine.figures.values()))
        for machine in content.machines
    ]
    return [*own, *content.compared.citations]


def _details(details: Mapping[str, Any]) -> dict[str, Any]:
    """What the panel of a measurement shows of it."""
    made: dict[str, Any] = {}
    if modules := details.get("area_by_module"):
        largest = sorted(modules, key=lambda module: -module["area_um2"])[:MOST_MODULES]
        made["modules"] = [
            {"path": item["path"] or "all", "area_um2": item["area_um2"]}
            for item in sorted(largest, key=lambda item: item["path"])
        ]
    if path := details.get("worst_path"):
        names = ("start", "end", "cells")
        made["path"] = {name: path.get(name) for name in names} | {"through": through(path)}
    if caveats := details.get("caveats"):
        made["caveats"] = list(caveats)
    return made


# ---- what stands around it


def _sizes(content: Content) -> str:
    """How much is on the page, and how to use it."""
    if content.empty:
        return ""
    once = {entry.measurement: entry for entry in content.entries}
    rows = {row.id for entry in content.entries for row in entry.rows.values()}
    subjects = {entry.subject for entry in content.entries}
    widths = sorted({entry.nbits for entry in content.entries})
    bits = f"{widths[0]} bits" if len(widths) == 1 else f"{widths[0]} to {widths[-1]} bits"
    formulas = sum(entry.stage == FORMULA for entry in once.values())
    by_formula = f"{shown(formulas)} points by formula, " if formulas else ""
    return (
        f"Modular exponentiation in hardware: {shown(len(subjects))} designs and systems, {bits}, "
        f"{shown(len(once) - formulas)} measurements, {by_formula}{shown(len(rows))} figures. "
        "Hover over a figure to see its source; click it for the command that reproduces it."
    )


def _footer(content: Content) -> str:
    versions: dict[str, None] = {}
    for entry in content.entries:
        versions |= dict.fromkeys(f"{name} {version}".strip() for name, version in entry.first.tools.items())
    tools = f" Tools: {', '.join(versions)}." if versions else ""
    return (
        f"Written by modexlab {content.when} from the ledger {content.path.name}.{tools} "
        "Charts by Vega-Lite, which is in this file; nothing is loaded from elsewhere."
    )


def _filters(content: Content) -> list[Filter]:
    """Those between whose values there is a choice, as the page opens."""
    entries = content.comparable or content.entries
    operations = sorted(
        {entry.operation for entry in entries} - {"", LEAKAGE},
        key=lambda name: (name not in OPERATIONS, name != "encrypt", name),
    )
    first = content.opening._asdict() if content.opening is not None else {}
    widths = [str(width) for width in sorted({entry.nbits for entry in entries})]
    interfaces = {entry.interface for entry in entries}
    stages = {entry.stage for entry in entries}
    choices = {  # name: title, and words by value
        "nbits": ("Bits", {width: width for width in widths}),
        "operation": ("Operation", {name: name for name in operations}),
        "interface": (
            "Interface",
            {name: words for name, words in INTERFACES.items() if name in interfaces},
        ),
        "stage": ("Stage", {name: name for name in STAGES if name in stages}),
        "metric": (
            "Metric",
            {name: METRICS[name].title for name in names_of_metrics(entries) if name in AXES},
        ),
    }
    families = [Chip(name, name, False, look(name).colour) for name in content.families]
    return [
        Filter("family", "Family", families),
        *(
            Filter(
                name,
                title,
                [Chip(value, said, str(first.get(name)) == value) for value, said in words.items()],
            )
            for name, (title, words) in choices.items()
            if len(words) > 1
        ),
    ]


def _sections(content: Content, charts: Mapping[str, Chart]) -> list[Section]:
    """Those that have something to show."""

    def chart(name: str) -> Iterator[tuple[str, Any]]:
        if name in charts:
            yield CHART, charts[name]

    def table(name: str) -> Iterator[tuple[str, Any]]:
        if name in content.tables:
            yield TABLE, content.tables[name]

    compared = [(TABLE, item) for item in content.compared.tables]
    layouts = [(PICTURES, (content.pictures, _left_out(content)))] if content.pictures else []
    trees = [(PICTURES, (content.trees, TREES))] if content.trees else []
    figures = [(PART, "figures.html")] if content.comparable else []
    by_width = [*chart("widths"), *(part for metric in GROWING for part in chart(f"{metric}-width"))]
    sections = [
        Section("summary", "Summary", [(PART, "summary.html")]),
        Section("fronts", "Fronts", [*chart("area-time"), *chart("energy-time")], "columns wide"),
        Section("designs", "Every design", [*table("designs")]),
        Section("others", "Other operations", [*table("others")]),
        Section("cores", "A product", [*chart("cores"), *table("cores")]),
        Section("comparison", "Beside the papers", [*compared, *chart("ratios")]),
        Section("widths", "By width", by_width),
        Section("area", "Where the area is", [*chart("areas")]),
        Section("critical", "Critical paths", [*chart("paths"), *table("critical")]),
        Section("energy", "Energy of an operation, without and with glitches", [*chart("energies")]),
        Section("leakage", "Leakage", [*table("leaks"), *chart("leakage")]),
        Section("protections", "Protections", [*table("protections"), *chart("protections")]),
        Section("proofs", "Proofs", [*table("proofs")]),
        Section("layouts", "Layouts", layouts),
        Section("trees", "Trees", trees),
        Section("figures", "All figures", figures),
        Section("marked", "Marked and failed", [*table("marked"), *table("failed")]),
        Section("method", "How to read this", [(PART, "method.html")]),
    ]
    return [section for section in sections if section.parts]


def _left_out(content: Content) -> str:
    says = "Placed and routed with open tools; each figure's own command makes its pictures again."
    if content.left_out:
        says += f" {content.left_out} more are in the ledger, and left out so that this page stays small."
    return says
