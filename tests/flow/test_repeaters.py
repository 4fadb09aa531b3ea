"""Nets whose wire alone takes long: cut where much hangs below, the same function, and shorter to the
furthest reader.
"""

from modexlab.flow.layout import post_place_sizing as repeaters
from modexlab.flow.layout.wires import wires_of
from modexlab.flow.netlist.netlist import PORT
from modexlab.flow.prove.placed import prove_same

from tests.flow.circuits import fan_out

READERS, PITCH_ROWS, ROWS = 24, 20, 500  # one reader each 28 um, 0.7 mm in all


def column(*, to_a_port=False):
    """An inverter at the foot of a column that drives READERS others, up to its top; and a port up there, if
    asked.
    """
    places = [(2.85, 2.8 + 1.4 * PITCH_ROWS * index) for index in range(READERS + 1)]
    return fan_out(places, ROWS, 40, [("out", 0.0, 1.4 * (ROWS + 2))] if to_a_port else ())


def latest(placed):
    """How long the slowest wire takes to one of its ends, in ps."""
    return max(max(wire.delays_ps()) for wire in wires_of(placed))


def cut(placed, clock=None, modules=None):
    """Put repeaters in; the netlist before, and the repeaters' modules."""
    asked = placed.library.constraints(3.0, clock)
    before = placed.netlist
    owners = repeaters.insert_repeaters(placed, asked, modules or {})
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
