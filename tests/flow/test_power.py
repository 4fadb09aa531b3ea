"""Power: cells computed by hand, cells simulated cycle by cycle, and OpenSTA's tables as a second engine."""

import json
import re
import statistics
import subprocess
from collections import Counter, defaultdict
from itertools import pairwise
from random import Random

import msgspec
import numpy as np
import pytest
from modexlab.flow import product
from modexlab.flow.check import power as check
from modexlab.flow.description import Published
from modexlab.flow.gates.activity_file import INERTIAL, TIMED, ZERO_DELAY, Activity
from modexlab.flow.kit import functions, kit
from modexlab.flow.layout.supply import power_grid
from modexlab.flow.netlist.hierarchy import Hierarchy
from modexlab.flow.power import power, report, supply_drop
from modexlab.flow.power.estimator import GROUPS, Estimator, Parts
from modexlab.flow.timing import opensta
from modexlab.flow.timing.cells import FALL, RISE
from modexlab.flow.timing.wire_table import NetWire
from pytest import approx

from tests.flow.circuits import Circuit, adder, fan_out, flop_to_flop, gated, star
from tests.flow.test_figures import mixed
from tests.flow.test_timing import by_hand
from tests.harness import parametrize, refused

CLOCK_NS = 3.0
V2 = 1.1**2
CK_SLEW_NS = 0.03
MOST_ERROR = 0.05  # the largest accepted error
EXACT = 1e-6


def estimator(circuit, directory, **options):
    return Estimator(circuit.read(directory), kit.find().library, CLOCK_NS, **options)


def everywhere(circuit, toggles, *, ties=0.0):
    """All nets with the same toggles, half the time at 1, in 100 cycles; clock nets toggle twice a cycle."""
    bits = [bit for bits in circuit.port_bits.values() for bit in bits]
    nets = dict.fromkeys([*bits, *circuit.inner_nets], (toggles, 0.5)) | {"clk": (200, 0.5)}
    for _, kind, pins in circuit.cells:
        if kind.startswith("LOGIC"):
            nets[pins["Z"]] = (ties, 0.5 if ties else 0.0)
        elif kind.startswith(("CLKBUF", "CLKGATE")):
            nets[pins.get("Z", pins.get("GCK", ""))] = nets["clk"]
    return Activity.of(nets, 100, CLOCK_NS)


def instance(found, name):
    place = found.names.index(name)
    return Parts.of(found.internal_mw[place], found.switching_mw[place], found.leakage_mw[place])


def fj(found, milliwatts):
    """The energy of the whole window in fJ."""
    return milliwatts * found.cycles * found.clock_ns * 1e3


# -- by hand
# ------------------------------------------------------------------------------------------------------------


def test_an_inverter_by_hand(tmp_path):
    """INV_X1 between two DFF_X1, with wires of 2 and 3 fF, from numbers copied out of stdcells.lib."""
    table = {"a": NetWire(2.0, source="routing"), "b": NetWire(3.0, source="routing")}
    made = estimator(flop_to_flop(), tmp_path, wires=table)
    nets = {"clk": (200, 0.5), "d": (40, 0.4), "a": (40, 0.4), "b": (40, 0.6), "q": (40, 0.6)}
    found = made.estimate(Activity.of(nets, 100, CLOCK_NS))
    # slews of Q for a clock slew of 0.03 ns: INV_X1's A has 1.549360 fF at a falling edge, 1.700230 at a
    # rising one
    slews, loads = (0.0171859, 0.0409838), (1.897810, 3.795620)
    falling = by_hand(0.03, 2 + 1.549360, slews, loads, 0.00668007, 0.00844172, 0.00667800, 0.00844104)
    rising = by_hand(0.03, 2 + 1.700230, slews, loads, 0.00895003, 0.0123317, 0.00895914, 0.0123355)
    # DFF_X1's D has 1.140290 fF; a falling input makes the output rise
    load = 3 + 1.140290
    slews, loads = (0.00472397, 0.0171859), (3.795620, 7.591250)
    rise = by_hand(falling, load, slews, loads, 1.850405, 1.877758, 1.897133, 1.906718)
    fall = by_hand(rising, load, slews, loads, -0.000121, -0.000159, -0.000300, -0.000338)
    row = instance(found, "gate")
    assert fj(found, row.internal_mw) == approx(20 * rise + 20 * fall, rel=EXACT)
    assert fj(found, row.switching_mw) == approx(40 * 0.5 * load * V2, rel=EXACT)
    assert row.leakage_mw == approx((0.4 * 18.604146 + 0.6 * 10.102224) * 1e-6, rel=EXACT)
    # the load of the output port is 7 fF
    assert fj(found, instance(found, "second").switching_mw) == approx(40 * 0.5 * 7.0 * V2, rel=EXACT)
    # the clock port drives two pins CK
    assert fj(found, found.clock_port_mw) == approx(200 * 0.5 * 2 * 0.949653 * V2, rel=EXACT)
    assert found.energy_nj == approx(found.total_mw * 0.3)


