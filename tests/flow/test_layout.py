"""Floorplan, placement, clock tree, routing, wires, layout and pictures."""

import copy
import itertools
import json
import math
import struct
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random

import msgspec
import numpy as np
import pytest
from modexlab.flow import product
from modexlab.flow.check import connections, shapes
from modexlab.flow.kit import kit
from modexlab.flow.kit.lef import DBU, dbu, read_lef
from modexlab.flow.layout import (
    clock_tree,
    detailed,
    fill,
    hold,
    layout,
    pictures,
    place,
    placement,
    placer,
    post_place_sizing,
    route,
    supply,
    wires,
)
from modexlab.flow.layout import routing as routing_file
from modexlab.flow.layout.grid import Grid
from modexlab.flow.layout.placed import Placed
from modexlab.flow.layout.routing import Wire
from modexlab.flow.netlist import netlist
from modexlab.flow.netlist.buffers import EditedNetlist
from modexlab.flow.netlist.hierarchy import load as load_hierarchy
from modexlab.flow.prove.placed import prove_same
from modexlab.flow.synth import synthesis
from modexlab.flow.timing import wire_table
from modexlab.flow.timing.report import PathPoint, TimedPath, TimingReport
from pytest import approx

from tests.command_line import Cli
from tests.flow.circuits import Circuit, fan_out, flops, half_perimeter, in_rows
from tests.harness import module_fixture, parametrize, refused, regress

FILES = kit.find()
BITS, STAGES = 8, 16
NOT_DRAWN = ("net", "slew_ns", "load_ff", "delay_ns", "arrival_ns")  # of a point of a path
GATED, GATES = 8, 2  # stages from this on are behind clock gates


@module_fixture
def lef():
    return FILES.geometry


def pipeline():
    """16 stages of 8 registers, between them random gates, names that need escapes.

    The registers of the stages from 8 on are behind two clock gates, of which the first has 40 registers and
    the second 24.
    """
    draw = Random(1)
    circuit = Circuit("pipe", f"clk in:{BITS}", f"out:{BITS}")
    for index in range(GATES):
        circuit.add(f"stage[8].gate{index}", "CLKGATE_X1", CK="clk", E=f"in[{index}]", GCK=f"gated{index}")
    row = [f"in[{bit}]" for bit in range(BITS)]
    for stage in range(STAGES):
        last, after = stage == STAGES - 1, []
        tick = "clk" if stage < GATED else f"gated{int(stage >= GATED + 5)}"
        for bit in range(BITS):
            (first, second), mixed = draw.sample(row, 2), f"m{stage}_{bit}"
            after.append(f"out[{bit}]" if last else f"stage[{stage}].q[{bit}]")
            circuit.add(
                f"$g[{stage}].{bit}", draw.choice(["NAND2_X1", "NOR2_X1"]), A1=first, A2=second, ZN=mixed
            )
            circuit.add(f"stage[{stage}].q_reg[{bit}]", "DFF_X1", D=mixed, CK=tick, Q=after[-1])
        row = after
    document = json.loads(circuit.json)
    names = document["modules"]["pipe"]["netnames"]
    for stage in range(STAGES - 1):
        bits = [names.pop(f"stage[{stage}].q[{bit}]")["bits"][0] for bit in range(BITS)]
        names[f"stage[{stage}].q"] = {"bits": bits}
    return document


@dataclass
class Run(Placed):
    """The pipeline after placement, with its mapped netlist and its files."""

    before: netlist.Netlist
    directory: Path

    def changed(self):
        """A copy to break or to improve."""
        return replace(self, netlist=copy.deepcopy(self.netlist), placement=copy.deepcopy(self.placement))

    def differences(self):
        return prove_same(self.before, self.netlist, self.library)


def having(library, **constraints):
    """A library whose kit has other constraints."""
    surroundings = msgspec.structs.replace(library.kit.constraints, **constraints)
    return replace(library, described=msgspec.structs.replace(library.kit, constraints=surroundings))


@module_fixture
def placed(tmp_path_factory, library, lef):
    directory = tmp_path_factory.mktemp("placed")
    document = pipeline()
    source, owners = directory / "netlist.json", directory / "hierarchy.json"
    source.write_text(json.dumps(document))
    owner = {name: name.rpartition(".")[0] for name in document["modules"]["pipe"]["cells"]}
    owners.write_text(json.dumps({"cells": owner, "modules": {"": "pipe"}}))
    found = place.place(source, owners, directory)
    after = netlist.read(directory / "netlist_placed.json", library)
    return Run(after, found, library, lef, netlist.read(source, library), directory)


@module_fixture
def routing(placed):
    return route.route(placed, placed.directory)


@module_fixture
def gds(placed, routing):
    layout.write_layout(placed, routing, FILES, placed.directory)
    return placed.directory / "layout.gds"


def nets_with_wires(placed):
    return {name for name, sinks in zip(placed.netlist.nets, placed.netlist.sinks, strict=True) if sinks}


def faults(gds, subject):
    """Shapes and connections of a layout that are wrong."""
    rows = [*shapes.compare(gds, FILES), *connections.compare(gds, subject)]
    return [f"{row.what}: {row.note}" for row in rows if row.wrong]


def first_of(subject, prefix):
    """The first cell whose kind begins so."""
    return next(name for name, cell in subject.netlist.cells.items() if cell.kind.startswith(prefix))


def move(subject, dx=0.0, dy=0.0, turn=False):
    """Move the first cell; the name of it."""
    instances = subject.placement.instances
    name, at = next(iter(instances.items()))
    turned = {"N": "FS", "FN": "S", "FS": "N", "S": "FN"}[at.orient] if turn else at.orient
    instances[name] = placement.Place(at.kind, at.x_um + dx, at.y_um + dy, turned)
    return name


