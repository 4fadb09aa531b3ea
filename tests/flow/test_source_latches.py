"""Latches and functions of other people's Verilog: synthesis, proof, timing and gate simulation."""

import random
import subprocess

import pytest
from modexlab.flow.gates.engine import Engine, GateTables
from modexlab.flow.netlist.netlist import read
from modexlab.flow.synth import optimised, plain
from modexlab.flow.timing import timing

from tests.flow.designs import TOP, loaded, netlist_of, proof, refutation, synthesized, top_of
from tests.flow.kits import second_kit
from tests.harness import HAS_OPENSTA, needs_opensta, parametrize, refused

STYLES = plain.STYLE, optimised.STYLE
PORTS = "input clk, input rst, input en, input g, input [3:0] a, output reg [3:0] y"


def module(body, ports=PORTS):
    return f"module dut({ports});\n{body}\nendmodule\n"


@parametrize(
    "text, net",
    {
        module("always @* if (g) y = a;"): r"y \(design\.sv:2\)",
        module("always_comb if (g) y = a;"): r"y \(design\.sv:1\)",
        module("always_comb case (a[1:0]) 0: y = a; 1: y = ~a; default: ; endcase"): r"y \(design\.sv:1\)",
        module("always @(g or a) if (g) y = a; // always_latch"): r"y \(design\.sv:2\)",
        "module sub(input g, a, output reg q);\nalways @* if (g) q = a;\nendmodule\n"
        + module("wire q; sub inner(.g, .a(a[0]), .q); always @* y = {4{q}};"): r"inner\.q \(design\.sv:2\)",
        # a latch that another net reads than the AND of its clock
        module(
            "reg q; always @* if (!clk) q = en; wire c = clk & q; always @(posedge c) y <= {4{q}};"
        ): r"q \(design\.sv:2\)",
    }.items(),
    ids=["always", "always_comb", "case", "comment", "instance", "read twice"],
)
def test_accidental_latches_are_refused(tmp_path, text, net):
    with refused(rf"^dut: {net} is a latch: assign it in every branch.* write always_latch or mark the"):
        synthesized(tmp_path, text)


MANY = """\
module clock_gating(input clk_i, input en_i, input test_en_i, output clk_o);
  reg en_latch;
  always @* begin
    if (!clk_i) begin
      en_latch = en_i | test_en_i;
    end
  end
  assign clk_o = en_latch & clk_i;
endmodule
module second_gate(input logic clk, input logic en, output logic gated);
  logic held;
  always_latch if (~clk) held <= en;
  assign gated = clk && held;
endmodule
module dut(input logic clk, input logic rst, input logic en, input logic g, input logic [3:0] a,
           output logic [3:0] y, output logic [3:0] z, (* latch *) output logic [3:0] w,
           output logic [3:0] v, output logic [3:0] u, output logic o, output logic p);
  logic gated, twice, kept;
  clock_gating gate(.clk_i(clk), .en_i(en), .test_en_i(rst), .clk_o(gated));
  second_gate second(.clk(gated), .en(a[0] | rst), .gated(twice));
  always_ff @(posedge gated) y <= a;
  always_ff @(posedge twice) if (rst) v <= 0; else if (g) v <= v + a;
  always_latch if (rst) z = 0; else if (g & en) z = a ^ y;
  always @(clk or v or a) if (clk) w = v + a;  // marked
  always_ff @(negedge clk) u <= w ^ z;
  always_latch if (!clk) kept = g;
  always_ff @(posedge (clk & kept)) p <= a[1];
  assign o = twice ^ kept;
endmodule
"""
OUTPUTS = ["y", "z", "w", "v", "u", "o", "p"]


@pytest.fixture(scope="module", params=STYLES)
def many(request, tmp_path_factory):
    """A directory with the netlist of MANY, in each style."""
    out = tmp_path_factory.mktemp(request.param)
    synthesized(out, MANY, request.param)
    return out


def test_latches_become_cells_of_the_kit(many, library):
    """The gate whose latch has another reader stays a latch and an AND."""
    cells = netlist_of(many).cells
    latches = {name: cell.kind for name, cell in cells.items() if library.cells[cell.kind].latch}
    bits = [f"{net}_latch_{place}" for net in "zw" for place in range(4)]
    assert latches == dict.fromkeys(bits, "DLH_X1") | {"kept_latch": "DLL_X1"}
    owners = loaded(many, "hierarchy.json")["cells"]
    gates = {owners[name] for name, cell in cells.items() if library.cells[cell.kind].clock_gate}
    assert {"gate", "second"} <= gates


