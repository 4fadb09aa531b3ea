"""`modexlab store` and `modexlab store reproduce`: rows of a real measurement as tables, files and
commands, and measured again.
"""

import csv
import json
import os
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from modexlab.eval.lab.measure import measure
from modexlab.eval.lab.metrics import Figure, Measurement
from modexlab.eval.lab.point import Point
from modexlab.eval.lab.store.reference import Reference

from tests.command_line import picked, refusals
from tests.harness import expect, module_fixture, parametrize, regress

SMALL = Point("mont", 8, settings=(("nstages", 2), ("steps_per_stage", 4)), stage="cl")
FLOW = Point("naive", 8, stage="flow", flow=(("clock_period", 2.0), ("style", "optimised")))
# of the flow, which is slow: invented figures, as no test uses the values
MADE_UP = Measurement(
    figures=(Figure("area_um2", 1234.5, "um2"), Figure("energy_nj", 0.25, "nJ", "encrypt")),
    seconds=12.0,
    tools={"yosys": "0.70"},
    verilog_hash="cd" * 32,
    tests="3 rows at RTL, 3 at gates",
    marks=("2 ns is missed by 0.1 ns",),
    details={"caveats": ["one corner, typical"]},
    artifacts={"amoeba.png": b"\x89PNG"},
)


@module_fixture
def measured():
    """The small machine."""
    return measure(SMALL)


@pytest.fixture(name="store", autouse=True)
def make_store(store, measured):
    """One real measurement, one of the flow, and a failure."""
    store.record(SMALL, measured)
    store.record(FLOW, MADE_UP)
    store.fail(SMALL.at(nbits=16), "the machine is on fire", 3.25)
    return store


def row_of(store, metric):
    """The number of the last row with this metric."""
    return store.rows(metric=metric, history=True)[-1].id


# ---- tables


def test_list(cli, store):
    for argv in ("", "list", f"list --store {store.path}"):
        lines = cli(f"store {argv}").out.splitlines()
        assert lines[0].split()[:4] == ["row", "design", "bits", "settings"]
    (cycles,) = (line.split() for line in lines if " cycles " in line)
    value = next(figure.value for figure in measure(SMALL).figures if figure.metric == "cycles")
    assert " ".join(cycles[1:9]) == f"mont 8 nstages=2 steps_per_stage=4 cl encrypt cycles {value}"
    (area,) = (line for line in lines if "area_um2" in line)
    assert (
        area.split()[1:4] == ["naive", "8", "style=optimised"] or "clock_period=2.0 style=optimised" in area
    )
    assert area.split()[-1] == "marked" and " 1234.5  um2 " in area
    assert "marked: not comparable; `modexlab store show ROW` says why" in lines


def test_filters(cli):
    def designs(filters):
        return {(row["subject"], row["metric"]) for row in cli.json(f"store list {filters}")}

    both = {("naive", "area_um2"), ("naive", "energy_nj")}
    assert designs("--subject naive") == designs("--stage flow") == both
    assert designs("--metric area_um2 --metric energy_nj") == both
    assert designs("--operation encrypt --stage flow") == {("naive", "energy_nj")}
    assert designs("--nbits 9") == set()
    assert cli("store --nbits 9").out == "no such rows; `modexlab store list` without filters shows all\n"


def test_history(cli, store, measured):
    before = cli.json("store")
    store.record(SMALL, measured)
    after, whole = cli.json("store"), cli.json("store --history")
    assert len(after) == len(before) < len(whole) == len(before) + len(measured.figures)


def test_json_says_all(cli, store, measured):
    row = cli.json("store --subject mont --metric cycles")[0]
    assert shlex.split(row["command"]) == SMALL.command
    assert (
        row["stale"] is False and row["key"] == SMALL.version and row["verilog_hash"] == measured.verilog_hash
    )
    assert row["tests"] == measured.tests != ""
    assert row["parameters"]["nstages"] == 2 and row["point"] == SMALL.as_json()


def test_stale_rows_say_so(cli, monkeypatch):
    monkeypatch.setattr("modexlab.eval.lab.keys.sources_of", lambda *_: "other sources")
    assert all(row["stale"] for row in cli.json("store"))
    (line,) = (line for line in cli("store").out.splitlines() if " area_um2 " in line)
    assert line.endswith("  stale, marked")


def test_failures(cli):
    cli.shows("store list --failures", "--nbits 16", "  the machine is on fire (after 3.2 s)")
    (failure,) = cli.json("store --failures")
    assert failure["message"] == "the machine is on fire"
    assert failure["command"] == shlex.join(SMALL.at(nbits=16).command)


def test_failures_of_some_points(cli, store):
    store.fail(FLOW, "no clock", 1.0)

    def messages(filters):
        return [item["message"] for item in cli.json(f"store --failures {filters}")]

    assert messages("") == ["the machine is on fire", "no clock"]
    assert messages("--subject mont") == messages("--nbits 16") == ["the machine is on fire"]
    assert messages("--stage flow --nbits 8") == ["no clock"]
    assert cli("store --failures --nbits 9").out == "no such point has failed\n"


