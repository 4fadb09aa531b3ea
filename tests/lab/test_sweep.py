"""`modexlab sweep`: sweeps, their fronts, how they resume, and what they refuse.

Most tests run in this process with made-up figures, to reach every case; some use workers with real points.
"""

import errno
import itertools
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest
from modexlab.eval.cli import laboratory, routes
from modexlab.eval.cli import main as cli_module
from modexlab.eval.cli.commands import sweep as sweep_command
from modexlab.eval.designs import catalogue
from modexlab.eval.errors import NoMeasurement
from modexlab.eval.lab import cluster, executors, measure, space, stages, task
from modexlab.eval.lab.metrics import Measurement, figure
from modexlab.eval.lab.pareto import Front
from modexlab.eval.lab.point import Point, key_in
from modexlab.eval.lab.search import make_search
from modexlab.eval.lab.store.export import export
from modexlab.eval.lab.store.lines import SQLITE
from modexlab.eval.lab.store.reference import REFERENCE, Reference
from modexlab.eval.lab.store.store import Store
from modexlab.eval.lab.sweep import Sweep, Work, cost_of
from modexlab.eval.lab.task import attempt
from modexlab.eval.progress import duration
from modexlab.eval.report.standalone.sweep import compared, panels

from tests.command_line import picked, refusals
from tests.harness import parametrize
from tests.paths import ROOT

pytestmark = pytest.mark.usefixtures("untranslated")

FORMULAS = """
title = "machines"
objectives = {cycles = "min"}
[[part]]
designs = ["mont", "naive", "systolic"]
nbits = [16, 32]
workloads = ["encrypt", "decrypt"]
stages = ["formula"]
"""
FLOWS = """
title = "chips"
objectives = {time_ns = "min", area_um2 = "min"}
constraints = ["nstages * steps_per_stage <= 16"]
[[part]]
designs = ["mont"]
nbits = [32]
stages = ["flow"]
[part.set]
nstages = [1, 2, 3, 4]
steps_per_stage = [4, 8, 16]
[part.flow]
clock_period = [2.0, 3.0]
"""
LARGE = """
objectives = {time_ns = "min", area_um2 = "min"}
[[part]]
designs = ["mont"]
nbits = [64]
stages = ["flow"]
[part.set]
nstages = [1, 2, 4, 8, 16, 32, 64]
steps_per_stage = [1, 2, 4, 8, 16, 32, 64]
schedule = ["right-to-left-2", "right-to-left-1", "left-to-right", "always", "ladder"]
add_red = ["textbook", "koc", "carry-save"]
conversion = ["double", "square"]
[part.flow]
clock_period = {from = 1.0, to = 4.0, step = 0.25}
"""


class Inline(executors.Executor):
    """Runs tasks in this process, one per call of `collect`."""

    name = "this process"
    workers = bundle_tasks = 1

    def __init__(self):
        super().__init__()
        self.tasks, self.closed = [], False

    @property
    def free(self):
        return len(self.tasks) < 3

    def start(self, bundle):
        self.tasks += bundle

    def ended(self, timeout):
        return [attempt(self.tasks.pop(0))] if timeout else []  # at 0 nothing more has ended

    def close(self):
        self.closed = True


def measured(*figures):
    return Measurement(figures, 0.5, {}, "", "made up")


def good(point):
    """A made-up measurement of the flow: time and area depend on the chained and the parallel parts."""
    settings, clock = point.resolved, dict(point.flow)["clock_period"]
    rounds = point.nbits // settings["steps_per_stage"]
    cycles = {"encrypt": 20 * rounds, "decrypt": 35 * rounds + settings["nstages"]}
    times = [figure("time_ns", count * clock, operation) for operation, count in cycles.items()]
    area = 100.0 * settings["nstages"] * settings["steps_per_stage"] + 300 / clock
    return measured(*times, figure("area_um2", area))


class Sweeping:
    """`modexlab sweep` on its own space and store, with `work` in place of the measurement; `begun` lists
    the points that were begun.
    """

    def __init__(self, cli, directory, monkeypatch):
        self.cli, self.path = cli, directory / "space.toml"
        self.store = Store(directory / "store.jsonl")
        self.work = good
        monkeypatch.setattr(sweep_command, "executor_for", self._executor)
        monkeypatch.setattr(measure, "measure", self._measure)

    def _executor(self, jobs, *_):
        assert self.work is not None, "nothing is to be measured"
        self.executor = Inline()
        return self.executor

    def _measure(self, point, jobs):
        self.begun.append(point)
        return self.work(point)

    def _command(self, text, options):
        self.path.write_text(text)
        self.begun = []
        return f"sweep {self.path} --store {self.store.path} {options}"

    def __call__(self, text, options="", code=0):
        """The JSON output of a run."""
        result = self.cli(self._command(text, f"{options} --json"))
        assert result.code == code, result
        return result.json()

    def text(self, text, options=""):
        return self.cli(self._command(text, options))

    def fails(self, text, options=""):
        return self.cli.fails(self._command(text, options))

    def measured(self):
        """The keys of all points with rows."""
        return {key_in(row.key) for row in self.store.rows()}


