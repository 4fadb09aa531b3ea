"""`modexlab designs`: names and JSON keys are an interface that others script against."""

from __future__ import annotations

import pytest
from modexlab.eval import catalogue

from .cli import Cli

KEYS = {"name", "family", "paper", "domain", "schedule", "constant_time", "params"}


@pytest.fixture(name="cli")
def make_cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(capsys)


def test_json(cli: Cli) -> None:
    designs = cli("designs", "--json").json()
    by_name = {design["name"]: design for design in designs}
    assert {"naive-001", "mont-001", "mont", "mont-ct"} <= by_name.keys()
    for design in designs:
        assert design.keys() >= KEYS
        assert isinstance(design["constant_time"], bool)
        for param in design["params"]:
            assert param.keys() >= {"name", "default", "legal"}
            assert isinstance(param["legal"], (list, str))
            assert not isinstance(param["legal"], list) or param["default"] in param["legal"]
    assert by_name["mont-001"]["paper"] == "001"
    assert by_name["mont"]["paper"] == ""
    assert by_name["mont-ct"]["constant_time"] is True
    assert by_name["mont"]["domain"] == "montgomery"


def test_table(cli: Cli) -> None:
    lines = cli("designs").out.splitlines()
    assert lines[0].split()[:3] == ["design", "family", "paper"]
    for design in catalogue.designs():
        assert any(line.split()[:1] == [design.name] for line in lines)


def test_detail(cli: Cli) -> None:
    out = cli("designs", "mont-001").out
    assert "nstages = 4" in out
    assert "published      encrypt: 162 cycles" in out


def test_one_as_json(cli: Cli) -> None:
    assert [design["name"] for design in cli("designs", "mont", "--json").json()] == ["mont"]


def test_unknown(cli: Cli) -> None:
    assert "did you mean 'mont'?" in cli.fails("designs", "mout")
