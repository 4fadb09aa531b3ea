"""Progress appears on stderr after two seconds, and stays out of the way of scripts."""

from __future__ import annotations

import time

import pytest
from modexlab.eval import progress
from modexlab.eval.progress import Progress


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "DELAY", 0.05)


def test_long_work_shows_life_before_anything_reports(
    impatient: None, capsys: pytest.CaptureFixture[str]
) -> None:
    with Progress("building mont"):
        time.sleep(0.3)
    out, err = capsys.readouterr()
    assert "building mont" in err
    assert out == ""


def test_counts(impatient: None, capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("mont", total=7, unit="vector") as bar:
        bar(3, 7)
        bar.describe("mont, 64 bits")
        time.sleep(0.3)
    assert "mont, 64 bits:  43%" in capsys.readouterr().err


def test_short_work_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("mont", total=2) as bar:
        bar(1, 2)
        bar(2, 2)
    assert "mont" not in capsys.readouterr().err


def test_quiet_beside_json_unless_on_a_terminal(impatient: None, capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("mont", total=2, quiet=True) as bar:
        bar(1, 2)
        bar.describe("mont, 64 bits")
        time.sleep(0.2)
    assert capsys.readouterr().err == ""
