"""Adders and selections that a design names: they become library cells before synthesis, and are proved cell
by cell.
"""

import json

import numpy as np
import pytest
from modexlab.eval.designs.catalogue import find
from modexlab.flow import product
from modexlab.flow.kit import kit
from modexlab.flow.netlist import yosys
from modexlab.flow.prove.placed import prove_same
from modexlab.flow.synth import named_cells, role_cells
from modexlab.flow.synth.sizing import families, fanout, sizing
from modexlab.flow.synth.sizing.circuit import wired
from modexlab.flow.synth.sizing.model import Model
from modexlab.flow.synth.synthesis import SynthesisReport
from modexlab.flow.timing import nldm
from modexlab.flow.timing.tables import Tables
from modexlab.rtl.sim.translation.translate import translate

from tests.flow.circuits import Circuit
from tests.flow.designs import TOP, loaded, proof, refutation, synthesized, top_of, write_top
from tests.flow.kits import FEWER, second_kit
from tests.harness import module_fixture, parametrize, regress

WIDTH = 6

# bit 0 of `first` is constant, and its last carry is unused; `FullAddersOdd` is no adder in spite of its
# name; port names are arbitrary
DESIGN = f"""
module FullAdders__count_{WIDTH} (
  input logic [{WIDTH - 1}:0] p, q, r, output logic [{WIDTH - 1}:0] total, up);
  assign total = p ^ q ^ r;
  assign up = (p & q) | (p & r) | (q & r);
endmodule

module FullAddersOdd (input logic [1:0] a, b, c, output logic [1:0] s, co);
  assign s = a ^ b ^ c;
  assign co = (a & b) | (a & c);
endmodule

module RowSelect (
  input logic [{WIDTH - 1}:0] x, y, z, input logic of_x, of_y, of_z, output logic [{WIDTH - 1}:0] out);
  assign out = ~((x & {{{WIDTH}{{of_x}}}}) | (y & {{{WIDTH}{{of_y}}}}) | (z & {{{WIDTH}{{of_z}}}}));
endmodule

module dut (
  input logic clk, input logic [1:0] digit, input logic [{WIDTH - 1}:0] x, y, output logic [{WIDTH}:0] sum,
  output logic [1:0] odd
);
  logic [{WIDTH - 1}:0] kept, row, s, c, t, d;
  logic [1:0] chosen, unread;
  RowSelect g1 (.x(kept), .y({{kept[{WIDTH - 2}:0], 1'b0}}), .z(y), .of_x(chosen == 1), .of_y(chosen == 2),
                .of_z(chosen == 3), .out(row));
  FullAdders__count_{WIDTH} first (.p({{x[{WIDTH - 1}:1], 1'b1}}), .q(row), .r(kept), .total(s), .up(c));
  FullAdders__count_{WIDTH} then (.p(s), .q({{c[{WIDTH - 2}:0], 1'b0}}), .r(y), .total(t), .up(d));
  FullAddersOdd other (.a(t[1:0]), .b(s[1:0]), .c(kept[1:0]), .s(odd), .co(unread));
  always_ff @(posedge clk) begin
    chosen <= digit + 2'd1;
    kept <= x + y;
    sum <= t + {{d[{WIDTH - 2}:0], 1'b0}};
  end
endmodule
"""


@module_fixture
def made(tmp_path_factory):
    """The design, synthesised and sized with the treatment of a wide one."""
    out = tmp_path_factory.mktemp("named")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(named_cells, "LEAST", 1)
        synthesized(out, DESIGN, clock_ns=1.0)
        sizing.size(out / "netlist.json", out, clock_ns=1.0)
        yield out


def test_style_area_maps_the_logic_before_named_cells(tmp_path, monkeypatch):
    monkeypatch.setattr(named_cells, "LEAST", 1)
    synthesized(tmp_path, DESIGN, clock_ns=1.0, goal="area")
    assert product.read(tmp_path / SynthesisReport.FILE, SynthesisReport).named_cells