def put_on_another(subject):
    instances = subject.placement.instances
    (first, at), (second, other) = list(instances.items())[:2]
    instances[second] = msgspec.structs.replace(at, kind=other.kind)
    return first


def take_off_the_clock(subject):
    name = first_of(subject, "DFF_X1")
    pins = subject.netlist.cells[name].pins
    pins["CK"] = pins["D"]
    return name


def lose_port(subject):
    del subject.placement.pins["in[3]"]
    return "in[3]"


def exchange(subject):
    name = first_of(subject, "N")
    subject.netlist.cells[name] = replace(subject.netlist.cells[name], kind="AND2_X1")
    return name


def gate_by_another(subject):
    cells = subject.netlist.cells
    copied = next(name for name, cell in cells.items() if "clock_tree" in name and "GCK" in cell.pins)
    cells[copied].pins["E"] = subject.netlist.net("in[5]")
    return copied


class TestLef:
    def test_what_the_kit_says(self, lef):
        assert (lef.site_width, lef.row_height) == (0.19, 1.4)
        assert [layer.name for layer in lef.routing] == [f"metal{index}" for index in range(1, 11)]
        metal3 = lef.layers["metal3"]
        assert (metal3.direction, metal3.width) == ("HORIZONTAL", 0.07)
        assert (metal3.pitch, metal3.res_ohm) == (0.14, 0.25)
        assert lef.macros["DFF_X1"].width == 3.23
        assert lef.macros["BUF_X4"].pins["A"].centre == approx((0.115, 0.6125))

    def test_unknown_cell(self, lef):
        with refused("no cell NAND9_X1"):
            lef.macro("NAND9_X1")

    def test_no_cells_in_it(self, tmp_path):
        (tmp_path / "empty.lef").write_text("VERSION 5.6 ;\nEND LIBRARY\n")
        with refused("no cells"):
            read_lef(tmp_path / "empty.lef")

    @parametrize(
        "last, said",
        [
            ("END B\nEND LIBRARY", "line 3: expected a semicolon at the end in 'MACRO B END B END LIBRARY'"),
            ("END B", "line 3: expected a semicolon at the end in 'MACRO B END B'"),
            ("", "line 2: expected END A for MACRO A of line 1, and not END B"),
        ],
    )
    def test_macro_without_end(self, tmp_path, last, said):
        cut = tmp_path / "cut.lef"
        cut.write_text(f"MACRO A\n  SIZE 1 BY 1 ;\nMACRO B\n{last}\n" if last else "MACRO A\nEND B\n")
        with refused(said):
            read_lef(cut)


class TestPlace:
    def test_legal(self, placed):
        assert place.violations(placed) == placed.differences() == []
        assert 0.5 < placed.placement.density < 0.75

    def test_a_core_is_as_tall_as_the_kit_says(self, placed, lef, library):
        for aspect in (1, 2):
            x0, y0, x1, y1 = place._floorplan(
                placed.before, lef, having(library, aspect=aspect), 0.1, None
            ).core
            assert (y1 - y0) / (x1 - x0) == approx(aspect, rel=0.05)

    def test_tree_divides_the_clock(self, placed):
        tree = placed.placement.clock_tree
        assert tree.sinks == BITS * STAGES
        assert tree.levels == 2
        assert tree.gates_copied == 1  # of the gate with 40 registers
        roots = placed.netlist.sinks[placed.netlist.net("clk")]
        assert [owner for owner, _ in roots] == ["clock_tree.0_0"]

    def test_all_registers_are_as_deep(self, placed, library):
        depths = set()
        for cell in placed.netlist.cells.values():
            if cell.kind == "DFF_X1":
                net, depth = cell.pins["CK"], 0
                while (driver := placed.netlist.driver[net]) != ("", "clk"):
                    pins = placed.netlist.cells[driver[0]].pins
                    net, depth = pins.get("CK", pins.get("A")), depth + 1
                depths.add(depth)
        assert depths == {2}

    def test_clock_comes_to_all_at_once(self, placed):
        told = wires.clock_tree(wires.wires_of(placed), placed)
        assert told.sinks == BITS * STAGES
        assert told.skew_ps < 15
        assert told.slew_ps < 80

    def test_same_input_same_placement(self, placed, tmp_path):
        again = place.place(placed.directory / "netlist.json", None, tmp_path)
        assert again.instances == placed.placement.instances
        assert again.pins == placed.placement.pins

    def test_buffers_are_in_the_hierarchy(self, placed):
        cells = json.loads((placed.directory / "hierarchy_placed.json").read_text())["cells"]
        assert cells.keys() == placed.netlist.cells.keys()
        assert cells["clock_tree.0_0"] == "clock_tree"

    def test_json_is_the_placement(self, placed):
        assert product.read(placed.directory / "placement.json", placement.Placement) == placed.placement

    @parametrize(
        "change, message",
        [
            (partial(move, dx=0.1), "on no site"),
            (partial(move, dy=0.7), "in no row"),
            (partial(move, dx=-500 * 0.19), "leaves its row"),
            (partial(move, turn=True), "in a row that stands"),
            (put_on_another, "overlap"),
            (lambda subject: subject.placement.instances.popitem()[0], "is not placed"),
            (lose_port, "has no pin"),
        ],
    )
    def test_a_placement_that_is_wrong_is_found(self, placed, change, message):
        subject = placed.changed()
        name = change(subject)
        assert any(name in wrong and message in wrong for wrong in place.violations(subject))

    def test_a_register_off_the_clock_is_the_only_fault(self, placed):
        subject = placed.changed()
        name = take_off_the_clock(subject)
        assert place.violations(subject) == [f"the clock does not reach {name}"]

    @parametrize(
        "change, message",
        [
            (gate_by_another, "is no copy of a clock gate"),
            (take_off_the_clock, ""),
            (exchange, "is not what it was"),
        ],
    )
    def test_a_netlist_that_does_something_else_is_found(self, placed, change, message):
        subject = placed.changed()
        name = change(subject)
        assert any(name in wrong and message in wrong for wrong in subject.differences())

    def test_too_large(self, placed, tmp_path, monkeypatch):
        monkeypatch.setattr(placement, "MAX_CELLS", 100)
        monkeypatch.setattr(placement, "SECONDS_A_CELL", 1.0)
        monkeypatch.setattr(placer, "run", None)  # refused before
        minutes = round(1.5 * len(placed.before.cells) / 60)
        with refused(rf"the step place would take about {minutes} minutes .* at most 100 are"):
            place.place(placed.directory / "netlist.json", None, tmp_path)
        with refused("the step route would take about"):
            route.route(placed, tmp_path)

    def test_an_instance_of_its_own_name(self, tmp_path):
        document = pipeline()
        cells = document["modules"]["pipe"]["cells"]
        cells["clock_tree.mine"] = cells.pop("$g[0].0")
        (tmp_path / "netlist.json").write_text(json.dumps(document))
        with refused(r"an instance clock_tree, .* rename it"):
            place.place(tmp_path / "netlist.json", None, tmp_path)

    def test_bad_requests(self, placed, tmp_path):
        source = placed.directory / "netlist.json"
        with refused(r"density 1\.2"):
            place.place(source, None, tmp_path, density=1.2)
        with refused("no input clock_in"):
            place.place(source, None, tmp_path, clock_port="clock_in")
        with refused("run the step place"):
            product.read(tmp_path / "placement.json", placement.Placement)
        assert not list(tmp_path.iterdir())

    def test_a_constant_needs_a_cell(self, tmp_path):
        document = pipeline()
        document["modules"]["pipe"]["cells"]["$g[0].0"]["connections"]["A1"] = ["1"]
        (tmp_path / "netlist.json").write_text(json.dumps(document))
        with refused("hilomap"):
            place.place(tmp_path / "netlist.json", None, tmp_path)

    def test_verilog_is_the_netlist(self, placed):
        text = (placed.directory / "netlist_placed.v").read_text()
        assert "  output [7:0] out\n" in text
        assert "  BUF_X8 \\clock_tree.0_0  (.A(clk), .Z(\\clock_tree.0_0.out ));" in text
        assert "  wire [7:0] \\stage[3].q ;" in text