def test_names_of_yesterday_can_be_asked_for(cli, store, monkeypatch):
    monkeypatch.setattr("modexlab.eval.cli.commands.store.designs", list)
    assert {row["subject"] for row in cli.json("store --subject naive")} == {"naive"}
    assert "unknown design or system 'ssmm'" in cli.fails("store --subject ssmm")


def test_show(cli, store):
    area = row_of(store, "area_um2")
    out = cli(f"store show {area}").out
    for text in (
        "area_um2 = 1234.5 um2: naive, 8 bits",
        f"command       {shlex.join(FLOW.command)}",
        "tests         3 rows at RTL, 3 at gates",
        "mark          2 ns is missed by 0.1 ns",
        f"Verilog       sha256 {'cd' * 32}",
        "tools         yosys 0.70",
        "sources       the present ones",
        "with it       area_um2 1234.5, encrypt energy_nj 0.25",
        "caveat        one corner, typical",
        "pictures      amoeba.png",
    ):
        assert text in out, text
    shown = cli.json(f"store show {area}")
    assert shown["details"] == MADE_UP.details and shown["artifacts"] == {"amoeba.png": 4}
    assert [figure["metric"] for figure in shown["figures"]] == ["area_um2", "energy_nj"]


def test_nothing_yet(cli, tmp_path, monkeypatch):
    path = tmp_path / "new.jsonl"
    monkeypatch.setenv("MODEXLAB_STORE", str(path))
    out = cli("store").out
    assert out == f"nothing has been measured yet ({path}); `modexlab sweep course` measures a first space\n"
    assert cli("store --failures").out == "no point has failed\n"
    assert cli.json("store") == [] and not path.exists()
    assert cli("store path").out == f"{path}\n"
    assert cli.json("store path") == {"path": str(path)} and not path.exists()


# ---- files


@parametrize("format", ["csv", "jsonl"])
def test_export(cli, store, tmp_path, format):
    """Formats and messages; the completeness of the rows is tested in tests/lab/test_store.py."""
    by_suffix, by_option = tmp_path / f"figures.{format.upper()}", tmp_path / "figures"
    assert "rows to" in cli(f"store export {by_suffix}").err
    cli.passes(f"store export {by_option} --format {format} --metric area_um2")
    text = by_option.read_text()
    (row,) = csv.DictReader(text.splitlines()) if format == "csv" else map(json.loads, text.splitlines())
    assert (row["metric"], float(row["value"])) == ("area_um2", 1234.5)
    assert len(by_suffix.read_text().splitlines()) == len(store.rows()) + (format == "csv")


# ---- again


def test_reproduce_prints_the_command(cli, store):
    number = row_of(store, "cycles")
    result = cli(f"store reproduce {number}")
    expect(result, code=0, err="")
    assert shlex.split(result.out) == SMALL.command
    assert cli.json(f"store reproduce {number}") == {
        "row": number,
        "command": shlex.join(SMALL.command),
        "stale": False,
    }


def test_reproduce_runs_and_finds_it_equal(cli, store):
    result = cli.passes(f"store reproduce {row_of(store, 'cycles')} --run")
    assert result.err.splitlines()[:2] == [
        f"measuring again: {SMALL}",
        f"as a command: {shlex.join(SMALL.command)}",
    ]
    lines = result.out.splitlines()
    assert lines[0].split()[:4] == ["operation", "metric", "store", "now"]
    assert lines[2:] and all(line.endswith("  equal") for line in lines[2:])


@parametrize(
    "point",
    [
        Point("mont", 32, stage="formula", workload="decrypt"),
        Point("mont", 8, workload="exponents", stage="cl"),
        Point("mont-ct", 8, stage="cl", workload="encrypt"),
        Point("naive", 8, stage="python", interface="xcel"),
        SMALL.at(stage="native", workload="encrypt"),
        Point("mont", 16, workload="sign+9verify"),
        Point("mont", 16, stage="formula", workload="crt"),
        Point("naive", 16, {"quotient_bits_per_cycle": 4}, interface="xcel", workload="decrypt"),
        Point("mont", 9, stage="cl", workload="decrypt"),
    ],
    ids=str,
)
def test_the_command_gives_the_figures_of_the_row(cli, store, point):
    """The command that reproduce prints measures the row's figures."""
    store.record(point, measure(point))
    (row,) = store.rows(key=point.version)
    program, _, command = cli(f"store reproduce {row.id}").out.partition(" ")
    assert program == "modexlab"
    assert cli(command).json()["cycles"] == row.value > 0