def paid(arcs, edge, slew, load, at, related=""):
    """The energy of one transition with known values at all pins."""
    for arc in arcs:
        holds = not arc.when or functions.parse(arc.when).value(**at)
        if holds and arc.related == related:
            table = arc.rise if edge == RISE else arc.fall
            return table.at(slew, load) if table else 0.0
    return 0.0


def gated_register():
    circuit = Circuit("gated_register", "clk en d", "q")
    circuit.add("gate", "CLKGATE_X1", CK="clk", E="en", GCK="gck")
    circuit.add("state", "DFF_X1", D="d", CK="gck", Q="q")
    circuit.add("free", "DFF_X1", D="d", CK="clk", Q="r")
    return circuit


@parametrize("likely_enable, likely_change", [(1.0, 0.5), (0.3, 0.5), (0.7, 0.1), (0.0, 0.5), (0.1, 0.1)])
def test_states_walked_through(likely_enable, likely_change, tmp_path, library):
    """Registers and a clock gate: the sum over all transitions, each with the values at the pins, agrees with
    the estimate from counts alone.
    """
    made = estimator(gated_register(), tmp_path)
    pick, cycles = Random(5), 4000
    value = dict.fromkeys(("d", "en", "q", "r"), 0)
    count, high, energies = Counter(), Counter(), Counter()
    flop, gate = library.cells["DFF_X1"].pins, library.cells["CLKGATE_X1"].pins
    slew = {name: made.slews[made.netlist.net(name)] for name in value}
    load = {name: made.loads[made.netlist.net(name)] for name in (*value, "gck")}

    def clock_edge(name, state, edge):
        at = {"CK": 1 - edge, "D": value["d"], "Q": value[state], "QN": 1 - value[state]}
        energies[name] += paid(flop["CK"].power, edge, CK_SLEW_NS, 0.0, at)
        if edge == RISE and value["d"] != value[state]:
            moves = RISE if value["d"] else FALL
            energies[name] += paid(flop["Q"].power, moves, CK_SLEW_NS, load[state], {}, "CK")
            value[state] = value["d"]
            count[state] += 1

    for _ in range(cycles):
        enabled = value["en"]
        for edge in (RISE, FALL):
            at = {"CK": 1 - edge, "E": value["en"], "GCK": enabled * (edge == FALL)}
            if enabled:
                energies["gate"] += paid(gate["GCK"].power, edge, CK_SLEW_NS, load["gck"], at, "CK")
                count["gck"] += 1
                clock_edge("state", "q", edge)
            else:
                energies["gate"] += paid(gate["CK"].power, edge, CK_SLEW_NS, 0.0, at)
            clock_edge("free", "r", edge)
            if edge == FALL:
                continue
            moves = {
                "d": value["d"] ^ (pick.random() < likely_change),
                "en": int(pick.random() < likely_enable),
            }
            for name, new in moves.items():
                if new == value[name]:
                    continue
                way = RISE if new else FALL
                if name == "d":
                    for item, state, clock in (("state", "q", enabled), ("free", "r", 1)):
                        at = {"CK": clock, "Q": value[state], "QN": 1 - value[state]}
                        energies[item] += paid(flop["D"].power, way, slew["d"][way], 0.0, at)
                else:
                    at = {"CK": 1, "GCK": enabled}
                    energies["gate"] += paid(gate["E"].power, way, slew["en"][way], 0.0, at)
                value[name] = new
                count[name] += 1
        high.update(value)
    nets = {name: (count[name], high[name] / cycles) for name in value}
    nets |= {"clk": (2 * cycles, 0.5), "gck": (count["gck"], count["gck"] / cycles / 4)}
    found = made.estimate(Activity.of(nets, cycles, CLOCK_NS))
    for name in ("state", "free", "gate"):
        assert fj(found, instance(found, name).internal_mw) == approx(energies[name], rel=0.02), name


