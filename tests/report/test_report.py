"""Tests of the views of the store, tables, charts and writers; test_report_page.py tests the page in a
browser.
"""

import io
import itertools
import json
import math
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import replace
from html import escape
from html.parser import HTMLParser

import numpy as np
import pytest
from modexlab.eval.designs import catalogue
from modexlab.eval.designs.protection import BY_CRT, PROGRAMS, costs
from modexlab.eval.lab.comparison.compare import CLOSE
from modexlab.eval.lab.measure import measure
from modexlab.eval.lab.point import Point
from modexlab.eval.lab.store.rows import Failure
from modexlab.eval.lab.store.snapshot import Snapshot
from modexlab.eval.lab.store.store import Store
from modexlab.eval.papers import published
from modexlab.eval.png import smaller
from modexlab.eval.report import charts, datasets, palette, render_png
from modexlab.eval.report.captions import CHARTS
from modexlab.eval.report.findings import finding
from modexlab.eval.report.html import SECTIONS, for_script, packed, when
from modexlab.eval.report.html import page as page_of
from modexlab.eval.report.markdown import write as write_markdown
from modexlab.eval.report.metrics import AXES, METRICS, metric, ratio, shown
from modexlab.eval.report.published import gathered, machines
from modexlab.eval.report.sections import PAPER_NBITS, Content
from modexlab.eval.report.store_view import entries_of
from modexlab.eval.report.tables import failed, quotient
from modexlab.eval.report.text import text
from pytest import approx

from tests.command_line import picked
from tests.harness import module_fixture, parametrize

from .examples import (
    CHIPS,
    CYCLES,
    HOSTILE,
    PROTECTED,
    SYSTEMS,
    chip,
    counted,
    details,
    implemented,
    leaking,
    picture,
    simulated,
    store_of,
    write,
)

pytestmark = pytest.mark.usefixtures("untranslated")


@module_fixture
def store(tmp_path_factory):
    return write(tmp_path_factory.mktemp("report") / "store.jsonl")


@module_fixture
def content(store):
    return Content(Snapshot(store))


@pytest.fixture
def report_of(tmp_path):
    """Return a function from points and measurements to the content of a report on them."""
    numbers = itertools.count()
    return lambda *records: Content(Snapshot(store_of(tmp_path / f"{next(numbers)}.jsonl", records)))


def lines_of(table, **of):
    """The lines with these filter values."""
    return [line for line in table.lines if of.items() <= line.of.items()]


def texts(cells):
    return [cell.text for cell in cells]


def cells(table, *heads, **of):
    """The texts of these columns, in the lines with these filter values."""
    columns = [column.head for column in table.columns]
    return [texts(line.cells[columns.index(head)] for head in heads) for line in lines_of(table, **of)]


def records_of(content, name, **of):
    """The records of a chart with these values."""
    return [record for record in content.data[name] if of.items() <= record.items()]


def trust_in(content, part):
    """The statements on trust that contain this text."""
    return [trust for trust in content.trust if part in trust.text]


def named(items, name):
    """The chart or table with this name."""
    (found,) = [item for item in items if item.name == name]
    return found


def entry(content, subject, operation="encrypt", stage="flow"):
    return next(
        entry
        for entry in content.entries
        if (entry.subject, entry.operation, entry.stage) == (subject, operation, stage)
        and not entry.settings
        and not entry.marks
    )


# ---- entries


def test_an_entry_is_one_operation_with_all_that_belongs_to_it(content):
    decrypt = entry(content, "mont", "decrypt")
    area, _, (_, energy) = CHIPS["mont"]
    values = {"area_um2": area, "cycles": CYCLES["mont"][1], "energy_nj": energy, "lut": None}
    assert {name: decrypt.value(name) for name in values} == values
    assert decrypt.rows["area_um2"].id == entry(content, "mont").rows["area_um2"].id
    assert decrypt.setup == "netlist, 3 ns"
    assert (decrypt.twin, entry(content, "procxcel-mont-001").twin) == (False, True)


def test_time_follows_from_cycles_and_clock(store):
    rows = [row for row in store.rows(subject="mont", stage="flow") if row.metric != "time_ns"]
    entry = entries_of(rows)[0]
    assert entry.value("time_ns") == entry.value("cycles") * 3.0
    assert entry.source("time_ns") == entry.rows["cycles"].id


def test_only_the_same_work_is_of_one_group(content):
    works = ("mont",), ("mont", "decrypt"), ("procxcel-mont",), ("mont", "encrypt", "native"), ("heap",)
    *groups, of_heap = (entry(content, *work).group for work in works)
    assert len(set(groups)) == 4 and of_heap == groups[0]


def test_machines_for_one_modulus_are_of_one_group_only_for_the_same(report_of):
    moduli = ({}, {"modulus": 16843009})
    content = report_of(*(simulated("cm-pm-000", 32, 20, settings=modulus) for modulus in moduli))
    groups = [entry.group.rpartition(" · ")[2] for entry in content.entries]
    assert groups == ["modulus 0x55555555 alone", "modulus 0x1010101 alone"]


def test_moduli_of_known_factors(content):
    assert entry(content, "cm-pm-000", stage="native").known_factors
    assert not entry(content, "mont", stage="native").known_factors


def test_a_design_that_is_no_more(tmp_path, monkeypatch):
    """The rows of a deleted design, such as a user's own experiment, stay in the store and in the report."""
    ssmm = catalogue.find("ssmm")
    own = replace(ssmm, name="blakley", multiplier=replace(ssmm.multiplier, family="Blakley"))
    store = Store(tmp_path / "store.jsonl")
    with monkeypatch.context() as patched:
        patched.setitem(catalogue._BY_NAME, own.name, own)
        store.record(Point("blakley", 32), counted(500, "encrypt"))
        assert Content(Snapshot(store)).stale == set()
    content = Content(Snapshot(store))
    assert len(content.stale) == 1
    assert list(content.families) == ["Blakley"]
    assert cells(content.tables["designs"], "Design", "Encrypt") == [["blakley", "500‡"]]
    assert "blakley" in page_of(content)


