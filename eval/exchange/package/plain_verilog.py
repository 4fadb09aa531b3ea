"""The same hardware in Verilog-2001, written by Yosys: for tools that do not read SystemVerilog, and for
Icarus 11, whose vvp wakes always_comb blocks of which no input has changed and never comes to the end of some
cycles.
"""

import tempfile
from pathlib import Path

from ....flow.netlist import yosys

BANNER = """\
// {top}, in Verilog-2001: made by Yosys from {top}.sv, which is the one to read.
`timescale 1ns / 1ps

"""


def plain_verilog(hardware: str, top: str) -> str:
    """The text; modules and ports have the names that they have in SystemVerilog."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        (directory / "design.sv").write_text(hardware)
        script = (
            "read_verilog -sv design.sv\nhierarchy -check -top "
            f"{top}\nproc\nopt_muxtree\nopt_clean\nwrite_verilog -noattr plain.v\n"
        )
        yosys.run("plain", script, directory)
        text = (directory / "plain.v").read_text()
    return BANNER.format(top=top) + text.split("\n", 1)[1].lstrip("\n")
