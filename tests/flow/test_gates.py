"""Gate level: cell models, the simulator of netlists, activity and glitches."""

import dataclasses
import heapq
import itertools
import json
from collections import Counter
from random import Random

import pytest
from modexlab.eval.designs import catalogue
from modexlab.eval.designs.interfaces import AXI4LITE
from modexlab.eval.designs.machine_chip import Chip
from modexlab.fl.axi4lite import ALL_BYTES, register_map
from modexlab.fl.status import Status
from modexlab.flow import product, workload
from modexlab.flow.description import Description
from modexlab.flow.gates import activity, activity_file, engine, gates
from modexlab.flow.gates.kernel import Kernel, data_registers
from modexlab.flow.kit import kit
from modexlab.flow.kit.functions import parse
from modexlab.flow.netlist import netlist
from modexlab.flow.netlist.verilog import verilog
from modexlab.flow.timing import nldm
from modexlab.proc.core.null_xcel import NullXcel
from modexlab.proc.core.proc import Proc
from modexlab.proc.core.proc_xcel import ProcXcel
from modexlab.proc.sim import simulate_proc
from modexlab.rtl.sim import Stall, protocol, simulate
from modexlab.rtl.sim.base import Options, elaborate
from modexlab.rtl.sim.native import NativeSimulation
from modexlab.rtl.sim.nativemodel import ModuleText
from modexlab.rtl.sim.ports import Message, Ports
from modexlab.rtl.sim.translation.translate import top_name, translate

from tests.flow import cell_models, designs
from tests.flow.circuits import Circuit, arc_delays, longest_delays, movements, netlist_of_verilog
from tests.harness import (
    FIRST,
    is_sibling,
    judged_mod_exps,
    module_fixture,
    one_now,
    parametrize,
    refused,
    regress,
    run_mod_exps,
)
from tests.proc.assembler import code, of_words
from tests.tables import mod_exp

LIBRARY = kit.find().library
OUTSIDE = LIBRARY.constraints(3.0)
NO_CLOCK = LIBRARY.constraints(3.0, clock_port=None)
DESIGNS = catalogue.designs()
MONT = catalogue.find("mont")


def value_of(text, at):
    """The value of a Liberty function, evaluated by Python's operators and precedence and not by the reader
    under test.
    """
    for sign, operator in (("*", "&"), ("+", "|"), ("!", "~")):
        text = text.replace(sign, operator)
    return eval(text, {}, dict(at))


# ---- functions and models


@parametrize(
    "text, same",
    {
        "A ^ B & C": "(A ^ B) & C",  # unlike Verilog and Python
        "A B + C'": "(A & B) | (!C)",
        "(A+B)' C": "(!(A | B)) & C",
        "!A * !B": "!(A | B)",
        "!(A & B) ^ 1": "A & B",
        "A'' | 0": "A",
    }.items(),
)
def test_functions_of_liberty(text, same):
    """Precedence and the spellings of operators, by the user guide."""
    inputs = ("A", "B", "C")
    assert parse(text).table(inputs) == parse(same).table(inputs)


@parametrize("name", ["TBUF_X1", "TBUF_X2", "TBUF_X4", "TBUF_X8", "TBUF_X16", "TINV_X1"])
def test_tables_of_three_state_cells(name):
    """Every point of the function and of the three-state condition; the zoo has none of these cells."""
    cell = LIBRARY.cells[name]
    (output,) = cell.outputs
    pin = cell.pins[output]
    for text in (pin.function, pin.three_state):
        table = parse(text).table(cell.inputs)
        for point in range(2 ** len(cell.inputs)):
            at = {name: point >> bit & 1 for bit, name in enumerate(cell.inputs)}
            assert table >> point & 1 == value_of(text, at) & 1, at


# ---- all cells in one machine: every cell gets every message

BITS = 6
SIMULATED = [
    cell
    for cell in LIBRARY.cells.values()
    if cell.outputs and not any(pin.three_state for pin in cell.pins.values())
]
STATES = [cell for cell in SIMULATED if cell.sequential]
ROLES = {"CK": "clk", "SE": "m[1]", "SI": "m[2]", "RN": "n3", "SN": "n4"}
ROLES |= {"G": "m[5]", "GN": "n5", "E": "m[1]", "D": "m[0]"}