def test_netlist_with_latches_is_its_design(many):
    report = proof(many)
    assert report.equivalent and not report.unread_registers, report.summary
    assert {"y", "z", "w", "v", "u", "o", "p"} <= {part.part for part in report.parts}


@parametrize("kind, pin", [("DLH_X1", "D"), ("DLH_X1", "G"), ("DLL_X1", "D"), ("CLKGATE_X1", "E")])
def test_wrong_latches_are_refuted(many, tmp_path, kind, pin):
    """Another net at a pin of a latch or clock gate is found."""
    top = top_of(many)
    cells = [cell for cell in top["cells"].values() if cell["type"] == kind]
    cells[0]["connections"][pin] = top["ports"]["a"]["bits"][3:]
    refutation(many, tmp_path, top)


@parametrize("register, clock", [("y_reg_0", "clk"), ("v_reg_1", "gated"), ("p_reg", "clk")])
def test_a_register_of_another_clock_is_refuted(many, tmp_path, register, clock):
    """A register that avoids its clock gate, or one of two in series."""
    top = top_of(many)
    top["cells"][register]["connections"]["CK"] = top["netnames"][clock]["bits"]
    refutation(many, tmp_path, top)


def test_a_latch_of_the_other_level_is_refuted(many, tmp_path):
    top = top_of(many)
    cell = top["cells"]["w_latch_0"]
    cell["type"] = "DLL_X1"
    for field in ("connections", "port_directions"):
        cell[field]["GN"] = cell[field].pop("G")
    refutation(many, tmp_path, top)


def test_netlist_with_latches_in_simulation(many, library, tmp_path):
    """The netlist has the outputs of the source in Icarus, before and after each edge of the clock."""
    rng = random.Random(1)
    rows = [
        {"rst": 0, "en": rng.getrandbits(1), "g": rng.getrandbits(1), "a": rng.getrandbits(4)}
        for _ in range(200)
    ]
    rows[:3] = [{"rst": 1, "en": 1, "g": 1, "a": 0}] * 3
    show = f'$display("%b", {{{", ".join(OUTPUTS)}}});'
    steps = "\n".join(
        f"#1 {' '.join(f'{port} = {value};' for port, value in row.items())} "
        f"#1 {show} #1 clk = 1; #1 {show} #1 clk = 0; #1 {show}"
        for row in rows
    )
    (tmp_path / "bench.sv").write_text(
        "module bench; reg clk = 0, rst, en, g; reg [3:0] a; wire [3:0] y, z, w, v, u; wire o, p;\n"
        f"dut dut(.*);\ninitial begin\n{steps}\nend\nendmodule\n"
    )
    sources = many / "design.sv", tmp_path / "bench.sv"
    subprocess.run(["iverilog", "-g2012", "-o", tmp_path / "bench", *sources], check=True)
    run = subprocess.run(["vvp", tmp_path / "bench"], check=True, capture_output=True, text=True)
    engine = Engine(GateTables(read(many / "netlist.json", library, TOP), library))
    found = []
    for row in rows:
        engine.set(row)
        engine.settle()
        for level in (None, 1, 0):
            if level is not None:
                engine._lib.gates_clock(engine._handle, level)
            widths = {port: len(top_port[1]) for port, top_port in engine.tables.netlist.ports.items()}
            found.append("".join(f"{engine.get(port):0{widths[port]}b}" for port in OUTPUTS))
    wanted = run.stdout.split()
    assert len(wanted) == len(found) == 3 * len(rows)
    assert "x" not in "".join(wanted[9:])
    assert wanted[9:] == found[9:]


@needs_opensta
def test_timing_of_latches(many):
    """OpenSTA judges the latches that the clock opens; a latch behind data is reported as not checked."""
    report = timing.analyze(many / "netlist.v", TOP, many / "timing", clock_ns=3.0)
    assert report.met is None and report.wns_ns >= 0
    ends = {path.points[-1].name for path in report.paths}
    assert any(end.startswith("w_latch_") for end in ends)
    assert any("4 registers are not checked" in caveat and "z_latch_0" in caveat for caveat in report.caveats)