def test_a_full_adder_walked_through(tmp_path, library):
    """One input changes at a time: each output uses the table of that input at the values of the others."""
    circuit = Circuit("one", "clk a b c", "s co")
    circuit.add("fa", "FA_X1", A="a", B="b", CI="c", S="s", CO="co")
    made = estimator(circuit, tmp_path)
    cell, pick, steps = library.cells["FA_X1"], Random(6), 6000
    net_of = {"A": "a", "B": "b", "CI": "c", "S": "s", "CO": "co"}
    pins, value = ("A", "B", "CI"), dict.fromkeys(net_of, 0)
    count, high = Counter(), Counter()
    total = 0.0
    for _ in range(steps):
        moves = pick.choices(pins, (5, 2, 1))[0]
        value[moves] ^= 1
        count[moves] += 1
        edge = RISE if value[moves] else FALL
        for output in ("S", "CO"):
            new = functions.parse(cell.pins[output].function).value(**{pin: value[pin] for pin in pins})
            if new != value[output]:
                value[output] = new
                count[output] += 1
                net, cause = (made.netlist.net(net_of[pin]) for pin in (output, moves))
                way, slew = RISE if new else FALL, made.slews[cause, edge]
                total += paid(cell.pins[output].power, way, slew, made.loads[net], value, moves)
        high.update(value)
    nets = {net_of[name]: (count[name], high[name] / steps) for name in value} | {"clk": (2 * steps, 0.5)}
    found = made.estimate(Activity.of(nets, steps, CLOCK_NS))
    row = instance(found, "fa")
    assert fj(found, row.internal_mw) == approx(total, rel=0.02)
    # the library states the whole energy at each of both outputs
    assert 0.3 * row.internal_mw < found.twice_mw < 0.5 * row.internal_mw


# -- OpenSTA
# ------------------------------------------------------------------------------------------------------------


SCRIPT = """\
read_liberty {{{lib}}}
read_liberty {{no_wires.lib}}
read_verilog {netlist}
link_design {top}
source {{constraints.sdc}}
set_wire_load_model -name no_wires
::sta::set_power_global_activity {activity} 0.5
::sta::set_debug power 3
report_power -instances [get_cells *] -digits 8
"""
TABLE = re.compile(r"power:\s+\w+ -> (\w+)\s.*\s(\S+) no pg_pin")


def by_opensta(circuit, directory, activity):
    """Power in mW of every instance: internal by pin, "switching" and "leakage", from OpenSTA's trace.

    Debian's version, of November 2019, charges every toggle with the energies of rise and fall together, and
    its weights of a pin's tables do not sum to one. Both are corrected here, by the definitions of Liberty;
    slews, loads, tables, probabilities, activities and everything else are OpenSTA's.
    """
    netlist = circuit.write(directory)
    script = SCRIPT.format(lib=kit.find().lib, netlist=netlist, top=circuit.name, activity=activity)
    with opensta.prepared(script, kit.find().library.constraints(CLOCK_NS)) as (work, command):
        done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=True)
    connected = {name: pins for name, _, pins in circuit.cells}
    tables = defaultdict(list)
    found = defaultdict(lambda: defaultdict(float))
    name, switching, weighed = "", 0.0, (0.0, 0.0)
    for line in done.stderr.splitlines():
        if match := check.AT_PIN.search(line):
            name = match[1].replace("\\", "")
            # the line for an output precedes the pin's
            found[name]["switching"] += switching if match[2] in connected[name] else 0.0
            switching = 0.0
        elif match := check.SWITCHED.search(line):
            switching = float(match[2]) * 1e3
        elif match := check.WEIGHED.search(line):  # the weight is printed with two digits only
            weighed = max(weighed, (float(match[1]), float(match[2])))
        elif match := TABLE.search(line):
            if match[1] in connected[name]:
                tables[name, match[1]].append((weighed[1] / weighed[0], float(match[2])))
            weighed = (0.0, 0.0)
        elif match := check.LEAKING.search(line):
            found[name]["leakage"] = float(match[1]) * 1e3
    for (name, pin), rows in tables.items():
        weight = sum(item for item, _ in rows)
        found[name][pin] = sum(value for _, value in rows) * 1e3 / 2 / weight if weight else 0.0
    return found


