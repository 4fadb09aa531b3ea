"""Wires for OpenSTA: a SPEF file (IEEE 1481) from capacitance and resistance per net.

Each wire is a star of equal branches from the driver, one for each sink, with its share of the capacitance at
the sink: the "balanced tree" of the library's operating conditions, as flow/timing/nldm.py has it too. What
is known better, from a placement, is written by flow/layout/wires.py.

OpenSTA of 2019 asks for two things that other readers do not mind: a bit of a bus keeps its brackets as they
are while all brackets and signs within plain names are escaped, and a net without resistors is ignored, so
that a wire of no resistance gets a tiny one.
"""

import re

from ..netlist.netlist import PORT, Netlist, Terminal
from .wire_table import NetWire, WireTable, by_net

HEADER = """*SPEF "IEEE 1481-1998"
*DESIGN "{name}"
*DATE "-"
*VENDOR "modexlab"
*PROGRAM "modexlab"
*VERSION "1"
*DESIGN_FLOW "NETLIST_TYPE_VERILOG"
*DIVIDER /
*DELIMITER :
*BUS_DELIMITER [ ]
*T_UNIT 1 NS
*C_UNIT 1 FF
*R_UNIT 1 OHM
*L_UNIT 1 HENRY

"""
LEAST_OHM = 1e-3
SIGN = re.compile(r"([^A-Za-z0-9_])")
BIT = re.compile(r"(.*)(\[\d+\])", re.DOTALL)


def escaped(name: str, bus_bit: bool = False) -> str:
    """A name as SPEF writes it; the index of a bus bit stands outside of the name."""
    match = BIT.fullmatch(name) if bus_bit else None
    if match:
        return SIGN.sub(r"\\\1", match[1]) + match[2]
    return SIGN.sub(r"\\\1", name)


def spef(netlist: Netlist, wires: WireTable) -> str:
    """The SPEF text of wires (cap_ff and, or not, res_ohm, by the net's name); nets that are not listed have
    no wire.
    """
    parts = [HEADER.format(name=netlist.name)]
    for net, wire in by_net(wires, netlist):
        driver, sinks = netlist.driver[net], netlist.sinks[net]
        if driver is not None and sinks:
            parts.append(_net(netlist, netlist.nets[net], [driver, *sinks], wire))
    return "".join(parts)


def _net(netlist: Netlist, name: str, terminals: list[Terminal], wire: NetWire) -> str:
    """The section of a net, whose driver is the first terminal."""
    start, *ends = names = [terminal_name(netlist, terminal) for terminal in terminals]
    share = len(ends)
    lines = [f"*D_NET {escaped(name, name in netlist.bus_bits)} {wire.cap_ff:.6g}", "*CONN"]
    for place, ((instance, _), end) in enumerate(zip(terminals, names, strict=True)):
        inward = (instance == PORT) == (place == 0)
        lines.append(f"{'*P' if instance == PORT else '*I'} {end} {'I' if inward else 'O'}")
    lines.append("*CAP")
    lines += [f"{number} {end} {wire.cap_ff / share:.6g}" for number, end in enumerate(ends, 1)]
    lines.append("*RES")
    res = max(wire.res_ohm / share, LEAST_OHM)
    lines += [f"{number} {start} {end} {res:.6g}" for number, end in enumerate(ends, 1)]
    return "\n".join([*lines, "*END", "", ""])


def terminal_name(netlist: Netlist, terminal: Terminal) -> str:
    """A pin of an instance or a bit of a port, as SPEF writes it."""
    instance, pin = terminal
    if instance == PORT:
        return escaped(pin, pin in netlist.bus_bits)
    return f"{escaped(instance)}:{pin}"
