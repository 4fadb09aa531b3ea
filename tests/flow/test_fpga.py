"""FPGA counts of circuits with known counts, and the estimate of ALMs."""

import time

import pytest
from modexlab.fl.errors import BadInput
from modexlab.flow.fpga import fpga
from modexlab.flow.netlist import yosys

from tests.harness import module_fixture, parametrize, refused

# an 8-bit adder, a 16 x 16 multiplier, a parity of 6 inputs, 5 registers and a memory of 1024 x 18
KNOWN = """\
module known(
  input logic clk, en, we, input logic [7:0] a, b, input logic [15:0] c, d, input logic [9:0] at,
  input logic [17:0] m,
  input logic [4:0] r, output logic [7:0] s, output logic [31:0] p, output logic parity, output logic [4:0] q,
  output logic [17:0] o
);
  logic [17:0] memory [1024];
  assign s = a + b;
  assign p = c * d;
  assign parity = ^a[5:0];
  always_ff @(posedge clk) begin
    if (en) q <= r;
    if (we) memory[at] <= m;
    o <= memory[at];
  end
endmodule
"""
# one LUT per bit of the adder and one for the parity; 4 LUTs of 4 inputs replace one of 6; a block RAM has
# 36 kbit on artix-7 and 18 kbit on ecp5, an M10K 10 kbit
COUNTS = {
    "artix-7": {"luts": 8 + 1, "carries": 2, "dsps": 1, "ffs": 5, "brams": 0.5},
    "cyclone-v": {"carries": 8, "dsps": 1, "ffs": 5, "brams": 2},
    "ecp5": {"luts": 8 + 4, "carries": 4, "dsps": 1, "ffs": 5, "brams": 1},
}


@module_fixture
def known(tmp_path_factory):
    source = tmp_path_factory.mktemp("fpga") / "known.sv"
    source.write_text(KNOWN)
    return fpga.measure(source, "known")


@parametrize("name", COUNTS)
def test_known_circuit_has_known_counts(known, name):
    found = known[name]
    assert {key: found.count(key) for key in COUNTS[name]} == COUNTS[name]
    assert found.fits and found.tool.startswith(f"yosys {yosys.version()}: synth_")
    assert found.shares["dsps"] == round(1 / found.capacity["dsps"], 4)
    # the adder, the parity, and at most two inverters for the enables of the memory and the registers
    assert found.alms is None or 4 + 1 <= found.alms <= 4 + 1 + 1


@parametrize("name", COUNTS)
def test_a_cell_more_or_less_is_seen(known, name):
    device, cells = fpga.find(name), known[name].cells
    counted = device.count(cells)
    assert counted == {key: known[name].count(key) for key in counted}
    for kind, prices in device.prices.items():
        changed = device.count({**cells, kind: cells.get(kind, 0) + 12})
        for resource, price in prices.items():
            more = pytest.approx(12 * price), pytest.approx(12 * price - 1)
            assert changed[resource] - counted[resource] in more, (kind, resource)
    with refused("2 cells of kind MYSTERY"):
        device.count({**cells, "MYSTERY": 2})


def test_a_refusal_cancels_the_families_that_wait(tmp_path, monkeypatch):
    begun = []

    def refuse(device, *_):
        begun.append(device.name)
        time.sleep(0.5 * (len(begun) - 1))  # the first one is quick
        raise BadInput(f"{device.name} takes too long")

    monkeypatch.setattr(fpga, "JOBS", 1)
    monkeypatch.setattr(fpga, "elaborate", lambda *_: tmp_path)
    monkeypatch.setattr(fpga, "_synthesize", refuse)
    with refused(f"^{fpga.USUAL[0]} takes too long"):
        fpga.measure(tmp_path / "any.sv", "any")
    assert len(begun) < len(fpga.USUAL)


def test_cyclone_alms_by_hand():
    cells = {f"MISTRAL_ALUT{size}": count for size, count in ((6, 3), (5, 2), (4, 5), (3, 4), (2, 1))}
    cells |= {"MISTRAL_ALUT_ARITH": 9, "MISTRAL_MLAB": 4}
    # 3 + 2, which hold two of the five small functions; (5 + 3) / 2; 9 adder bits in 5; 4 memory bits in 2
    assert fpga.cyclone_alms(cells, {"ffs": 0}) == 3 + 2 + 4 + 5 + 2
    assert fpga.cyclone_alms(cells, {"ffs": 101}) == 26
    blocks = {"MISTRAL_MUL27X27": 1, "MISTRAL_MUL18X18": 3, "MISTRAL_MUL9X9": 3}
    assert fpga.find("cyclone-v").count(blocks)["dsps"] == 1 + 2 + 1  # 3.5 blocks


@parametrize(
    "body, message",
    {
        "always_latch if (a) y = b;": r"y \(design\.sv:1\) is a latch: assign it in every branch",
        "logic z; assign z = y ^ a; assign y = ~z;": "combinational loop",
        "assign y = a; assign y = b;": r"bad: \w has more than one driver: give each net one",
        "foo u(.i(a), .o(y));": "unknown module 'foo'",
        "logic [2047:0] p; assign p = {2048{a}} * {2048{b}}; assign y = ^p;": "",
    }.items(),
)
def test_what_makes_no_circuit_is_refused(tmp_path, body, message):
    source = tmp_path / "bad.sv"
    source.write_text(f"module bad(input logic a, input logic b, output logic y); {body} endmodule\n")
    with refused(message or "would take some [0-9,]+ LUTs, and no more than 500,000"):
        fpga.elaborate(source, "bad")
