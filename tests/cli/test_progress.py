"""Progress appears on stderr after two seconds, and does not disturb scripts."""

import io
import sys
import time

import pytest
from modexlab.eval import progress
from modexlab.eval.progress import Progress


class Terminal(io.StringIO):
    """A stderr that is a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(progress, "DELAY", 0.05)
    monkeypatch.setattr(progress, "PAUSE_TERMINAL", 0.05)
    monkeypatch.setattr(progress, "PAUSE_LOG", 0.1)


def test_long_work_shows_life_before_anything_reports(impatient, capsys):
    with Progress("building mont"):
        time.sleep(0.3)
    out, err = capsys.readouterr()
    assert err.startswith("building mont: 0 s\n")
    assert out == ""


def test_counts(impatient, capsys):
    with Progress("mont", total=7, unit="vector") as bar:
        bar(3, 7)
        bar.describe("mont, 64 bits")
        time.sleep(0.3)
    err = capsys.readouterr().err
    assert "mont, 64 bits: 3 of 7 vectors, 0 s\n" in err
    assert err.endswith("\n") and "\r" not in err, "a log gets whole lines"


def test_a_terminal_gets_a_bar_that_goes_away(impatient, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with Progress("mont", total=7, unit="vector", quiet=True) as bar:
        bar(3, 7)
        bar.describe("mont, 64 bits")
        time.sleep(0.3)
    assert "mont, 64 bits:  43%" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r")
    assert "\n" not in terminal.getvalue()


def test_short_work_shows_nothing(capsys):
    with Progress("mont", total=2) as bar:
        bar(1, 2)
        bar(2, 2)
    assert capsys.readouterr().err == ""


def test_a_sign_of_life_beside_json_where_it_takes_long(impatient, monkeypatch, capsys):
    monkeypatch.setattr(progress, "PAUSE_QUIET", 0.1)
    with Progress("flow", quiet=True) as bar:
        bar.describe("synthesis")
        time.sleep(0.25)
    assert capsys.readouterr().err.startswith("synthesis: 0 s\n")


def test_quiet_beside_json_unless_on_a_terminal(impatient, capsys):
    with Progress("mont", total=2, quiet=True) as bar:
        bar(1, 2)
        bar.describe("mont, 64 bits")
        time.sleep(0.2)
    assert capsys.readouterr().err == ""


def test_a_note_stands_behind_the_count(impatient, capsys):
    with Progress("course", total=40, unit="point") as bar:
        bar(12, 40)
        bar.note("3 on the front, 2 min left")
        time.sleep(0.3)
    assert "course: 12 of 40 points, 0 s, 3 on the front, 2 min left\n" in capsys.readouterr().err


def test_a_note_in_a_terminal(impatient, monkeypatch):
    """It replaces the bar's estimate of the remaining time."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with Progress("course", total=40, unit="point") as bar:
        bar(12, 40)
        bar.note("2 min left")
        time.sleep(0.3)
    assert "12/40 [00:00, 2 min left]" in terminal.getvalue()


def test_lines_above_the_bar(impatient, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with Progress("course", total=40) as bar:
        bar(12, 40)
        time.sleep(0.2)
        bar.say("mont: failed")
        time.sleep(0.2)
    assert "mont: failed\n" in terminal.getvalue().replace("\r", "\n")
    assert terminal.getvalue().rindex("30%") > terminal.getvalue().index("mont: failed"), (
        "the bar is drawn again"
    )


def test_lines_in_a_log_are_for_people(capsys):
    with Progress("course", total=40) as bar:
        bar.say("mont: failed")
    assert capsys.readouterr().err == "mont: failed\n"
    with Progress("course", total=40, quiet=True) as bar:
        bar.say("mont: failed")
    assert capsys.readouterr().err == ""
