"""Tests of the section on cores: its table and chart from a made-up store, and the name of a clock that was
searched.
"""

import re
from dataclasses import replace

import pytest
from modexlab.eval.lab.point import Point
from modexlab.eval.lab.store.snapshot import Snapshot
from modexlab.eval.lab.store.store import Store
from modexlab.eval.report import charts, choices, html, palette, text
from modexlab.eval.report.charts import filled
from modexlab.eval.report.findings import finding
from modexlab.eval.report.render_png import drawn, specification
from modexlab.eval.report.sections import Content
from modexlab.fl.cost import counting_floor
from pytest import approx

from tests.command_line import picked
from tests.harness import module_fixture

from ..lab.test_cores import MACHINE, WORK, Bench, of_flow
from .test_report import named, records_of, texts

pytestmark = pytest.mark.usefixtures("untranslated")

CELL_UM2 = 3.192  # half an AOI222_X1 and half an FA_X1


@module_fixture
def content(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("cores") / "store.jsonl")
    bench = Bench(store)
    bench.run("mont", 32, 4_200.0, 2.2, product=(4, 0.02))
    bench.run("systolic-002", 32, 9_000.0, 2.0, product=(11, 0.1))
    bench.run("mont", 128, 17_000.0, 3.0, product=(16, 0.4))
    bench.run("ssmm", 32, 1.0, 0.1, marks=("0.1 ns is missed",), product=(4, 0.02))
    for area, clock, flow in ((10_600.0, 2.8, {"fmax": True}), (9_500.0, 3.0, {})):
        where = {**MACHINE, "flow": flow}
        bench.run("mont", 32, area, clock, where, **WORK)
    return Content(Snapshot(store))


def test_table_has_a_line_for_each_core(content):
    """Cores with a mark have no line, nor machines whose area covers more than one product."""
    table = content.tables["cores"]
    found = [(line.group, line.cells[0].text, line.cells[5].value) for line in table.lines]
    assert found == [
        ("32 bits", "mont", approx(8.8)),
        ("32 bits", "systolic-002", approx(22.0)),
        ("128 bits", "mont", 48.0),
    ]
    assert [line.cells[2].text for line in table.lines] == ["4", "11", "16"], "latencies"
    assert all(line.cells[3].row for line in table.lines)
    shown = text.of_table(table)
    assert "What a product costs" in shown and "floor" in shown


def test_the_finding_is_of_the_width_with_most_cores(content):
    assert finding(content, "cores").startswith("At 32 bits mont has the lowest area × time per product, ")


def test_chart_has_a_floor_for_each_width(content):
    """Area x time is constant along a floor, at the shortest clock among the points of its width."""
    chart = named(content.charts(), "cores")
    records = content.data["cores"]
    for nbits, clock in ((32, 2.0), (128, 3.0)):
        ends = records_of(content, "cores", kind="floor", nbits=nbits)
        least = counting_floor(nbits, CELL_UM2, clock)
        assert len(ends) == 2
        assert all(end["product_ns"] * end["area_um2"] == approx(least) for end in ends)
    families = {record["family"] for record in records_of(content, "cores", kind="core")}
    spec = filled(chart, records, content.families)
    legend = spec["layer"][2]["encoding"]["shape"]["legend"]["values"]
    assert set(legend) == families == {"MontMulRem", "Systolic"}
    axes = specification(chart, content)["layer"][0]["encoding"]
    assert axes["x"]["scale"]["type"] == axes["y"]["scale"]["type"] == "log"
    picture = drawn(specification(chart, content), "svg").decode()
    assert "floor of 128 bits" in picture and "systolic-002, 32" in picture and "Infinity" not in picture