# ---- the papers


def test_machines_of_papers_have_all_their_figures():
    found = {
        (machine.subject, machine.operation): machine
        for machine in machines()
        if machine.first.paper == "001"
    }
    mont = found["procxcel-mont-001", "encrypt"]
    values = {"cycles": 169, "area_um2": 96137.986, "energy_nj": 2.86, "time_ns": 169 * 3}
    assert {name: mont.value(name) for name in values} == values
    assert mont.label == "001 ProcXcel (Montgomery)"
    software = found["proc-montgomery", "decrypt"]
    assert software.value("area_um2") == 21434.812, "all software runs on one processor"
    assert len({machine.number for machine in machines()}) == len(machines())


def test_what_is_not_comparable_is_no_machine():
    figures = list(published.paper("001").figures())
    assert any(figure.window == "gross" for figure in figures)
    values = {machine.value("cycles") for machine in gathered(figures)}
    assert 178 not in values and 169 in values


# ---- tables


def test_best(content):
    table = content.tables["best"]
    of = {"nbits": 32, "operation": "encrypt", "interface": "system"}
    lines = cells(table, "Best at", "Design", "Ours", "Published", "Ratio", **of)
    assert lines[0] == ["fewest cycles", "procxcel-mont", "84", "169", "0.50"]
    assert lines[2] == ["smallest area", "proc-naive", "30,346", "21,435", "1.42"]
    cycles, _, area, *_ = cells(table, "Best at", "Design", "Published", **{**of, "interface": "stream"})
    assert cycles[:2] == ["fewest cycles", "mont steps_per_stage=16"], "cm-pm-000 cannot do RSA"
    assert area == ["smallest area", "ssmm", "-"], "no other library"


def test_formulas_that_simulation_confirms_compete(report_of):
    """fold is confirmed at 32 bits and wins at 8; mont's formula is wrong, heap's unconfirmed."""
    formulas = [("fold", 32, 48), ("fold", 8, 18), ("mont", 32, 9), ("mont", 8, 8), ("heap", 8, 7)]
    runs = [("fold", 32, 48), ("mont", 32, 77), ("ssmm", 8, 43)]
    content = report_of(
        *(simulated(*point, stage="formula") for point in formulas), *(simulated(*point) for point in runs)
    )
    best = content.tables["best"]
    for nbits, line in ((32, ["fold", "48", "RTL"]), (8, ["fold", "18", "formula"])):
        assert cells(best, "Best at", "Design", "Ours", "Stage", nbits=nbits) == [["fewest cycles", *line]]
    (trust,) = trust_in(content, "points are by formula")
    assert trust.good is False and "No simulation here confirms the formulas of heap and mont" in trust.text
    lines = cells(content.tables["designs"], "Design", "Encrypt", "Stage", nbits=8)
    assert lines == [["ssmm", "43", "RTL"], ["heap", "7", "formula"]]


def test_only_layouts_are_judged_by_published_areas(report_of):
    """Paper 001's areas are of layouts: a netlist has no wires and gets no verdict, however small it is."""
    tones = {}
    for stage in ("flow", "layout"):
        point = Point("mont", 32, interface="xcel", stage=stage)
        content = report_of((point, implemented(11_000.0, cycles=(84, 136))))
        best = lines_of(content.tables["best"], operation="encrypt", metric="area_um2")
        areas = lines_of(named(content.compared.tables, "paper-001"), metric="area_um2")
        areas = [line for line in areas if line.cells[8].text == "mont"]
        tones[stage] = {line.cells[place].tone for lines, place in ((best, 6), (areas, 7)) for line in lines}
    assert tones == {"flow": {""}, "layout": {"good"}}


def test_layouts_show_their_design_rules(report_of):
    """Two faults by the deck, the netlist's transistors; without a deck there are no such columns."""
    found = {"deck": "d.lydrc", "checks": 166, "markers": {"m1.2": 1}, "connections": {"open nets": 1}}
    found |= {"antennas": None, "transistors": {"differences": {}, "why_not": ""}}
    for rules, told in (({}, None), (found, ["2 faults in 166 checks by d.lydrc", "match"])):
        measured = implemented(11_000.0)
        measured.details["rules"] = rules
        table = report_of((Point("mont", 32, stage="layout"), measured)).tables["layouts"]
        heads = [column.head for column in table.columns]
        assert (heads[-2:] == ["Design rules", "Transistors"]) == bool(told)
        assert not told or texts(table.lines[0].cells)[-2:] == told


def test_energies_are_bounds_and_their_ratios_ranges(content):
    of = {"nbits": 32, "operation": "encrypt", "interface": "system", "metric": "energy_nj"}
    (line,) = lines_of(content.tables["best"], **of)
    quotient_of = line.cells[6]
    assert (line.cells[1].text, quotient_of.text) == ("procxcel-mont", "0.49 to 1.10")
    assert (quotient_of.value, quotient_of.upper) == approx((1.4 / 2.86, 2.25 * 1.4 / 2.86))
    assert quotient_of.tone == "", "1 lies inside"
    assert "0.49 to 1.10" in page_of(content)
    energies = lines_of(named(content.compared.tables, "paper-001"), metric="energy_nj")
    assert energies
    for line in energies:
        for quotient_of in (line.cells[5], line.cells[7]):
            assert quotient_of.text == "-" or " to " in quotient_of.text
    for record in content.data["ratios"]:
        assert ("ratio_to" in record) is (record["metric"] == "energy_nj")
        upper = 2.25 * record["ratio"]
        assert record.get("ratio_to", upper) == approx(upper)