def internal_by_pin(made, kind, name, activity):
    """The internal power of an instance in mW, by the pin whose transitions cause it."""
    toggles, ones = made.activity(activity)
    place = made.members[kind].index(name)
    found = defaultdict(float)
    for cells in made.paid(toggles, ones, activity.cycles):
        if cells.kind == kind and place in cells.places:
            (own,) = (cells.places == place).nonzero()[0]
            for term, paid_fj in cells.internal:
                found[term.pin] += paid_fj[own] * 1e-3 / (activity.cycles * made.clock_ns)
    return found


@parametrize("make", [mixed, adder, flop_to_flop])
def test_opensta_agrees(make, tmp_path, library):
    """By group and, for single cells, within a tolerance for its weights, which ignore the conditions."""
    circuit = make()
    theirs = by_opensta(circuit, tmp_path, 0.5)
    made = estimator(circuit, tmp_path)
    activity = everywhere(circuit, 50, ties=50)  # OpenSTA accepts a single activity for all nets
    found = made.estimate(activity)
    sums = defaultdict(lambda: [0.0, 0.0])
    for name, kind, _ in circuit.cells:
        own, other = instance(found, name), theirs[name]
        if kind.startswith("LOGIC"):
            continue
        assert own.leakage_mw == approx(other["leakage"], rel=1e-3)
        assert own.switching_mw == approx(other["switching"], rel=1e-3)
        group = "combinational" if library.cells[kind].ff is None else "registers"
        by_pin = internal_by_pin(made, kind, name, activity)
        assert sum(by_pin.values()) == approx(own.internal_mw, rel=EXACT)
        # OpenSTA charges D as if half of its changes occurred while the clock is low, and again at its
        # falling edge
        by_pin.pop("D", None)
        assert all(value == approx(other[pin], rel=0.1) for pin, value in by_pin.items()), name
        rows = [("clock" if pin == "CK" else group, value, other[pin]) for pin, value in by_pin.items()]
        for part, mine, reference in [*rows, (group, own.switching_mw, other["switching"])]:
            sums[part][0] += mine
            sums[part][1] += reference
    for group, (ours, other) in sums.items():
        assert ours == approx(other, rel=MOST_ERROR), group


# -- invariants
# -------------------------------------------------------------------------------------------------------


def test_sums_and_monotony(tmp_path):
    """Instances, groups and modules have the same sum; more activity means more power, and without activity
    leakage and clock power remain.
    """
    circuit = adder()
    modules = {"": "adder", "dp": "Datapath", "dp.add": "Ripple", "unused": "Nothing"}
    cells = {name: name.rpartition(".")[0] for name, *_ in circuit.cells}
    hierarchy = Hierarchy(cells=cells, modules=modules)
    made = estimator(circuit, tmp_path)
    totals = []
    for toggles in (0, 10, 50, 100):
        found = made.estimate(everywhere(circuit, toggles))
        by_group, by_module = found.by_group(), found.by_module(hierarchy)
        instances = [instance(found, name).total_mw for name in found.names]
        for amounts in (
            [parts.total_mw for parts in by_group.values()],
            [row.own_mw for row in by_module],
            [*instances, found.clock_port_mw],
        ):
            assert sum(amounts) == approx(found.total_mw, rel=1e-12)
        totals.append(found.total_mw)
    assert totals == sorted(totals)
    assert totals[3] - totals[2] == approx(totals[2] - totals[1], rel=0.6)
    assert [row.path for row in by_module] == ["", "dp", "dp.add"]
    assert by_module[0].total_mw == approx(found.total_mw)
    assert by_module[2].total_mw == by_module[2].own_mw < by_module[1].total_mw
    idle = made.estimate(everywhere(circuit, 0)).by_group()
    for group in ("registers", "combinational"):
        assert idle[group].internal_mw == approx(0, abs=1e-15)
        assert idle[group].switching_mw == 0 < idle[group].leakage_mw
    assert idle["clock"].internal_mw > 0 < idle["clock"].switching_mw


