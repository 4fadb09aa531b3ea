"""The window of an operation (kernel.py): its toggles after a warm-up, and operations that do not move."""

import dataclasses
from random import Random

from modexlab.eval.designs import catalogue
from modexlab.flow import workload
from modexlab.flow.gates import gates
from modexlab.flow.gates.engine import GateTables
from modexlab.flow.gates.kernel import Kernel, data_registers
from modexlab.flow.kit import kit
from modexlab.flow.layout.place import verilog
from modexlab.flow.workload import Number, Row, Workload
from modexlab.rtl.sim.base import Options
from modexlab.rtl.sim.ports import Message, Ports
from modexlab.rtl.sim.protocol import RESET_CYCLES

from tests.flow import cell_models
from tests.flow.test_gates import compare, vcd_toggles
from tests.harness import parametrize, refused, regress

NBITS = 16
PORTS = Ports(Message(NBITS), Message(NBITS), ())
HEAD = f"""
module Top (input clk, input reset,
            input istream__val, output istream__rdy, input [{NBITS - 1}:0] istream__msg,
            output ostream__val, input ostream__rdy, output [{NBITS - 1}:0] ostream__msg);
"""
# registers with enables and without a reset; each operand passes every stage once
PIPELINE = f"""{HEAD}
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
SUM = f"""{HEAD}
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
SHY = f"""{HEAD}
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
LIBRARY = kit.find(None).library


def row(request, answer=None, warm_up=None):
    expected = () if answer is None else (Number(answer),)
    return Row("double", (Number(request),), expected, warm_up=warm_up)


def kernel_of(text):
    """The kernel of a design, and its tables."""
    tables = GateTables(gates.synthesized(text, "Top"), LIBRARY)
    simulation = gates.GateSimulation(tables, PORTS, Options(power_up_seed=1))
    return Kernel(simulation, Workload(ports=PORTS, max_cycles=200), None), tables


def moved(tables, counts, register):
    """The toggles of a register, from bit 0 up."""
    return [int(counts.toggles[tables.netlist.net(f"{register}[{bit}]")]) for bit in range(NBITS)]


def bits(number):
    return [number >> bit & 1 for bit in range(NBITS)]


def passed(request):
    """The values of the registers of the pipeline."""
    stage = request * 5 % 2**NBITS
    return request, stage, (stage + 77) % 2**NBITS


@parametrize("request_", [0xBEEF, 0, 1])
def test_a_pipeline_moves_by_the_difference_to_its_warm_up(request_):
    """Every register loads one value in the window; zero is a legal operand."""
    kernel, tables = kernel_of(PIPELINE)
    counts = kernel.count(row(request_, passed(request_)[2], row(0x5A5A)), checked=True)
    assert counts.cycles == 3
    for register, old, new in zip(("s1", "s2", "s3"), passed(0x5A5A), passed(request_), strict=True):
        assert moved(tables, counts, register) == bits(old ^ new), register


def test_random_warm_ups():
    """Without a stated one, requests are random by the name of the operation."""
    kernel, tables = kernel_of(PIPELINE)
    counts = kernel.count(row(0xBEEF))
    other = Random("double, warm-up").getrandbits(NBITS)
    assert moved(tables, counts, "s1") == bits(other ^ 0xBEEF)


def test_an_operation_that_stands_still():
    kernel, tables = kernel_of(PIPELINE)
    with refused(r"double: \d+ of [\d,]+ nets toggle, because the registers hold its operands before"):
        kernel.count(row(0xBEEF, warm_up=row(0xBEEF)))
    found = data_registers(tables, "istream__msg")
    assert len(found) >= 3 * NBITS and "v1" not in found and "ostream__val" not in found


def test_a_warm_up_with_another_answer():
    kernel, _ = kernel_of(PIPELINE)
    with refused("the netlist answers 0x5c, and 0x5d is expected; correct"):
        kernel.count(row(0xBEEF, warm_up=row(3, 0x5D)))


def test_state_that_changes_the_answer_is_reset():
    """The sum starts at 0 and not at that of the warm-up."""
    kernel, tables = kernel_of(SUM)
    counts = kernel.count(row(0x1234, 0x1234, row(0xFFFF, 0xFFFF)), checked=True)
    assert moved(tables, counts, "sum") == bits(0x1234)


def test_machines_that_clear_rest_and_hang():
    """The window opens when a resting machine accepts the request. A cleared register has moved. A random
    request without an answer is followed by a reset; a stated one is refused.
    """
    kernel, tables = kernel_of(SHY)
    counts = kernel.count(row(0xBEEE, 0x4111, row(2)), checked=True)
    assert counts.cycles == 1 and moved(tables, counts, "data") == bits(0xBEEE)
    assert kernel.count(row(0xBEEE)).cycles == 1
    with refused("transaction 0 of 1 accepted, but not answered"):
        kernel.count(row(0xBEEE, warm_up=row(1)))


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
    generator, statics = Random(nstages), {"modulus": Number(65_521)}
    warm, request = ((generator.randrange(65_521), generator.randrange(65_521)) for _ in range(2))
    packed = [Number(ports.request.pack(operands, "")) for operands in (warm, request)]
    tables = GateTables(nets, LIBRARY)
    with gates.GateSimulation(tables, ports) as simulation:
        kernel = Kernel(simulation, Workload(ports=ports), None)
        warm_up = Row("warm-up", (packed[0],), statics=statics)
        counts = kernel.count(Row("product", (packed[1],), statics=statics, warm_up=warm_up))
    waves = tmp_path / "waves.vcd"
    text = cell_models.models(LIBRARY, {cell.kind for cell in nets.cells.values()}) + verilog(nets)
    with workload.TextSimulation(text, nets.name, ports, {}, Options(vcd=waves)) as simulation:
        run = simulation.run([warm, request], statics=statics, source_delays=[0, 40])
    first, last = (RESET_CYCLES + cycles[1] for cycles in (run.accepted, run.done))
    assert counts.cycles == last - first
    toggles, seen = vcd_toggles(waves, f"{nets.name}_under_test", range(first + 1, last + 1))
    assert compare(nets, counts, toggles, seen) > 0.4 * len(nets.nets)