@parametrize(
    "ours, upper, shows, tone",
    [
        (0.7, None, "0.70", "good"),
        (1.4, None, "1.40", "bad"),
        (1 - 0.9 * CLOSE, None, "0.98", ""),
        (1 + 0.9 * CLOSE, None, "1.02", ""),
        (0.7, 2.1, "0.70 to 2.10", ""),
        (0.3, 0.9, "0.30 to 0.90", "good"),
        (0.3, 1 - 0.5 * CLOSE, "0.30 to 0.99", ""),
        (1.2, 3.6, "1.20 to 3.60", "bad"),
        (0.7, math.inf, "from 0.70", ""),
        (1.2, math.inf, "from 1.20", "bad"),
        (0.7, 0.7, "0.70", "good"),
    ],
)
def test_what_is_better_is_so_with_all_of_its_range(ours, upper, shows, tone):
    made = quotient(ours, 1.0, upper)
    assert (made.text, made.tone, made.value) == (shows, tone, ours)
    assert quotient(ours, 1.0, upper, judged=False).tone == ""


def test_an_energy_without_its_upper_bound_is_no_win(report_of):
    made = implemented(52_000.0, 0.1, (1.4, 2.2), SYSTEMS["procxcel-mont"])
    known = tuple(figure for figure in made.figures if figure.metric != "energy_with_glitches_nj")
    content = report_of((Point("procxcel-mont", 32, stage="flow"), replace(made, figures=known)))
    of = {"operation": "encrypt", "metric": "energy_nj"}
    assert cells(content.tables["best"], "Ratio", **of) == [["from 0.49"]]
    assert not records_of(content, "ratios", metric="energy_nj")


def test_netlists_and_layouts_are_not_on_one_line(report_of):
    content = report_of(
        chip("mont", area=9.0), chip("mont", area=8.0, stage="layout"), chip("ssmm", area=10.0)
    )
    lines = cells(content.tables["best"], "Best at", "Stage", "Design", "Ours", operation="encrypt")
    assert [line for line in lines if line[0] == "smallest area"] == [
        ["smallest area", "netlist", "mont", "9.00"],
        ["smallest area", "layout", "mont", "8.00"],
    ]


def test_the_page_opens_with_the_most_complete_view(content):
    """Five machines alone have all figures, but only three systems."""
    assert content.opening == (PAPER_NBITS, "decrypt", "stream")
    assert finding(content, "fronts").startswith("32 bits · decrypt · machine alone")
    for chart in content.charts():
        seen = {record.get("interface") for record in render_png.first_records(chart, content)}
        assert seen <= {"stream", None, ""} or "interface" not in chart.filters, chart.name
    page = page_of(content)
    assert 'data-filter="interface" data-value="stream" aria-pressed="true"' in page
    assert page.count('aria-pressed="true"') == len(content.opening)


@parametrize(
    "chips, wanted",
    [
        (
            [("mont", 32, "xcel"), ("ssmm", 32, "xcel"), ("procxcel-mont", 32, "system")],
            (32, "decrypt", "xcel"),
        ),
        ([("mont", 16, "stream"), ("ssmm", 16, "stream"), ("mont", 32, "stream")], (16, "decrypt", "stream")),
        ([("mont", 32, "stream"), ("procxcel-mont", 32, "system")], (32, "decrypt", "stream")),
        ([("mont", 16, "xcel")], (16, "decrypt", "xcel")),
        ([], (32, "encrypt", "stream")),
    ],
)
def test_the_opening_view_follows_the_data(report_of, chips, wanted):
    points = [Point(subject, nbits, interface=way, stage="flow") for subject, nbits, way in chips]
    content = report_of(simulated("mont", 32, 77), *((point, implemented(9.0)) for point in points))
    assert content.opening == wanted


def test_the_lead_is_the_answer(content):
    assert f'id="lead">{escape(content.lead)}</p>' in page_of(content)


def test_marked_figures_are_in_no_comparison(content):
    late = {entry.measurement for entry in content.entries if entry.marks}
    assert len(late) == 1
    for name, records in content.data.items():
        assert not late & {record.get("m") for record in records}, name
    for name, table in content.tables.items():
        inside = {cell.measurement for line in table.lines for cell in line.cells}
        assert (late <= inside) is (name == "marked"), name


def test_designs_have_a_line_each(content):
    names = [name for name, _ in cells(content.tables["designs"], "Design", "Bits", nbits=32)]
    protected = (Point("mont-keyed", 32, tuple(settings.items())).settings for settings, *_ in PROTECTED)
    protected = {" ".join(["mont-keyed", *(f"{name}={value}" for name, value in row)]) for row in protected}
    assert sorted(names) == sorted(
        {*CYCLES, *SYSTEMS, "mont steps_per_stage=16", *protected} - {"cm-pm-000"} | {"cm-pm-000 †"}
    )
    (line,) = [line for line in lines_of(content.tables["designs"], nbits=32) if line.cells[0].text == "mont"]
    assert texts(line.cells[3:10]) == ["77", "129", "22,500", "3.00", "231", "0.910", "1.60"]
    assert picked(rows_of(content)[line.cells[5].row], "metric value") == ("area_um2", CHIPS["mont"][0])


def rows_of(content):
    """The rows of all entries by their ids."""
    return {row.id: row for entry in content.entries for row in entry.rows.values()}


def test_every_figure_of_a_table_is_that_of_its_row(content):
    rows = rows_of(content)
    papers = [named(content.compared.tables, f"paper-{number}") for number in ("001", "003", "004")]
    own = [cell for table in (content.tables["designs"], *papers) for cell in own_cells(table)]
    assert [cell.value for cell in own] == [rows[cell.row].value for cell in own] and len(own) > 100


def own_cells(table):
    """The cells with a figure of the store."""
    return [cell for line in table.lines for cell in line.cells if cell.row is not None]


def test_of_many_runs_the_best_is_shown(report_of):
    clocks = (2.0, 3.0, 4.0)
    content = report_of(
        *(chip("mont", area=20_000 + 30_000 / clock**3, clock_period=clock) for clock in clocks)
    )
    assert cells(content.tables["designs"], "Design", "Clock") == [["mont", "2.00"]]
    assert len(content.data["points"]) > 6, "the front has all of them"