def test_a_netlist_without_cells_takes_nothing(tmp_path):
    circuit = Circuit("through", "a clk")
    assert estimator(circuit, tmp_path).estimate(everywhere(circuit, 0)).total_mw == 0.0


def test_wires_and_clock_weigh(tmp_path):
    circuit = adder()
    nets = [*circuit.inner_nets, *(bit for bits in circuit.port_bits.values() for bit in bits)]
    activity = everywhere(circuit, 50)
    plain = estimator(circuit, tmp_path).estimate(activity)
    wired = estimator(circuit, tmp_path, wires={net: NetWire(2.0) for net in nets}).estimate(activity)
    model = estimator(circuit, tmp_path, wire_load="5K_hvratio_1_1").estimate(activity)
    assert plain.total_mw < wired.total_mw and plain.total_mw < model.total_mw
    outputs = ("Q", "QN", "S", "CO", "Z", "ZN", "GCK")
    driven = {net for *_, pins in circuit.cells for pin, net in pins.items() if pin in outputs}
    extra = sum(activity.nets[net][0] * 0.5 * 2.0 * V2 for net in driven)
    assert fj(plain, wired.switching_mw.sum() - plain.switching_mw.sum()) == approx(extra, rel=EXACT)
    slower = Estimator(circuit.read(tmp_path), kit.find().library, 2 * CLOCK_NS).estimate(activity)
    dynamic = plain.total_mw - plain.leakage_mw.sum()
    assert slower.total_mw - slower.leakage_mw.sum() == approx(dynamic / 2, rel=1e-3)


def test_a_slow_clock_tree_delays_data_and_clock_alike(tmp_path):
    """Data settle before the same edges of a register's own clock, however late that clock is."""

    def energy(nbuffers):
        circuit = Circuit("behind_a_tree", "clk d", "q")
        nets = ["clk", *(f"ct{index}" for index in range(nbuffers))]
        for before, after in pairwise(nets):
            circuit.add(f"buffer_{after}", "CLKBUF_X1", A=before, Z=after)
        circuit.add("first", "DFF_X1", D="d", CK=nets[-1], Q="a")
        circuit.add("gate", "INV_X1", A="a", ZN="b")
        circuit.add("second", "DFF_X1", D="b", CK=nets[-1], Q="q")
        toggles = dict.fromkeys(nets, (200, 0.5)) | dict.fromkeys("dabq", (60, 0.5))
        found = estimator(circuit, tmp_path, propagated=True).estimate(Activity.of(toggles, 100, CLOCK_NS))
        return fj(found, instance(found, "second").internal_mw)

    assert energy(100) == approx(energy(10), rel=1e-4)


def test_nets_that_were_not_recorded(tmp_path):
    """A clock tree and buffers that are inserted after the activity was recorded."""
    circuit = gated()
    circuit.add("late.buf", "BUF_X2", A="q1", Z="q1_far")
    circuit.add("late.inv", "INV_X1", A="q1_far", ZN="q1_not")
    made = estimator(circuit, tmp_path)
    nets = {"en": (10, 0.5), "en_q": (10, 0.5), "d": (20, 0.5), "gck": (100, 0.25)}
    nets |= {"q0": (20, 0.5), "q1": (12, 0.3), "q2": (12, 0.3), "q": (12, 0.3)}
    activity = Activity.of(nets, 100, CLOCK_NS)
    found, (toggles, ones) = made.estimate(activity), made.activity(activity)
    inverted = made.netlist.net("q1_not")
    assert toggles[inverted] == 12 and ones[inverted] == 0.7
    assert toggles[made.netlist.net("ck1")] == 200
    groups = {name: GROUPS[group] for name, group in zip(found.names, found.group, strict=True)}
    assert {groups[name] for name in ("ct.root", "ct.leaf0", "ct.leaf1", "gate")} == {"clock"}
    assert groups["s0"] == "registers" and groups["late.buf"] == "combinational"
    del nets["q2"]
    with refused("has no net q2"):
        made.estimate(Activity.of(nets, 100, CLOCK_NS))
    with refused("names no net of gated"):
        made.estimate(Activity.of({"else": (1, 0.5)}, 100, CLOCK_NS, "encrypt"))


