"""`modexlab report`: the main job."""

from __future__ import annotations

from pathlib import Path

import pytest
from modexlab.eval import catalogue
from modexlab.eval.machine import Answer, Machine
from modexlab.fl.status import Status

from .cli import Cli


@pytest.fixture(name="cli")
def make_cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(capsys)


@pytest.mark.regress  # the README's table, in test_readme, is the same run
def test_all_designs(cli: Cli) -> None:
    result = cli("report", "--json")
    rows = {(row["design"], row["operation"]): row for row in result.json()}
    assert result.code == 0
    assert rows.keys() == {
        (design.name, operation) for design in catalogue.designs() for operation in ("encrypt", "decrypt")
    }
    for row in rows.values():
        assert row["ok"]
        assert row["cl"] == row["rtl"] == row["formula"]
        own = catalogue.find(row["design"]).modulus(32)
        assert row["mod"] == own or row["mod"] == 2603398711
        assert row["base"] < row["mod"] and row["exp"] in (65537, 977851481)
        assert not own or row["published"] is None
    assert rows["mont-001", "encrypt"]["published"] == 162
    assert rows["mont-001", "decrypt"]["published"] == 227
    assert rows["naive-001", "encrypt"]["published"] == 1079
    assert rows["naive-001", "decrypt"]["published"] == 1877
    for operation in ("encrypt", "decrypt"):
        assert rows["mont-001", operation]["ratio"] == pytest.approx(1, abs=0.05)
    assert rows["mont", "encrypt"]["rtl"] <= 100
    assert rows["mont", "decrypt"]["rtl"] <= 140


def test_table_and_progress(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "report.txt"
    result = cli("report", "mont", "--output", path)
    lines = result.out.splitlines()
    assert lines[0].split()[0] == "design"
    assert lines[2].split()[:4] == ["mont", "encrypt", "2603398711", "ok"]
    assert lines[3].split()[:4] == ["mont", "decrypt", "2603398711", "ok"]
    assert "without a processor" in result.out
    assert "the evidence is the column of the RTL" in result.out
    assert all(len(line) <= 120 for line in lines)
    assert result.err.startswith("[1/1] mont: ok")
    assert path.read_text() == result.out


def test_a_machine_for_one_modulus(cli: Cli) -> None:
    """Its own modulus, the base reduced below it, and nothing published."""
    lines = cli("report", "dm-m-000").out.splitlines()
    assert lines[2].split()[:4] == ["dm-m-000", "encrypt", "1431655765", "ok"]
    assert lines[2].split()[-2:] == ["-", "-"]
    row = cli("report", "dm-m-000", "--json").json()[1]
    assert (row["base"], row["exp"], row["mod"]) == (1460365373 % 1431655765, 977851481, 1431655765)
    assert row["ratio"] is None


def test_a_wrong_result_is_exit_1(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Machine, "run", lambda *_, **__: [Answer(Status.OK, 1, 77)])
    result = cli("report", "mont")
    assert result.code == 1
    assert "WRONG" in result.out
    assert "encrypt at level rtl gives a wrong result" in result.err


def test_levels_that_differ_are_exit_1(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Machine.run

    def slower(machine: Machine, operands: list[tuple[int, int, int]]) -> list[Answer]:
        answers = honest(machine, operands)
        if machine.level == "cl":
            return [Answer(each.status, each.result, each.cycles + 1) for each in answers]
        return answers

    monkeypatch.setattr(Machine, "run", slower)
    result = cli("report", "mont", "--json")
    assert result.code == 1
    assert "cycles as RTL, but" in result.json()[0]["wrong"][0]


def test_refusals(cli: Cli) -> None:
    assert "did you mean 'mont'?" in cli.fails("report", "mnot")
    assert "--output '': this is no name of a file" in cli.fails("report", "mont", "-o", "")
    assert "there is no such directory" in cli.fails("report", "mont", "-o", "/nowhere/report.txt")