def test_leaks(content):
    table = content.tables["leaks"]
    assert cells(table, "Design", "Exponents", "Fewest", "Most", "Stage", "Verdict", "Promised") == [
        ["mont-ct, 32 bits", "24", "300", "300", "RTL (native)", "as many cycles for all", "yes"],
        ["mont, 32 bits", "24", "260", "329", "RTL (native)", "depends on the exponent", "of a length"],
    ]
    assert [line.cells[-2].tone for line in table.lines] == ["good", "bad"]


def test_a_formula_proves_nothing_of_leaks(tmp_path):
    runs = [leaking(name, constant) for name, constant in (("mont-ct", True), ("mont", False))]
    formulas = [(point.at(stage="formula"), measurement) for point, measurement in runs]
    store = store_of(tmp_path / "store.jsonl", formulas)
    content = Content(Snapshot(store))
    table = content.tables["leaks"]
    assert cells(table, "Stage", "Verdict") == [
        ["formula", "by formula: as many cycles for all"],
        ["formula", "by formula: depends on the exponent"],
    ]
    assert {line.cells[-2].tone for line in table.lines} == {""}
    assert {record["kind"] for record in content.data["leakage"]} == {"by formula"}
    store.record(*leaking("mont", False))
    by_design = dict(cells(Content(Snapshot(store)).tables["leaks"], "Design", "Stage"))
    assert by_design == {"mont-ct, 32 bits": "formula", "mont, 32 bits": "RTL (native)"}


def test_commands_can_be_pasted():
    point = Point("mont", 32).as_json()
    command = ("modexlab", "run", "mont", "--level", "formula", "--set", "a=b c")
    failure = Failure("", "gone", 1.0, "", command, point)
    assert cells(failed([failure]), "Command") == [["modexlab run mont --level formula --set 'a=b c'"]]


def test_the_workload_of_many_exponents():
    """All exponents have one length, some with few 1 bits and some with many. Only a machine with one
    multiplier takes longer for more of them.
    """
    parts = Point("mont", 32, workload="exponents").parts()
    weights = [bin(part.work.exp).count("1") for part in parts]
    assert {part.work.exp.bit_length() for part in parts} == {32}
    assert min(weights) < 5 and max(weights) > 28 and len(set(weights)) > 15
    cycles = {}
    for name in ("mont", "mont-ct", "mm-m-000-one"):
        measured = measure(Point(name, 32, workload="exponents", stage="formula"))
        cycles[name] = [run["cycles"] for run in measured.details["exponentiations"]]
        assert [figure.value for figure in measured.figures] == [sum(cycles[name])]
    assert len(set(cycles["mont"])) == len(set(cycles["mont-ct"])) == 1
    by_weight = dict(zip(weights, cycles["mm-m-000-one"], strict=True))
    assert list(dict(sorted(by_weight.items())).values()) == sorted(by_weight.values())
    assert len(set(by_weight.values())) == len(set(weights))


def test_comparisons(content):
    table = named(content.compared.tables, "paper-001")
    line = next(line for line in table.lines if line.cells[0].text == "ProcXcel (Montgomery)")
    assert texts(line.cells[3:9]) == ["169", "169", "1.00", "84", "0.50", "procxcel-mont"]
    citations = {citation["p"]: citation for citation in content.compared.citations}
    assert citations[line.cells[3].published]["source"] == "paper 001, section 5.1, Table 1"
    ratios = {record["name"]: record["ratio"] for record in content.data["ratios"]}
    assert ratios["001 ProcXcel (Montgomery), 32: cycles of encrypt, procxcel-mont"] == 84 / 169


# ---- trust


def test_trust(content):
    """Measurements and points by formula are counted separately."""
    told = {trust.text: trust.good for trust in content.trust}
    counts = Counter({entry.measurement: entry.stage for entry in content.entries}.values())
    silicon, formulas = counts["flow"] + counts["layout"], counts["formula"]
    measured = counts.total() - formulas
    kinds = f"{silicon} in RTL and as gates; {counts['native']} in RTL."
    assert told[f"All {measured} measurements passed a functional check: {kinds}"] is True
    (by_formula,) = trust_in(content, f"{formulas} points are by formula, where only")
    assert "Cycles by formula and in simulation agree for 16 of 16 points." in by_formula.text
    assert by_formula.good is True
    assert f", {measured} measurements, {formulas} points by formula, " in page_of(content)
    assert told["1 marked and excluded from all comparisons: see Marked and failed."] is False
    assert told["Points that could not be measured: 1, see Marked and failed."] is False


def test_the_page_says_which_netlists_were_proved(report_of):
    """Verdicts count, not requests. A command carries --skip equivalence if, and only if, no proof was
    requested.
    """
    proved = {"equivalent": True, "refuted": False, "summary": "proved 7 of 7 parts"}
    undecided = {"equivalent": False, "refuted": False, "summary": "proved 5 of 7 parts, 2 undecided"}
    requested = {"mont": proved, "naive": undecided, "naive-001": undecided, "mont-001": None}
    chips = [chip(subject, equivalence=True, verdict=verdict) for subject, verdict in requested.items()]
    chips += [chip(subject, equivalence=False) for subject in ("ssmm", "heap")]
    assert ["--skip" in point.command for point, _ in chips] == [False] * 4 + [True] * 2
    (trust,) = trust_in(report_of(*chips), "proved equivalent")
    assert trust.text == (
        "1 of 6 netlists are proved equivalent to their RTL. The others ran their tests on the gates: "
        "2 undecided in some parts; 1 without a recorded verdict; 2 without a proof (--skip equivalence)."
    )
    (trust,) = trust_in(report_of(chips[0]), "proved equivalent")
    assert trust.text == "1 of 1 netlists are proved equivalent to their RTL."