@regress
def test_the_command_gives_the_figures_of_a_flow(cli, store):
    point = Point("naive", 8, interface="xcel", stage="flow")
    store.record(point, measure(point))
    rows = store.rows(key=point.version)
    report = cli(cli(f"store reproduce {rows[0].id}").out.removeprefix("modexlab ")).json()
    assert {row.metric for row in rows} >= {"area_um2", "energy_nj", "cycles", "fmax_mhz"}
    drawn = {"energy_drawn_nj": "mean_nj", "energy_drawn_std_nj": "std_nj"}
    for row in rows:
        if row.metric in drawn:
            now = report["energy_spread_nj"][row.operation][drawn[row.metric]]
        else:
            now = report[row.metric][row.operation] if row.operation else report[row.metric]
        assert now == row.value, row.metric


def test_reproduce_knows_the_hardware_of_a_reference_row(cli):
    (row,) = Reference().rows(subject="mont", nbits=16, stage="native", workload="decrypt", metric="cycles")
    cli.reports(f"store reproduce {row.id} --run", equal=True, same_hardware=True)


def test_reproduce_finds_a_difference(cli, store, measured):
    """In a store with a wrong figure, and for changed hardware."""
    wrong = [
        replace(figure, value=figure.value * 2) if figure.metric == "cycles" else figure
        for figure in measured.figures
    ]
    store.record(SMALL, replace(measured, figures=(*wrong, Figure("dsp", 1, "DSP")), verilog_hash="0" * 64))
    number = row_of(store, "cycles")
    result = cli.finds(f"store reproduce {number} --run")
    (line,) = (line for line in result.out.splitlines() if " cycles " in line)
    true = next(figure.value for figure in measured.figures if figure.metric == "cycles")
    assert line.endswith(f"differs by -{true} (-50.00%)")
    assert "only then" in result.out
    assert f"The Verilog differs from that of row {number}: the hardware has changed since." in result.out
    report = cli.reports(f"store reproduce {number} --run", equal=False, same_hardware=False)
    (dsp,) = [figure for figure in report["figures"] if figure["metric"] == "dsp"]
    assert picked(dsp, "store now equal") == (1, None, False)


def test_reproduce_fresh(cli, store, monkeypatch):
    """With a temporary cache, which is removed afterwards."""
    seen = []

    def noted(point, progress=None):
        seen.append(os.environ["MODEXLAB_CACHE"])
        assert Path(seen[0]).is_dir() and not list(Path(seen[0]).iterdir())
        return measure(point)

    monkeypatch.setattr("modexlab.eval.cli.commands.reproduce.measure", noted)
    monkeypatch.setenv("MODEXLAB_CACHE", "mine")
    cli.passes(f"store reproduce {row_of(store, 'cycles')} --run --fresh")
    assert os.environ["MODEXLAB_CACHE"] == "mine" and len(seen) == 1 and not Path(seen[0]).exists()


def test_reproduce_warns_of_other_sources(cli, store, monkeypatch):
    monkeypatch.setattr("modexlab.eval.lab.keys.sources_of", lambda *_: "other sources")
    result = cli("store reproduce", row_of(store, "cycles"))
    assert "was measured with other sources or tools than the present ones" in result.err
    assert shlex.split(result.out) == SMALL.command


# ---- refused


test_refused = refusals(
    "",
    {
        "store show": "which row? give its number",
        "store show x": "row 'x' is not a whole number",
        "store show 99": "has no row 99; `modexlab store list` shows those that there are",
        "store list 5": "list 5: it takes no argument; drop it",
        "store lst": "invalid choice: 'lst'",
        "store export": "export to which file? give its name",
        "store export figures.xls": "export figures.xls: no format has this suffix",
        "store export nowhere/figures.csv": "there is no such directory",
        "store --store nix.jsonl": "there is no such file; `modexlab sweep` writes one",
        f"store --store {__file__}": "is no store of modexlab",
        "store --nbits x": "'x' is not a whole number",
        "store --subject nave": "unknown design or system 'nave': did you mean 'naive'?",
        "store --subject naive --subject proc-nave": "did you mean 'proc-naive'?",
        "store --metric cycle": "unknown metric 'cycle': did you mean 'cycles'?",
        "store --stage flw": "unknown stage 'flw': did you mean 'flow'?",
        "store --operation encript": "unknown operation 'encript': did you mean 'encrypt'?",
        "store export x.csv --metric cycle": "did you mean 'cycles'?",
        "store --failures --stage flw": "did you mean 'flow'?",
        "store --failures --metric cycles": "--metric with --failures: a point that failed has no",
        "store --failures --history": "--history with --failures: a point that failed has no figures",
        "store export x.csv --failures": "--failures with export: it is an option of list; drop it",
        "store export x.csv --json": "--json with export: it is an option of list and show and diff and",
        "store path --failures": "--failures with path: it is an option of list; drop it",
        "store show 1 --subject mont": "--subject with show: it is an option of list and export",
        "store list --format csv": "--format with list: it is an option of export; drop it",
        "store reproduce 99": "has no row 99",
        "store reproduce -1": "has no row -1",
        "store reproduce 1 --fresh": "--fresh without --run: nothing is measured; add --run",
    },
)
