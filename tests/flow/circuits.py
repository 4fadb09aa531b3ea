"""Small mapped circuits for the tests of flow/, with their Verilog and yosys JSON."""

import json
import re

from modexlab.flow.gates.engine import Engine, GateTables
from modexlab.flow.kit import kit
from modexlab.flow.layout.placed import Placed
from modexlab.flow.layout.placement import Place, Placement, PortPin, Row
from modexlab.flow.netlist import yosys
from modexlab.flow.netlist.netlist import Instance, Netlist, connected, read
from modexlab.flow.timing import nldm

BUS_BIT = re.compile(r"(\w+)\[(\d+)\]")


class Circuit:
    """Ports are given as "clk a:8", with the width after the colon; cells as (name, kind, pins). A net is
    called "a[3]" if `a` is a port with several bits.
    """

    def __init__(self, name, inputs, outputs=""):
        self.name, self.cells = name, []
        self.ports = {
            port: (direction, int(width or 1))
            for direction, ports in (("input", inputs), ("output", outputs))
            for port, _, width in (word.partition(":") for word in ports.split())
        }

    def add(self, name, kind, **pins):
        self.cells.append((name, kind, pins))

    def _spelled(self, net):
        match = BUS_BIT.fullmatch(net)
        return net if net in self.ports or (match and match[1] in self.ports) else f"\\{net} "

    @property
    def port_bits(self):
        return {
            port: [port] if width == 1 else [f"{port}[{bit}]" for bit in range(width)]
            for port, (_, width) in self.ports.items()
        }

    @property
    def inner_nets(self):
        outer = {bit for bits in self.port_bits.values() for bit in bits}
        nets = dict.fromkeys(net for *_, pins in self.cells for net in pins.values())
        return [net for net in nets if net not in outer]

    @property
    def verilog(self):
        lines = [f"module {self.name}({', '.join(self.ports)});"]
        for port, (direction, width) in self.ports.items():
            lines.append(f"  {direction} {f'[{width - 1}:0] ' if width > 1 else ''}{port};")
        lines += [f"  wire {self._spelled(net)};" for net in self.inner_nets]
        for name, kind, pins in self.cells:
            connections = ", ".join(f".{pin}({self._spelled(net)})" for pin, net in pins.items())
            lines.append(f"  {kind} \\{name} ({connections});")
        return "\n".join([*lines, "endmodule", ""])

    @property
    def json(self):
        bits = [bit for bits in self.port_bits.values() for bit in bits]
        number = {net: n for n, net in enumerate([*bits, *self.inner_nets], 2)}
        ports = {
            port: {"direction": self.ports[port][0], "bits": [number[bit] for bit in bits]}
            for port, bits in self.port_bits.items()
        }
        cells = {
            name: {"type": kind, "connections": {pin: [number[net]] for pin, net in pins.items()}}
            for name, kind, pins in self.cells
        }
        names = {port: {"bits": data["bits"]} for port, data in ports.items()}
        names |= {net: {"bits": [number[net]]} for net in self.inner_nets}
        module = {"attributes": {"top": "1"}, "ports": ports, "cells": cells, "netnames": names}
        return json.dumps({"modules": {self.name: module}})

    def write(self, directory):
        """Write netlist.json and netlist.v; return the path of the latter."""
        (directory / "netlist.json").write_text(self.json)
        netlist = directory / "netlist.v"
        netlist.write_text(self.verilog)
        return netlist

    def read(self, directory):
        """The netlist, read from these files."""
        self.write(directory)
        return read(directory / "netlist.json", kit.find().library)


def flop_to_flop():
    """Two flip-flops with an inverter in between."""
    circuit = Circuit("flop_to_flop", "clk d", "q")
    circuit.add("first", "DFF_X1", D="d", CK="clk", Q="a")
    circuit.add("gate", "INV_X1", A="a", ZN="b")
    circuit.add("second", "DFF_X1", D="b", CK="clk", Q="q")
    return circuit


