"""Circuit: a netlist with its wires, the data that all parts of sizing share."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ...netlist.netlist import Netlist
from ...timing.wire_table import WireTable


@dataclass
class Circuit:
    """A netlist and its wires, by number of net; `owners` has the modules of the buffers that were added."""

    netlist: Netlist
    caps_ff: np.ndarray
    res_kohm: np.ndarray
    owners: dict[str, str] = field(default_factory=dict)
    wire_ff: float | None = None  # for each reader, if all wires are so; of nets that are not there yet


def wired(
    netlist: Netlist,
    wire_ff: float,
    table: WireTable | None = None,
    owners: Mapping[str, str] | None = None,
) -> Circuit:
    """A netlist with wires from a table by name of the net, the others with so much for each reader."""
    caps = wire_ff * np.array([float(len(sinks)) for sinks in netlist.sinks])
    resistances = np.zeros(len(caps))
    for name, wire in (table or {}).items():
        net = netlist.aliases.get(name)
        if net is not None:  # nets of the clock tree are not in the netlist before placement
            caps[net], resistances[net] = wire.cap_ff, wire.res_ohm / 1000
    return Circuit(netlist, caps, resistances, dict(owners or {}), None if table else wire_ff)