def zoo():
    """A netlist with one of every cell, with message bits at its pins; and (cell, output) for each bit of the
    response.
    """
    lines, shown = [], []
    # clear and preset come through inverters from message bits, so that only the harness's register drives
    # them
    for bit in (3, 4, 5):
        lines.append(f"  INV_X1 i{bit} (.A(m[{bit}]), .ZN(n{bit}));")
    for cell in SIMULATED:
        feeds = [ROLES[name] if cell.sequential else f"m[{at}]" for at, name in enumerate(cell.inputs)]
        pins = [f".{name}({feed})" for name, feed in zip(cell.inputs, feeds, strict=True)]
        for name in cell.outputs:
            shows = f"o[{len(shown)}]"
            if cell.clock_gate:
                gated = f"g_{cell.name}"
                lines += [f"  wire {gated};", f"  DFF_X1 d{gated} (.D(m[0]), .CK({gated}), .Q({shows}));"]
                shows = gated
            pins.append(f".{name}({shows})")
            shown.append((cell, name))
        lines.append(f"  {cell.name} c_{cell.name} ({', '.join(pins)});")
    body = "\n".join(lines)
    text = f"""\
module Zoo (input clk, input reset,
            input istream__val, output istream__rdy, input [{BITS - 1}:0] istream__msg,
            output ostream__val, input ostream__rdy, output [{len(shown) - 1}:0] ostream__msg);
  wire [{BITS - 1}:0] m = istream__msg;
  wire [{len(shown) - 1}:0] o;
  wire n3, n4, n5;
  assign ostream__msg = o;
  assign istream__rdy = ostream__rdy;
  assign ostream__val = istream__val;
{body}
endmodule
"""
    return text, shown


class Reference:
    """The expected outputs of the zoo's cells for each message, from the definitions of the cells."""

    def __init__(self):
        self.state = Counter()

    def shown(self, cell, output, message):
        m = [message >> bit & 1 for bit in range(BITS)]
        if not cell.sequential:
            return value_of(cell.pins[output].function, dict(zip(cell.inputs, m, strict=False))) & 1
        if cell.latch and m[5]:
            self.state[cell.name] = m[0]
        self.forced(cell, m)
        return self.state[cell.name] ^ (output == "QN")

    def forced(self, cell, m):
        """Preset and clear the state; clear wins."""
        for pin, bit, value in (("SN", 4, 1), ("RN", 3, 0)):
            if pin in cell.inputs and m[bit]:
                self.state[cell.name] = value

    def edge(self, cell, message):
        m = [message >> bit & 1 for bit in range(BITS)]
        if cell.clock_gate:
            if m[1]:
                self.state[cell.name] = m[0]
        elif cell.ff:
            self.state[cell.name] = m[2] if "SE" in cell.inputs and m[1] else m[0]
            self.forced(cell, m)


@module_fixture
def built_zoo(tmp_path_factory):
    """The netlist of the zoo as data and as text, its ports, and (cell, output) for each bit of the
    response.
    """
    text, shown = zoo()
    nets = netlist_of_verilog(tmp_path_factory.mktemp("zoo"), text, "Zoo")
    return nets, text, Ports(Message(BITS), Message(len(shown)), ()), shown


def vcd_toggles(path, scope, cycles=range(10**9)):
    """Functional toggles by bit of every net in a scope of a waveform file, between the ends of these cycles,
    counted from the reset on, and the names of all bits.

    The clock is 0 in the dumps at odd multiples of 500 ps.
    """
    names, open_, values, ends, toggles = {}, [], {}, {}, Counter()
    seen = set()
    time = 0
    for line in path.read_text().splitlines():
        match line.split():
            case ["$scope", _, name, *_]:
                open_.append(name)
            case ["$upscope", *_]:
                open_.pop()
            case ["$var", _, width, code, name, *_] if open_ and open_[-1] == scope:
                bits = [f"{name}[{bit}]" for bit in range(int(width))] if width != "1" else [name]
                if code not in names and not seen.intersection(bits):  # otherwise a second name of a net
                    seen.update(bits)
                    names[code] = bits
            case [stamp] if stamp[0] == "#":
                for code, value in values.items() if time // 500 % 2 == 1 else ():
                    before = ends.get(code, value)
                    for name, one, other in zip(names[code], before[::-1], value[::-1], strict=True):
                        toggles[name] += one != other and time // 1000 in cycles
                    ends[code] = value
                time = int(stamp[1:])
            case [change] if change[0] in "01" and change[1:] in names:
                values[change[1:]] = change[0]
            case [change, code] if change[0] == "b" and code in names:
                values[code] = change[1:].rjust(len(names[code]), "0")
    return toggles, seen


def sequence():
    """Messages for the zoo, and the responses of the reference."""
    rng = Random(6)
    messages = [rng.getrandbits(BITS) for _ in range(300)] + list(range(1 << BITS))
    reference, (_, shown) = Reference(), zoo()
    answers = []
    for message in messages:
        answers.append(
            sum(reference.shown(cell, name, message) << bit for bit, (cell, name) in enumerate(shown))
        )
        for cell in STATES:
            reference.edge(cell, message)
    return messages, answers


def check_zoo(shown, messages, expected, answers):
    for message, answer, got in zip(messages, expected, answers, strict=True):
        wrong = [f"{cell.name}/{name}" for bit, (cell, name) in enumerate(shown) if (answer ^ got) >> bit & 1]
        assert not wrong, f"{message:0{BITS}b}: {wrong}"


def test_every_cell_in_the_simulator(built_zoo):
    """All cells with a state or a function agree with the reference."""
    nets, _, ports, shown = built_zoo
    messages, expected = sequence()
    with simulated(nets, ports) as simulation:
        check_zoo(shown, messages, expected, simulation.run(messages).responses)