# as in ibex: a register file of latches, each word behind a clock gate in series with that of the file
REGISTER_FILE = """\
module prim_clock_gating(input logic clk_i, input logic en_i, output logic clk_o);
  logic en_latch;
  always_latch if (!clk_i) en_latch = en_i;
  assign clk_o = en_latch & clk_i;
endmodule
module dut(input logic clk, input logic rst_n, input logic we, input logic [1:0] waddr,
           input logic [1:0] raddr, input logic [3:0] wdata, output logic [3:0] rdata);
  logic [3:0] mem [4];
  logic [3:0] onehot, mem_clocks, wdata_q;
  logic clk_int;
  assign rdata = mem[raddr];
  prim_clock_gating cg_we_global(.clk_i(clk), .en_i(we), .clk_o(clk_int));
  always_ff @(posedge clk_int or negedge rst_n) if (!rst_n) wdata_q <= 0; else if (we) wdata_q <= wdata;
  always_comb for (int i = 0; i < 4; i++) onehot[i] = we & (waddr == 2'(i));
  for (genvar x = 1; x < 4; x++) begin : gen_cg
    prim_clock_gating cg_i(.clk_i(clk_int), .en_i(onehot[x]), .clk_o(mem_clocks[x]));
  end
  always_latch begin
    mem[0] = '0;
    for (int k = 1; k < 4; k++) if (mem_clocks[k]) mem[k] = wdata_q;
  end
endmodule
"""


@parametrize(
    "style, options",
    [
        (plain.STYLE, {}),
        (plain.STYLE, {"hierarchy": True, "clock_gating": False}),
        (optimised.STYLE, {"goal": "area"}),
        (optimised.STYLE, {"hierarchy": True}),
    ],
    ids=str,
)
def test_register_file_of_latches(tmp_path, library, style, options):
    synthesized(tmp_path, REGISTER_FILE, style, **options)
    cells = [library.cells[cell.kind] for cell in netlist_of(tmp_path).cells.values()]
    assert sum(bool(cell.latch) for cell in cells) == 12
    # one more gate of synthesis for the enable of wdata_q
    assert sum(bool(cell.clock_gate) for cell in cells) == 4 + options.get("clock_gating", True)
    report = proof(tmp_path)
    assert report.equivalent, report.summary
    for engine, met in {"nldm": None, "opensta": True}.items():
        if engine == "nldm" or HAS_OPENSTA:
            found = timing.analyze(
                tmp_path / "netlist.v", TOP, tmp_path / engine, clock_ns=3.0, engine=engine
            )
            assert found.met is met, found.verdict


def test_latch_whose_name_is_taken(tmp_path):
    """It gets a number, and remains a latch of the source to timing."""
    body = "reg q; always_latch if (g) q = q_latch; always @(posedge clk) y <= {4{q}};"
    synthesized(tmp_path, module(body, f"{PORTS}, input q_latch"))
    (name,) = (name for name in netlist_of(tmp_path).cells if name.endswith("_latch"))
    assert name.startswith("g")


HELD = """\
logic opens; (* latch *) logic [3:0] q;
always_ff @(posedge clk) begin opens <= en; y <= q; end
always_latch if (opens) q = a;
"""


def test_latch_behind_a_flip_flop_is_no_held_word(tmp_path):
    """Its input may change while it is open, so that timing cannot leave it out."""
    synthesized(tmp_path, module(HELD, PORTS.replace("output reg", "output logic")))
    assert "q_latch_0" in netlist_of(tmp_path).cells
    for engine in timing.ENGINES:
        report = timing.analyze(tmp_path / "netlist.v", TOP, tmp_path / engine, clock_ns=3.0, engine=engine)
        assert any("4 registers are not checked" in caveat for caveat in report.caveats)
    assert proof(tmp_path).equivalent


def test_kits_without_latches(tmp_path):
    """Without a latch of one level an inverter opens the other; without any, the kit's lack is named."""
    text = module("always_latch if (!clk) y = a;")
    few = second_kit(tmp_path / "few", ["DLL_X1", "DLL_X2"])
    synthesized(tmp_path, text, kit_directory=few)
    assert proof(tmp_path, kit_directory=few).equivalent
    none = second_kit(tmp_path / "none", ["DLL_X1", "DLL_X2", "DLH_X1", "DLH_X2"])
    with refused(r"^dut: y is a latch, and \S+ has no latch without clear and preset: take another kit"):
        synthesized(tmp_path, text, plain.STYLE, kit_directory=none)
    gate = module("reg q; always @* if (!clk) q = en; wire c = clk & q; always @(posedge c) y <= a;")
    synthesized(tmp_path, gate, kit_directory=none)
    assert proof(tmp_path, kit_directory=none).equivalent
