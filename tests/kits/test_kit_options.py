"""`--kit` in other commands, and a user's library that is described by one file."""

import json
import re

import pytest
from modexlab.eval.cli.main import main
from modexlab.flow.kit import kit

from tests.harness import parametrize, regress
from tests.kits import pdks
from tests.paths import ROOT

PAGE = ROOT / "docs" / "howto" / "cell-library.md"
# cells of the page's example, and their names in the default library
CELLS = {"TIELO": "LOGIC0_X1", "TIEHI": "LOGIC1_X1", "ICG_D1": "CLKGATE_X1", "DLY_D1": "CLKBUF_X1"}


@pytest.fixture
def own(tmp_path):
    """The page's kit.toml for the default library in other units: Liberty only, without LEF and GDS."""
    text = kit.find().lib.read_text()
    text = re.sub(r'(time_unit\s*: )"1ns"', r'\1"10ps"', text)  # a hundredth of the delays
    assert '"10ps"' in text
    text = re.sub(r"\b(INV|BUF)_X(\d+)\b", r"\1_D\2", text)
    for new, old in CELLS.items():
        text = re.sub(rf"\b{old}\b", new, text)
    (tmp_path / "mylib_tt.lib").write_text(text)
    toml = re.search(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)[1]
    toml = re.sub(r"(?m)^(slow|fast) = .*\n", "", toml)
    (tmp_path / "kit.toml").write_text(toml.replace(r"(.+)_D\d+", r"(.+)_[DX]\d+"))
    return tmp_path / "kit.toml"


def test_the_page_s_kit_runs_to_timing(own, capsys):
    """It meets a tenth of the clock period that the default kit needs."""
    options = [
        "asic",
        "mont",
        "--nbits",
        "8",
        "--kit",
        str(own),
        "--to",
        "timing",
        "--clock",
        "0.1",
        "--json",
    ]
    assert main(options) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["met"] and report["derate"] == 0.05 and report["cells"] > 500
    assert main([*options[:6], "--layout", "--clock", "0.1"]) == 2
    assert "so there is no layout with it" in capsys.readouterr().err


@parametrize(
    "command",
    [
        "prove mont --check netlist --kit sky130hd",
        "asic mont --crosscheck --nbits 8 --kit sky130hd",
        "attack faults mont --nbits 8 --netlist --kit sky130hd",
    ],
)
def test_a_missing_pdk_is_refused_with_the_remedy(monkeypatch, capsys, command):
    monkeypatch.delenv(kit.PDK_ROOT, raising=False)
    assert main(command.split()) == 2
    assert re.search(r"sky130hd is not found: PDK_ROOT is not set.*ciel enable", capsys.readouterr().err)


@parametrize(
    "command, message",
    [
        ("prove all --kit asap7", "--kit with all: the reference is of the default kit"),
        ("asic --crosscheck --space course --kit asap7", "--kit with --space: the points of a space"),
        ("report --no-measure --text --kit sky130", "there is no kit sky130: give asap7"),
    ],
)
def test_kits_that_do_not_apply(capsys, command, message):
    assert main(command.split()) == 2
    assert message in capsys.readouterr().err


@regress
def test_a_netlist_of_a_kit_is_proved_and_crosschecked(monkeypatch, capsys):
    pdks.require(monkeypatch, "ihp-sg13g2")
    assert main(["prove", "mont", "--check", "netlist", "--kit", "ihp-sg13g2", "--json"]) == 0
    assert "netlist ihp-sg13g2" in capsys.readouterr().out
    pdks.require(monkeypatch, "sky130hd")
    assert main(["asic", "mont", "--crosscheck", "--nbits", "8", "--kit", "sky130hd", "--json"]) == 0
    names = capsys.readouterr().out
    assert all(f"{corner} corner" in names for corner in kit.CORNERS)
