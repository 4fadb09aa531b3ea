"""`modexlab report`: the main task. The content of the report is tested in test_report.py, the page in
test_report_page.py.
"""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from modexlab.eval.cli.commands import report
from modexlab.eval.cli.commands.report import PAGE, Asked, chosen
from modexlab.eval.lab import space
from modexlab.eval.lab.point import Point
from modexlab.eval.lab.space import Space
from modexlab.eval.lab.stages import FLOW, IMPLEMENTED, LAYOUT
from modexlab.eval.lab.store.store import Store
from modexlab.eval.lab.sweep import Failed, Sweep
from modexlab.fl.errors import BadInput

from tests.command_line import refusals
from tests.harness import expect

from ..report.examples import counted, write

ONE_POINT = """
title = "quick"
objectives = {cycles = "min"}
[[part]]
designs = ["mont", "ssmm"]
nbits = [32]
stages = ["formula"]
"""


pytestmark = pytest.mark.usefixtures("store")


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def quick(monkeypatch, tmp_path):
    """A report whose measurements take no time."""
    spaces = tmp_path / "spaces"
    spaces.mkdir()
    (spaces / "report.toml").write_text(ONE_POINT)
    monkeypatch.setattr(space, "SPACES", spaces)


def test_measures_and_writes_the_page_and_then_reuses_all(cli, quick, tmp_path):
    first = cli.passes("report --own")
    lines = first.out.splitlines()
    assert lines[0].startswith("measured 2 points in ")
    assert lines[-1] == str(tmp_path / PAGE)
    assert "2 points, " in first.err and "store.jsonl" in first.err
    assert "modexlab run mont --level formula --nbits 32" in (tmp_path / PAGE).read_text()
    rows = Store().rows()
    assert {row.subject for row in rows} == {"mont", "ssmm"}
    assert cli("report --own").out.splitlines() == [str(tmp_path / PAGE)]
    assert [row.id for row in Store().rows()] == [row.id for row in rows]


def test_json(cli, quick):
    cli.reports("report --own mont", points={"measured": 1, "reused": 0, "failed": 0}, written={})
    cli.reports("report --own mont", points={"measured": 0, "reused": 1, "failed": 0})


def test_what_cannot_be_measured_is_exit_1_and_in_the_page(cli, quick, monkeypatch, tmp_path):
    store = Store()
    store.fail(Point("ssmm", 32, stage="formula"), "the tool is gone", 1.0)
    store.record(Point("mont", 32, stage="formula"), counted(77, "encrypt"))
    result = cli("report --own")
    assert result.code == 1, "it failed before, and still stands"
    assert "1 failed (before; --retry tries again)" in result.out
    assert "the tool is gone" in (tmp_path / PAGE).read_text()
    assert "1 failed" not in cli.passes("report --own --retry").out
    assert {row.subject for row in Store().rows()} == {"mont", "ssmm"}


def test_without_a_compiler_points_of_the_processor_are_left_out(cli, quick, monkeypatch, tmp_path):
    """Only g++ is required. A point that was left out is measured as soon as the compiler is there."""

    def missing():
        raise BadInput("there is no compiler")

    system = '[[part]]\ndesigns = ["proc-naive"]\nnbits = [32]\n'
    (tmp_path / "spaces" / "report.toml").write_text(ONE_POINT + system)
    with monkeypatch.context() as patch:
        patch.setattr(report, "compiler", missing)
        out = cli.passes("report --own").out
    assert out.startswith("measured 2 points in ")
    assert "\npoints of the processor left out: 1; there is no compiler\n" in out
    assert {row.subject for row in Store().rows()} == {"mont", "ssmm"}
    assert cli.passes("report --own").out.startswith("measured 1 points in ")
    with monkeypatch.context() as patch:
        patch.setattr(report, "compiler", missing)
        assert cli.passes("report --own").out.splitlines() == [str(tmp_path / PAGE)]


def test_what_fails_now_is_exit_1(cli, quick, monkeypatch):
    def failing(sweep, *_, **__):
        point = Point("mont", 32, stage="formula")
        sweep.failed[point.key] = Failed(point, "the tool is gone", earlier=False)
        return sweep

    monkeypatch.setattr(Sweep, "run", failing)
    result = cli.finds("report --own")
    assert "1 failed" in result.out and "--retry" not in result.out


def test_formulas_that_differ_are_exit_1(cli):
    for stage, cycles in (("formula", 77), ("native", 78)):
        Store().record(Point("mont", 32, stage=stage), counted(cycles, "encrypt"))
    cli.shows("report --own --no-measure --text", "not for mont, 32 bits, encrypt", code=1)


