"""`modexlab verilog`: one self-contained file, whole or not at all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from modexlab.eval import catalogue
from modexlab.eval.commands import verilog as command
from modexlab.rtl.sim import ToolError, lint

from .cli import Cli


@pytest.fixture(name="cli")
def make_cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(capsys)


def test_file(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "mont.sv"
    result = cli("verilog", "mont", "--nbits", 16, "--set", "nstages=2", "-o", path)
    text = path.read_text()
    assert result.code == 0
    assert result.out == f"{path}: mont, 16 bits, {len(text.splitlines())} lines\n"
    assert text.startswith("// mont_16: ")
    assert re.search(r"^module mont_16\b", text, re.MULTILINE)
    assert list(tmp_path.iterdir()) == [path], "nothing else is left behind"


def test_header_says_parameters_ports_and_protocol(cli: Cli) -> None:
    header = cli("verilog", "mont-001", "--nbits", 64).out.partition("\nmodule")[0]
    assert "//   nbits = 64: " in header
    assert "//   nstages = 4: " in header
    assert "istream__msg  { base[63:0], exp[63:0], mod[63:0] }" in header
    assert "ostream__msg  { status[2:0], result[63:0] }" in header
    assert "istream__rdy" in header
    assert "//   2  the modulus is even" in header
    assert all(len(line) <= 140 for line in header.splitlines())


def test_header_says_the_answers_of_this_machine(cli: Cli) -> None:
    header = cli("verilog", "naive").out.partition("\nmodule")[0]
    assert "//   1  the modulus is 0" in header
    assert "the modulus is even" not in header


def test_stdout_is_the_text_alone(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "naive.sv"
    cli("verilog", "naive", "-o", path)
    assert cli("verilog", "naive").out == path.read_text() == cli("verilog", "naive", "-o", "-").out


@pytest.mark.parametrize("design", [design.name for design in catalogue.designs()])
@pytest.mark.parametrize("nbits", [8, 64])
def test_lint_clean_and_self_contained(cli: Cli, design: str, nbits: int) -> None:
    """Verilator finds every module and type, and has nothing to complain about."""
    lint(cli("verilog", design, "--nbits", nbits).out)


def test_lint_complains_about_what_is_missing(cli: Cli) -> None:
    text = cli("verilog", "mont", "--nbits", 8).out
    with pytest.raises(ToolError):
        lint(text.replace("module ModExpCtrl", "module Other"))


def test_a_directory_is_no_file(cli: Cli, tmp_path: Path) -> None:
    assert f"{tmp_path}: cannot be written: Is a directory" in cli.fails("verilog", "mont", "-o", tmp_path)
    assert list(tmp_path.parent.glob(".*.partial")) == []


def test_an_error_leaves_the_old_file(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mont.sv"
    path.write_text("old")

    def fails(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "verilog", fails)
    assert cli("verilog", "mont", "-o", path).code == 130
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (
            ["mont", "-o", "/nowhere/mont.sv"],
            "/nowhere/mont.sv: there is no such directory",
        ),
        (["mont", "--nbits", 4097], "out of range"),
        (["mont", "--nbits", 30, "--set", "steps_per_stage=8"], "does not divide the width of 30 bits"),
        (["mnot"], "did you mean 'mont'?"),
    ],
)
def test_refusals(cli: Cli, argv: list[object], message: str) -> None:
    assert message in cli.fails("verilog", *argv)
