"""Wires of all nets, as the analyses read them: wires.json, {net: {cap_ff, res_ohm, length_um, source}};
and for OpenSTA as a SPEF file (IEEE 1481), each net a tree of resistors.

`stars` makes it from capacitance and resistance per net: equal branches from the driver, one for each sink,
with its share of the capacitance at the sink. That is the "balanced tree" of the library's operating
conditions, as flow/timing/nldm.py has it too. The trees of a placement come from flow/layout/wires.py.

OpenSTA of 2019 asks for two things that other readers do not mind: a bit of a bus keeps its brackets as they
are while all brackets and signs within plain names are escaped, and a net without resistors is ignored, so
that a wire of no resistance gets a tiny one.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

import msgspec

from ...fl.errors import BadInput
from .. import product
from ..kit.kit_file import NotNegative
from ..netlist.netlist import PORT, Netlist

# where wires come from; each knows more than those before
Source = Literal["none", "model", "placement", "routing"]
SOURCES: tuple[Source, ...] = get_args(Source)
FILE, SPEF, STEP = "wires.json", "wires.spef", "route"


class NetWire(msgspec.Struct, frozen=True):
    """One net's: capacitances of pins are not in it, and its resistance is that of all of the wire in a
    row.
    """

    cap_ff: NotNegative
    res_ohm: NotNegative = 0.0
    length_um: NotNegative = 0.0
    source: Source = "none"


WireTable = Mapping[str, NetWire]  # by the name of the net


def load(path: Path) -> dict[str, NetWire]:
    """The table in a file; BadInput if it is none."""
    return product.read(path, dict[str, NetWire], STEP, FILE)


def by_net(table: WireTable, netlist: Netlist) -> Iterator[tuple[int, NetWire]]:
    """The wires by number of net; BadInput for one of no net of the netlist."""
    for name, wire in table.items():
        net = netlist.aliases.get(name)
        if net is None:
            raise BadInput(
                f"wires are given for {name}, which is no net of {netlist.name}: "
                "were they made for another netlist?"
            )
        yield net, wire


def source(table: WireTable) -> Source:
    """Return the last of its wires' sources, in the order of SOURCES."""
    return max((wire.source for wire in table.values()), key=SOURCES.index, default="none")


# ---- SPEF

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
    """A name in the syntax of SPEF; the index of a bus bit is not part of the name."""
    match = BIT.fullmatch(name) if bus_bit else None
    if match:
        return SIGN.sub(r"\\\1", match[1]) + match[2]
    return SIGN.sub(r"\\\1", name)


def document(netlist: Netlist, nets: Iterable[str]) -> str:
    """A SPEF file of these sections, one for each net."""
    return HEADER.format(name=netlist.name) + "".join(nets)


def section(
    netlist: Netlist,
    net: int,
    caps_ff: Sequence[float],
    branches: Iterable[tuple[int, int, float]],
    formats: tuple[str, str, str] = (".4f", ".5f", ".4g"),
) -> str:
    """The section of a net: capacitances at its nodes, and resistors between nodes in ohm.

    The nodes are the driver, the sinks in their order, and then any branching points. `formats` are those of
    the net's capacitance, a node's and a resistance.
    """
    of_net, of_node, of_resistor = formats
    name = netlist.nets[net]
    spelled = escaped(name, name in netlist.bus_bits)
    nodes: list[str] = []
    connections = []
    for instance, pin in filter(None, (netlist.driver[net], *netlist.sinks[net])):
        port = instance == PORT
        node = escaped(pin, pin in netlist.bus_bits) if port else f"{escaped(instance)}:{pin}"
        # a port is seen from inside: an input drives
        connections.append(f"{'*P' if port else '*I'} {node} {'O' if port == bool(nodes) else 'I'}")
        nodes.append(node)
    nodes += [f"{spelled}:{index}" for index in range(1, len(caps_ff) - len(nodes) + 1)]
    caps = [
        f"{n} {node} {cap:{of_node}}" for n, (node, cap) in enumerate(zip(nodes, caps_ff, strict=True), 1)
    ]
    resistors = [
        f"{n} {nodes[a]} {nodes[b]} {max(ohm, LEAST_OHM):{of_resistor}}"
        for n, (a, b, ohm) in enumerate(branches, 1)
    ]
    lines = [
        f"*D_NET {spelled} {sum(caps_ff):{of_net}}",
        "*CONN",
        *connections,
        "*CAP",
        *caps,
        "*RES",
        *resistors,
    ]
    return "\n".join([*lines, "*END", "", ""])


def stars(netlist: Netlist, wires: WireTable) -> str:
    """Each net with a driver and sinks as a star of equal branches, without a wire where none is listed."""
    return document(netlist, (star(netlist, net, wire) for net, wire in by_net(wires, netlist)))


def star(netlist: Netlist, net: int, wire: NetWire) -> str:
    """The section of a net as a star; empty without a driver or sinks."""
    count = len(netlist.sinks[net])
    if not count or netlist.driver[net] is None:
        return ""
    caps = [0.0, *[wire.cap_ff / count] * count]
    branches = [(0, end, wire.res_ohm / count) for end in range(1, count + 1)]
    return section(netlist, net, caps, branches, (".6g",) * 3)