@parametrize("style", ["plain", "optimised"])
def test_forms_that_synthesis_makes_alike_are_said(style, tmp_path):
    store = Store(tmp_path / "store.jsonl")
    flow = (("clock_period", 3.0), ("style", style))
    for form in ("textbook", "koc"):
        assert not trust_in(Content(Snapshot(store)), "nearly the same netlist")
        point = Point("mont", 32, (("add_red", form),), stage="flow", flow=flow)
        store.record(point, implemented(10_000))
    assert len(trust_in(Content(Snapshot(store)), "nearly the same netlist")) == (
        0 if style == "plain" else 1
    )


def test_a_formula_that_is_wrong_is_said(report_of):
    content = report_of(simulated("mont", 32, 77, stage="formula"), simulated("mont", 32, 78))
    assert content.formulas == (0, ["mont, 32 bits, encrypt"])
    assert [trust.good for trust in trust_in(content, "not for mont, 32 bits, encrypt")] == [False]


def test_what_was_measured_before_a_change_is_said(content, monkeypatch):
    assert content.stale == set()
    monkeypatch.setattr("modexlab.eval.lab.keys.sources_of", lambda *_: "others")
    again = Content(Snapshot(Store(content.path)), pictures=False)
    assert again.stale == {entry.measurement for entry in again.entries}
    assert trust_in(again, "with other sources")
    for table in [*again.tables.values(), *again.compared.tables]:
        own = own_cells(table)
        if table.name != "marked":
            assert all(cell.stale and cell.text.endswith("‡") for cell in own), table.name
            assert " ‡: stale, measured with other sources" in table.caption or not own
        assert "good" not in {cell.tone for line in table.lines for cell in line.cells}, table.name
    assert again.tables["best"].lines, "stale figures are shown with their sign if there are no others"
    assert all(record["name"].endswith("(stale)") for record in again.data["ratios"])
    assert "‡: stale" in text(again)


def test_what_is_stale_is_not_held_against_what_is_fresh(tmp_path, monkeypatch):
    store = Store(tmp_path / "store.jsonl")
    with monkeypatch.context() as before:
        before.setattr("modexlab.eval.lab.keys.sources_of", lambda *_: "others")
        store.record(Point("mont", 32, stage="flow"), implemented(10_000.0, cycles=(7, 12)))
        store.record(*simulated("mont", 32, 7))
        store.record(*chip("ssmm", area=8_000.0, clock_period=2.0))
    store.record(*chip("ssmm", area=20_000.0))
    content = Content(Snapshot(store))
    of = {"nbits": 32, "operation": "encrypt"}
    lines = cells(content.tables["best"], "Best at", "Design", "Ours", **of)
    assert {design for _, design, _ in lines} == {"ssmm"} and ["smallest area", "ssmm", "20,000"] in lines
    designs = cells(content.tables["designs"], "Design", "Clock", "Area")
    assert designs == [["mont", "3.00‡", "10,000‡"], ["ssmm", "3.00", "20,000"]]
    of_flow = records_of(content, "points", stage="flow")
    found = {(point["m"], point.get("stale"), point.get("off")) for point in of_flow}
    assert found == {(1, True, True), (3, True, True), (4, None, None)}
    (alone,) = records_of(content, "points", stage="native")
    assert alone["stale"] and "off" not in alone, "its group has no fresh points"
    assert alone["setup"] == "RTL (native), stale"


# ---- charts


def test_less_is_better_on_every_axis():
    """The fronts rely on it."""
    assert not {"fmax_mhz", "wns_ns", "hold_wns_ns"} & set(AXES)
    assert set(AXES) <= METRICS.keys()


def test_cycles_by_width_are_of_one_exponentiation(report_of):
    workloads = ("encrypt", "decrypt", "crt", "sign+9verify", "exponents")
    content = report_of(*(simulated("mont", 32, 77, workload, "formula") for workload in workloads))
    own = [width["operation"] for width in content.data["widths"] if width["source"] != "published"]
    assert own == ["encrypt", "decrypt"]
    layers = charts.widths(charts.Style(content.families, palette.light))["layer"]
    (line,) = [layer for layer in layers if layer["mark"]["type"] == "line"]
    assert [item["field"] for item in line["encoding"]["detail"]] == ["label", "operation"]
    listed = {point["operation"] for point in content.data["points"] if "m" in point}
    assert listed == {"encrypt", "decrypt", "crt", "sign+9verify"}, "the total of many exponents is no cost"


def test_counts_are_joined_where_the_formula_is_known_at_one_width(report_of):
    """Else the fastest machine would have no line and no name."""
    counts = {32: 119, 64: 300}
    heap = [simulated("heap", nbits, cycles, stage="flow") for nbits, cycles in counts.items()]
    mont = [simulated("mont", nbits, 77, stage=stage) for nbits in counts for stage in ("native", "formula")]
    content = report_of(simulated("heap", 32, 119, stage="formula"), *heap, *mont)
    lines = Counter(picked(record, "label source") for record in content.data["widths"] if record.get("line"))
    assert lines == {("heap", "formula"): 1, ("heap", "measured"): 2, ("mont", "formula"): 2}
    chart = named(content.charts(), "widths")
    picture = render_png.drawn(render_png.specification(chart, content), "svg")
    assert b">heap<" in picture and b">mont<" in picture


def test_silicon_by_width_is_of_what_has_several(report_of):
    chips = [("mont", 64, 9.0), ("mont", 32, 5.0), ("ssmm", 32, 4.0), ("procxcel-mont", 32, 9.0)]
    content = report_of(*(chip(*item) for item in chips))
    found = {picked(record, "label nbits area_um2 operation") for record in content.data["grown"]}
    sizes, operations = ((32, 5.0), (64, 9.0)), ("encrypt", "decrypt")
    assert found == {("mont", *size, operation) for size, operation in itertools.product(sizes, operations)}
    names = [chart.name for chart in content.charts()]
    assert names[3:6] == ["area_um2-width", "time_ns-width", "energy_nj-width"]
    text = page_of(content)
    assert all(f'id="chart-{chart.name}"' in text for chart in content.charts()), "every chart is on the page"
    for chart in content.charts()[3:6]:
        assert b"Width (bits)" in render_png.drawn(render_png.specification(chart, content), "svg")