class TestInPlace:
    def test_a_clock_that_is_too_fast_becomes_nearer(self, placed, library):
        subject = placed.changed()
        subject.placement.sizing = []
        owners = post_place_sizing.improve(subject, library.constraints(0.1), {})
        rounds = subject.placement.sizing
        assert 1 <= len(rounds) <= post_place_sizing.ROUNDS
        first, last = rounds[0].before, rounds[-1].after
        assert last.wns_ns > first.wns_ns
        assert last.tns_ns > first.tns_ns + 0.05
        assert place.violations(subject) == subject.differences() == []
        assert owners.keys() == subject.netlist.cells.keys() - placed.netlist.cells.keys()

    def test_a_clock_that_is_met_is_left_alone(self, placed, library):
        subject = placed.changed()
        post_place_sizing.improve(subject, library.constraints(3.0), {})
        assert subject == placed

    def test_windows_of_slack_are_wider_where_gates_are_slower(self, placed, library, monkeypatch):
        efforts = []
        monkeypatch.setattr(
            post_place_sizing.sizing, "speed_up", lambda *settings, pins: efforts.append(settings[-1])
        )
        for carry in (0.02, 0.032, 0.2):
            cells = msgspec.structs.replace(library.kit.cells, carry_ns=carry)
            own = replace(library, described=msgspec.structs.replace(library.kit, cells=cells))
            subject = replace(placed.changed(), library=own)
            post_place_sizing.improve(subject, own.constraints(0.1), {})
        assert sorted(set(efforts)) == [1.0, 6.25]

    def test_it_comes_again_when_the_clock_tree_is_there(self, placed, library, tmp_path, monkeypatch):
        """Copies of clock gates are more readers, further away, of what enables them; here of ports, which
        buffers help.
        """
        places = [placed.placement.instances[name] for name in placed.before.cells]
        cells = [(round(cell.x_um * DBU), round(cell.y_um * DBU), cell.orient) for cell in places]
        monkeypatch.setattr(placer, "run", lambda *_: (cells, {}))
        passes = []

        def improve(subject, *more, **ways):
            before = subject.netlist
            owners = real(subject, *more, **ways)
            passes.append((before, list(subject.placement.sizing), subject.netlist))
            return owners

        real = post_place_sizing.improve
        monkeypatch.setattr(post_place_sizing, "improve", improve)
        found = place.place(placed.directory / "netlist.json", None, tmp_path, clock_ns=0.1)
        (first, *_), (second, again, improved) = passes
        trees = [any(name.startswith(placement.TREE) for name in item.cells) for item in (first, second)]
        assert trees == [False, True]
        assert found.sizing == again
        after = netlist.read(tmp_path / "netlist_placed.json", library)
        assert all(after.cells[name].kind == cell.kind for name, cell in improved.cells.items())

    def test_large_designs_are_sized_by_routes(self, placed, tmp_path, monkeypatch):
        """Each net is 0.3 mm longer than its route, which sizing makes up for by stronger cells."""
        real, further_um = route.by_name, 300.0

        def by_name(ways, design):
            return {
                name: msgspec.structs.replace(way, length_um=way.length_um + further_um)
                for name, way in real(ways, design).items()
            }

        monkeypatch.setattr(route, "by_name", by_name)
        source = placed.directory / "netlist.json"
        found = place.place(source, None, tmp_path, clock_ns=0.4, routes_above=100)
        assert "sizing_by_routes" in found.seconds and "sizing_by_routes" not in placed.placement.seconds
        last = found.sizing[-1]
        assert last.before.wns_ns < 0 < last.after.wns_ns
        assert last.after.area_um2 > 1.1 * last.before.area_um2

    def test_inputs_may_change_places_if_they_commute(self, placed):
        other = placed.changed()
        pins = next(cell.pins for cell in other.netlist.cells.values() if cell.kind == "NAND2_X1")
        pins["A1"], pins["A2"] = pins["A2"], pins["A1"]
        assert other.differences() == []
        pins["A1"] = pins["A2"]
        assert any("is on another net" in wrong for wrong in other.differences())