def test_a_clock_that_was_searched_is_named(content):
    setups = {entry.setup for entry in content.entries if entry.subject == "mont" and entry.nbits == 32}
    times = {"netlist, 2.8 ns, the highest clock": approx(129 * 2.8), "netlist, 3 ns": 387}
    assert times.keys() <= {re.sub(", stale", "", setup) for setup in setups}
    records = records_of(content, "points", operation="decrypt", label="mont")
    found = {record.get("setup"): record["time_ns"] for record in records}
    assert found | times == found


def test_fronts_of_cycles_leave_out_what_has_a_clock(content):
    chart = named(content.charts(), "area-time")
    front = chart.spec["layer"][0]["transform"][0]["filter"]
    assert chart.axes == ("time_ns", "area_um2")
    assert "'@x' !== 'cycles'" in front and "!isValid(datum.clock_ns)" in front


def test_page_has_the_section(content, store):
    page = html.page(content)
    assert '<section id="cores"><h2>What does a product cost?</h2>' in page and "What a product costs" in page
    Bench(store).run("mont", 32, 9_500.0, 3.0, {"stage": "flow"}, **WORK)
    empty = Content(Snapshot(store), pictures=False)
    assert "cores" not in empty.tables and not empty.data["cores"]
    assert '<section id="cores">' not in html.page(empty)


def test_the_choices_of_a_width(content):
    """Whole machines at the searched clock compete; here there is only one, which wins everything."""
    (line,) = content.tables["choices"].lines
    fastest, *others = ["mont 0.361", "mont 10,600", "mont 0.00383", "mont 0.600"]
    assert texts(line.cells) == ["32", fastest, "001 MontModExp 0.681", *others, "30 bits, netlist"]
    assert line.cells[3].value == 10_600.0 and line.cells[3].row
    terms = {name: found for name, *found in (texts(line.cells) for line in content.tables["terms"].lines)}
    technology = "FreePDK45, NanGate cells, typical corner"
    promises = ["30", "of a length", "none", "included", technology, ""]
    assert terms["mont"] == [*promises, "2.80", "2.52", "0.6 +-12%", "netlist"]
    assert terms["001 MontModExp"][:3] == ["30", "", "?"] and terms["001 MontModExp"][5]
    assert content.lead == (
        "At 32 bits mont is the fastest: 0.361 µs (fastest published: 001 MontModExp, 0.681 µs)."
    )


def test_least_energy_is_that_of_random_operands(store):
    """Machines are ranked by it; where none has it, the cell is empty."""
    for name, nbits, energy, drawn_nj in (
        ("naive", 16, 0.1, None),
        ("tiny", 16, 0.1, None),
        ("mont", 32, 0.3, 1.6),
        ("naive", 32, 0.5, 1.0),
        ("ssmm", 32, 0.1, None),
    ):
        made = of_flow(5e2 if name == "tiny" else 9e3, 2.0, decrypt=(129, energy))
        found = [replace(item, value=drawn_nj) if "drawn" in item.metric else item for item in made.figures]
        figures = tuple(item for item in found if item.value is not None)
        store.record(Point(name, nbits, **MACHINE), replace(made, figures=figures))
    table = Content(Snapshot(store), pictures=False).tables["choices"]
    assert [texts(line.cells)[5] for line in table.lines] == ["-", "naive 1.00"]
    assert table.columns[5].title == "Least energy, random operands (nJ)" and "dash: none" in table.caption
    assert "No area above: tiny 16 bits. " in table.caption


def test_every_point_of_the_choices_is_painted(store):
    """Published machines and families without a colour of their own are neutral, and named."""
    for name in ("mont", "naive"):
        Bench(store).run(name, 16, 4_800.0, 1.2, MACHINE, **WORK)
    content = Content(Snapshot(store), pictures=False)
    assert [record["family"] for record in records_of(content, "choices", kind="published")] == [""]
    chart = named(content.charts(), "choices")
    picture = drawn(specification(chart, content), "svg").decode()
    points = re.findall(r'<path aria-label="[^"]*machine: [^>]*>', picture)
    assert len(points) == 3 and sum(palette.SERIES[-1][0] in point for point in points) == 2
    assert ">2AMLogic/sky130-modexp, 16<" in picture and ">naive, 16<" in picture


