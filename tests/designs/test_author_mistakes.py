"""Commands answer an author's mistakes in one sentence with file, line and remedy, and exit code 2."""

import re

import pytest

from tests.designs.author_mistakes import COMMANDS, MISTAKES, planted
from tests.harness import one_now, parametrize

CASES = [f"{mistake.name}: {command}" for mistake in MISTAKES for command in mistake.commands.split()]
BY_NAME = {mistake.name: mistake for mistake in MISTAKES}
NOW = (
    "exit: show",
    "default: run",
    "rows: check",
    "prepare: verilog",
    "fl none: fl",
    "fl raises: check",
    "cycles float: cl",
    "wide integer: check",
    "latch: verilog",
    "latch: package",
    "latch: asic",
    "undriven: run",
    "loop: check",
)


@parametrize("name", one_now(CASES, *NOW))
def test_answers(name, tmp_path, monkeypatch, cli):
    mistake, command = BY_NAME[name.partition(": ")[0]], name.partition(": ")[2]
    folder = planted(tmp_path / "gcd", mistake)
    monkeypatch.chdir(folder)
    answer = cli(COMMANDS[command])
    assert answer.code in ((1, 2) if command == "sweep" else (2,)), answer  # 1: the only point failed
    assert "Traceback" not in answer.err + answer.out
    said = next(line for line in reversed(answer.err.splitlines()) if "error: " in line or "failed: " in line)
    for word in mistake.words:
        assert word in said, said
    place = re.search(re.escape(str(folder)) + r"/(\w+\.py), line (\d+)", said)
    assert place, said
    if mistake.line:
        lines = (folder / place[1]).read_text().splitlines()
        assert mistake.line in lines[int(place[2]) - 1], said
    assert "; " in said, "a remedy"


@pytest.mark.parametrize("command", ["check", "verilog", "sweep"])
def test_no_mistake(command, tmp_path, monkeypatch, cli):
    """The same folder without a mistake passes."""
    monkeypatch.chdir(planted(tmp_path / "gcd"))
    cli.passes(COMMANDS[command])