@pytest.fixture
def sweeping(cli, tmp_path, monkeypatch):
    return Sweeping(cli, tmp_path, monkeypatch)


def points_of(text):
    return list(space.Space.parse(text).points())


# ---- a sweep


def test_fronts_are_those_of_the_figures(sweeping):
    """The fronts are those of all points, by pareto.py; each operation has its own."""
    report = sweeping(FLOWS)
    points = points_of(FLOWS)
    names = "total measured impossible left_out reused failed dropped"
    assert picked(report["points"], names) == (len(points), len(points), 8, 4, 0, 0, 0)
    works = [front["work"] for front in report["fronts"]]
    assert works == ["32 bits, decrypt, flow", "32 bits, encrypt, flow"]
    for front in report["fronts"]:
        values = {
            point.key: (good(point).value("time_ns", front["operation"]), good(point).value("area_um2"))
            for point in points
        }
        expected = {key for _, key in Front((vector, key) for key, vector in values.items()).sorted()}
        assert 1 < len(expected) < len(points)
        assert {item["key"] for item in front["points"]} == expected
        for item in front["points"]:
            time, area = values[item["key"]]
            assert item["values"] == {"time_ns": time, "area_um2": area}
            row = sweeping.store.row(item["row"])
            assert picked(row, "metric value operation") == ("time_ns", time, front["operation"])
            assert (key_in(row.key), [*row.command]) == picked(item, "key command")
    assert sweeping.executor.closed


def test_the_report_for_people(sweeping):
    result = sweeping.text(FLOWS)
    assert result.code == 0
    title, head = result.out.splitlines()[:2]
    assert title == "2 fronts, least time_ns and least area_um2"
    assert " ".join(head.split()) == "work front design parameters clock_period time_ns area_um2 row"
    for words in (
        "32 bits, decrypt, flow  *      mont    ",
        "  steps_per_stage=16      ",
        "Impossible (8):",
        "Left out by constraints:",
        "     4  nstages * steps_per_stage <= 16",
        "12 points: 12 measured in ",
        f" s\nThe store is {sweeping.store.path} (",
    ):
        assert words in result.out
    assert result.err.startswith(f"space: 12 points, this process; the store is {sweeping.store.path}\n")


def test_many_fronts_are_one_table(sweeping):
    sweeping.work = lambda point: measured(figure("cycles", len(point.subject), point.workload))
    out = sweeping.text(FORMULAS.replace("[16, 32]", "[16, 24, 32]")).out
    assert out.startswith("6 fronts, least cycles\nwork")
    rows = [" ".join(line.split()) for line in out.splitlines() if "  *  " in line]
    works = itertools.product((16, 24, 32), ("decrypt", "encrypt"))
    expected = [f"{nbits} bits, {work}, formula * mont 4" for nbits, work in works]
    assert [row.rpartition(" ")[0] for row in rows] == expected


def test_a_sweep_ends_with_its_chart(sweeping, tmp_path):
    """It is next to the store, or the file of -o, and marks the points that the table marks."""
    sweeping.store = Store(tmp_path / "own" / "store.jsonl")
    sweeping.store.path.parent.mkdir()
    chart = sweeping.store.path.parent / "space-sweep.svg"
    result = sweeping.text(FLOWS)
    assert result.out.endswith(f"\n\nChart: {chart}\n")
    lines = [line for line in result.out.splitlines() if re.match(r"(32 bits, \w+, flow)? +\*? +mont ", line)]
    assert len(lines) == 24 and "\n*: on the front.\n" in result.out
    marked = sum(" * " in line for line in lines)
    assert ">Filled: on the front. Hollow: dominated.<" in chart.read_text()
    again = sweeping(FLOWS, f"-o {tmp_path / 'fronts.png'}")
    assert again["chart"] == str(tmp_path / "fronts.png") and again["draw"] is None
    assert (tmp_path / "fronts.png").read_bytes().startswith(b"\x89PNG")
    assert [
        (len(front["points"]), front["dominated"], len(front["others"])) for front in again["fronts"]
    ] == [(best, 12 - best, 12 - best) for best in (len(front["points"]) for front in again["fronts"])]
    assert marked == sum(len(front["points"]) for front in again["fronts"])