def test_bits_with_the_function_are_cells_and_all_others_are_logic(made):
    cells = top_of(made)["cells"]
    roles = kit.find().library.roles
    named = {
        name: cell["type"]
        for name, cell in cells.items()
        if name.startswith(("first.adder", "then.adder", "g1.select"))
    }
    family = roles.family(roles.selector)
    kinds = {name: roles.family(kind) if "select" in name else kind for name, kind in named.items()}
    # without bit 0, which has a constant input, and the top bit, whose carry is unread
    adders = [f"{row}.adder{place}" for row in ("first", "then") for place in range(1, WIDTH - 1)]
    selections = [f"g1.select{place}" for place in range(1, WIDTH)]
    assert kinds == dict.fromkeys(adders, roles.full_adder.cell) | dict.fromkeys(selections, family)
    assert not any(
        name.startswith("other.adder") and cell["type"] == roles.full_adder.cell
        for name, cell in cells.items()
    )
    told = product.read(made / SynthesisReport.FILE, SynthesisReport).named_cells
    assert told == {roles.full_adder.cell: 2 * (WIDTH - 2), roles.selector: WIDTH - 1}
    owners = loaded(made, "hierarchy.json")
    assert owners["cells"]["then.adder1"] == "then" and owners["modules"]["then"].startswith("FullAdders")


def test_netlist_is_proved_cell_by_cell(made):
    report = proof(made)
    assert report.equivalent, report.summary
    assert {"first", "then", "g1"} <= {part.part for part in report.parts}
    assert "cell by cell" in report.method


@parametrize(
    "one, other, pin",
    [
        ("then.adder1", "then.adder2", "A"),
        pytest.param("g1.select1", "g1.select2", "A2", marks=regress),
    ],
)
def test_an_input_on_another_net_is_refuted(made, tmp_path, one, other, pin):
    module = top_of(made)
    first, second = (module["cells"][name]["connections"] for name in (one, other))
    assert first[pin] != second[pin]
    first[pin], second[pin] = second[pin], first[pin]
    refutation(made, tmp_path, module)


@regress
def test_a_kit_without_these_cells_has_several_for_each(tmp_path, monkeypatch):
    """Without adders and a cell for three products, the netlist is proved, and exchanged inputs are found."""
    monkeypatch.setattr(named_cells, "LEAST", 1)
    path = second_kit(tmp_path / "kit", FEWER)
    out = tmp_path / "made"
    out.mkdir()
    synthesized(out, DESIGN, clock_ns=1.0, kit_directory=path)
    sizing.size(out / "netlist.json", out, clock_ns=1.0, kit_directory=path)
    module, library = top_of(out), kit.find(path).library
    for role, base in (("full_adder", "then.adder1"), ("selector", "g1.select1")):
        network = role_cells.find(library, role).network
        names = [f"{base}_{number}" for number in range(len(network.cells))]
        family = library.roles.family
        kinds = [family(module["cells"][name]["type"]) for name in names]
        assert len(names) > 1 and kinds == [family(kind) for kind, _ in network.cells]
    report = proof(out, kit_directory=path)
    assert report.equivalent and "cell by cell" in report.method
    one, other = (module["cells"][f"then.adder{place}_0"]["connections"] for place in (1, 2))
    pin = next(iter(one))
    one[pin], other[pin] = other[pin], one[pin]
    write_top(out, module)
    assert proof(out, kit_directory=path).refuted


def test_few_of_them_are_left_to_the_mapper(tmp_path, monkeypatch):
    monkeypatch.setattr(named_cells, "LEAST", 3 * WIDTH + 1)  # more than the design has
    synthesized(tmp_path, DESIGN, clock_ns=1.0)
    assert not any("adder" in name or "select" in name for name in top_of(tmp_path)["cells"])