# -- files and energy
# -------------------------------------------------------------------------------------------------------


@pytest.fixture
def analyzed(tmp_path):
    """A function that analyses the adder with its recorded activity, or with another file."""
    adder().write(tmp_path)
    modules = tmp_path / "hierarchy.json"
    modules.write_text(json.dumps({"cells": {}, "modules": {"": "adder"}}))

    def run(activity=tmp_path / "activity"):
        source = tmp_path / "netlist.json"
        return power.analyze(source, activity, tmp_path, clock_ns=CLOCK_NS, hierarchy=modules)

    return run


def recorded(directory, name, toggles, mode=ZERO_DELAY, **more):
    activity = everywhere(adder(), toggles)
    activity = msgspec.structs.replace(activity, workload=name, mode=mode, **more)
    (directory / "activity").mkdir(exist_ok=True)
    activity.write(directory / "activity", activity.file)


def test_energy_of_a_window_is_scaled(analyzed, tmp_path):
    """Energy is scaled to the exact cycles of the whole operation; power is that of the window."""
    recorded(tmp_path, "decrypt", 40)
    whole = analyzed()
    recorded(tmp_path, "decrypt", 40, whole_cycles=1250)
    part = analyzed()
    assert part.energy_nj["decrypt"] == approx(12.5 * whole.energy_nj["decrypt"])
    assert part.total_mw == whole.total_mw
    assert any("from a window of 100 cycles of the netlist, times 12.5" in caveat for caveat in part.caveats)
    assert not any("window" in caveat for caveat in whole.caveats)


def test_power_json(analyzed, tmp_path):
    for name, toggles in (("encrypt", 20), ("decrypt", 40), ("dummy", 5)):
        recorded(tmp_path, name, toggles)
    made = analyzed()
    assert product.read(tmp_path / "power.json", report.PowerReport) == made
    windows = {workload.workload: workload.energy_nj for workload in made.workloads}
    assert made.energy_nj == {name: windows[name] - windows["dummy"] for name in ("decrypt", "encrypt")}
    assert made.mode == "zero-delay" and made.wires == "model"
    assert sum(parts.total_mw for parts in made.by_group.values()) == approx(made.total_mw)
    # each operation takes 100 cycles
    assert made.total_mw == approx((windows["encrypt"] + windows["decrypt"]) / 0.6)
    for name, toggles in (("encrypt", 30), ("decrypt", 70), ("dummy", 5)):
        recorded(tmp_path, name, toggles, TIMED)
    both = analyzed()
    ratios = {name: nj / both.energy_nj[name] for name, nj in both.with_glitches.energy_nj.items()}
    assert ratios["decrypt"] > ratios["encrypt"] > 1
    # figures with glitches are separate and change no other figure
    assert made.with_glitches is None and both.mode == "zero-delay" and both.total_mw == made.total_mw
    assert both.energy_nj == made.energy_nj
    timed = {row.workload: row.energy_nj for row in both.workloads if row.mode == TIMED}
    assert both.with_glitches.energy_nj == {name: timed[name] - timed["dummy"] for name in both.energy_nj}
    assert both.with_glitches.total_mw > both.total_mw
    assert any("lower bound" in caveat and "upper bound" in caveat for caveat in both.caveats)
    # glitches recorded for some workloads only: no figure mixes the modes
    (tmp_path / "activity" / "decrypt.timed.json").unlink()
    mixed_modes = analyzed()
    assert mixed_modes.with_glitches is None and mixed_modes.energy_nj == made.energy_nj


def test_energy_and_its_spread(analyzed, tmp_path):
    """Energy with partial-swing glitches lies between those without glitches and with all of them; operations
    on random operands only affect the spread.
    """
    recorded(tmp_path, "decrypt", 20)
    recorded(tmp_path, "decrypt", 70, TIMED)
    without = analyzed()
    assert without.inertial is None
    recorded(tmp_path, "decrypt", 65.5, INERTIAL)
    toggles = (50, 60, 75)
    for number, toggle in enumerate(toggles, 1):
        recorded(tmp_path, "decrypt", toggle, INERTIAL, drawn=number)
    found = analyzed()
    assert found.with_glitches == without.with_glitches
    assert found.energy_nj == without.energy_nj and found.total_mw == without.total_mw
    energy = found.inertial.energy_nj["decrypt"]
    assert found.energy_nj["decrypt"] < energy < without.with_glitches.energy_nj["decrypt"]
    spread = found.inertial.spread_nj["decrypt"]
    assert spread.operations == len(toggles) and spread.least_nj < energy < spread.most_nj
    assert spread.least_nj < spread.mean_nj < spread.most_nj
    # energies are linear in the toggles
    slope = (spread.most_nj - spread.least_nj) / (max(toggles) - min(toggles))
    assert spread.std_nj == approx(slope * statistics.stdev(toggles), rel=0.05)