def test_the_default_design_shows_its_settings_in_the_chart(sweeping):
    """Only where other points of its design differ from it."""
    sweeping.text(FLOWS)
    chips = space.Space.parse(FLOWS)
    sweep = Sweep(chips, sweeping.store, make_search(chips, "exhaustive")).run(Inline(), "x", quiet=True)
    found = {record["label"] for panel in panels(sweep, compared(sweep)) for record in panel.records}
    usual = catalogue.find("mont").at(32).parameters
    assert f"mont nstages={usual['nstages']} steps_per_stage={usual['steps_per_stage']}" in found
    assert "mont" not in found


def test_many_dominated_points_are_not_listed(sweeping):
    text = FLOWS.replace("[2.0, 3.0]", "[2.0, 2.5, 3.0]")
    sweeping.work = lambda point: replace(
        good(point), figures=(*good(point).figures[:2], figure("area_um2", 5.0))
    )
    out = sweeping.text(text).out
    assert re.search(r"^\*: on the front. Dominated and not listed: \d+ points.$", out, re.MULTILINE)


def test_without_a_renderer_a_sweep_ends_with_the_command(sweeping, monkeypatch):
    monkeypatch.setattr(sweep_command, "find_spec", lambda _: None)
    result = sweeping.text(FLOWS)
    command = f"modexlab sweep {sweeping.path} --store {sweeping.store.path}"
    assert result.out.endswith(f"\nTo draw the fronts: pip install 'modexlab[report]' && {command}\n")


def test_a_stage_that_lacks_objectives(sweeping):
    """Its front has the other objectives, with cycles in place of time; without any it has no front."""
    text = FLOWS.replace('["flow"]', '["flow", "formula", "fpga"]').replace("[4, 8, 16]", "[8, 16]")

    def work(point):
        if point.stage == "flow":
            return good(point)
        if point.stage == "fpga":
            return measured(figure("lut", 7))
        return measured(figure("cycles", 90 + point.resolved["nstages"], point.workload))

    sweeping.work = work
    report = sweeping(text)
    assert {front["work"]: set(front["points"][0]["values"]) for front in report["fronts"]} == {
        "32 bits, decrypt, flow": {"time_ns", "area_um2"},
        "32 bits, encrypt, flow": {"time_ns", "area_um2"},
        "32 bits, encrypt, formula": {"cycles"},
    }
    (formula,) = (front for front in report["fronts"] if front["stage"] == "formula")
    assert [item["values"] for item in formula["points"]] == [{"cycles": 91}] * 2
    assert all(sweeping.store.row(item["row"]).metric == "cycles" for item in formula["points"])
    assert {(item["stage"], *item["reasons"]) for item in report["not_compared"]} == {
        ("fpga", "stage fpga has no time_ns and no area_um2")
    }


def test_one_table_of_fronts_over_different_objectives(sweeping):
    """A metric that a stage does not measure is a dash."""
    text = FLOWS.replace('["flow"]', '["flow", "formula"]').replace("[32]", "[16, 32]")
    cycles = figure("cycles", 90, "encrypt")
    sweeping.work = lambda point: good(point) if point.stage == "flow" else measured(cycles)
    lines = sweeping.text(text).out.splitlines()
    assert lines[0] == "6 fronts, least time_ns and least area_um2 and least cycles"
    assert (
        " ".join(lines[1].split()) == "work front design parameters clock_period time_ns area_um2 cycles row"
    )
    (formula,) = (line.split() for line in lines if line.startswith("16 bits, encrypt, formula"))
    assert formula[4:] == ["*", "mont", "steps_per_stage=4", "-", "-", "-", "90", formula[-1]]


def test_a_flow_without_one_of_its_figures_is_on_no_front(sweeping):
    sweeping.work = lambda _: measured(figure("area_um2", 5.0))
    report = sweeping(FLOWS)
    assert report["fronts"] == []
    assert {tuple(item["reasons"]) for item in report["not_compared"]} == {("stage flow has no time_ns",)}


