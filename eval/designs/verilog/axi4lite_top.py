"""The top module of an exported slave, with the ports that AMBA gives AXI4-Lite.

PyMTL3 has an implicit clk and an active-high reset. The standard has aclk and an active-low aresetn, here
sampled with the clock, and its address channels carry awprot and arprot, which such a slave may ignore.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

TOP = """\
// {top}: the slave with the ports of AMBA AXI4-Lite
module {top} (
{ports}
);

  // all accesses have the same rights
  logic unused_prot;
  assign unused_prot = ^{{s_axi_awprot, s_axi_arprot}};

  {slave} slave (
{pins}
  );

endmodule
"""
CLOCKING = {
    "clk": ("aclk", "aclk"),
    "reset": ("aresetn", "!aresetn"),
}  # of the slave: the port, its connection
PROT_AFTER = ("s_axi_awaddr", "s_axi_araddr")


def axi4lite_top(text: str, top: str, declarations: Iterable[str]) -> str:
    """Put the standard's ports around the module `top` of a Verilog text, which has these declarations."""
    slave = f"{top}_slave"
    ports, pins = [], []
    for declaration in declarations:
        kind, name = declaration.rsplit(" ", 1)
        flat = re.sub("^(s_axi|key)__", r"\1_", name)  # AMBA's names, and those of the numbers of a key
        port, wire = CLOCKING.get(name, (flat, flat))
        ports.append(f"  {kind} {port}")
        if port in PROT_AFTER:
            ports.append(f"  input logic [2:0] {port.replace('addr', 'prot')}")
        pins.append(f"    .{name}({wire})")
    around = TOP.format(top=top, slave=slave, ports=",\n".join(ports), pins=",\n".join(pins))
    module = re.compile(rf"((?:^//.*\n)*)^module {top}\b", re.MULTILINE)  # with the comment before it
    return module.sub(lambda found: f"{around}\n{found[1]}module {slave}", text)