def as_in_verilator(nets, text, ports, requests, tmp_path, **statics):
    """Run requests in Verilator, with models of the cells, and in the simulator; responses and toggles must
    be equal. Return the run and the number of nets that toggled.
    """
    waves = tmp_path / "waves.vcd"
    text = cell_models.models(LIBRARY, {cell.kind for cell in nets.cells.values()}) + text
    with NativeSimulation(ModuleText(text, nets.name, ports), Options(vcd=waves)) as simulation:
        by_verilator = simulation.run(requests, **statics)
    with simulated(nets, ports) as simulation:
        simulation.engine.window()
        by_gates = simulation.run(requests, **statics)
        counts = simulation.engine.counts()
    assert by_verilator == by_gates
    return by_gates, compare(nets, counts, *vcd_toggles(waves, f"{nets.name}_under_test"))


@regress
def test_models_in_verilator(built_zoo, tmp_path):
    """The Verilog models of all cells agree with the reference, and the toggles in Verilator's waveforms with
    the simulator's.
    """
    nets, text, ports, shown = built_zoo
    messages, expected = sequence()
    run, moved = as_in_verilator(nets, text, ports, messages, tmp_path)
    check_zoo(shown, messages, expected, run.responses)
    assert moved > 100


def compare(nets, counts, toggles, names):
    """Check that the toggles of every net in the waveforms are equal; return the number of nets that
    toggled.
    """
    compared = 0
    for name in names:
        net = nets.aliases.get(name)
        if net is not None and not counts.clocked[net]:
            assert counts.toggles[net] == toggles[name], name
            compared += bool(toggles[name])
    return compared


def test_tie_cells_and_constants(tmp_path):
    """Cells without inputs have their value from the start."""
    text = """
        module tie (input a, output [3:0] z);
          wire one;
          LOGIC1_X1 t (.Z(one));
          LOGIC0_X1 u (.Z(z[1]));
          AND2_X1 g (.A1(a), .A2(one), .ZN(z[0]));
          assign z[2] = 1'b1;
          NOR2_X1 h (.A1(a), .A2(1'b1), .ZN(z[3]));
        endmodule
    """
    nets = netlist_of_verilog(tmp_path, text, "tie")
    simulated = engine.Engine(engine.GateTables(nets, LIBRARY))
    for a in (0, 1, 0):
        simulated.set({"a": a})
        simulated.settle()
        assert simulated.get("z") == 4 | a
    with refused("unknown input port 'z'"):
        simulated.set({"z": 1})


def test_loop_is_named(tmp_path):
    circuit = Circuit("loop", "a", "z")
    circuit.add("g", "NAND2_X1", A1="a", A2="w", ZN="z")
    circuit.add("h", "INV_X1", A="z", ZN="w")
    with refused(r"combinational loop: the net [zw] "):
        engine.Engine(engine.GateTables(circuit.read(tmp_path), LIBRARY))


# ---- glitches


def test_pulse_that_does_not_pass(tmp_path):
    """An inverter is faster than the rise of a loaded AND, so the AND's output change is cancelled."""
    circuit = Circuit("pulse", "clk a", "z y")
    circuit.add("i", "INV_X4", A="a", ZN="b")
    circuit.add("g", "AND2_X1", A1="a", A2="b", ZN="z")
    circuit.add("l", "INV_X8", A="z", ZN="y")
    nets = circuit.read(tmp_path)
    slow = longest_delays(nldm.analyze(nets, LIBRARY, OUTSIDE))
    assert slow["i", "A", nldm.FALL] < slow["g", "A1", nldm.RISE]
    counts = movements(nets, [{"a": i % 2} for i in range(9)], OUTSIDE)
    assert counts.timed[nets.net("z")] == 0
    assert counts.timed[nets.net("b")] == 8


def test_balanced_tree_has_no_glitch(tmp_path):
    """Equal gates on equal paths: if one input changes per cycle, no net toggles more than once. A chain with
    the same function, with all inputs changing, does glitch.
    """
    gray = [{"a": i ^ i >> 1} for i in range(16)]
    rng = Random(3)
    values = [{"a": rng.getrandbits(4)} for _ in range(200)]
    tree = ("a[0]", "a[1]", "x"), ("a[2]", "a[3]", "y"), ("x", "y", "z")
    chain = ("a[0]", "a[1]", "x"), ("x", "a[2]", "y"), ("y", "a[3]", "z")
    for cells, glitching in ((tree, False), (chain, True)):
        made = Circuit("c", "clk a:4", "z")
        for a, b, z in cells:
            made.add(f"to_{z}", "XOR2_X1", A=a, B=b, Z=z)
        nets = made.read(tmp_path)
        z = nets.net("z")
        counts = movements(nets, values, OUTSIDE)
        assert (counts.timed[z] > 1.2 * counts.toggles[z]) == glitching
        counts = movements(nets, gray, OUTSIDE)
        assert glitching or (counts.timed == counts.toggles).all()