def test_exponents_are_no_cost(sweeping):
    """Their total covers one base with many exponents, and does not show which machine is better."""
    text = FORMULAS.replace('"decrypt"]', '"exponents"]')
    sweeping.work = lambda point: measured(figure("cycles", 9, point.workload))
    report = sweeping(text)
    assert {front["operation"] for front in report["fronts"]} == {"encrypt"}
    reason = "workload exponents is not a cost: it shows whether cycles depend on the exponent"
    found = {(item["workload"], *item["reasons"]) for item in report["not_compared"]}
    assert found == {("exponents", reason)}


def test_marks_and_broken_constraints_keep_points_off_the_front(sweeping):
    text = FLOWS.replace("constraints = [", 'constraints = ["area_um2 < 1000", ')

    def work(point):
        late = dict(point.flow)["clock_period"] == 2.0
        return replace(good(point), marks=("misses its clock",) if late else ())

    sweeping.work = work
    for _ in range(2):  # first measured, then read from the store
        report = sweeping(text)
        for front in report["fronts"]:
            assert front["points"]
            assert all(item["flow"]["clock_period"] == 3.0 for item in front["points"])
            assert all(item["values"]["area_um2"] < 1000 for item in front["points"])
        reasons = Counter(reason for item in report["not_compared"] for reason in item["reasons"])
        assert reasons["misses its clock"] == 6
        assert reasons["breaks the constraint area_um2 < 1000"] == 6
    out = sweeping.text(text).out
    assert "Measured, but on no front:" in out
    assert "     6  misses its clock" in out


def test_largest_is_best_where_it_is_said(sweeping):
    text = FLOWS.replace('time_ns = "min"', 'fmax_mhz = "max"')
    sweeping.work = lambda point: measured(
        *(figure(name, 100 * point.resolved["nstages"]) for name in ("area_um2", "fmax_mhz"))
    )
    (front,) = sweeping(text)["fronts"]
    values = [picked(item["values"], "fmax_mhz area_um2") for item in front["points"]]
    assert {*values} == {(100, 100), (200, 200), (400, 400)}
    assert values[0] == (400, 400), "the best of the first objective first"


# ---- failed and known points


def failing(fails):
    """Work that fails for some of the points."""

    def work(point):
        if fails(point):
            raise NoMeasurement("the netlist is not equal")
        return good(point)

    return work


some_fail = failing(lambda point: point.resolved["nstages"] == 2)


def test_failures_are_noted_and_not_fatal(sweeping):
    sweeping.work = some_fail
    report = sweeping(FLOWS)
    failed = {point.key for point in points_of(FLOWS) if point.resolved["nstages"] == 2}
    assert len(failed) == 4
    expected = {(key, "the netlist is not equal", False) for key in failed}
    assert {picked(item, "key message earlier") for item in report["failures"]} == expected
    assert {key_in(failure.key) for failure in sweeping.store.failures()} == failed
    assert report["points"]["measured"] == 8


def test_the_same_command_goes_on(sweeping):
    """It begins no point that is done or has failed; --retry begins the failed ones."""
    sweeping.work = some_fail
    sweeping(FLOWS)
    again = sweeping(FLOWS)
    assert sweeping.begun == []
    assert picked(again["points"], "measured reused failed") == (0, 8, 4)
    assert all(failure["earlier"] for failure in again["failures"])
    sweeping.work = good
    retried = sweeping(FLOWS, "--retry")
    assert len(sweeping.begun) == 4
    assert {point.resolved["nstages"] for point in sweeping.begun} == {2}
    assert picked(retried["points"], "measured reused failed") == (4, 8, 0)
    assert sweeping.store.failures() == []
    assert "12 were in the store" in sweeping.text(FLOWS).out and sweeping.begun == []


@pytest.fixture
def recorded(sweeping, tmp_path, monkeypatch):
    """The reference results of a sweep, which the next sweep, with an empty store, finds."""
    sweeping(FLOWS)
    path = tmp_path / "reference.jsonl"
    export(sweeping.store, "reference", path)
    monkeypatch.setattr(laboratory, "Reference", lambda: Reference(path))
    sweeping.store = Store(tmp_path / "another.jsonl")
    return path


