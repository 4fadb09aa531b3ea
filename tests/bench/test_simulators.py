"""The benchmark of the simulators: what it reports, not how fast they are."""

from dataclasses import replace

import pytest
from modexlab.eval.errors import NoMeasurement

from tests.harness import regress

from . import simulators


@regress
def test_report(monkeypatch):
    small, *_, heap = simulators.MACHINES
    short = replace(small, requests=200, repetitions=2, opt="-O1")  # the build that other tests make
    crt = replace(heap, nbits=16, requests=3, repetitions=1)
    monkeypatch.setattr(simulators, "MACHINES", (short, replace(short, name="heap_256"), crt))
    monkeypatch.setattr(simulators, "PYTHON_REQUESTS", 1)
    monkeypatch.setattr(simulators, "STARTS", 1)
    report = simulators.bench_sim()
    cpp, native, python = (report[f"{name}_cycles_per_second"] for name in ("cpp", "native", "python"))
    assert min(cpp, native, python) > 0
    assert report["native_over_cpp_mont_32"] == native / cpp
    assert report["native_over_cpp_heap_2048_crt"] > 0
    assert report["native_over_python"] == native / python
    assert 0.05 < report["native_start_seconds"] < 60
    assert report.keys() >= simulators.GOALS.keys()


def test_wrong_answer_of_a_fresh_process_has_no_time(monkeypatch):
    monkeypatch.setattr(simulators.sys, "executable", "/bin/echo")
    with pytest.raises(NoMeasurement, match="a fresh process answers -c import sys"):
        simulators._start_seconds()


@regress
def test_wrong_results_have_no_speed(monkeypatch):
    small = replace(simulators.MACHINES[0], repetitions=1, opt="-O1")
    monkeypatch.setattr(simulators, "MACHINES", (small,))
    monkeypatch.setattr(simulators.Raced, "operations", lambda _: [((3, 2, 10), 9)] * 2)  # an even modulus
    with pytest.raises(NoMeasurement, match="returned wrong results"):
        simulators.bench_sim()


def test_a_missed_goal_is_reported():
    report = {"native_over_python": 99.0, "native_start_seconds": 0.4, "python_cycles_per_second": 7.0}
    missed, met, without = simulators.lines(report)
    assert missed.endswith("goal 800: MISSED") and met.endswith("goal 0.5: met")
    assert without.split() == ["python_cycles_per_second", "7.00"]


@regress
def test_native_is_another_order_of_magnitude():
    """A tenth of the goal: the goals are for a machine that has nothing else to do."""
    assert simulators.bench_sim()["native_over_python"] >= 80