def random_circuit(seed):
    """60 gates of many kinds, connected to eight inputs and to one another."""
    rng = Random(seed)
    kinds = [
        "NAND2_X1",
        "XOR2_X1",
        "INV_X2",
        "AOI21_X1",
        "MUX2_X1",
        "FA_X1",
        "HA_X1",
        "OR3_X1",
        "OAI22_X1",
        "XNOR2_X1",
    ]
    names, cells = [f"a[{i}]" for i in range(8)], {}
    for place in range(60):
        kind = LIBRARY.cells[rng.choice(kinds)]
        recent = range(max(0, len(names) - 25), len(names))
        pins = dict(zip(kind.inputs, rng.sample(recent, len(kind.inputs)), strict=True))
        for pin in kind.outputs:
            pins[pin] = len(names)
            names.append(f"n{len(names)}")
        cells[f"g{place}"] = netlist.Instance(f"g{place}", kind.name, pins)
    outline = netlist.Netlist("c", {}, names, {"a": ("input", list(range(8)))}, [], [], {}, {"a": names[:8]})
    return netlist.connected(outline, cells, names, LIBRARY)


def reference_toggles(nets, values):
    """Toggles with delays by a simple simulator: one queue in the order of time, then of insertion; one
    pending change per output; conditions of arcs evaluated at each event.
    """
    arcs = {}
    for name, related, source, output, edge, when, delay in arc_delays(nldm.analyze(nets, LIBRARY, NO_CLOCK)):
        ticks = max(1, round(delay / engine.TICK_NS))
        arcs.setdefault((name, related, output, edge), []).append((source, when, ticks))
    level = [0] * len(nets.nets)
    moved = [0] * len(nets.nets)

    def at(name):
        return {pin: level[net] for pin, net in nets.cells[name].pins.items()}

    def value(name, output):
        return value_of(LIBRARY.cells[nets.cells[name].kind].pins[output].function, at(name)) & 1

    for name, cell in nets.cells.items():  # in topological order
        for output in LIBRARY.cells[cell.kind].outputs:
            level[cell.pins[output]] = value(name, output)
    for before, message in itertools.pairwise(values):
        queue = [(0, net, net) for net in range(8) if (before ^ message) >> net & 1]
        pending = {net: (0, net) for _, _, net in queue}
        order = itertools.count(8)
        while queue:
            time, place, net = heapq.heappop(queue)
            if pending.get(net) != (time, place):
                continue
            del pending[net]
            level[net] ^= 1
            moved[net] += 1
            for name, pin in nets.sinks[net]:
                for output in LIBRARY.cells[nets.cells[name].kind].outputs:
                    target = nets.cells[name].pins[output]
                    now = value(name, output)
                    level[net] ^= 1
                    before_it = value(name, output)
                    level[net] ^= 1
                    if now == before_it:
                        continue
                    if target in pending:
                        del pending[target]
                        continue
                    edge, source = (nldm.FALL, nldm.RISE)[now], (nldm.FALL, nldm.RISE)[level[net]]
                    (ticks,) = {
                        ticks
                        for start, when, ticks in arcs[name, pin, output, edge]
                        if start == source and (not when or value_of(when, at(name)) & 1)
                    }
                    pending[target] = due = (time + ticks, next(order))
                    heapq.heappush(queue, (*due, target))
    return moved


@parametrize("seed", one_now(range(4), 0))
def test_glitches_of_random_circuits(seed):
    """Every net toggles as often as in a simple event-driven simulator in Python, and settles to the value of
    the simulation without delays.
    """
    nets = random_circuit(seed)
    rng = Random(seed)
    values = [0, *(rng.getrandbits(8) for _ in range(40))]
    counts = movements(nets, [{"a": value} for value in values], NO_CLOCK)
    assert counts.timed.tolist() == reference_toggles(nets, values)
    assert counts.timed.sum() > counts.toggles.sum()


# ---- stage gates: synthesised designs


def simulated(nets, ports, **options):
    return gates.GateSimulation(engine.GateTables(nets, LIBRARY), ports, Options(**options))


def table(design, nbits):
    return mod_exp.table(nbits, mod=design.at(nbits).modulus)


@module_fixture
def directory(tmp_path_factory):
    """A directory with the netlist of the 8-bit Montgomery machine."""
    out = tmp_path_factory.mktemp("mont")
    designs.synthesized(out, translate(MONT.at(8).rtl(), designs.TOP))
    return out


@module_fixture
def mont(directory):
    """The netlist of the 8-bit Montgomery machine, and its ports."""
    return designs.netlist_of(directory), ports_of(MONT.at(8).rtl())


def ports_of(component):
    elaborate(component)
    return Ports.of(component)


def test_rows_at_gates():
    """Every row of the table, with delays and stalls, has the responses and cycle stamps of RTL."""
    for stall in (None, Stall(seed=9, source=0.3, sink=0.3)):
        check_at_gates(MONT, table(MONT, 8), 8, stall)


def test_reset_after_random_power_up(mont):
    rows = table(MONT, 8)[::4]
    with simulated(*mont, power_up_seed=5) as simulation:
        run = simulation.run([row.request for row in rows])
    assert run.responses == [row.golden(MONT, 8) for row in rows]