def test_reference_results_are_not_measured_again(sweeping, recorded):
    """They are on the fronts with the numbers of reference results, and the store gets no entry of them."""
    sweeping.work = None
    out = sweeping.text(FLOWS, "--dry-run").out
    assert "12 points, 0 of them to measure" in out and "12 of them are reference results; --own" in out
    assert {item["state"] for item in sweeping(FLOWS, "--dry-run")["points"]} == {"reference"}
    sweeping.work = good
    report = sweeping(FLOWS)
    assert sweeping.begun == [] and picked(report["points"], "measured reused reference") == (0, 0, 12)
    shown = [point for front in report["fronts"] for point in front["points"]]
    assert shown and all(point["row"] < 0 for point in shown) and sweeping.store.rows() == []
    out = sweeping.text(FLOWS).out
    assert (
        "12 points: 0 measured in 0 s, 12 are reference results\n" in out
        and "--own measures the points" in out
    )
    assert picked(sweeping(FLOWS, "--own")["points"], "measured reused reference") == (12, 0, 0)
    assert picked(sweeping(FLOWS)["points"], "measured reused reference") == (0, 12, 0)


def test_a_sweep_goes_on_beside_reference_results(sweeping, recorded):
    """It measures the points that they lack, and again those of other hardware."""
    text = FLOWS.replace("[2.0, 3.0]", "[2.0, 2.5, 3.0]")
    sweeping.work = pressing_ctrl_c(2)
    out = sweeping.text(text).out
    assert "Interrupted: 2 of 18 points are in the store" in out
    sweeping.work = good
    assert picked(sweeping(text)["points"], "measured reused reference") == (4, 2, 12)
    assert {dict(point.flow)["clock_period"] for point in sweeping.begun} == {2.5}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("modexlab.eval.lab.content.content_of", lambda _: "another")
        assert picked(sweeping(text)["points"], "measured reused reference") == (18, 0, 0)


def test_failures_for_people(sweeping):
    sweeping.work = some_fail
    first = sweeping.text(FLOWS)
    assert "[7/12] mont, 32 bits, flow" in first.err
    assert ": failed: the netlist is not equal\n" in first.err
    assert "Failed (4):" in first.out
    assert "now   the netlist is not equal" in first.out
    assert "Failed (4; --retry tries them again):" in sweeping.text(FLOWS).out


@parametrize(
    "work, message",
    [
        (lambda point: 1 / 0, "ZeroDivisionError: division by zero"),
        # the store refuses figures without a functional run
        (lambda point: replace(good(point), tests=""), "no functional run of this hardware passed"),
    ],
)
def test_nothing_measured_is_exit_code_1(sweeping, work, message):
    sweeping.work = work
    report = sweeping(FLOWS, code=1)
    assert report["points"]["failed"] == 12
    assert report["fronts"] == sweeping.store.rows() == []
    assert all(message in failure["message"] for failure in report["failures"])


def test_the_newest_figures_count(sweeping):
    """The newest figures of a point that was measured twice count."""
    point = points_of(FORMULAS)[0]
    for cycles in (11, 12):
        sweeping.store.record(point, measured(figure("cycles", cycles, "encrypt")))
    sweeping.work = lambda item: measured(figure("cycles", 10**6, item.workload))
    report = sweeping(FORMULAS)
    found = [item for front in report["fronts"] for item in front["points"] if item["key"] == point.key]
    assert [item["values"]["cycles"] for item in found] == [12]
    assert point not in sweeping.begun


def test_what_no_other_point_can_survive_ends_the_sweep(sweeping):
    outcomes = itertools.chain([None, None], itertools.repeat(True))

    def work(point):
        if next(outcomes):
            raise OSError(errno.ENOSPC, "No space left on device", "/cache")
        return good(point)

    sweeping.work = work
    message = sweeping.fails(FLOWS, "--json")
    assert message == (
        "/cache: No space left on device; 2 results of this run are in the store, and the same command goes "
        "on from there"
    )
    assert len(sweeping.measured()) == 2 and sweeping.store.failures() == []
    assert sweeping.executor.closed


def test_a_full_disk_loses_nothing(sweeping, monkeypatch):
    """The seventh write fails half-way."""
    real, writes = os.write, itertools.count(1)

    def full(file, data):
        return real(file, data[:100] if next(writes) > 6 else data)

    text = LARGE.replace("{from = 1.0, to = 4.0, step = 0.25}", "[3.0]")
    for left_out in (', "square"', ', "koc", "carry-save"'):
        text = text.replace(left_out, "")
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        message = sweeping.fails(text, "--json")
    assert f"the store {sweeping.store.path} cannot be written: No space left on device; make room" in message
    assert "the same command goes on from there" in message
    there = keys_in_order(sweeping.store)
    assert 5 < len(set(there)) == len(there) < len(points_of(text))
    assert sweeping(text)["points"]["reused"] == len(there)
    assert {point.key for point in sweeping.begun}.isdisjoint(there)


