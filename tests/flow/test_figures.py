"""The flow's figures compared with those of other tools: they agree, and each comparison finds a planted
error.
"""

import random
import re
from dataclasses import replace
from typing import NamedTuple

import msgspec
from modexlab.flow.check import check, connections, power, shapes, timing
from modexlab.flow.gates.activity_file import Activity
from modexlab.flow.gates.engine import INPUT_NS, TICK_NS
from modexlab.flow.kit import kit
from modexlab.flow.kit.lef import dbu
from modexlab.flow.layout import layout as layout_files
from modexlab.flow.layout import placement
from modexlab.flow.layout.placed import Placed
from modexlab.flow.layout.routing import Wire
from modexlab.flow.netlist import netlist
from modexlab.flow.synth.area import Area
from modexlab.flow.timing import nldm
from modexlab.flow.timing.subject import Subject
from modexlab.flow.timing.wire_table import NetWire
from pytest import approx

from tests.flow.circuits import (
    Circuit,
    add_gates,
    adder,
    flop_to_flop,
    gated,
    in_rows,
    longest_delays,
    movements,
    tree,
)
from tests.harness import one_now, parametrize

KIT = kit.find()
LIBRARY = KIT.library
CLOCK_NS = 1.0
FALL, RISE = nldm.FALL, nldm.RISE


def by_name(rows):
    return {row.what: row for row in rows}


# -- timing
# ------------------------------------------------------------------------------------------------------------


def subject_of(circuit, directory, **more):
    path = circuit.write(directory)
    read = netlist.read(directory / "netlist.json", LIBRARY)
    asked = LIBRARY.constraints(CLOCK_NS, propagated=more.pop("propagated", False))
    return Subject(path, read, circuit.name, KIT, asked, **more)


def timed(circuit, directory, *, res_ohm=0.0, wires=True):
    """The subject of a timing comparison: a circuit with wires of up to 6 fF."""
    subject = subject_of(circuit, directory)
    pick = random.Random(1)
    table = {net: NetWire(pick.uniform(0.5, 6), pick.uniform(0, res_ohm)) for net in subject.netlist.nets}
    return replace(subject, table=table if wires else None)


def slacks(subject):
    """The comparisons of the worst slack and of the slack with the largest difference, and all comparisons by
    name.
    """
    rows = by_name(timing.compare(subject, "here"))
    return rows["worst setup slack here"], rows["setup slack furthest off here"], rows


@parametrize("make, wires", [(adder, False), (tree, True)])
def test_slacks_agree(make, wires, tmp_path):
    """Without resistance, slacks agree to the last digits at every endpoint."""
    worst, furthest, rows = slacks(timed(make(), tmp_path, wires=wires))
    assert all(row.agrees for row in rows.values())
    assert max(abs(worst.difference), abs(furthest.difference)) < 1e-5
    assert worst.note == "the same endpoint"


def test_resistance_is_found_as_the_cause(tmp_path):
    """With wires of kilohms, OpenSTA's drivers see a lower load; nothing else differs."""
    worst, *_ = slacks(timed(adder(), tmp_path, res_ohm=100_000))
    assert not worst.agrees and not worst.wrong
    (told,) = re.findall(r"resistance of the wires, .* ([-+][\d.]+) ps", worst.cause)
    assert float(told) == approx(1000 * worst.difference, abs=0.11)


def ours_scaled(factor, monkeypatch):
    """Our engine has so many times the resistance."""
    ours = timing.ours

    def scaled(subject):
        table = {net: NetWire(wire.cap_ff, factor * wire.res_ohm) for net, wire in subject.table.items()}
        return ours(replace(subject, table=table))

    monkeypatch.setattr(timing, "ours", scaled)


@parametrize("factor", one_now([0, 20], 0))
def test_wrong_resistance_has_no_cause(factor, tmp_path, monkeypatch):
    """The resistance is missing or in another unit."""
    ours_scaled(factor, monkeypatch)
    assert slacks(timed(adder(), tmp_path, res_ohm=2000))[0].wrong