def test_outputs(cli, tmp_path):
    write(tmp_path / "some.jsonl")
    report = f"report --own --no-measure --store {tmp_path}/some.jsonl"
    both = cli(f"{report} --text -o page.html")
    assert both.out.startswith("Which design is best at what?")
    assert both.out.splitlines()[-1] == str(tmp_path / "page.html")
    assert not (tmp_path / PAGE).exists()
    assert (tmp_path / "page.html").read_text().startswith("<!DOCTYPE html>")
    drawn = cli(f"{report} --figures figures --format svg").out.splitlines()
    assert [Path(item).name for item in drawn] == [
        "area-time.svg",
        "energy-time.svg",
        "widths.svg",
        "areas.svg",
        "energies.svg",
        "leakage.svg",
        "choices.svg",
        "ratios.svg",
    ]
    for item in drawn:
        assert ElementTree.parse(item).getroot().tag.endswith("svg")
    tables = {table["name"]: table for table in cli.json(report)["tables"]}
    (cell,) = [
        line["cells"][3] for line in tables["designs"]["lines"] if line["cells"][0]["text"] == "naive-001"
    ]
    assert cell["text"] == "1,079" and cell["value"] == 1079
    assert Store(tmp_path / "some.jsonl").row(cell["row"]).value == 1079


def test_nothing_was_measured(cli, tmp_path):
    cli.shows("report --own --no-measure", "has no figures of these; the page says what to run")
    assert "Nothing has been measured yet" in (tmp_path / PAGE).read_text()
    cli.shows("report --own --no-measure --text", "Nothing has been measured yet")


def test_the_space_is_the_main_job():
    """32-bit systems of paper 001, ours and the paper's, shift-sub, a pseudo-modulus, and the flow of four
    accelerators, as in the paper.
    """
    points = chosen(Space.load("report"), Asked(), cycles=False)
    systems = {point.subject for point in points if point.interface == "system"}
    assert {
        "proc-naive",
        "proc-montgomery",
        "procxcel-naive-001",
        "procxcel-mont-001",
        "procxcel-mont",
    } <= systems
    assert {"procxcel-ssmm", "procxcel-cm-pm-000"} <= systems
    assert {point.modulus for point in points if point.subject == "procxcel-cm-pm-000"} == {0x55555555}
    table_2a = {
        point.subject
        for point in points
        if (point.stage, point.interface, dict(point.flow).get("clock_period")) == (FLOW, "xcel", 3.0)
    }
    assert table_2a >= {"naive-001", "mont-001", "naive", "mont", "ssmm", "heap"}
    assert [point.interface for point in points if point.stage == LAYOUT]
    assert {point.subject for point in points} >= {"cm-pm-000", "mont-ct"}
    assert not any(item.stage in IMPLEMENTED for item in chosen(Space.load("report"), Asked(), cycles=True))


def test_a_design_that_the_space_has_not_is_measured_all_the_same():
    """For example, a design of your own."""
    points = chosen(Space.load("report"), Asked(["mont", "procxcel-ssmm-004"]), cycles=False)
    assert {point.subject for point in points} == {"mont", "procxcel-mont", "procxcel-ssmm-004"}
    own = chosen(Space.parse(ONE_POINT), Asked(["heap"]), cycles=False)
    assert [(item.stage, item.workload) for item in own] == [
        ("formula", "encrypt"),
        ("formula", "decrypt"),
        ("native", "encrypt"),
        ("native", "decrypt"),
        ("flow", ""),
    ]


def test_ctrl_c_says_how_to_go_on(cli, quick, monkeypatch, tmp_path):
    def stopped(sweep, *_, **__):
        sweep.interrupted = True
        return sweep

    monkeypatch.setattr(Sweep, "run", stopped)
    result = cli("report --own")
    expect(result, code=130, out="")
    assert "0 of 2 points are in the store; the same command goes on from there" in result.err
    assert not (tmp_path / PAGE).exists()


test_refusals = refusals(
    "report",
    {
        "mnot": "did you mean 'mont'?",
        "proc-niave": "did you mean 'proc-naive'?",
        "-o ''": "--output '': this is not the name of a file",
        "-o /nowhere/report.html": "there is no such directory",
        "--no-measure --cycles": "--cycles with --no-measure: nothing is measured",
        "--no-measure --retry": "--retry with --no-measure",
        "--format svg": "--format without --figures",
        "--columns 1": "--columns without --figures",
        "--figures x --format gif": "invalid choice: 'gif'",
        "--text --json": "--text with --json: give one of them",
        f"--no-measure --figures {__file__}": "this is not a directory",
        "--pages ''": "--pages '': this is not a directory",
        "--no-measure --store none.jsonl": "there is no such file",
    },
)