def test_a_script_takes_no_name_that_an_earlier_one_gave(tmp_path):
    """Yosys numbers new objects from 1 in each process, and reads the JSON of earlier processes."""
    (tmp_path / "sum.v").write_text(
        "module sum (input [7:0] a, b, output [7:0] y); assign y = a + b; endmodule\n"
    )
    yosys.run("read", "read_verilog sum.v\nwrite_json sum.json\n", tmp_path)
    script = "read_json sum.json\nalumacc\nwrite_json made.json\n"
    yosys.run("first", script, tmp_path)
    design, made = (loaded(tmp_path, name) for name in ("sum.json", "made.json"))
    cells = design["modules"]["sum"]["cells"]
    (old,) = cells
    (new,) = made["modules"]["sum"]["cells"]
    assert new != old
    cells[new] = cells.pop(old)  # as if an earlier process had used this name
    (tmp_path / "sum.json").write_text(json.dumps(design))
    yosys.run("second", script, tmp_path)
    assert list(loaded(tmp_path, "made.json")["modules"]["sum"]["cells"]) != [new]


def spread_circuit(readers, library, directory):
    """A gate with `readers` readers, before and after its net is spread."""
    circuit = Circuit("spread", "a b", f"y:{readers}")
    circuit.add("source", "INV_X1", A="a", ZN="n")
    for k in range(readers):
        circuit.add(f"r{k}", "NAND2_X1", A1="n", A2="b", ZN=f"y[{k}]")
    before = circuit.read(directory)
    counts = {"spread": 0}
    hurried = library.constraints(0.1, None)  # no slack for smaller trees
    model = Model(wired(before, 0.65), library, hurried, families.Families(library), 0.0)
    return before, fanout.with_trees(model, dict.fromkeys(before.cells, ""), counts).netlist, counts


def test_a_net_with_many_readers_gets_a_tree(library, tmp_path):
    before, after, counts = spread_circuit(1000, library, tmp_path)
    assert prove_same(before, after, library) == []
    assert max(map(len, after.sinks)) <= fanout.MANY
    # the nets of the gate and of the port are spread, in at least two levels
    assert counts["spread"] == len(after.cells) - len(before.cells) > 2 * 1000 / max(fanout.SPREADS)
    asked = library.constraints(1.0, None)
    late = [nldm.analyze(netlist, library, asked).setup[0].arrival_ns for netlist in (before, after)]
    assert late[1] < 0.3 < late[0]
    few = spread_circuit(fanout.MANY, library, tmp_path)
    assert few[1] is few[0]


def test_worst_of_tables_is_the_greatest_at_each_point(library):
    roles = library.roles
    arcs = library.cells[roles.selector].pins[library.cells[roles.selector].outputs[0]].timing
    delays = [arc.cell_fall for arc in arcs if arc.related == arcs[0].related and arc.cell_fall]
    assert len(delays) > 4
    tables = Tables()
    worst = tables.worst([tables.add(table) for table in delays])
    draw = np.random.default_rng(7)
    slews, loads = draw.uniform(0, 0.4, 500), draw.uniform(0, 60, 500)
    found = tables.look_up(worst, slews, loads)
    expected = [
        max(table.at(slew, load) for table in delays) for slew, load in zip(slews, loads, strict=True)
    ]
    assert np.allclose(found, expected, rtol=0, atol=1e-12)


@regress
def test_a_unit_of_a_wide_digit_meets_two_nanoseconds_and_is_proved(tmp_path):
    synthesized(tmp_path, translate(find("heap").at(128, digit_nbits=66).multiplier(), TOP), clock_ns=2.0)
    sized = sizing.size(tmp_path / "netlist.json", tmp_path, clock_ns=2.0)
    assert sized.after.wns_ns >= 0
    assert sized.after.area_um2 < 95_000
    report = proof(tmp_path, seconds=10)
    assert report.equivalent, report.summary