MUTATIONS = {
    "NAND2": "NOR2",
    "NOR2": "NAND2",
    "AND2": "OR2",
    "XOR2": "XNOR2",
    "XNOR2": "XOR2",
    "INV": "BUF",
    "AOI21": "OAI21",
}


def mutated(nets, name):
    """The netlist with another function in one cell."""
    cell = nets.cells[name]
    head, _, size = cell.kind.partition("_")
    kinds = (f"{MUTATIONS[head]}_{size}", f"{MUTATIONS[head]}_X1")
    kind = next(LIBRARY.cells[kind] for kind in kinds if kind in LIBRARY.cells)
    pins = {kind.outputs[0] if pin in ("Z", "ZN") else pin: net for pin, net in cell.pins.items()}
    return dataclasses.replace(nets, cells={**nets.cells, name: netlist.Instance(name, kind.name, pins)})


def test_mutated_netlists_fail(mont):
    """With another function in one cell, some row gives another response, or the protocol breaks. A few
    mutations have no effect on any row (checks of operands, spare logic); most must have one.
    """
    nets, ports = mont
    rows = [*table(MONT, 8), *mod_exp.drawn(8, 8, 200)]
    candidates = [name for name, cell in nets.cells.items() if cell.kind.partition("_")[0] in MUTATIONS]
    found = 0
    for name in Random(1).sample(candidates, 12):
        try:
            with simulated(mutated(nets, name), ports) as simulation:
                run = simulation.run([row.request for row in rows], max_cycles=20_000)
            found += run.responses != [row.golden(MONT, 8) for row in rows]
        except (protocol.SimulationTimeout, protocol.UnexpectedResponse, protocol.BrokenPromise):
            found += 1
    assert found >= 11


def stream_workload(ports, rows, energy):
    """The workload.json of a machine."""

    def requests(row):
        packed = ports.response.pack(tuple(map(int, row.golden(MONT, 8))), "answer")
        return {"requests": [hex(ports.request.pack(row.request, "request"))], "expected": [hex(packed)]}

    return {
        "protocol": "stream",
        "ports": workload.ports_json(ports),
        "rows": [{"name": row.name, **requests(row)} for row in rows],
        "energy": {name: requests(row) for name, row in energy.items()},
    }


def test_gate_sim(mont, directory, tmp_path):
    """Rows pass, and each energy workload has the activity of its own window, with and without glitches."""
    nets, ports = mont
    rows = table(MONT, 8)[:12]
    loads = mod_exp.ModExpRow("heavy", 201, 255, 253), mod_exp.ModExpRow("light", 1, 1, 253)
    energy = {row.name: row for row in loads}
    work = tmp_path / "workload.json"
    work.write_text(json.dumps(stream_workload(ports, rows, energy)))
    slack = nldm.analyze(nets, LIBRARY, OUTSIDE).wns_ns
    design = Description(nets.name, nets.name)
    report = activity.gate_sim(directory / "netlist.json", design, work, tmp_path, clock_ns=3.0)
    assert report.tests_passed == 14 and report.tests_failed == 0
    assert report == product.read(tmp_path / "gate_sim.json", workload.Simulated)
    moved = {}
    for name, row in energy.items():
        cycles = report.cycles[name]
        assert cycles == MONT.at(8).cycles(*row.request)
        files = (tmp_path / "activity" / f"{name}{suffix}.json" for suffix in ("", ".timed"))
        plain, timed = map(activity_file.load, files)
        assert plain.cycles == timed.cycles == cycles
        assert plain.nets["clk"] == timed.nets["clk"] == (2 * cycles, 0.5)
        assert set(plain.nets) == set(nets.nets)
        for net, (toggles, _) in plain.nets.items():
            # a gated clock has equal numbers of both edges, at most those of the clock
            gated = net in plain.clock_nets
            assert toggles <= timed.nets[net][0] and toggles <= (2 * cycles if gated else cycles)
            assert not gated or toggles % 2 == 0
        moved[name] = sum(toggles for toggles, _ in plain.nets.values())
        # in one of them a unit is busy; in the other almost only counters toggle, after registers
        glitches = sum(toggles for toggles, _ in timed.nets.values()) / moved[name] - 1
        assert glitches > (0.2 if name == "heavy" else 0.1)
        # no event is later than the longest path of static timing
        assert timed.late_events == 0 and 0 < timed.latest_ns <= 3 - slack + engine.INPUT_NS
    assert moved["heavy"] > 2 * moved["light"]


def test_netlist_of_another_design(mont):
    with refused("has 24 bits and not 48: it is of another design"):
        simulated(mont[0], ports_of(MONT.at(16).rtl()))