def slower(directory):
    """A kit whose Liberty file, read by OpenSTA, has a full adder with 1.5 times the delay; our library is
    unchanged.
    """
    text = KIT.lib.read_text()
    begin = text.index("cell (FA_X1) {")
    end = text.index("  cell (", begin)
    table = re.compile(r"(cell_(?:rise|fall)\([^)]*\) \{.*?values \()(.*?)(\);)", re.DOTALL)

    def scaled(match):
        numbers = re.sub(r"\d+\.\d+", lambda number: f"{1.5 * float(number[0]):.8f}", match[2])
        return match[1] + numbers + match[3]

    cell, count = table.subn(scaled, text[begin:end])
    assert count
    return kit_for_opensta(directory, text[:begin] + cell + text[end:])


def kit_for_opensta(directory, text):
    """A kit with this Liberty text for OpenSTA; our engine has the unchanged library."""
    path = directory / "other.lib"
    path.write_text(text)
    other = replace(KIT, libraries={"typical": (path,)})
    other.__dict__["library"] = LIBRARY
    return other


def test_a_wrong_delay_is_found(tmp_path):
    """No known cause explains the difference, which is found in spite of resistances."""
    worst, furthest, _ = slacks(replace(timed(adder(), tmp_path, res_ohm=1000), kit=slower(tmp_path)))
    assert worst.wrong and furthest.wrong
    assert worst.difference > 0.05


def test_capacitance_ranges_do_not_count(tmp_path):
    """Behind wires OpenSTA would load drivers with the lower ends."""
    text, count = re.subn(
        r"\b((rise|fall)_capacitance)\s*: (\S+);", r"\g<0>\n\1_range (0.1, \3);", KIT.lib.read_text()
    )
    assert count
    subject = replace(timed(adder(), tmp_path), kit=kit_for_opensta(tmp_path, text))
    assert all(row.agrees for row in slacks(subject)[2].values())


@parametrize("factor", one_now([1, 0, 0.1], 1))
def test_longer_slews_of_drivers_are_found_as_the_cause(factor, tmp_path, monkeypatch):
    """In a library with slews from 10 to 90 % resistance lengthens the slews of OpenSTA's drivers; wires in
    another unit have no such excuse.
    """
    text = re.sub(r"(slew_lower_threshold_pct_\w+\s*: )30", r"\g<1>10", KIT.lib.read_text())
    text = re.sub(r"(slew_upper_threshold_pct_\w+\s*: )70", r"\g<1>90", text)
    ours_scaled(factor, monkeypatch)
    worst, *_ = slacks(replace(timed(adder(), tmp_path, res_ohm=300), kit=kit_for_opensta(tmp_path, text)))
    assert not worst.agrees and worst.wrong is (factor != 1)
    assert (timing.LONGER_SLEWS in worst.cause) is (factor == 1)


# -- area
# ------------------------------------------------------------------------------------------------------------


def test_area(tmp_path):
    """The area agrees with Yosys'; one additional cell is found in both figures."""
    circuit = adder()
    path = circuit.write(tmp_path)
    total = sum(LIBRARY.cells[kind].area for _, kind, _ in circuit.cells)
    ours = Area(area_um2=total, cells=len(circuit.cells), flops=24, clock_gates=0, kinds={}, by_module=[])
    assert all(row.agrees for row in check.compare_area(path, circuit.name, ours, KIT, "here"))
    area_um2 = total + LIBRARY.cells["INV_X1"].area
    more = msgspec.structs.replace(ours, area_um2=area_um2, cells=len(circuit.cells) + 1)
    assert all(row.wrong for row in check.compare_area(path, circuit.name, more, KIT, "here"))


# -- power
# ------------------------------------------------------------------------------------------------------------


def powered(circuit, directory):
    """A circuit whose nets all toggle in half of the cycles, with a clock gate that is enabled in a quarter
    of the cycles.
    """
    subject = subject_of(circuit, directory, propagated=circuit.name == "gated")
    cycles = 100
    known = dict.fromkeys(("clk", "ct", "ck0", "ck1"), (2 * cycles, 0.5)) | {"dp.carry[0]": (0, 0.0)}
    nets = {name: known.get(name, (50, 0.5)) for name in subject.netlist.nets} | {"gck": (cycles / 2, 0.125)}
    return power.Powered(subject, Activity.of(nets, cycles, CLOCK_NS))