def test_captions_are_true_in_both_themes():
    for _, caption in CHARTS.values():
        assert not re.search(r"\b(black|white|dark|light)\b", caption, re.IGNORECASE), caption


def test_modules_add_up(content):
    records = records_of(content, "areas", m=content.data["areas"][0]["m"])
    assert sum(record["share"] for record in records) == approx(1)
    parts = {record["part"]: record for record in records}
    assert picked(parts["MontMulRem"], "units share") == (2, approx(0.69))
    assert parts["top level"]["share"] == approx(0.03)


def test_large_modules_are_taken_apart():
    modules = [
        {"path": "", "module": "top", "area_um2": 100.0},
        {"path": "a", "module": "top_A", "area_um2": 80.0},
        {"path": "a.x", "module": "top_Unit", "area_um2": 70.0},
        {"path": "a.x.step", "module": "top_Step", "area_um2": 60.0},
        {"path": "b", "module": "top_B__width_3", "area_um2": 5.0},
        {"path": "b.y", "module": "top_Y", "area_um2": 4.0},
    ]
    assert datasets._pieces(modules, "Unit") == {"top level": [15], "A": [10], "Unit": [70], "B": [5]}
    assert datasets._pieces(modules, "Other")["Step"] == [60]


def test_energy_is_split_into_work_and_glitches(content):
    number = entry(content, "procxcel-mont-001").measurement
    records = records_of(content, "energies", m=number, operation="encrypt")
    energies = {record["part"]: record["energy_nj"] for record in records}
    assert energies == {"without glitches": 2.7, "glitches": approx(2.7 * 1.25), "published": 2.86}


def test_no_bar_of_energy_adds_operations(content):
    """Each bar is one operation, even without a filter."""
    bars = Counter((record["name"], record["part"]) for record in content.data["energies"])
    assert set(bars.values()) == {1}
    operations = {record["operation"] for record in content.data["energies"]}
    assert operations == {"encrypt", "decrypt"}


def test_every_line_by_width_has_its_name_at_its_end(content):
    """The labels in the picture keep a distance from each other."""
    chart = named(content.charts(), "widths")
    drawn = [record for record in render_png.first_records(chart, content) if record["source"] == "formula"]
    steps = Counter(record["label"] for record in drawn)
    assert set(steps) == set(CYCLES)
    root = ElementTree.fromstring(render_png.drawn(render_png.specification(chart, content), "svg"))
    group = next(mark for mark in root.iter() if "ends_marks" in mark.get("class", ""))
    texts = {mark.text: float(re.search(r",(-?[\d.]+)\)", mark.get("transform", ""))[1]) for mark in group}
    assert set(texts) == set(steps)
    ends = {record["label"]: record["cycles"] for record in sorted(drawn, key=lambda record: record["nbits"])}
    long = [name for name in ends if not name.startswith("cm")]  # its lines end at 64 bits
    higher = [(one, other) for one, other in itertools.permutations(long, 2) if ends[one] > ends[other]]
    assert higher and all(texts[one] < texts[other] for one, other in higher)
    assert all(abs(texts[one] - texts[other]) >= 11 for one, other in higher)


def test_paths_are_told_without_their_inner_modules():
    path = details(1.0)["worst_path"]
    assert datasets.through(path) == "units__0, dpath"
    steps = {"modules": ["units__0.steps__1", "units__0.steps__0", "", "units__0.steps__1", "units__1"]}
    assert datasets.through(steps) == "units__0.steps__*, units__1"


def test_families_look_the_same_whatever_is_there(monkeypatch):
    """A new family does not change the look of the others, and no two listed families look alike."""
    families = [*dict.fromkeys(design.family for design in catalogue.designs()), "software"]
    assert set(families) == {*palette.FAMILIES, *palette.OTHERS}
    before = palette.scales(families, palette.light)
    looks = list(zip(*(scale["range"] for scale in before.values()), strict=True))
    assert len({(colour, shape) for colour, shape, _ in looks}) == len(families)
    assert len({(colour, str(dash)) for colour, _, dash in looks}) == len(families), "lines have no shape"
    after = palette.scales(["Barrett", *families], palette.light)
    assert all(after[name]["range"][1:] == scale["range"] for name, scale in before.items())
    assert (after["color"]["range"][0], after["shape"]["range"][0]) not in {look[:2] for look in looks}


def colour_scales(spec):
    """All colour scales in a specification."""
    if isinstance(spec, dict):
        scale = spec["color"].get("scale", {}) if isinstance(spec.get("color"), dict) else {}
        yield from [scale] if "domain" in scale else []
    for part in spec.values() if isinstance(spec, dict) else spec if isinstance(spec, list) else ():
        yield from colour_scales(part)


def test_a_family_has_one_colour_in_every_chart(content):
    """A family keeps its colour as a class of modules; other classes have no colour of a family."""
    found = {}
    for chart in content.charts():
        for scale in colour_scales(chart.spec):
            for name, colour in zip(scale["domain"], scale["range"], strict=True):
                found.setdefault(name, set()).add(colour)
    assert {name: found[name] for name in content.families} == {
        name: {palette.light(palette.look(name).colour)} for name in content.families
    }
    series = {pair[0] for pair in palette.SERIES}
    assert {"ResidueDpath", "Sequencer"} <= found.keys()
    assert not (found["ResidueDpath"] | found["Sequencer"] | found["other modules"]) & series
    assert "MontMulRem" in next(colour_scales(named(content.charts(), "areas").spec))["domain"]


def linear(colour):
    """The linear light of a colour in sRGB."""
    parts = np.array([*bytes.fromhex(colour[1:])]) / 255
    return np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