def test_files_that_are_no_activity(analyzed, tmp_path):
    path = tmp_path / "encrypt.json"
    with refused("cannot be read"):
        analyzed(path)
    for text, message in (
        ("{", "is no activity.json"),
        ("{}", "is no activity.json"),
        ('{"nets": {"a": [1, 0.5]}, "window": {"cycles": 0}, "clock_ns": 3}', "window of 0 cycles"),
        ('{"nets": {"a": [1, 1.5]}, "window": {"cycles": 3}, "clock_ns": 3}', "1.5 of the time"),
    ):
        path.write_text(text)
        with refused(message):
            analyzed(path)
    (tmp_path / "none").mkdir()
    with refused("no activity is recorded"):
        analyzed(tmp_path / "none")
    assert not (tmp_path / "power.json").exists()


def test_energies_of_operations():
    published = Published("Table 3", "paper 001", {"encrypt": 2.86, "decrypt": 4.46})
    rows = report.beside_published({"encrypt": 1.43, "decrypt": 8.92}, published)
    assert [row.ratio for row in rows] == approx([0.5, 2.0])
    (row,) = report.beside_published({"decrypt": 1.0}, published)
    assert row.operation == "decrypt" and row.name == "paper 001" and row.citation == "Table 3"
    assert report.beside_published({"encrypt": 1.0}, None) == []
    assert report.of_operations({"encrypt": 3.0, "dummy": 1.0}) == {"encrypt": 2.0}


# ---- IR drop


def test_drop_by_hand():
    """1 mA flows along the rail, through a stack of vias, and along a strap to both of its ends."""
    placed = fan_out([(10.0, 2.8)], 1, 200)
    layers, cuts = placed.lef.layers, power_grid(placed).vias["VDD"]
    vias = sum(layers[cut].res_ohm / len(via.shapes[cut]) for via, _, _ in cuts for cut in [*via.shapes][1:2])
    rail = layers["metal1"].res_ohm * (2.85 + 38 * 3 / 4 - 10.19) / 0.17  # to the second of two straps
    strap = [layers["metal4"].res_ohm * length / 0.48 for length in (0.085, 1.485)]
    ohm = rail + vias + 1 / sum(1 / part for part in strap)
    assert len(cuts) == 3 and 30 < ohm < 100
    assert supply_drop.worst_drops(placed, {"u0": 1.1})["VDD"] == approx(ohm, abs=0.1)


def test_drop_by_elimination():
    """Conjugate gradients find what Gauss does, in a grid with several rows."""
    placed, draw = star(), Random(5)
    grid, net = power_grid(placed), "VSS"
    currents = supply_drop._currents(placed, net, {name: draw.random() for name in placed.netlist.cells})
    network = supply_drop.resistors(placed.lef, grid.wires[net], grid.vias[net], [*currents])
    held = {end for wire in grid.straps[net] for end in supply_drop._ends(wire)}
    places = [*dict.fromkeys(node for ends in network for node in ends)]
    matrix, right = np.eye(len(places)), np.zeros(len(places))
    free = [node not in held for node in places]
    matrix[free] = 0
    for ends, ohm in network.items():
        one, other = map(places.index, ends)
        for here, there in ((one, other), (other, one)):
            if free[here]:
                matrix[here, here] += 1 / ohm
                matrix[here, there] -= 1 / ohm
    for node, current in currents.items():
        right[places.index(node)] = current
    wanted = dict(zip(places, np.linalg.solve(matrix, right), strict=True))
    assert max(wanted.values()) > 1
    assert supply_drop.solved(network, currents, held) == approx(wanted, rel=1e-4, abs=1e-4)