def mixed():
    """Gates of many kinds between registers."""
    circuit = Circuit("mixed", "clk d:8", "q:4")
    x = [f"x{bit}" for bit in range(8)]
    for bit in range(8):
        circuit.add(f"r{bit}", "DFF_X1", D=f"d[{bit}]", CK="clk", Q=x[bit])
    add_gates(circuit, x)
    for bit in range(4):
        circuit.add(f"h{bit}", "XNOR2_X1", A="$n6", B=x[bit], ZN=f"m{bit}")
        circuit.add(f"o{bit}", "DFF_X2", D=f"m{bit}", CK="clk", Q=f"q[{bit}]", QN=f"nq{bit}")
        circuit.add(f"i{bit}", "INV_X2", A=f"nq{bit}", ZN=f"y{bit}")
    return circuit


@parametrize("make", [adder, gated, mixed, flop_to_flop, lambda: adder(3)])
def test_power_agrees(make, tmp_path):
    """OpenSTA's power is far off, and every part of the difference is explained."""
    rows = by_name(power.compare(powered(make(), tmp_path), "here"))
    assert not [row for row in rows.values() if row.wrong]
    for part, most in (("switching", 2e-3), ("leakage", 5e-3), ("inside gates", power.MOST)):
        row = rows[f"{part}, here"]
        assert row.agrees and row.ours == approx(row.theirs, rel=most)
    printed = rows["all of it as printed, here"]
    assert not printed.agrees
    causes = sum(float(value) for value in re.findall(r" ([-+][\d.e-]+) mW", printed.cause))
    assert printed.theirs == approx(rows["all of it, put right, here"].theirs + causes, rel=0.01)


def test_a_wrong_power_is_found(tmp_path, monkeypatch):
    found = powered(adder(), tmp_path)
    monkeypatch.setattr(power, "FJ_PER_NS_TO_MW", 1.2 * power.FJ_PER_NS_TO_MW)
    rows = by_name(power.compare(found, "here"))
    assert rows["switching, here"].wrong and rows["all of it, put right, here"].wrong
    assert rows["all of it as printed, here"].wrong  # the known errors of OpenSTA do not explain it


@parametrize("part", [power.CLOCKS, power.INPUTS])
def test_intention_does_not_excuse(part, tmp_path, monkeypatch):
    """Clock pins and inputs of registers may only differ by OpenSTA's model of registers."""
    ours = power.Powered.ours
    monkeypatch.setattr(
        power.Powered,
        "ours",
        lambda self: {name: value * (3 if name == part else 1) for name, value in ours(self).items()},
    )
    assert by_name(power.compare(powered(adder(), tmp_path), "here"))[f"{part}, here"].wrong


# -- layout
# ------------------------------------------------------------------------------------------------------------


class Drawn(NamedTuple):
    """A chain of two inverters in a row, and the wires of their nets."""

    placed: Placed
    wires: dict[str, list[Wire]]
    metal2: list[Wire]

    def gds(self, directory):
        """The path of the written GDS."""
        layout_files.write_def(directory / "layout.def", self.placed, self.wires)
        layout_files.write_gds(directory / "layout.def", directory / "layout.gds", KIT)
        return directory / "layout.gds"

    def connections(self, directory):
        return connections.compare(self.gds(directory), self.placed)

    def shapes(self, directory):
        return shapes.compare(self.gds(directory), KIT)


def drawn(directory):
    circuit = Circuit("pair", "a", "z")
    circuit.add("first", "INV_X1", A="a", ZN="middle")
    circuit.add("second", "INV_X1", A="middle", ZN="z")
    lef = KIT.geometry
    places = {name: placement.Place("INV_X1", x, 2.8, "N") for name, x in (("first", 2.85), ("second", 6.65))}
    placed = in_rows(circuit.read(directory), 1, 22, places)

    def at(name, pin):
        _, corners = lef.macro("INV_X1").pins[pin].shapes[0]
        x, y = connections.inside(corners)
        return places[name].x_um + x, places[name].y_um + y

    for port, name, pin, side in (("a", "first", "A", "W"), ("z", "second", "ZN", "E")):
        placed.placement.pins[port] = placement.PortPin(port, "input", "metal1", *at(name, pin), side)
    via = lef.kit.routing.pin_vias[0]
    (x0, y0), (x1, y1) = (map(dbu, at(*end)) for end in (("first", "ZN"), ("second", "A")))
    middle = [Wire("metal1", x0, y0, x0, y0, via), Wire("metal1", x1, y1, x1, y1, via)]
    metal2 = [Wire("metal2", x0, y0, x0, y1), Wire("metal2", x0, y1, x1, y1)]
    return Drawn(placed, {"middle": [*middle, *metal2], "z": []}, metal2)