@parametrize("red_share, blue_shift", ((0.112, 0.004), (0.293, -0.022)))
@parametrize("theme", (0, 1))
def test_colours_differ_for_colour_blind_readers(theme, red_share, blue_shift):
    """Protanopia and deuteranopia, as simulated by Viénot, Brettel and Mollon (1999), with a gamma of 2.4."""
    red, green, blue = np.transpose([linear(pair[theme]) for pair in palette.SERIES])
    mixed = red_share * red + (1 - red_share) * green
    seen = np.clip([mixed, mixed, blue + blue_shift * (red - green)], 0, 1) ** (1 / 2.4)
    distances = [math.dist(*pair) for pair in itertools.combinations(seen.T, 2)]
    assert len(palette.SERIES) <= 8 and min(distances) > 0.15


def test_colours_can_be_read_on_both_papers():
    """Contrast of WCAG 2.1: 4.5 for text, 3 for marks."""

    def contrast(one, other):
        weights = 0.2126, 0.7152, 0.0722
        high, low = sorted((linear(one) @ weights, linear(other) @ weights), reverse=True)
        return (high + 0.05) / (low + 0.05)

    for theme in (0, 1):
        paper = palette.INKS["paper"][theme]
        for name in ("ink", "ink-2", "link", "good", "bad"):
            assert contrast(palette.INKS[name][theme], paper) >= 4.5, (name, theme)
        for pair in palette.SERIES:
            assert contrast(pair[theme], paper) >= 3.0, (pair, theme)


@parametrize("format", render_png.FORMATS)
def test_pictures_of_charts(content, tmp_path, format):
    chart = named(content.charts(), "area-time")
    content_of = render_png.drawn(render_png.specification(chart, content), format)
    if format == "png":
        assert content_of.startswith(b"\x89PNG") and len(content_of) > 10_000
    else:
        root = ElementTree.fromstring(content_of)
        words = {element.text for element in root.iter() if element.tag.endswith("}text")}
        assert {"Time (ns)", "Area (µm²)", "naive-001", "mont steps_per_stage=16"} <= words
        assert b"var(" not in content_of


def test_axes_and_legend_are_filled_in(content):
    """A family without any record that has both metrics is not in the legend."""
    chart = named(content.charts(), "energy-time")._replace(axes=("cycles", "energy_nj"))
    families = list(content.families)
    records = [{"family": families[1], "cycles": 1, "energy_nj": 2.0}, {"family": families[0], "cycles": 1}]
    text_of = json.dumps(charts.filled(chart, records, families))
    assert "@" not in text_of
    assert "Energy without glitches (nJ)" in text_of and "time_ns" not in text_of
    assert f'"values": ["{families[1]}"]' in text_of


# ---- the page and its data


def test_the_page_loads_nothing(content):
    page = page_of(content)
    assert len(page.encode()) < 3_000_000
    assert "default-src 'none'" in page
    head, _, rest = page.partition('<script type="application/json" id="data">')
    loaded = []
    parser = HTMLParser()
    parser.handle_starttag = lambda _, found: loaded.extend(
        value or "" for name, value in found if name in ("src", "href")
    )
    parser.feed(head)
    assert len(loaded) > 10 and all(item.startswith(("data:", "#")) for item in loaded)
    assert rest.count("</script>") == 3


def test_nothing_ends_a_script():
    hostile = {"</script><!--": "<script>\u2028"}
    text_of = for_script(hostile)
    assert not set("<>&\u2028") & set(text_of)
    assert json.loads(text_of) == hostile


def test_packed_records_are_the_records():
    records = [{"a": 1, "b": "x"}, {"a": None, "b": "x", "c": 2.5}, {"b": "y"}]
    made = packed(records)
    assert made["columns"]["b"] == {"words": ["x", "y"], "index": [0, 0, 1]}
    assert made["columns"]["a"] == [1, None, None] and made["columns"]["c"] == [None, 2.5, None]
    assert made["length"] == 3


def test_large_pictures_become_small():
    from PIL import Image

    png = picture()
    less = smaller(png, 1100)
    assert len(less) <= len(png)
    assert Image.open(io.BytesIO(less)).width == 1100


def test_a_layout_without_wires_says_why(report_of):
    made = implemented(9.0, artifacts={"layout.png": picture()})
    wireless = Point("mont", 32, stage="layout", flow=(("detailed", False),))
    content = report_of((wireless, made), (Point("ssmm", 32, stage="layout"), made))
    captions = {drawn.title.split(",")[0]: drawn.caption for drawn in content.pictures}
    assert "because the setting detailed=false leaves out detailed routing" in captions["mont"]
    assert "wires" not in captions["ssmm"]


def test_an_empty_store(tmp_path):
    content = Content(Snapshot(Store(tmp_path / "none.jsonl")))
    page = page_of(content)
    assert "Nothing has been measured yet" in page and "modexlab report" in page
    assert "vegaEmbed=" not in page
    assert text(content).startswith("Nothing has been measured yet: the store ")
    assert write_markdown(content, tmp_path / "report").exists()
    assert not (tmp_path / "none.jsonl").exists()


def test_only_what_was_asked_for(store):
    content = Content(Snapshot(store), ["mont"], pictures=False)
    assert {entry.subject for entry in content.entries} == {"mont", "procxcel-mont"}
    assert content.failures == []
    by = {line.cells[8].text for table in content.compared.tables for line in table.lines}
    assert by <= {"mont", "procxcel-mont", "heap", "mont-ct", "-"}


# ---- text and Markdown


def test_what_is_unknown_of_a_measurement_is_left_out(content):
    row = entry(content, "mont").first
    rows = [replace(row, when="2026-11-27T14:30:59", seconds=31.0), replace(row, when="", seconds=0.0)]
    assert [when(one) for row in rows for one in entries_of([row])] == ["2026-11-27 14:30 UTC, in 31.0 s", ""]


def test_text(content):
    said = text(content)
    assert said.startswith("Which design is best at what?\n") and HOSTILE in said and "\nok All " in said
    assert re.search(r"^Design   .*Encrypt \(cycles\).*Area \(µm²\)", said, re.MULTILINE)
    assert re.search(r"^Do the cycles depend on the exponent\?$[^$]*?^mont-ct, 32 bits ", said, re.MULTILINE)