def adder(width=8):
    """Registers, a ripple of full adders with its first carry tied low, and registers; with the names of a
    flattened hierarchy.
    """
    circuit = Circuit("adder", f"clk a:{width} b:{width}", f"sum:{width}")
    circuit.add("tie", "LOGIC0_X1", Z="dp.carry[0]")
    for bit in range(width):
        circuit.add(f"dp.a_reg[{bit}]", "DFF_X1", D=f"a[{bit}]", CK="clk", Q=f"dp.a[{bit}]")
        circuit.add(f"dp.b_reg[{bit}]", "DFF_X1", D=f"b[{bit}]", CK="clk", Q=f"dp.b[{bit}]")
        operands = {"A": f"dp.a[{bit}]", "B": f"dp.b[{bit}]", "CI": f"dp.carry[{bit}]"}
        circuit.add(f"dp.add.fa[{bit}]", "FA_X1", **operands, S=f"dp.s[{bit}]", CO=f"dp.carry[{bit + 1}]")
        circuit.add(f"dp.s_reg[{bit}]", "DFF_X1", D=f"dp.s[{bit}]", CK="clk", Q=f"sum[{bit}]")
    return circuit


def add_gates(circuit, x):
    """Gates of many kinds between eight nets and the net $n6."""
    circuit.add("g/0", "NAND2_X1", A1=x[0], A2=x[1], ZN="n0")
    circuit.add("g/1", "NOR3_X1", A1="n0", A2=x[2], A3=x[3], ZN="n1")
    circuit.add("g/2", "XOR2_X1", A="n1", B=x[4], Z="n2")
    circuit.add("g/3", "AOI21_X1", A="n2", B1="n0", B2=x[5], ZN="n3")
    circuit.add("g/4", "MUX2_X1", A="n2", B="n3", S=x[6], Z="n4")
    circuit.add("g/5", "OAI221_X1", A="n4", B1="n3", B2="n1", C1="n2", C2=x[7], ZN="n5")
    circuit.add("g/6", "BUF_X8", A="n5", Z="$n6")


def tree():
    """Gates of many kinds with fan-out, on paths from inputs to outputs without a register; and one register
    with a reset.
    """
    circuit = Circuit("tree", "clk rst_n x:8", "y:4 z")
    x = [f"x[{bit}]" for bit in range(8)]
    add_gates(circuit, x)
    for bit in range(4):
        circuit.add(f"g/x{bit}", "XNOR2_X1", A="$n6", B=x[bit], ZN=f"m{bit}")
        circuit.add(f"g/o{bit}", "OR2_X2", A1=f"m{bit}", A2="n4", ZN=f"y[{bit}]")
    circuit.add("g/ha", "HA_X1", A="m0", B="m1", S="h", CO="c")
    circuit.add("g/or", "OR2_X1", A1="h", A2="c", ZN="d")
    circuit.add("state", "DFFR_X1", D="d", RN="rst_n", CK="clk", Q="z", QN="zn")
    circuit.add("g/zn", "INV_X1", A="zn", ZN="unused")
    return circuit


def gated():
    """A clock tree of two levels with a clock gate, and a shift register across its branches."""
    circuit = Circuit("gated", "clk en d", "q")
    circuit.add("ct.root", "CLKBUF_X3", A="clk", Z="ct")
    circuit.add("ct.leaf0", "CLKBUF_X1", A="ct", Z="ck0")
    circuit.add("ct.leaf1", "CLKBUF_X2", A="ct", Z="ck1")
    circuit.add("gate", "CLKGATE_X1", CK="ct", E="en_q", GCK="gck")
    circuit.add("en_reg", "DFF_X1", D="en", CK="ck0", Q="en_q")
    circuit.add("s0", "DFF_X1", D="d", CK="ck0", Q="q0")
    circuit.add("s1", "DFF_X1", D="q0", CK="gck", Q="q1")
    circuit.add("s2", "DFF_X2", D="q1", CK="ck1", Q="q2")
    circuit.add("s3", "DFF_X1", D="q2", CK="gck", Q="q")
    return circuit


def netlist_of_verilog(directory, text, top):
    """A module of library cells, read by Yosys."""
    files = kit.find()
    (directory / "cells.v").write_text(text)
    script = (
        f"read_liberty -lib {files.lib}\nread_verilog -sv cells.v\nhierarchy -check -top {top}\n"
        "flatten\nopt_clean\nwrite_json netlist.json\n"
    )
    yosys.run("read_netlist", script, directory)
    return read(directory / "netlist.json", files.library, top)


def half_perimeter(points):
    """Half the perimeter of the bounding box of points, the placers' measure."""
    xs, ys = zip(*points, strict=True)
    return max(xs) - min(xs) + max(ys) - min(ys)


