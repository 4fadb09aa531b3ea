"""Nets whose wire alone takes long: cut where much hangs below, the same function, and shorter to the
furthest reader.
"""

import pytest
from modexlab.flow.kit import kit
from modexlab.flow.layout import repeaters
from modexlab.flow.layout.placement import Place, Placement, PortPin, Row
from modexlab.flow.layout.row_legalizer import Rows
from modexlab.flow.layout.wires import wires_of
from modexlab.flow.netlist.netlist import PORT, Instance, Netlist, connected
from modexlab.flow.prove.placed import prove_same

READERS, PITCH_ROWS, ROWS = 24, 20, 500  # one reader each 28 um, 0.7 mm in all


@pytest.fixture(scope="module")
def library():
    return kit.find().library


@pytest.fixture(scope="module")
def lef():
    return kit.find().geometry


def column(library, *, to_a_port=False):
    """An inverter at the foot of a column that drives READERS others, up to its top; and a port up there, if
    asked.
    """
    cells = {f"u{index}": Instance(f"u{index}", "INV_X1", {}) for index in range(READERS + 1)}
    for index, cell in enumerate(cells.values()):
        cell.pins.update({"A": 0 if index == 0 else 1, "ZN": 1 + index})
    names = ["in", *(f"n{index}" for index in range(1, READERS + 2))]
    ports = {"in": ("input", [0])} | ({"out": ("output", [1])} if to_a_port else {})
    outline = Netlist("column", {}, names, ports, [], [], {}, {name: [name] for name in ports})
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
    return netlist, ground


def latest(netlist, placement, lef, library):
    """How long the slowest wire takes to one of its ends, in ps."""
    worst = 0.0
    for wire in wires_of(netlist, placement, lef):
        loads = [
            0.0 if owner == PORT else library.cells[netlist.cells[owner].kind].pins[pin].cap_ff
            for owner, pin in wire.terminals
        ]
        worst = max(worst, *wire.delays_ps([0.0, *loads[1:]]))
    return worst


def test_a_long_net_is_cut(lef, library):
    netlist, placement = column(library)
    before = latest(netlist, placement, lef, library)
    assert before > repeaters.LONGEST_PS
    asked = library.constraints(3.0, None)
    after, owners = repeaters.with_repeaters(netlist, Rows(placement, lef), library, asked, {"u0": "unit"})
    added = after.cells.keys() - netlist.cells.keys()
    assert owners == dict.fromkeys(added, "unit")
    assert added <= placement.instances.keys()
    assert 2 <= len(added) <= 5
    assert latest(after, placement, lef, library) < before / 4
    assert prove_same(netlist, after, library) == []
    heavy = [wire for wire in wires_of(after, placement, lef) if wire.cap_ff > repeaters.MOST_FF]
    assert not heavy
    # and nothing is left to do
    again, more = repeaters.with_repeaters(after, Rows(placement, lef), library, asked, owners)
    assert again is after
    assert more == {}


def test_a_port_stays_on_its_net(lef, library):
    """A port stays on its net although it is last: only branches off its path may be cut."""
    netlist, placement = column(library, to_a_port=True)
    after, _ = repeaters.with_repeaters(
        netlist, Rows(placement, lef), library, library.constraints(3.0, None), {}
    )
    assert (PORT, "out") in after.sinks[1]
    assert prove_same(netlist, after, library) == []


def test_a_clock_is_left_alone(lef, library):
    netlist, placement = column(library)
    asked = library.constraints(3.0, "in")
    assert repeaters.TimingGraph(netlist, library, asked).clock_nets >= {0, 1}
    after, owners = repeaters.with_repeaters(netlist, Rows(placement, lef), library, asked, {})
    assert after.cells == netlist.cells
    assert owners == {}
