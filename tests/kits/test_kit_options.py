"""`--kit` in other commands, and a user's library that is described by one file."""

import re

import pytest
from modexlab.flow.kit import kit

from tests.command_line import refusals
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


def test_the_page_s_kit_runs_to_timing(own, cli):
    """It meets a tenth of the clock period that the default kit needs."""
    command = f"asic mont --nbits 8 --kit {own} --clock 0.1"
    report = cli.passes(f"{command} --to timing --json").json()
    assert report["met"] and report["derate"] == 0.05 and report["cells"] > 500
    assert "so there is no layout with it" in cli.fails(f"{command} --layout")


@parametrize(
    "command",
    [
        "prove mont --check netlist",
        "asic mont --crosscheck --nbits 8",
        "attack faults mont --nbits 8 --netlist",
    ],
)
def test_a_missing_pdk_is_refused_with_the_remedy(monkeypatch, cli, command):
    monkeypatch.delenv(kit.PDK_ROOT, raising=False)
    refusal = cli.fails(f"{command} --kit sky130hd")
    assert re.search(r"sky130hd is not found: PDK_ROOT is not set.*ciel enable", refusal)


test_refused = refusals(
    "",
    {
        "prove all --kit asap7": "--kit with all: only defaults are proved, with the default kit",
        "asic --crosscheck --space course --kit asap7": "--kit with --space: the points of a space",
        "asic --crosscheck --space course --nbits 8": "--nbits with --space: the points of a space",
        "asic --crosscheck --space course --interface unit": "--interface with --space: the points of",
        "asic mont --nbits 8 --density 0.5": "--density: no step of this run uses it; add --layout, or drop",
        "asic mont --flow detailed=false --to timing": "--flow detailed: no step of this run uses it; drop",
        "asic mont --flow nosuch=1": "unknown parameter of the flow",
        "asic mont -o setup.py": "--output setup.py: this is a file; give a directory",
        "asic --verilog a.v --top a --interface unit": "--interface with --verilog: this is for designs",
        "compare paper-001 cores": "cores with paper-001: give `modexlab compare cores`",
        "compare --pick 5us paper-001": "--pick: papers have no machines to choose from",
        "report --no-measure -o page.pdf": "it names the page; give a name such as report.html, and --pdf",
        "report --no-measure -o tests": "--output tests: this is a directory; give a file, as in",
        "run mont --nbits 19 --workload product": "products are only counted by formula; add --level formula",
        "run mont-keyed --base 5 --exp 5 --mod 13 --seed 3": "--seed: no program with --verify, --crt or",
        "show cm-m-000 --tree --function square": "--function belongs to --modulus; a DESIGN has its own",
        "verilog mont --nbits 8 --force": "--force without a folder to write to",
        "store export rows.txt --format reference": "by their suffix; give rows.txt.jsonl",
        "report --no-measure --text --kit sky130": "there is no kit sky130: give asap7",
        "attack faults mont --nbits 8 --kit sky130hd": "--kit without --netlist",
        "compare cores --kit sky13": "there is no kit sky13: give asap7",
        "compare paper-001 --kit asap7": "papers are compared with the default kit",
        "compare cores --kit all --measure": "--measure with --kit all: give one kit",
    },
)


@regress
def test_a_netlist_of_a_kit_is_proved_and_crosschecked(monkeypatch, cli):
    pdks.require(monkeypatch, "ihp-sg13g2")
    assert "netlist ihp-sg13g2" in cli.passes("prove mont --check netlist --kit ihp-sg13g2 --json").out
    pdks.require(monkeypatch, "sky130hd")
    names = cli.passes("asic mont --crosscheck --nbits 8 --kit sky130hd --json").out
    assert all(f"{corner} corner" in names for corner in kit.CORNERS)
