"""The benchmark of the simulators: what it reports, not how fast they are."""

import pytest
from modexlab.eval.errors import NoMeasurement
from modexlab.eval.lab import bench


@pytest.mark.regress  # in `make test` the command has it
def test_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "REPETITIONS", 2)
    monkeypatch.setattr(bench, "NATIVE_REQUESTS", 200)
    monkeypatch.setattr(bench, "PYTHON_REQUESTS", 1)
    report = bench.bench_sim()
    cpp, native, python = (report[f"{name}_cycles_per_second"] for name in ("cpp", "native", "python"))
    assert min(cpp, native, python) > 0
    assert report["native_over_cpp"] == native / cpp
    assert report["native_over_python"] == native / python
    assert 0.05 < report["native_start_seconds"] < 60


def test_wrong_answer_of_a_fresh_process_has_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.sys, "executable", "/bin/echo")
    with pytest.raises(NoMeasurement, match="a fresh process answers -c from modexlab"):
        bench._start_seconds()


def test_wrong_results_have_no_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "OPT", "-O1")
    monkeypatch.setattr(bench, "REPETITIONS", 1)
    monkeypatch.setattr(bench, "_requests", lambda count: [(3, 2, 10)] * 2)  # an even modulus
    with pytest.raises(NoMeasurement, match="computes wrong results"):
        bench.bench_sim()
