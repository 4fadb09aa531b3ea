"""Wires for OpenSTA: a SPEF file (IEEE 1481) from capacitance and resistance per net.

Each wire is a star of equal branches from the driver, one for each sink, with its share of the capacitance at the sink: the
"balanced tree" of the library's operating conditions, as flow/timing/nldm.py has it too. What is known better, from a
placement, is written by flow/layout/wires.py.

OpenSTA of 2019 asks for two things that other readers do not mind: a bit of a bus keeps its brackets as they are while all
brackets and signs within plain names are escaped, and a net without resistors is ignored, so that a wire of no resistance gets a
tiny one.
"""

import re

from ...fl.errors import BadInput
from ..netlist.netlist import PORT, Netlist, Terminal
from .wire_table import WireTable

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
    """The SPEF text of wires (cap_ff and, or not, res_ohm, by the net's name); nets that are not listed have no wire."""
    parts = [HEADER.format(name=netlist.name)]
    for name, wire in wires.items():
        net = netlist.aliases.get(name)
        if net is None:
            raise BadInput(
                f"wires are given for {name}, which is no net of {netlist.name}: were they made for another netlist?"
            )
        driver, sinks = netlist.driver[net], netlist.sinks[net]
        if driver is None or not sinks:
            continue
        parts.append(_net(netlist, netlist.nets[net], driver, sinks, wire.cap_ff, wire.res_ohm))
    return "".join(parts)


def _net(netlist: Netlist, name: str, driver: Terminal, sinks: list[Terminal], cap: float, res: float) -> str:
    start, ends = terminal_name(netlist, driver), [terminal_name(netlist, sink) for sink in sinks]
    lines = [f"*D_NET {escaped(name, name in netlist.bus_bits)} {cap:.6g}", "*CONN"]
    lines.append(f"{'*P' if driver[0] == PORT else '*I'} {start} {'I' if driver[0] == PORT else 'O'}")
    lines += [
        f"{'*P' if sink[0] == PORT else '*I'} {end} {'O' if sink[0] == PORT else 'I'}"
        for sink, end in zip(sinks, ends, strict=True)
    ]
    share = len(sinks)
    lines.append("*CAP")
    lines += [f"{number} {end} {cap / share:.6g}" for number, end in enumerate(ends, 1)]
    lines.append("*RES")
    lines += [
        f"{number} {start} {end} {max(res / share, LEAST_OHM):.6g}" for number, end in enumerate(ends, 1)
    ]
    return "\n".join([*lines, "*END", "", ""])


def terminal_name(netlist: Netlist, terminal: Terminal) -> str:
    """A pin of an instance or a bit of a port, as SPEF writes it."""
    instance, pin = terminal
    if instance == PORT:
        return escaped(pin, pin in netlist.bus_bits)
    return f"{escaped(instance)}:{pin}"
