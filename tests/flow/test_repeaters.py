"""Nets whose wire alone takes long: cut where much hangs below, the same function, and shorter to the
furthest reader.
"""

import types

from modexlab.flow.kit import kit
from modexlab.flow.layout import repeaters
from modexlab.flow.layout.placed import Placed
from modexlab.flow.layout.placement import Place, Placement, PortPin, Row
from modexlab.flow.layout.wires import wires_of
from modexlab.flow.netlist.netlist import PORT, Instance, Netlist, connected
from modexlab.flow.prove.placed import prove_same

READERS, PITCH_ROWS, ROWS = 24, 20, 500  # one reader each 28 um, 0.7 mm in all


def column(*, to_a_port=False):
    """An inverter at the foot of a column that drives READERS others, up to its top; and a port up there, if
    asked.
    """
    cells = {f"u{index}": Instance(f"u{index}", "INV_X1", {}) for index in range(READERS + 1)}
    for index, cell in enumerate(cells.values()):
        cell.pins.update({"A": 0 if index == 0 else 1, "ZN": 1 + index})
    names = ["in", *(f"n{index}" for index in range(1, READERS + 2))]
    ports = {"in": ("input", [0])} | ({"out": ("output", [1])} if to_a_port else {})
    outline = Netlist("column", {}, names, ports, [], [], {}, {name: [name] for name in ports})
    library, lef = kit.find().library, kit.find().geometry
    netlist = connected(outline, cells, names, library)
    top = 1.4 * (ROWS + 2)
    places = {
        name: Place("INV_X1", 2.85, 2.8 + 1.4 * PITCH_ROWS * index, "N") for index, name in enumerate(cells)
    }
    pins = {
        name: PortPin(name, way, "metal3", 0.0, 3.57 if way == "input" else top, "W")
        for name, (way, _) in ports.items()
    }
    rows = [Row(2.85, 2.8 + 1.4 * row, 40, "N") for row in range(ROWS)]
    ground = Placement(
        design="column", die_um=(13.3, top + 2.8), core_um=(2.85, 2.8, 10.45, 2.8 + 1.4 * ROWS), density=0.1,
        seconds={}, rows=rows, pins=pins, instances=places,
    )  # fmt: skip
    return Placed(netlist, ground, library, lef)


def latest(placed):
    """How long the slowest wire takes to one of its ends, in ps."""
    return max(max(wire.delays_ps()) for wire in wires_of(placed))


def cut(placed, clock=None, modules=types.MappingProxyType({})):
    """Put repeaters in; the netlist before, and the repeaters' modules."""
    asked = placed.library.constraints(3.0, clock)
    before = placed.netlist
    owners = repeaters.insert_repeaters(placed, asked, modules)
    assert prove_same(before, placed.netlist, placed.library) == []
    return before, owners


def test_a_long_net_is_cut():
    placed = column()
    before = latest(placed)
    assert before > repeaters.LONGEST_PS
    netlist, owners = cut(placed, modules={"u0": "unit"})
    added = placed.netlist.cells.keys() - netlist.cells.keys()
    assert owners == dict.fromkeys(added, "unit")
    assert added <= placed.placement.instances.keys()
    assert 2 <= len(added) <= 5
    assert latest(placed) < before / 4
    assert all(wire.cap_ff <= repeaters.MOST_FF for wire in wires_of(placed))
    # and nothing is left to do
    again, more = cut(placed, modules=owners)
    assert placed.netlist is again
    assert more == {}


def test_a_port_stays_on_its_net():
    """A port stays on its net although it is last: only branches off its path may be cut."""
    placed = column(to_a_port=True)
    cut(placed)
    assert (PORT, "out") in placed.netlist.sinks[1]


def test_a_clock_is_left_alone():
    placed = column()
    asked = placed.library.constraints(3.0, "in")
    assert repeaters.TimingGraph(placed.netlist, placed.library, asked).clock_nets >= {0, 1}
    before, owners = cut(placed, "in")
    assert placed.netlist.cells == before.cells
    assert owners == {}