@regress
def test_counts_are_verilators(tmp_path):
    """Verilator counts the same toggles of every net of a shift-and-subtract multiplier."""
    nets, ports = gates.netlist_of(catalogue.find("ssmm").at(8).multiplier())
    # Verilator does not trace names such as _12_
    names = [nets.nets[net] if net in nets.constants else f"net{net}" for net in range(len(nets.nets))]
    aliases = nets.aliases | {name: net for net, name in enumerate(names)}
    named = dataclasses.replace(nets, nets=names, aliases=aliases)
    rng = Random(2)
    requests = [(rng.randrange(251), rng.randrange(251)) for _ in range(60)]
    _, moved = as_in_verilator(named, verilog(named), ports, requests, tmp_path, statics={"modulus": 251})
    assert moved > 250


# every design at 8 bits, the first of each multiplier at other widths; a divider without registers takes half
# an hour and 6 GB at 128 bits
@regress
@parametrize(
    "design, nbits",
    [
        pytest.param(design, nbits, id=f"{design.name}-{nbits}")
        for design in DESIGNS
        for nbits in (8, 16, 32, 64)
        if nbits == 8 or (not is_sibling(design) and (design.family != "DirectMul" or nbits <= 32))
    ],
)
def test_every_design_at_gates(design, nbits):
    check_at_gates(design, table(design, nbits), nbits)


@regress
@parametrize("nbits", [8, 32])
@parametrize("design", FIRST.values(), ids=lambda design: design.name)
def test_every_multiplier_behind_registers_at_gates(design, nbits, tmp_path):
    """The rows of the flow, as accesses to the registers."""
    chip = Chip(design, nbits, {}, "xcel")
    chip.export(tmp_path)
    work = workload.load(tmp_path / "workload.json")
    nets = gates.synthesized((tmp_path / "design.sv").read_text(), chip.top)
    with simulated(nets, work.ports) as simulation:
        report = workload.run_streams(simulation, work)
    assert report.failures == [] and report.tests_passed == len(work.rows) + len(work.energy)


def test_long_operations_are_given_by_a_window(tmp_path, monkeypatch):
    """A window has the first products of a private exponent, with the exact cycles of the whole operation;
    the exponents of rows are as long as the limit allows.
    """
    monkeypatch.setattr("modexlab.eval.designs.machine_chip.MOST_ENERGY_CYCLES", 600)
    monkeypatch.setattr("modexlab.eval.designs.machine_chip.MOST_ROW_CYCLES", 1000)
    chip = Chip(catalogue.find("serial-003"), 16)
    encrypt, decrypt = chip.energy()
    machine = chip.machine
    whole = machine.cycles(*decrypt.operands)
    assert machine.cycles(*encrypt.operands) < 600 < whole
    chip.export(tmp_path)
    work = workload.load(tmp_path / "workload.json")
    assert work.energy["encrypt"].whole_cycles == 0
    part = work.energy["decrypt"]
    assert part.whole_cycles == whole
    base, exp, mod, _ = work.ports.request.unpack(part.requests[0])
    assert base == decrypt.base and mod == decrypt.mod
    assert 0 < exp < decrypt.exp and f"{decrypt.exp:b}".startswith(f"{exp:b}")
    assert machine.cycles(base, exp, mod) <= 600
    assert max(exp.bit_length() for name, (_, exp, _) in chip.rows() if name.startswith("random")) <= 7
    with simulate(machine.rtl()) as simulation:
        report = workload.run_streams(simulation, work)
    assert report.failures == []
    assert report.cycles["decrypt"] == whole


FAMILIES = {
    design.family: design
    for design in reversed(DESIGNS)
    if design.paper != "001" and design.family not in ("DirectMul", "PseudoMul")
}
SERIAL = ("MontMulRem", "ShiftSub", "MMMul")  # hardware that does not grow with the square of the width


@regress
@parametrize(
    "family, nbits",
    [*((family, 128) for family in FAMILIES), *((family, 256) for family in SERIAL)],
)
def test_wide_families_at_gates(family, nbits):
    """One row with a short exponent."""
    design = FAMILIES[family]
    check_at_gates(design, mod_exp.table(nbits, 8, mod=design.at(nbits).modulus)[4:5], nbits)


def check_at_gates(design, rows, nbits, stall=None):
    with simulated(*gates.netlist_of(design.at(nbits).rtl())) as simulation:
        at_gates = judged_mod_exps(simulation, rows, design, nbits, stall)
    at_rtl = run_mod_exps(design.at(nbits).rtl(), rows, design, nbits, "native", stall)
    assert (at_gates.accepted, at_gates.done) == (at_rtl.accepted, at_rtl.done)


COUNTED = """
    addi t0, zero, 40
again:
    addi t1, t1, 3
    mul t2, t1, t1
    sw t2, 0x400(zero)
    lw s0, 0x400(zero)
    addi t0, t0, -1
    bne t0, zero, again
    addi a7, zero, 93
    andi a0, s0, 255
    ecall
"""