def in_rows(netlist, rows, sites, instances, pins=()):
    """A netlist placed by hand; cells and pins by (x, y) in um."""
    x, y = 2.85, 2.8
    core = (x, y, x + 0.19 * sites, y + 1.4 * rows)
    placement = Placement(
        design="d",
        die_um=(core[2] + x, core[3] + y),
        core_um=core,
        density=0.3,
        seconds={},
        rows=[Row(x, y + 1.4 * row, sites, "N") for row in range(rows)],
        pins={name: PortPin(name, way, "metal3", *at, "W") for name, way, *at in pins},
        instances=instances,
    )
    files = kit.find()
    return Placed(netlist, placement, files.library, files.geometry)


def fan_out(places, rows, sites, outputs=()):
    """Inverters at these places, the first of which drives all others, with ports as (name, x, y)."""
    cells = {f"u{index}": Instance(f"u{index}", "INV_X1", {}) for index in range(len(places))}
    for index, cell in enumerate(cells.values()):
        cell.pins.update({"A": min(index, 1), "ZN": 1 + index})
    names = ["in", *(f"n{index}" for index in range(1, len(places) + 1))]
    ports = {"in": ("input", [0])} | {name: ("output", [1]) for name, *_ in outputs}
    outline = Netlist("d", {}, names, ports, [], [], {}, {name: [name] for name in ports})
    netlist = connected(outline, cells, names, kit.find().library)
    instances = {name: Place("INV_X1", *at, "N") for name, at in zip(cells, places, strict=True)}
    pins = [("in", "input", 0.0, 3.57), *((name, "output", *at) for name, *at in outputs)]
    return in_rows(netlist, rows, sites, instances, pins)


def flops(places, rows, sites, inverted=()):
    """Flip-flops at these places that keep their values, with the clock port `clk` on net 0; others behind an
    inverter near the port.
    """
    spots = [(2.85, 2.8), *places, *inverted]
    cells = {"r0": Instance("r0", "INV_X1", {"A": 0, "ZN": len(spots)})} if inverted else {}
    for index in range(1, len(spots)):
        clock = 0 if index <= len(places) else len(spots)
        cells[f"r{index}"] = Instance(f"r{index}", "DFF_X1", {"CK": clock, "D": index, "Q": index})
    names = ["clk", *(f"q{index}" for index in range(1, len(spots) + 1))]
    outline = Netlist("d", {}, names, {"clk": ("input", [0])}, [], [], {"clk": 0}, {"clk": ["clk"]})
    netlist = connected(outline, cells, names, kit.find().library)
    instances = {name: Place(cell.kind, *spots[int(name[1:])], "N") for name, cell in cells.items()}
    return in_rows(netlist, rows, sites, instances, [("clk", "input", 0.0, 3.57)])


def star():
    """Inverters in three rows, the first of which drives 24 others."""
    return fan_out([(2.85 + 3.8 * (index % 10), 2.8 + 1.4 * (index // 10)) for index in range(25)], 3, 210)


def movements(netlist, values, constraints, swings=False):
    """The transitions while the inputs take these values, one per cycle, starting from the state of the first
    values.
    """
    library = kit.find().library
    timing = nldm.analyze(netlist, library, constraints)
    port = constraints.clock_port or "clk"
    engine = Engine(GateTables(netlist, library, timing=timing, clock_port=port, swings=swings))
    for index, value in enumerate(values):
        if index == 1:
            engine.window(engine.edges, clock_ns=constraints.clock_ns)
        if index:
            engine.cycle()
        engine.set(value)
        engine.settle()
    return engine.counts()


def arc_delays(timing):
    """(instance, input, its edge, output, its edge, condition, delay in ns) for every arc."""
    for cell, row, delay in zip(timing.arc_cell, timing.arc_row, timing.arc_delay[0].tolist(), strict=True):
        name = timing.names[cell]
        edge = timing.kinds[timing.netlist.cells[name].kind].rows[row]
        yield (name, *edge[:5], delay)


def longest_delays(timing):
    """The longest delay in ns by (instance, input, edge of the output)."""
    found = {}
    for name, related, _, _, edge, _, delay in arc_delays(timing):
        found[name, related, edge] = max(delay, found.get((name, related, edge), 0.0))
    return found
