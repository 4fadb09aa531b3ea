"""`modexlab bench`: the keys are an interface; the goals are for a quiet machine, and for `make regress`."""

from __future__ import annotations

from functools import partial

import pytest
from modexlab.eval.errors import NoMeasurement
from modexlab.eval.lab import bench, bench_proc

from ..command_line import Cli


@pytest.fixture(name="cli")
def make_cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(capsys)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "OPT", "-O1")  # of which there is a build
    monkeypatch.setattr(bench, "STARTS", 1)
    monkeypatch.setattr(bench, "REPETITIONS", 1)
    monkeypatch.setattr(bench, "NATIVE_REQUESTS", 200)
    monkeypatch.setattr(bench, "PYTHON_REQUESTS", 1)


@pytest.mark.regress
def test_json(cli: Cli, short: None) -> None:
    report = cli("bench", "sim", "--json").json()
    assert report.keys() >= {"native_over_cpp", "native_over_python", "native_start_seconds"}
    assert report["native_over_cpp"] > 0.1
    assert report["native_over_python"] > 10


def test_text(cli: Cli, short: None) -> None:
    out = cli("bench", "sim").out
    assert "goal 0.85: " in out
    assert "goal 800: " in out
    assert "goal 0.5: " in out


@pytest.fixture
def short_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_proc, "NBITS", 64)
    monkeypatch.setattr(bench_proc, "REPETITIONS", 1)
    monkeypatch.setattr(bench_proc, "PYTHON_CYCLES", 200)


def test_processor(cli: Cli, short_program: None) -> None:
    report = cli("bench", "proc", "--json").json()
    native, python = report["native_cycles_per_second"], report["python_cycles_per_second"]
    assert report["native_over_python"] == native / python > 10
    assert report["iss_instructions_per_second"] > 10_000
    out = cli("bench", "proc").out
    assert "goal 100: " in out
    assert "goal 500000: " in out


def test_a_wrong_program_has_no_speed(short_program: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_proc, "kernel_program", partial(bench_proc.kernel_program, expected=1))
    with pytest.raises(NoMeasurement, match="exit codes 1 and 1 after"):
        bench_proc.bench_proc()


def test_a_measurement_that_fails_is_one_line(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> dict[str, float]:
        raise NoMeasurement("exit codes 1 and 1")

    monkeypatch.setattr(bench_proc, "bench_proc", fails)
    result = cli("bench", "proc")
    assert (result.code, result.out, result.err) == (1, "", "modexlab: error: exit codes 1 and 1\n")


def test_a_missed_goal_is_reported_only(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    report = {"native_over_python": 99.0, "iss_instructions_per_second": 500_000.0}
    monkeypatch.setattr(bench_proc, "bench_proc", lambda: report)
    result = cli("bench", "proc")
    assert result.code == 0
    assert "goal 100: MISSED" in result.out and "goal 500000: met" in result.out
    assert "exit code 0 also where a goal is missed" in cli("bench", "--help").out


@pytest.mark.regress
@pytest.mark.parametrize(("what", "over_python"), [("proc", 10), ("sim", 80)])
def test_native_is_another_order_of_magnitude(what: str, over_python: int, cli: Cli) -> None:
    """A tenth of the goal: the figures are the benchmark's, whose machine has nothing else to do."""
    assert cli("bench", what, "--json").json()["native_over_python"] >= over_python


def test_nothing_else_to_measure(cli: Cli) -> None:
    assert "'gates'" in cli.fails("bench", "gates")
