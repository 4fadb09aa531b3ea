"""How far a step is: said by its code, heard by who runs it, and put into words."""

import time

import pytest
from modexlab.flow import progress


@pytest.fixture
def listened(monkeypatch):
    monkeypatch.setattr(progress, "_listening", True)


def test_what_is_said_is_heard(listened, capsys):
    progress.say("sizing")
    progress.say("rows", 0.25)
    lines = capsys.readouterr().err.splitlines()
    assert [progress.heard(line) for line in lines] == [("sizing", None), ("rows", 0.25)]
    assert progress.heard("modexlab: error: no") is None


def test_nobody_listens(capsys):
    progress.say("sizing")
    assert capsys.readouterr().err == ""


def test_what_is_left(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    remaining = progress.Remaining()
    assert remaining.told("reading", None) == "reading"
    assert remaining.told("rows", 0.1) == "rows 10%"
    now[0] += 30
    assert remaining.told("rows", 0.4) == "rows 40%, 60 s left"
    now[0] += 3000
    assert remaining.told("rows", 0.7) == "rows 70%, 25 min left"
    assert remaining.told("parts", 0.7) == "parts 70%"


def test_what_is_running():
    running = progress.Running()
    assert not running.take("place", "begins") and not running.take("timing", "begins")
    assert not running.take("place", "going", "routing 10%")
    assert str(running) == "place (routing 10%), timing"
    assert running.take("place", "done") and not running.take("rtl", "cached")
    assert str(running) == "timing"