def test_columns_without_anything_are_left_out(report_of):
    said = text(report_of(simulated("mont", 32, 77)))
    assert "Area" not in said.split("What does each design cost?")[1].split("\n\n")[2]


def test_markdown(content, tmp_path):
    path = write_markdown(content, tmp_path / "report")
    said = path.read_text()
    linked = re.findall(r"!\[[^]]*\]\(([^)]+)\)", said)
    assert {"area-time.png", "widths.png", "leakage.png"} <= set(linked)
    for name in linked:
        file = path.parent / name
        assert file.stat().st_size > 500, name
    assert sorted(item.name for item in path.parent.iterdir()) == sorted([*linked, path.name])
    for block in re.findall(r"(?:^\|.*\n)+", said, re.MULTILINE):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(widths) == 1, block
    row = entry(content, "mont").rows["area_um2"].id
    assert f"22,500 [{row}]" in said
    assert "<script" not in said


# ---- numbers


@parametrize(
    "value, wanted",
    [
        (None, "-"),
        (1079, "1,079"),
        (16800.0, "16,800"),
        (252.4, "252"),
        (31.0, "31.0"),
        (2.8649, "2.86"),
        (0.91, "0.910"),
        (0.000327, "0.000327"),
        (-0.21, "-0.210"),
        (0.0, "0"),
    ],
)
def test_numbers(value, wanted):
    assert shown(value) == wanted


def test_ratios_and_heads():
    ratios = {None: "-", 0.4968: "0.50", 1.0: "1.00", 0.0059: "0.0059", 1234.5: "1,234.50"}
    assert {value: ratio(value) for value in ratios} == ratios
    heads = {"cycles": "Cycles", "area_um2": "Area (µm²)", "cells": "Cells"}
    assert {name: metric(name).head for name in heads} == heads
    assert metric("new_metric", "K").head == "new metric (K)"


# ---- protections


def test_what_each_protection_costs(content):
    """Cycles are those of `modexlab show --costs`, each with its overhead; area and energy are those of
    machines that went through the flow.
    """
    table = content.tables["protections"]
    names = [name for name, settings in PROGRAMS.items() if settings["schedule"] == "fixed-window"]
    heads = [column.head for column in table.columns]
    by_name = {line.cells[0].text: dict(zip(heads, line.cells, strict=True)) for line in table.lines}
    assert [*by_name] == names
    machine = catalogue.find("mont-keyed").at(2048, **BY_CRT, fit="modulus", verify=True)
    assert by_name["crt, check"]["2,048 bits"].value == costs(machine).cycles
    check, crt = (by_name[name]["2,048 bits"].value for name in ("crt, check", "crt"))
    index = heads.index("2,048 bits") + 1
    overheads = {line.cells[0].text: line.cells[index] for line in table.lines}
    assert overheads["crt, check"].text == f"{100 * (check / crt - 1):+.1f}"
    assert overheads["crt"].value < -45
    measured = {
        name: found["Area"].text for name, found in by_name.items() if found["Area"].value is not None
    }
    assert measured == {"fixed-window": "9,500", "crt": "14,800", "crt, check, blinded": "18,600"}
    crt = by_name["crt"]
    assert crt["Energy without glitches"].row is not None and crt["32 bits"].text == "266"
    assert "All take the same time for all secrets" in table.caption
    assert "What each protection costs" in text(content)


def test_protections_are_of_one_design(store):
    assert "protections" not in Content(Snapshot(store), ["ssmm"]).tables
    assert "protections" in Content(Snapshot(store), ["mont-keyed"]).tables


# ---- findings


def test_every_section_with_figures_has_a_finding(content):
    without = {"choices", "trust", "figures", "method"}
    said = page_of(content)
    for name, title, _ in SECTIONS:
        if f'<section id="{name}">' in said and name not in without:
            assert re.search(rf'<h2>{re.escape(title)}</h2>\n<p class="finding">[^<]+\.</p>', said), name


def test_findings_follow_the_data(content, monkeypatch):
    """A sentence changes with the records of its section."""
    area = finding(content, "area")
    assert area.startswith("Multipliers take 69%")
    for record in content.data["areas"]:
        monkeypatch.setitem(record, "share", record["share"] / 3)
    assert finding(content, "area").startswith("Multipliers take 23%")
    ratios = [record["ratio"] for record in content.data["ratios"] if record["ratio"]]
    lower = sum(ratio < 0.995 for ratio in ratios)
    assert f"Of {len(ratios)} comparable published" in finding(content, "comparison")
    assert f"ours is lower for {lower}," in finding(content, "comparison")


def test_what_interfaces_and_the_processor_add(report_of):
    records = []
    for clock in (2.0, 4.0):  # areas are compared at 3 ns, which all interfaces have
        other = Point("mont", 32, stage="flow", flow=(("clock_period", clock),))
        records.append((other, implemented(50_000.0, clock=clock, cycles=(10, 100))))
    for subject, interface, area, cycles in (
        ("mont", "stream", 10_000.0, 100),
        ("mont", "axi4lite", 12_000.0, 150),
        ("procxcel-mont", "system", 30_000.0, 107),
    ):
        point = Point(subject, 32, interface=interface, workload="decrypt")
        records.append((point, counted(cycles, "decrypt")))
        records.append((point.at(stage="flow"), implemented(area, cycles=(10, cycles))))
    content = report_of(*records)
    heads = ("Interface", "Decrypt", "Decrypt +", "Area", "Area +")
    assert cells(content.tables["interfaces"], *heads) == [
        ["machine alone", "100", "-", "10,000", "-"],
        ["behind AXI4-Lite", "150", "+50", "12,000", "+20"],
        ["with processor", "107", "+7", "30,000", "+200"],
    ]
    assert finding(content, "interfaces") == (
        "Compared with the machine alone, cycles change by +50% behind AXI4-Lite and +7% with processor; "
        "areas change by +20% behind AXI4-Lite and +200% with processor."
    )