class TestByTiming:
    """Cells are placed again with heavier late nets if the clock is missed."""

    def place(self, placed, directory, monkeypatch, second=None, **clock):
        """The placement before sizing, and the floorplans; second: what becomes of a second placement."""
        floors = []

        def run(floor, lef):
            spots, seconds = real(floor, lef)
            floors.append(floor)
            return (second(floor, spots) if second and len(floors) == 2 else spots), seconds

        with monkeypatch.context() as patch:
            real = placer.run
            patch.setattr(placer, "run", run)
            patch.setattr(post_place_sizing, "improve", lambda *_, **ways: {})
            source = placed.directory / "netlist.json"
            return place.place(source, None, directory, **clock).instances, floors

    def test_late_nets_weigh_more(self, placed, tmp_path, monkeypatch):
        first, floors = self.place(placed, tmp_path, monkeypatch, clock_ns=3.0)
        assert [floor.weights for floor in floors] == [()]
        other, floors = self.place(placed, tmp_path, monkeypatch, clock_ns=0.1)
        assert other != first
        lightest, *_, heaviest = sorted(floors[1].weights)
        assert (lightest, heaviest) == (100, 100 + place.MOST_WEIGHT)
        nets = dict(zip(placement.wired_nets(placed.before), floors[1].weights, strict=True))
        clock = {placed.before.net(name) for name in ("clk", "gated0", "gated1")}
        assert {nets[net] for net in clock} == {100}
        assert nets[placed.before.net("m3_1")] > 100

    def test_a_longer_placement_is_dropped(self, placed, tmp_path, monkeypatch):
        """The second placement exchanges gates of one kind."""

        def turned(floor, spots):
            same = [cell for cell, kind in enumerate(floor.cells) if kind == "NAND2_X1"]
            moved = dict(zip(same, reversed(same), strict=True))
            return [spots[moved.get(cell, cell)] for cell in range(len(spots))]

        kept, floors = self.place(placed, tmp_path, monkeypatch, turned, clock_ns=0.1)
        assert len(floors) == 2
        assert kept == self.place(placed, tmp_path, monkeypatch, clock_ns=3.0)[0]


class TestHold:
    def repaired(self, placed, hold_ns, clock_ns=3.0):
        """A copy with this hold slack wanted, and what repair says."""
        library = having(placed.library, routing_hold_ns=hold_ns)
        subject = replace(placed.changed(), library=library)
        subject.placement.taps.clear()  # they come after the repair
        return subject, hold.repair(subject, library.constraints(clock_ns, propagated=True))

    @parametrize("hold_ns", [0.09, 0.15])  # more than a register and a gate take; more than a register
    def test_delays_where_data_is_early(self, placed, hold_ns):
        subject, done = self.repaired(placed, hold_ns)
        assert done.worst_before_ns < hold_ns <= done.worst_after_ns
        assert done.left == 0
        assert done.buffers == sum(name.startswith("hold_delays.") for name in subject.netlist.cells) > 10
        assert place.violations(subject) == subject.differences() == []
        drivers = [subject.netlist.driver[net][0] for _, net in subject.netlist.port_bits("output")]
        assert {name.startswith("hold_delays.") for name in drivers} == {hold_ns > 0.1}

    def test_not_where_setup_has_no_slack(self, placed):
        subject, done = self.repaired(placed, 0.09, clock_ns=0.1)
        assert done.buffers == 0
        assert done.worst_before_ns > 0 == done.left, "less than the margin, but no violation"
        assert done.worst_before_ns == done.worst_after_ns
        subject.placement.hold = placed.placement.hold
        subject.placement.taps.update(placed.placement.taps)
        assert (subject.netlist, subject.placement) == (placed.netlist, placed.placement)

    def test_before_a_port_that_a_cell_reads(self, placed, library):
        """The cell reads the undelayed signal, or has delays of its own."""
        subject = placed.changed()
        subject.placement.taps.clear()
        edited = EditedNetlist(placed.netlist, library, {})
        edited.hang([("$g[3].1", "A1"), ("$g[3].2", "A1")], placed.netlist.net("out[2]"))
        before = subject.netlist = edited.connected()
        hold._delay(subject, {"$g[3].2/A1": 1, "out[2]": 2}, 0)
        assert prove_same(before, subject.netlist, library) == place.violations(subject) == []
        after = subject.netlist
        assert after.sinks[after.net("hold_delays.0.in")] == [
            ("$g[3].1", "A1"),
            ("hold_delays.0", "A"),
            ("hold_delays.2", "A"),
        ]
        assert after.driver[after.net("out[2]")] == ("hold_delays.1", "Z")
        assert after.cells["$g[3].2"].pins["A1"] == after.net("hold_delays.2.out")
        hold._delay(subject, {"out[2]": 1}, 3)
        assert len(set(subject.netlist.nets)) == len(subject.netlist.nets)

    def test_two_ports_on_a_net(self, placed, library):
        """The delays before the first port are before the second port, too, which gets none of its own."""
        subject = placed.changed()
        wired, pins = subject.netlist, subject.placement.pins
        net = wired.net("out[2]")
        wired.ports["again"], wired.port_names["again"] = ("output", [net]), ["again"]
        wired.aliases["again"] = net
        pins["again"] = msgspec.structs.replace(pins["out[3]"], net="again")
        subject.netlist = before = netlist.connected(wired, wired.cells, wired.nets, library)
        subject, done = self.repaired(subject, 0.15)
        assert done.worst_after_ns >= 0.15 and done.left == 0
        assert prove_same(before, subject.netlist, library) == []