@regress
def test_processor_at_gates():
    """A whole processor: a program with loads, branches and products executes the same instructions in the
    same cycles as at RTL.
    """
    program = of_words(code(COUNTED))
    with simulate_proc(ProcXcel(Proc, NullXcel)) as simulation:
        other = simulation.run(program, record=True)
    proc = ProcXcel(Proc, NullXcel)
    elaborate(proc)
    nets = gates.synthesized(translate(proc), top_name(proc))
    with gates.GateProcSimulation(engine.GateTables(nets, LIBRARY)) as simulation:
        one = simulation.run(program, record=True)
    for name in ("reason", "exit_code", "cycles", "where", "commits"):
        assert getattr(one, name) == getattr(other, name), name
    assert one.exit_code == (120 * 120) % 256


# ---- what is left in a netlist


@regress
@parametrize("name, nbits", [("mont", 32), ("mont-ct", 40), ("serial", 16)])
def test_no_flip_flop_knows_a_key_after_zeroise(name, nbits):
    """Behind AXI4-Lite, at gates, after the results of two different keys: without zeroise flip-flops differ,
    after it none does.
    """
    machine = catalogue.find(name).at(nbits)
    top = 1 << nbits - 1
    registers = register_map(machine.shape)
    control = registers["CONTROL"]
    forget = [
        (1, 0, control.address, 1 << control.field("zeroise").low, ALL_BYTES),
        (0, 1, 0, 0, 0),
        (1, 0, registers["IRQ_STATUS"].address, 1, ALL_BYTES),
    ]
    keys = ((5, top | 0x55, top | 0x1D), (7, top | 0x6B, top | 0x27))
    states = {False: [], True: []}
    for forgets, key in itertools.product((False, True), keys):
        accesses = AXI4LITE.requests(machine.shape, machine.carried(*key))
        with simulated(*gates.netlist_of(machine.wrapped(AXI4LITE))) as sim:
            run = sim.run([*accesses, *(forget if forgets else [])])
            states[forgets].append(sim.engine.state())
        assert AXI4LITE.outcome(machine.shape, run.responses[: len(accesses)]) == (Status.OK, pow(*key))
    assert len(states[True][0]) > 7 * nbits
    kept = [net for net in states[False][0] if states[False][0][net] != states[False][1][net]]
    assert len(kept) > nbits, "without zeroise the keys are there"
    assert states[True][0] == states[True][1]


# ---- the window of an operation: kernel.py

WORD = 16
WORDS = Ports(Message(WORD), Message(WORD), ())
TOP = f"""
module Top (input clk, input reset,
            input istream__val, output istream__rdy, input [{WORD - 1}:0] istream__msg,
            output ostream__val, input ostream__rdy, output [{WORD - 1}:0] ostream__msg);
"""
# registers with enables and without a reset; each operand passes every stage once
PIPELINE = f"""{TOP}
  reg v1, v2, v3;
  reg [15:0] s1, s2, s3;
  wire go = !v3 | ostream__rdy;
  assign istream__rdy = go;
  assign ostream__val = v3;
  assign ostream__msg = s3;
  always @(posedge clk)
    if (reset) {{v1, v2, v3}} <= 0;
    else if (go) {{v1, v2, v3}} <= {{istream__val, v1, v2}};
  always @(posedge clk) begin
    if (go & istream__val) s1 <= istream__msg;
    if (go & v1) s2 <= s1 * 16'd5;
    if (go & v2) s3 <= s2 + 16'd77;
  end
endmodule
"""
# one request at a time, and a sum over all requests since the reset
SUM = f"""{TOP}
  reg full;
  reg [15:0] sum;
  assign istream__rdy = !full;
  assign ostream__val = full;
  assign ostream__msg = sum;
  always @(posedge clk)
    if (reset) {{full, sum}} <= 0;
    else if (istream__val & !full) begin
      full <= 1;
      sum <= sum + istream__msg;
    end else if (ostream__rdy) full <= 0;
endmodule
"""
# clears its data after each operation, rests for some cycles, and never answers an odd request
SHY = f"""{TOP}
  reg [3:0] rest;
  reg full;
  reg [15:0] data;
  assign istream__rdy = !full & rest == 0;
  assign ostream__val = full & !data[0];
  assign ostream__msg = ~data;
  always @(posedge clk)
    if (reset) {{rest, full, data}} <= 0;
    else if (istream__val & istream__rdy) {{full, data}} <= {{1'b1, istream__msg}};
    else if (ostream__val & ostream__rdy) {{rest, full, data}} <= {{4'd12, 17'd0}};
    else if (rest != 0) rest <= rest - 1;
endmodule
"""


def word_row(request, answer=None, warm_up=None):
    expected = () if answer is None else (workload.Number(answer),)
    return workload.Row("double", (workload.Number(request),), expected, warm_up=warm_up)


def kernel_of(text):
    """The kernel of a design, and its tables."""
    tables = engine.GateTables(gates.synthesized(text, "Top"), LIBRARY)
    simulation = gates.GateSimulation(tables, WORDS, Options(power_up_seed=1))
    return Kernel(simulation, workload.Workload(ports=WORDS, max_cycles=200), None), tables


def toggles_of(tables, counts, register):
    """The toggles of a register, from bit 0 up."""
    return [int(counts.toggles[tables.netlist.net(f"{register}[{bit}]")]) for bit in range(WORD)]