def test_lines_of_equal_area_time(content):
    """Lines lie between the least and the largest area of the points, with area x time a power of ten."""
    (point,) = records_of(content, "choices", kind="ours")
    assert picked(point, "operation_us area_um2") == (approx(129 * 2.8e-3), 10_600.0)
    for record in records_of(content, "choices", kind="equal"):
        product = record["operation_us"] * record["area_um2"] * 1e-6
        assert record["name"] == f"{product:.9f}".rstrip("0").rstrip(".") + " mm² µs"
        assert 1 / 2 < record["area_um2"] / 10_600.0 < 2


def test_a_floor_for_each_width(content):
    """Three words of DLH_X1 and one FA_X1, across all points."""
    records = content.data["choices"]
    ends = records_of(content, "choices", kind="floor")
    floor = "32 bits", approx(3 * 32 * 2.66 + 4.256)
    assert [picked(end, "name area_um2") for end in ends] == [floor] * 2
    times = [record["operation_us"] for record in records if record["kind"] in charts.KINDS]
    assert ends[0]["operation_us"] < min(times) <= max(times) < ends[1]["operation_us"]


@pytest.fixture
def exponents(store):
    """Machines of 512 bits whose private exponents differ in length."""
    bench = Bench(store)
    for name in ("systolic", "systolic-002"):
        bench.run(name, 512, 9e5, 2.0, MACHINE, **WORK)
    return bench


def test_choices_compare_the_same_work_at_one_stage(exponents):
    """A layout and a machine with another exponent have lines of their own."""
    exponents.run("mont", 32, 9_000.0, 2.0, MACHINE, **WORK)
    exponents.run("mont", 32, 9_500.0, 2.2, {**MACHINE, "stage": "layout"}, **WORK)
    content = Content(Snapshot(exponents.store), pictures=False)
    lines = content.tables["choices"].lines
    assert re.findall(r"At .*? µs", content.lead) == ["At 32 bits mont is the fastest: 0.258 µs"]
    assert [(line.cells[0].text, line.cells[1].text, line.cells[6].text) for line in lines] == [
        ("32", "mont 0.258", "30 bits, netlist"),
        ("32", "mont 0.284", "30 bits, layout"),
        ("512", "systolic 0.258", "510 bits, netlist"),
        ("512", "systolic-002 0.258", "512 bits, moduli of up to 510 bits, netlist"),
    ]
    rivals = [line.cells[2].text for line in lines]
    assert "000 CM" not in " ".join(rivals), "machines for one modulus do other work"


def test_private_operations_of_different_exponents_share_no_front(exponents):
    content = Content(Snapshot(exponents.store))
    groups = {entry.subject: entry.group for entry in content.entries if entry.operation == "decrypt"}
    assert "exponent of 510 bits" in groups["systolic"] and "exponent of 512 bits" in groups["systolic-002"]
    best = {line.group for line in content.tables["best"].lines if "decrypt" in line.group}
    assert {group.rpartition(", ")[2] for group in best} == {
        "an exponent of 510 bits",
        "an exponent of 512 bits",
    }


def test_unverified_energies_have_a_sign(tmp_path):
    """In both tables of choices, and no other figure has one."""
    bench = Bench(Store(tmp_path / "store.jsonl"))
    bench.run("mont", 32, 10_600.0, 2.8, {**MACHINE, "flow": {"fmax": True}}, **WORK)
    found = [replace(core, unverified_energy="a reason") for core in bench.cores()]
    for table in choices.table(found), choices.terms(found):
        marked = [cell.text for line in table.lines for cell in line.cells if cell.unverified]
        assert marked and all(cell.endswith("¶") for cell in marked)
        assert len(marked) == 1 and "¶: unverified" in table.explained.caption