# ---- Ctrl-C


def pressing_ctrl_c(after, times=1, told=signal.SIGINT):
    """Work during which Ctrl-C is pressed, or the process receives another signal."""
    count = itertools.count(1)

    def work(point):
        if next(count) == after:
            for _ in range(times):
                signal.raise_signal(told)
        return good(point)

    return work


@parametrize("told", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_writes_down_what_has_ended(sweeping, told):
    """SIGTERM, the signal of `timeout`, has the same effect."""
    sweeping.work = pressing_ctrl_c(5, told=told)
    before = signal.getsignal(told)
    result = sweeping.text(FLOWS, "--jobs 3")
    assert result.code == 130
    assert signal.getsignal(told) is before
    assert len(sweeping.measured()) == 5
    assert "Interrupted: 5 of 12 points are in the store, and 2 under way are not." in result.out
    assert f"To go on: modexlab sweep {sweeping.path} --store {sweeping.store.path} --jobs 3\n" in result.out
    assert sweeping.executor.closed
    sweeping.work = good
    report = sweeping(FLOWS)
    assert (len(sweeping.begun), report["points"]["reused"], report["interrupted"]) == (7, 5, False)


def test_ctrl_c_twice_does_not_wait(sweeping):
    sweeping.work = pressing_ctrl_c(5, times=2)
    assert sweeping.text(FLOWS).code == 130
    assert len(sweeping.measured()) == 4 and sweeping.executor.closed


def test_ctrl_c_in_json(sweeping):
    sweeping.work = pressing_ctrl_c(3)
    report = sweeping(FLOWS, code=130)
    again = f"modexlab sweep {sweeping.path} --store {sweeping.store.path} --json"
    assert picked(report, "interrupted resume") == (True, again)
    assert report["points"]["dropped"] == 2


# ---- searches


def keys_in_order(store):
    return [key_in(row.key) for row in store.rows(metric="area_um2", history=True)]


@parametrize("method", ["random", "nsga2"])
def test_a_search_that_is_interrupted_walks_the_same_way(method, sweeping, tmp_path):
    """It measures the same points as without an interruption, each once."""
    options = f"--method {method} --points 48 --seed 7"
    whole = sweeping(LARGE, options)
    expected = keys_in_order(sweeping.store)
    assert len(expected) == len(set(expected)) == 48
    sweeping.store = Store(tmp_path / "other.jsonl")
    for after in (10, 15):
        sweeping.work = pressing_ctrl_c(after)
        sweeping(LARGE, options, code=130)
    sweeping.work = good
    report = sweeping(LARGE, options)
    assert len(sweeping.begun) == 48 - 25
    assert keys_in_order(sweeping.store) == expected
    found, wanted = (
        [[point["values"] for point in front["points"]] for front in ran["fronts"]] for ran in (report, whole)
    )
    assert found == wanted


def test_a_search_hears_of_failures(sweeping):
    """Failed points count, are reported with their message, and do not end the search."""

    sweeping.work = failing(lambda point: point.resolved["schedule"] == "ladder")
    report = sweeping(LARGE, "--method nsga2 --points 40")
    measured, failed, impossible = picked(report["points"], "measured failed impossible")
    assert failed and impossible and measured + failed == 40
    assert "does not divide" in report["impossible"][0]["reason"]


# ---- dry run


def test_dry_run(sweeping):
    sweeping.work = pressing_ctrl_c(4)
    sweeping(FLOWS, code=130)
    failed = points_of(FLOWS)[-1]
    sweeping.store.fail(failed, "no", 1.0)
    sweeping.work = None
    report = sweeping(FLOWS, "--dry-run")
    states = {point["key"]: point["state"] for point in report["points"]}
    assert Counter(states.values()) == {"done": 4, "failed": 1, "to measure": 7}
    assert states[failed.key] == "failed"
    assert len(report["impossible"]) == 8
    assert report["left_out"] == {"nstages * steps_per_stage <= 16": 4}
    assert report["rule_of_thumb"] == []
    assert report["seconds"] == pytest.approx(7 * 0.5 / len(os.sched_getaffinity(0)), abs=0.06)
    assert sweeping(FLOWS, "--dry-run --retry --jobs 1")["seconds"] == pytest.approx(4.0)
    text = sweeping.text(FLOWS, "--dry-run --jobs 2").out
    assert "done        mont, 32 bits, flow, " in text
    assert text.endswith("12 points, 7 of them to measure: about 2 s, 2 at a time\n")


def test_dry_run_of_what_is_not_known_yet(sweeping):
    sweeping.work = None
    assert not sweeping.store.exists
    out = sweeping.text(FLOWS, "--dry-run --jobs 1").out
    assert "12 of them to measure: about 8 min, one at a time; a rule of thumb for stage flow" in out
    assert not sweeping.store.exists


def test_dry_run_of_a_search(sweeping):
    sweeping.work = None
    report = sweeping(LARGE, "--dry-run --method nsga2 --points 200")
    assert report["count"] == 200
    assert report["points"] == []
    assert report["choices"]["flow.clock_period"] == 13
    out = sweeping.text(LARGE, "--dry-run --method nsga2").out
    assert "set.schedule" in out
    assert "100 points, 100 of them to measure" in out
    assert len(sweeping(LARGE, "--dry-run --method random --points 5")["points"]) == 5


def test_ready_made_spaces(cli):
    listed = cli.json("show spaces")
    assert [item["name"] for item in listed] == list(space.names())
    assert all(item["points"] > 0 and item["title"] for item in listed)
    out = cli("show spaces").out
    assert all(item["title"] in out for item in listed)


# ---- bad input


def test_a_bad_space(sweeping):
    """It is refused with the name of its file; test_space.py tests the reasons."""
    sweeping.work = None
    wrong = sweeping.fails(FLOWS.replace("mont", "mnot"))
    assert wrong.startswith("space.toml: unknown design 'mnot': did you mean 'mont'?")
    for change in (("<= 16", "<= 3"), ("nbits = [32]", "nbits = [33]")):
        assert sweeping.fails(FLOWS.replace(*change)).startswith("the space is empty")


test_refused = refusals(
    "sweep",
    {
        "--list": "unrecognized arguments: --list; see `modexlab sweep --help`",
        "course --points 5": "--points 5: --method exhaustive measures all points; drop it, or give --method",
        "course --seed 5": "--seed 5: --method exhaustive measures all points",
        "course --method nsga": "argument --method: invalid choice: 'nsga'",
        "course --method random --points 0": "0 is too few; give a number from 1 up",
        "course --jobs 2 --scheduler tcp://h:1": "tcp://h:1 and --jobs 2: points are measured in one",
        f"{REFERENCE} --method nsga2": "--method nsga2 with",
        f"{REFERENCE} --accelerator {ROOT / 'eval/examples/gcd'}": "a file of results has points and no axes",
        "course --timeout 9 --slurm 2": "--timeout 9 with --slurm 2: it ends points of this computer",
        f"{REFERENCE} --crt": "--crt with",
        "course -o fronts.txt": "--output fronts.txt: give a name that ends in .svg, .png, .pdf",
        "course --crt": "--crt, --blind or --verify with naive, mont, mont-ct, ssmm, ssmm-ct, mmmul-004: no",
        "course --slurm 2 --pbs 3": "--slurm 2 and --pbs 3: points are measured in one place; drop one",
        "course --slurm 2 --option queue": "--option queue: write NAME=VALUE, as in --option memory=8GB",
        "course --slurm 2 --option queue=": "--option queue=: write NAME=VALUE",
        "course --option memory=8GB": "--option memory=8GB: it is for jobs of a queue; add --slurm N",
        "": "no space; give a file (SPACE.toml), a name of `modexlab show spaces`, or --accelerator PATH",
        "curse": "unknown space 'curse': did you mean 'course'?",
        "/nowhere/no.toml": "/nowhere/no.toml cannot be read: No such file",
    },
)


def test_a_store_of_an_older_version(sweeping):
    """The error is raised before anything is measured."""
    sweeping.work = None
    sweeping.store.path.write_bytes(SQLITE)
    error = sweeping.fails(FLOWS)
    assert str(sweeping.store.path) in error and "an SQLite file of an older modexlab" in error


def test_a_store_that_cannot_be(sweeping, tmp_path):
    sweeping.work = None
    sweeping.store = Store(tmp_path / "none" / "store.jsonl")
    assert "there is no such directory; make it first: mkdir -p" in sweeping.fails(FLOWS)
    (tmp_path / "directory").mkdir()
    sweeping.store = Store(tmp_path / "directory")
    assert "is a directory" in sweeping.fails(FLOWS)


# ---- with workers


def test_real_points_in_real_workers(cli, tmp_path, real_content):
    """Cycles equal the formulas; a second run begins nothing."""
    path, store = tmp_path / "machines.toml", tmp_path / "store.jsonl"
    path.write_text(FORMULAS)
    command = f"sweep {path} --own --store {store} --jobs 2"
    report = cli.json(command)
    assert len(report["fronts"]) == 4
    for row in Store(store).rows():
        point = Point.from_json(row.point)
        (part,) = point.parts()
        assert row.value == point.design.at(point.nbits).cycles(*part.work.operands)
        assert row.operation == point.workload
    best = {front["work"]: front["points"][0]["subject"] for front in report["fronts"]}
    assert best["32 bits, encrypt, formula"] == "mont"
    again = cli.json(command)
    assert picked(report["points"], "measured") == picked(again["points"], "reused") == (12,)
    assert [front["points"] for front in again["fronts"]] == [front["points"] for front in report["fronts"]]


def test_no_cluster_at_that_address(cli, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1.0)
    error = cli.fails("sweep course --scheduler tcp://127.0.0.1:1")
    assert error.startswith("--scheduler tcp://127.0.0.1:1: no answer in 1 s; start one by `dask")


# ---- details


def test_estimates_learn():
    estimate = task.Estimate()

    def cost(stage, subject, nbits=0, searched=False):
        interface = "system" if subject.startswith("procxcel-") else "stream"
        return cost_of(stage, subject, nbits, interface, searched)

    def seconds(*properties, **searched):
        return estimate.seconds(cost(*properties, **searched))

    def learn(stage, subject, taken, nbits=0, searched=False):
        estimate.learn(cost(stage, subject, nbits, searched), taken)

    assert seconds("formula", "mont") < 1 < seconds("flow", "mont")
    assert not estimate.knows(("flow", False))
    assert seconds("flow", "procxcel-mont") > 2 * seconds("flow", "mont")
    assert seconds("native", "procxcel-mont") == seconds("native", "mont")
    assert seconds("flow", "mont", 2048) == 64 * seconds("flow", "mont", 32)
    for subject, taken in (("mont", 10.0), ("mont", 20.0), ("naive", 60.0)):
        learn("flow", subject, taken)
    assert estimate.knows(("flow", False))
    assert seconds("flow", "mont") == 15.0
    assert seconds("flow", "ssmm") == 30.0
    assert seconds("flow", "mont", 32, True) == 4 * stages.STAGES["flow"].seconds, "several runs for a clock"
    learn("flow", "heap", 100.0, 32, True)
    assert seconds("flow", "heap", 32, True) == 100.0
    assert seconds("flow", "heap", 128, True) == seconds("flow", "ssmm", 128, True) == 400.0


@parametrize("seconds, words", {0.4: "0 s", 89: "89 s", 90: "2 min", 5399: "90 min", 9000: "2.5 h"}.items())
def test_durations(seconds, words):
    assert duration(seconds) == words


def test_what_works_are_called():
    """Machines for one modulus do not compete with machines for any modulus."""
    for point, operation, name in (
        (Point("mont", 32, interface="xcel"), "encrypt", "encrypt, native, xcel"),
        (Point("cm-m-000", 32, stage="formula"), "decrypt", "decrypt, formula, modulus 0x55555555 alone"),
        (Point("mont", 32, stage="fpga", flow={"device": "ecp5"}), "", "fpga, ecp5"),
    ):
        assert str(Work.of(point, operation)) == f"32 bits, {name}"


@parametrize(
    "example", [line.strip() for line in routes.form_of("sweep").examples.splitlines() if line.strip()]
)
def test_examples_are_understood(example, tmp_path, monkeypatch):
    """Examples are parsed only: running them takes minutes, or a cluster; similar ones run above."""
    shutil.copytree(ROOT / "tests" / "foreign", tmp_path / "cores")
    (tmp_path / "cores" / "start_done.toml").rename(tmp_path / "cores" / "design.toml")
    for name in ("one", "two"):
        shutil.copytree(ROOT / "eval" / "examples" / "gcd", tmp_path / name)
        file = tmp_path / name / "accelerator.py"
        file.write_text(file.read_text().replace('name = "gcd"', f'name = "{name}"'))
    monkeypatch.chdir(tmp_path)
    sweep_command.queues_of(cli_module.parsed(shlex.split(example)[1:]))


def test_help_and_start_are_quick():
    """Optuna and Dask are imported only on use."""
    assert cli_module.parsed(["sweep", "course"])
    code = """\
import sys
from modexlab.eval.cli import main
from modexlab.eval.lab import cluster, search, space, sweep
sys.exit(bool({'optuna', 'distributed', 'dask', 'dask_jobqueue'} & sys.modules.keys()))
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
