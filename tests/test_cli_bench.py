"""`modexlab bench sim`: the keys are an interface; the goals are for a quiet machine, and for `make regress`."""

from __future__ import annotations

import pytest
from modexlab.eval import bench

from .cli import Cli


@pytest.fixture(name="cli")
def make_cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(capsys)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "REPETITIONS", 1)
    monkeypatch.setattr(bench, "NATIVE_REQUESTS", 200)
    monkeypatch.setattr(bench, "PYTHON_REQUESTS", 1)


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


@pytest.mark.regress
def test_goals(cli: Cli) -> None:
    report = cli("bench", "sim", "--json").json()
    assert report["native_over_cpp"] >= 0.85
    assert report["native_over_python"] >= 800
    assert report["native_start_seconds"] <= 0.5


def test_nothing_else_to_measure(cli: Cli) -> None:
    assert "'gates'" in cli.fails("bench", "gates")