def bits(number):
    return [number >> bit & 1 for bit in range(WORD)]


def passed(request):
    """The values of the registers of the pipeline."""
    stage = request * 5 % 2**WORD
    return request, stage, (stage + 77) % 2**WORD


@parametrize("request_", [0xBEEF, 0, 1])
def test_a_pipeline_moves_by_the_difference_to_its_warm_up(request_):
    """Every register loads one value in the window; zero is a legal operand."""
    kernel, tables = kernel_of(PIPELINE)
    counts = kernel.count(word_row(request_, passed(request_)[2], word_row(0x5A5A)), checked=True)
    assert counts.cycles == 3
    for register, old, new in zip(("s1", "s2", "s3"), passed(0x5A5A), passed(request_), strict=True):
        assert toggles_of(tables, counts, register) == bits(old ^ new), register


def test_random_warm_ups():
    """Without a stated one, requests are random by the name of the operation."""
    kernel, tables = kernel_of(PIPELINE)
    counts = kernel.count(word_row(0xBEEF))
    other = Random("double, warm-up").getrandbits(WORD)
    assert toggles_of(tables, counts, "s1") == bits(other ^ 0xBEEF)


def test_an_operation_that_stands_still():
    kernel, tables = kernel_of(PIPELINE)
    with refused(r"double: \d+ of [\d,]+ nets toggle, because the registers hold its operands before"):
        kernel.count(word_row(0xBEEF, warm_up=word_row(0xBEEF)))
    found = data_registers(tables, "istream__msg")
    assert len(found) >= 3 * WORD and "v1" not in found and "ostream__val" not in found


def test_a_warm_up_with_another_answer():
    kernel, _ = kernel_of(PIPELINE)
    with refused("the netlist answers 0x5c, and 0x5d is expected; correct"):
        kernel.count(word_row(0xBEEF, warm_up=word_row(3, 0x5D)))


def test_state_that_changes_the_answer_is_reset():
    """The sum starts at 0 and not at that of the warm-up."""
    kernel, tables = kernel_of(SUM)
    counts = kernel.count(word_row(0x1234, 0x1234, word_row(0xFFFF, 0xFFFF)), checked=True)
    assert toggles_of(tables, counts, "sum") == bits(0x1234)


def test_machines_that_clear_rest_and_hang():
    """The window opens when a resting machine accepts the request. A cleared register has moved. A random
    request without an answer is followed by a reset; a stated one is refused.
    """
    kernel, tables = kernel_of(SHY)
    counts = kernel.count(word_row(0xBEEE, 0x4111, word_row(2)), checked=True)
    assert counts.cycles == 1 and toggles_of(tables, counts, "data") == bits(0xBEEE)
    assert kernel.count(word_row(0xBEEE)).cycles == 1
    with refused("transaction 0 of 1 accepted, but not answered"):
        kernel.count(word_row(0xBEEE, warm_up=word_row(1)))


@regress
@parametrize("gated", [True, False])
@parametrize("nstages", [1, 2, 4])
def test_pipelines_move_as_in_verilator(nstages, gated, tmp_path):
    """Verilator counts the same toggles of every net between the two handshakes, after the same warm-up; a
    deeper pipeline does not take less energy for standing still.
    """
    settings = {"steps_per_stage": 4, "nstages": nstages, "gated": gated}
    nets, ports = gates.netlist_of(catalogue.find("mont-001").at(16, **settings).multiplier())
    # Verilator does not trace names such as _12_
    names = [nets.nets[net] if net in nets.constants else f"net{net}" for net in range(len(nets.nets))]
    aliases = nets.aliases | {name: net for net, name in enumerate(names)}
    nets = dataclasses.replace(nets, nets=names, aliases=aliases)
    generator, statics = Random(nstages), {"modulus": workload.Number(65_521)}
    warm, request = ((generator.randrange(65_521), generator.randrange(65_521)) for _ in range(2))
    packed = [workload.Number(ports.request.pack(operands, "")) for operands in (warm, request)]
    tables = engine.GateTables(nets, LIBRARY)
    with gates.GateSimulation(tables, ports) as simulation:
        kernel = Kernel(simulation, workload.Workload(ports=ports), None)
        warm_up = workload.Row("warm-up", (packed[0],), statics=statics)
        counts = kernel.count(workload.Row("product", (packed[1],), statics=statics, warm_up=warm_up))
    waves = tmp_path / "waves.vcd"
    text = cell_models.models(LIBRARY, {cell.kind for cell in nets.cells.values()}) + verilog(nets)
    with NativeSimulation(ModuleText(text, nets.name, ports), Options(vcd=waves)) as simulation:
        run = simulation.run([warm, request], statics=statics, source_delays=[0, 40])
    first, last = (protocol.RESET_CYCLES + cycles[1] for cycles in (run.accepted, run.done))
    assert counts.cycles == last - first
    toggles, seen = vcd_toggles(waves, f"{nets.name}_under_test", range(first + 1, last + 1))
    assert compare(nets, counts, toggles, seen) > 0.4 * len(nets.nets)