class TestRows:
    def test_neighbours_make_way(self):
        draw = Random(4)
        instances = {}
        for y in (2.8 + 1.4 * row for row in range(4)):
            start = 0
            while (start := start + draw.randrange(6)) < 190:
                x = round(2.85 + start * 0.19, 4)
                instances[f"c{len(instances)}"] = placement.Place("NAND2_X1", x, y, "N")
                start += 3
        subject = in_rows(netlist.Netlist("d", {}, [], {}, [], [], {}), 4, 200, instances)
        before = dict(instances)
        for index in range(12):
            subject.rows.insert(f"new{index}", "BUF_X8", 20.0, 6.0)
        subject.rows.resize("new3", "BUF_X16")
        subject.rows.remove("new4")
        subject.netlist.cells |= {name: netlist.Instance(name, at.kind, {}) for name, at in instances.items()}
        assert not [*place._overlaps(subject), *place._misplaced(subject)]
        assert all(abs(instances[name].x_um - at.x_um) < 12 for name, at in before.items())
        assert all(instances[name].y_um == at.y_um for name, at in before.items())
        assert instances["new3"].kind == "BUF_X16"
        assert "new4" not in instances
        with refused("no row has room for more"):
            for index in range(100):
                subject.rows.insert(f"more{index}", "BUF_X16", 20.0, 6.0)

    def test_clusters(self):
        draw = Random(5)
        items = [((draw.random(), draw.random()), index) for index in range(101)]
        groups = clock_tree.clusters(items, 24)
        assert sorted(index for group in groups for _, index in group) == list(range(101))
        assert len(groups) == 5
        assert {len(group) for group in groups} <= {20, 21}
        near = clock_tree.clusters(items, 24, 0.5)
        assert sorted(index for group in near for _, index in group) == list(range(101))
        assert all(half_perimeter([at for at, _ in group]) <= 0.5 for group in near)

    def test_branches_balance_dense_and_sparse_registers(self, monkeypatch):
        """With branches of one size, the clock is late where registers are far apart."""

        def skew(most):
            monkeypatch.setattr(clock_tree, "MOST_SKEW_PS", most)
            dense = [(15 + 20 * (index % 25), 4 * (index // 25)) for index in range(600)]
            sparse = [(700 + 130 * (index % 20), 20 * (index // 20)) for index in range(400)]
            places = [(2.85 + 0.19 * site, 2.8 + 1.4 * row) for site, row in [*dense, *sparse]]
            subject = flops(places, 450, 3500)
            before = subject.netlist
            clock_tree.build(subject, 0)
            assert not [*place._overlaps(subject), *place._misplaced(subject)]
            assert prove_same(before, subject.netlist, subject.library) == []
            return wires.clock_tree(wires.wires_of(subject), subject)

        alike, sized = skew(math.inf), skew(0.0)
        assert sized.skew_ps < 0.8 * alike.skew_ps, (alike, sized)
        assert sized.slew_ps < 80

    def test_a_driver_without_a_table_is_named(self):
        subject = flops([(2.85 + 0.19 * 25 * column, 5.6) for column in range(30)], 20, 800)
        buffer = subject.library.cells["BUF_X8"]
        timing = [replace(arc, cell_rise=None) for arc in buffer.pins["Z"].timing]
        pins = {**buffer.pins, "Z": replace(buffer.pins["Z"], timing=timing)}
        cells = {**subject.library.cells, "BUF_X8": replace(buffer, pins=pins)}
        with refused("no table for a rising clock"):
            clock_tree.build(replace(subject, library=replace(subject.library, cells=cells)), 0)

    def test_registers_behind_an_inverter_have_a_tree_of_their_own(self):
        rows = [[(2.85 + 0.19 * 25 * column, 2.8 + 1.4 * row) for column in range(30)] for row in (4, 8)]
        subject = flops(rows[0], 20, 800, inverted=rows[1])
        before = subject.netlist
        clock_tree.build(subject, 0)
        assert place.violations(subject, "clk") == []
        assert prove_same(before, subject.netlist, subject.library) == []
        told = wires.clock_tree(wires.wires_of(subject), subject)
        assert told.sinks == 60
        assert told.skew_ps < 120


class TestTrees:
    @parametrize(
        "points, length",
        [
            ([(0.0, 0.0), (3.0, 4.0)], 7.0),
            ([(0.0, 0.0), (4.0, 0.0), (2.0, 3.0)], 7.0),  # a median point
            ([(0.0, 1.0), (2.0, 1.0), (1.0, 0.0), (1.0, 2.0)], 4.0),  # a cross: 6 as a spanning tree
            ([(1.0, 1.0)] * 3, 0.0),
        ],
    )
    def test_shortest(self, points, length):
        assert wires.steiner_tree(points).length == approx(length)

    def test_bounds(self):
        draw = Random(3)
        for count in (4, 7, 15, 40):
            points = [(draw.random(), draw.random()) for _ in range(count)]
            tree = wires.steiner_tree(points)
            assert tree.points[:count] == points
            assert len(tree.edges) == len(tree.points) - 1
            spanning = sum(wires.distance(points[a], points[b]) for a, b in wires.spanning_edges(points))
            assert half_perimeter(points) <= tree.length <= spanning

    def test_elmore_of_a_line(self):
        tree = wires.Tree([(0.0, 0.0), (10.0, 0.0)], [(0, 1)])
        wire = wires.Wire(0, [("", "a"), ("u", "A")], [0.0, 1.0], tree, 10.0, [100.0], [4.0])
        assert wire.delays_ps() == approx([0.0, 100.0 * (4.0 / 2 + 1.0) * 1e-3])

    def test_elmore_of_routed_wires(self):
        """An inverter drives another over metal2 and metal3, and a third from the middle of the metal2."""
        placed = fan_out([(2.85, 2.8), (30.4, 2.8), (2.85, 14.0)], 6, 210)
        terminals = ("u0", "ZN"), ("u1", "A"), ("u2", "A")
        (x, y), (x1, y1), (x2, y2) = (placed.position(terminal) for terminal in terminals)
        top = y + 20
        routed = routing_file.RoutedNet(
            length_um=20 + (x1 - x) + (top - y1) + abs(x2 - x),
            segments=[],
            wires=[
                ("metal2", x, y, x, top),
                ("metal3", x, top, x1, top),
                ("metal2", x1, y1, x1, top),
                ("metal1", x, y2, x2, y2),
            ],
            vias=[
                ("via1_4", "metal1", x, y),
                ("via1_4", "metal1", x, y2),
                ("via2_5", "metal2", x, top),
                ("via2_5", "metal2", x1, top),
                ("via1_4", "metal1", x1, y1),
            ],
        )
        nets = {name: routing_file.RoutedNet(0.0, []) for name in placed.netlist.nets}
        done = routing_file.InDetail(True, "", 0.0, 1)
        routing = routing_file.Routing(
            True, routing_file.Overflow(0, 0, 1), {}, done, {**nets, placed.netlist.nets[1]: routed}
        )
        (wire,) = wires.wires_of(placed, routed=routing.nets, nets={1})
        one, two, three = (wires.layer_units(placed.lef)[f"metal{n}"] for n in (1, 2, 3))
        up, across, down, aside = y2 - y, x1 - x, top - y1, abs(x2 - x)
        caps = 20 * two.cap_ff + across * three.cap_ff + down * two.cap_ff + aside * one.cap_ff
        assert wire.cap_ff == approx(caps)
        via, (_, near, far) = 5, wire.loads_ff  # ohm of both cuts
        far_ff = far + aside * one.cap_ff
        beyond = near + caps - aside * one.cap_ff
        assert wire.delays_ps()[0] == 0
        common = via * (caps + near + far) + up * two.res_ohm * (far_ff + beyond - up * two.cap_ff / 2)
        assert wire.delays_ps()[2] == approx(
            1e-3 * (common + (via + aside * one.res_ohm) * far_ff - aside**2 * one.res_ohm * one.cap_ff / 2)
        )

    def test_units_of_wires(self, lef):
        units = wires.layer_units(lef)
        assert units["metal2"].res_ohm == approx(0.25 / 0.07)
        # by hand: 0.07 um of 4.0896e-5 pF/um^2, two edges of 2.5157e-5 pF/um, and a wall of 0.14 um at 0.07
        # um in k = 2.5
        assert units["metal2"].cap_ff == approx(0.002863 + 0.050314 + 0.04427, rel=1e-3)
        extracted = {"metal2": 0.0832, "metal3": 0.1046, "metal4": 0.1169, "metal5": 0.1109, "metal6": 0.1069}
        for name, cap in extracted.items():  # OpenROAD's, by extraction
            assert units[name].cap_ff == approx(cap, rel=0.2)


class TestRouted:
    def test_every_net_has_its_way(self, placed, routing):
        assert routing.success
        assert routing.detailed.done, routing.detailed
        assert pictures.unrouted(routing) == ""
        assert product.read(placed.directory / "routing.json", routing_file.Routing) == routing
        assert all(name in routing.wires() for name in nets_with_wires(placed))
        table = wires.extract(placed, placed.directory)
        assert routing.length_um == approx(table.length_um, rel=0.15)

    def test_global_routing_only(self, placed, tmp_path, monkeypatch):
        """Routes are shortened and take other layers where they are the wires."""
        shortened, usual = [], {placed.lef.kit.layers.horizontal, placed.lef.kit.layers.vertical}

        def globally(subject, *, shorten):
            shortened.append(shorten)
            return real(subject, shorten=shorten)

        real = route.route_globally
        monkeypatch.setattr(route, "route_globally", globally)
        monkeypatch.setattr(route, "LONG_UM", 5.0)
        routing = route.route(placed, tmp_path, most_cells=100)
        assert {name for net in routing.nets.values() for name, *_ in net.segments} > usual
        assert not routing.detailed.done
        assert "more than 100" in routing.detailed.why_not
        assert "more than 100 (detailed_cells)" in pictures.unrouted(routing)
        routing = route.route(placed, tmp_path, in_detail=False)
        assert "the setting detailed=false leaves it out" in pictures.unrouted(routing)
        assert not routing.wires() and shortened == [True, True]
        table = wires.extract(placed, tmp_path)
        assert routing.length_um == approx(table.length_um, rel=0.25)

    def test_too_dense_to_route(self, placed, lef, monkeypatch):
        rules = lef.kit
        two = msgspec.structs.replace(rules.routing, layers=rules.routing.layers[:2])
        lef = replace(lef, described=rules._replace(routing=two))
        monkeypatch.setattr(detailed, "ROUNDS", 1)
        subject = replace(placed, lef=lef)
        found, _ = detailed.route_detailed(subject, route.route_globally(subject))
        assert not found.done
        assert "no way of their own in" in found.why_not

    def test_no_routing(self, tmp_path):
        with refused("run the step route"):
            product.read(tmp_path / "routing.json", routing_file.Routing)
        (tmp_path / "routing.json").write_text('{"tool": ""}')
        with refused("is no routing"):
            product.read(tmp_path / "routing.json", routing_file.Routing)

    def test_wires_of_placement_and_routing(self, placed, routing, tmp_path):
        flat = wires.extract(placed, tmp_path)
        routed = wires.extract(placed, tmp_path, routing)
        points = (points for _, _, points in wires.terminal_positions(placed))
        assert sum(map(half_perimeter, points)) <= routed.length_um == approx(flat.length_um, rel=0.15)
        table = wire_table.load(tmp_path / "wires.json")
        assert table.keys() == nets_with_wires(placed)
        assert sum(wire.cap_ff for wire in table.values()) == approx(routed.cap_ff, rel=1e-3)
        assert 0 <= flat.clock_tree.skew_ps < 20 < flat.clock_tree.latency_ps

    def test_routed_wires_reach_all_terminals(self, placed, routing):
        for wire in wires.wires_of(placed, routed=routing.nets):
            assert len(wire.branches) == len(wire.tree.points) - 1
            assert wire.tree.length == approx(wire.length_um, abs=2 * len(wire.terminals))

    def test_spef_sums_to_the_table(self, placed, tmp_path):
        wires.extract(placed, tmp_path)
        table = wire_table.load(tmp_path / "wires.json")
        nets = (tmp_path / "wires.spef").read_text().split("*D_NET ")[1:]
        assert len(nets) == len(table)
        for text, row in zip(nets, table.values(), strict=True):
            lines = text.split("\n")
            caps = lines[lines.index("*CAP") + 1 : lines.index("*RES")]
            assert sum(float(line.split()[2]) for line in caps) == approx(row.cap_ff, abs=1e-3)
        assert any(text.startswith("stage\\[3\\]\\.q[2] ") for text in nets)


class TestLayout:
    def test_def_has_all_names(self, placed, routing, gds):
        """KLayout finds all instances and nets in it."""
        import klayout.db as db

        reading, options = db.LEFDEFReaderConfiguration(), db.LoadLayoutOptions()
        reading.lef_files, reading.read_lef_with_def = [str(FILES.tech_lef), str(FILES.lef)], False
        reading.instance_property_name = reading.net_property_name = "name"
        reading.dbu = 1 / DBU
        options.lefdef_config, drawn = reading, db.Layout()
        drawn.read(str(gds.with_suffix(".def")), options)
        top = drawn.top_cell()
        named = {found.property("name") for found in top.each_inst()}
        assert named >= layout.cells_of(placed).keys()
        shapes_of = (top.shapes(layer).each() for layer in drawn.layer_indexes())
        named = {shape.property("name") for shape in itertools.chain.from_iterable(shapes_of)}
        assert named >= routing.wires().keys() | supply.rails(placed).keys()

    def test_geometry_is_the_netlist(self, placed, gds):
        assert faults(gds, placed) == []

    def test_geometry_that_is_not_is_found(self, placed, routing, tmp_path):
        wires = copy.deepcopy(routing.wires())
        cut, other = (name for name in wires if name in ("in[0]", "in[1]"))
        wires[cut] = [wire for wire in wires[cut] if not wire.via]
        pin, far = ((dbu(pin.x_um), dbu(pin.y_um)) for pin in map(placed.placement.pins.get, ("clk", other)))
        wires["clk"].append(Wire("metal3", *pin, pin[0], far[1]))
        layout.write_def(tmp_path / "broken.def", placed, wires)
        layout.write_gds(tmp_path / "broken.def", tmp_path / "broken.gds", FILES)
        wrong = faults(tmp_path / "broken.gds", placed)
        assert any(f"{cut} is in " in fault for fault in wrong), wrong
        assert any(fault.startswith("shorted nets") and other in fault for fault in wrong), wrong

    def test_gds_of_another_layout_is_found(self, placed, gds, tmp_path):
        assert layout.check(gds, placed) == []
        moved = placed.changed()
        at = placed.placement.instances[move(moved, dx=0.19)]
        for other, message in (
            ({"instances": moved.placement.instances}, "in one of layout and GDS only"),
            ({"design": "other"}, "the GDS has the top cells pipe"),
            ({"die_um": (9.0, 9.0)}, "outline"),
            ({"rows": placed.placement.rows[1:]}, "are in no row"),
        ):
            subject = replace(placed, placement=msgspec.structs.replace(placed.placement, **other))
            assert any(message in wrong for wrong in layout.check(gds, subject))
        layout.write_def(tmp_path / "moved.def", moved, {})
        layout.write_gds(tmp_path / "moved.def", tmp_path / "moved.gds", FILES)
        (row,) = (index for index, row in enumerate(placed.placement.rows) if row.y_um == at.y_um)
        wrong = layout.check(tmp_path / "moved.gds", moved)
        assert wrong == [f"row_{row} has cells on one another or gaps"]

    def test_same_layout_same_bytes(self, gds, tmp_path):
        layout.write_gds(gds.with_suffix(".def"), tmp_path / "again.gds", FILES)
        assert (tmp_path / "again.gds").read_bytes() == gds.read_bytes()

    def test_fill_covers_free_tracks(self, placed, gds, tmp_path):
        filled = tmp_path / "filled.gds"
        layout.write_gds(gds.with_suffix(".def"), filled, FILES, Grid(placed.placement, placed.lef))
        assert faults(filled, placed) == []
        before, after = (fill.densities(path, placed.lef) for path in (gds, filled))
        unfilled = before.keys() - {track.name for track in placed.lef.kit.routing.layers}
        assert all((after[name] == before[name]) == (name in unfilled) for name in before)
        assert all(0.3 < after[name] < 0.6 for name in before.keys() - unfilled), after


def size_of(png):
    data = png.read_bytes()
    assert data.startswith(b"\x89PNG")
    return struct.unpack(">II", data[16:24])


def timing_of(path):
    """A report that tells one path and nothing else."""
    return TimingReport(
        **dict.fromkeys(("engine", "engine_version", "verdict", "corner"), ""),
        **dict.fromkeys(("tns_ns", "endpoints"), 0),
        **dict.fromkeys(("met", "met_ns", "wns_ns", "hold_wns_ns", "wire_load")),
        **{kind: [] for kind in ("hold_paths", "caveats")},
        **{kind: {} for kind in ("wns_by_model_ns", "constraints")},
        clock_ns=1.0,
        wires="none",
        paths=[path],
    )


class TestPictures:
    def test_all_three(self, placed, gds, routing, lef, tmp_path):
        pytest.importorskip("klayout.lay")
        names = [f"stage[{stage}].q_reg[0]" for stage in range(3)]
        points = [
            PathPoint(**dict.fromkeys(NOT_DRAWN), cell=name, type="DFF_X1", pin="CK", edge="rise")
            for name in names
        ]
        path = TimedPath(start=f"{names[0]}/CK", end=f"{names[2]}/D", slack_ns=0.5, points=points)
        modules = load_hierarchy(placed.directory / "hierarchy_placed.json")
        pictures.amoeba(placed, modules, timing_of(path), tmp_path / "amoeba.png")
        pictures.density(placed, routing, tmp_path / "density.png")
        pictures.layout(gds, placed, routing, tmp_path / "layout.png")
        for name in ("amoeba", "density", "layout"):
            width, height = size_of(tmp_path / f"{name}.png")
            assert width >= 1000
            assert height >= 600
        pictures.layer_properties(gds, lef, tmp_path / "layout.lyp")
        text = (tmp_path / "layout.lyp").read_text()
        assert "<source>13/0@1</source>" in text
        for name in ("metal1 (11/0)", "via2 (14/0)", "metal3 labels (15/1)", "outline (235/0)"):
            assert f"<name>{name}</name>" in text

    @parametrize("names, length", [(4, 20), (13, pictures.LONGEST)])
    def test_legend_is_inside(self, names, length):
        figure = pictures.Figure((11, 8.2), dpi=130)
        handles = [pictures.Patch(label=f"{'n' * length}\n(Unit)\n1 um") for _ in range(names)]
        box = pictures._legend(figure, handles).get_window_extent()
        assert figure.bbox.x0 < box.x0 < box.x1 <= figure.bbox.x1
        assert box.y0 >= figure.bbox.y0

    def test_groups_are_all_cells(self, placed):
        found = pictures.groups(placed, load_hierarchy(placed.directory / "hierarchy_placed.json"))
        assert sorted(name for group in found for name in group.cells) == sorted(placed.placement.instances)
        assert len(found) <= pictures.GROUPS + 1
        assert [group.name for group in found][-1] == "clock tree"
        assert sum(group.area_um2 for group in found) == approx(placed.area_um2)

    def test_maps_by_hand(self, placed, routing):
        tiles = pictures.Tiles(msgspec.structs.replace(placed.placement, die_um=(20.0, 20.0)))
        covered = tiles.covered(5 * np.array([(0.5, 0.5, 2.5, 1.5), (2.0, 0.0, 3.0, 1.0)])) / 25
        assert covered[:2, :3] == approx(np.array([[0.25, 0.5, 1.25], [0.25, 0.5, 0.25]]))
        tiles = pictures.Tiles(placed.placement)
        length = pictures.wire_density(placed.placement, routing).sum() * tiles.dx * tiles.dy
        segments = [ends for net in routing.nets.values() for _, *ends in net.segments]
        assert length == approx(sum(abs(x1 - x0) + abs(y1 - y0) for x0, y0, x1, y1 in segments))

    def test_density_counts_all_cells(self, placed):
        filled = pictures.cell_density(placed)
        assert 0 < filled.max() <= 1.0001
        assert filled.mean() < placed.placement.density + 0.05


@regress
@parametrize("nbits, cells", [(8, 1_500), (32, 6_000)])
def test_machine_from_verilog_to_wires(nbits, cells, capsys, tmp_path, library):
    (tmp_path / "design.sv").write_text(Cli(capsys)("verilog", "mont", "--nbits", nbits).out)
    synthesis.synthesize(tmp_path / "design.sv", f"mont_{nbits}", tmp_path)
    found = place.place(tmp_path / "netlist.json", tmp_path / "hierarchy.json", tmp_path)
    assert len(found.instances) > cells
    assert found.hold.worst_after_ns > 0
    after = netlist.read(tmp_path / "netlist_placed.json", library)
    subject = Placed(after, found, library, FILES.geometry)
    routing = route.route(subject, tmp_path)
    assert routing.success
    assert routing.detailed.done, routing.detailed
    summary = wires.extract(subject, tmp_path, routing)
    model = library.wire_loads[library.default_wire_load]
    lengths = (model.length_um(len(pins) - 1) for _, pins, _ in wires.terminal_positions(subject))
    guessed = sum(lengths) * model.cap_ff_per_um
    assert 0.5 < summary.cap_ff / guessed < 2
    assert summary.clock_tree.skew_ps < 30
    layout.write_layout(subject, routing, FILES, tmp_path)
    assert faults(tmp_path / "layout.gds", subject) == []