def wrong(rows):
    return [row.what for row in rows if row.wrong]


def test_layout_as_the_netlist_says(tmp_path):
    found = drawn(tmp_path)
    assert wrong(found.connections(tmp_path)) == wrong(found.shapes(tmp_path)) == []


def test_open_and_short_are_found(tmp_path):
    found = drawn(tmp_path)
    wires, places = found.wires["middle"], found.placed.placement.instances
    wires.remove(found.metal2[1])
    rows = found.connections(tmp_path)
    assert wrong(rows) == ["open nets, 10 pins"] and rows[0].note == "middle is in 2 pieces"
    wires.append(found.metal2[1])
    start, end = found.placed.placement.pins["a"], wires[0]  # a short to the first inverter's output
    x, y = dbu(start.x_um), dbu(start.y_um)
    wires.append(Wire("metal1", x, y, end.x0, y))
    wires.append(Wire("metal1", end.x0, y, end.x0, end.y0))
    rows = found.connections(tmp_path)
    assert "shorted nets" in wrong(rows) and "a and middle" in rows[1].note
    places["second"] = msgspec.structs.replace(places["second"], x_um=places["second"].x_um + 5.0)
    rows = found.connections(tmp_path)
    assert wrong(rows)[0].startswith("open nets")  # a cell away from its wires


def test_wires_too_near_are_found(tmp_path):
    found = drawn(tmp_path)
    wire = found.metal2[1]
    near = dbu(KIT.geometry.layers["metal2"].width + 0.05)
    found.wires["z"].append(Wire("metal2", wire.x0 + dbu(1), wire.y0 + near, wire.x1, wire.y1 + near))
    assert wrong(found.shapes(tmp_path)) == ["spacing of metal2 below 0.07 um"]
    assert wrong(found.connections(tmp_path)) == []


# -- pulses that are cut short
# ----------------------------------------------------------------------------------------------


def hazard(length, loads):
    """a & !a through `length` inverters, with `loads` gates at its output, which slow its slew."""
    circuit = Circuit("hazard", "clk a", "z")
    nets = ["a", *(f"b{index}" for index in range(1, length + 1))]
    for index in range(length):
        circuit.add(f"i{index}", "INV_X1", A=nets[index], ZN=nets[index + 1])
    circuit.add("g", "AND2_X1", A1="a", A2=nets[-1], ZN="z")
    for index in range(loads):
        circuit.add(f"l{index}", "INV_X8", A="z", ZN=f"y{index}")
    return circuit


@parametrize("length, loads, cut", [(15, 0, False), (17, 2, True)])
def test_swings_by_hand(length, loads, cut, tmp_path):
    """A wide pulse swings fully twice. A pulse that is shorter than its ramps rises while it lasts, and falls
    by the same amount.
    """
    nets = hazard(length, loads).read(tmp_path)
    asked, share = LIBRARY.constraints(CLOCK_NS), LIBRARY.slew_share
    assert share == approx(0.4)
    cycles = 10
    counts = movements(nets, [{"a": cycle % 2} for cycle in range(cycles + 1)], asked, swings=True)
    z = nets.net("z")
    # a & !a is 0 when settled, but after each rise of `a` both inputs are 1 during the delay of the inverters
    assert counts.cycles == cycles and counts.toggles[z] == 0 and counts.timed[z] == cycles
    assert counts.toggles[nets.net("a")] == counts.timed[nets.net("a")] == cycles
    found = nldm.analyze(nets, LIBRARY, asked)
    delay = longest_delays(found)
    leaves = delay["g", "A1", RISE]
    back = sum(delay[f"i{index}", "A", RISE if index % 2 else FALL] for index in range(length))
    back += delay["g", "A2", FALL]
    up, down = (found.slews_ns[z, edge] / share for edge in (RISE, FALL))
    height = min(1.0, (back - down / 2 - leaves + up / 2) / up)
    assert (height < 0.99) == cut
    near = 2 * cycles * (length + 3) * TICK_NS / up
    if not loads:  # the last event after a rise is the fall of z
        assert counts.latest_ns == approx(INPUT_NS + back, abs=length * TICK_NS)
    assert counts.swings[z] == approx(cycles * height, abs=near)
    assert (counts.swings <= counts.timed + 1e-9).all() and (counts.swings >= counts.toggles - 1e-9).all()
