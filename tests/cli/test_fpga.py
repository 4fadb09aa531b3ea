"""`modexlab asic --fpga`: a small machine, external Verilog, and rejected options."""

from tests.command_line import refusals

ADDER = "module adder(input logic [7:0] a, b, output logic [7:0] s);\n  assign s = a + b;\nendmodule\n"
SMALL = "asic --fpga naive --nbits 8 --device ecp5"


def test_small_machine(cli):
    (found,) = cli.reports(SMALL, name="naive", nbits=8, top="naive_8")["devices"].values()
    assert found["family"] == "ECP5" and found["fits"]
    assert 150 < found["luts"] < 400 and 100 < found["ffs"] < 250 and found["dsps"] == 2
    assert "naive, 8 bits, stream (module naive_8)" in cli.passes(SMALL).out


def test_verilog_from_elsewhere(cli, tmp_path):
    (tmp_path / "adder.sv").write_text(ADDER)
    files = f"--verilog {tmp_path}/adder.sv --top adder"
    report = cli.json(f"asic --fpga {files} --device ecp5 cyclone-v")
    assert list(report["devices"]) == ["ecp5", "cyclone-v"]
    assert report["devices"]["ecp5"]["luts"] == 8 and report["devices"]["cyclone-v"]["alms"] == 4
    assert report["nbits"] is None


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


def test_a_mistake_that_a_tool_finds(cli, tmp_path):
    """The error may come after lines of progress."""
    there = tmp_path / "adder.sv"
    there.write_text(ADDER)
    result = cli.passes(f"asic --fpga --verilog {there} --top other", code=2)
    assert result.out == ""
    assert "'other' is not a valid top-level module" in result.err.splitlines()[-1]
