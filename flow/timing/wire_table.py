"""Wires of all nets, as the analyses read them: wires.json, {net: {cap_ff, res_ohm, length_um, source}}."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal, get_args

import msgspec

from ...fl.errors import BadInput
from .. import product
from ..netlist.netlist import Netlist

# where wires come from; each knows more than those before
Source = Literal["none", "model", "placement", "routing"]
SOURCES: tuple[Source, ...] = get_args(Source)
FILE, STEP = "wires.json", "route"
NotNegative = Annotated[float, msgspec.Meta(ge=0)]


class NetWire(msgspec.Struct, frozen=True):
    """One net's: capacitances of pins are not in it, and its resistance is that of all of the wire in a
    row.
    """

    cap_ff: NotNegative
    res_ohm: NotNegative = 0.0
    length_um: NotNegative = 0.0
    source: Source = "none"


WireTable = Mapping[str, NetWire]  # by the name of the net


def load(path: Path | str) -> dict[str, NetWire]:
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
