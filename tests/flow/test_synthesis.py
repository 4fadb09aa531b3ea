"""Synthesis: netlists that equal their designs, reports on cells, and texts that are no circuit."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from modexlab.eval.designs.catalogue import find
from modexlab.eval.designs.interfaces import XCEL
from modexlab.flow import product
from modexlab.flow.kit import kit, liberty
from modexlab.flow.netlist import yosys
from modexlab.flow.prove.report import Equivalence
from modexlab.flow.synth import estimate, mapped, optimised, plain, sharing
from modexlab.flow.synth import read_design as reading
from modexlab.flow.synth.optimised import with_wire_load
from modexlab.flow.synth.sizing import sizing
from modexlab.flow.synth.synthesis import synthesize
from modexlab.flow.timing import nldm, timing
from modexlab.rtl.sim.translation.translate import translate
from pytest import approx

from tests.command_line import picked
from tests.flow.designs import (
    TOP,
    consistent,
    loaded,
    netlist_of,
    proof,
    refutation,
    synthesized,
    top_of,
    unit_text,
    write_top,
)
from tests.flow.kits import cell_name, second_kit
from tests.harness import later, parametrize, refused, regress
from tests.paths import ROOT


@pytest.fixture(scope="module", params=[plain.STYLE, optimised.STYLE])
def unit(request, tmp_path_factory):
    """Paper 001's MontMulRem at 8 bits, synthesised in each style: a directory with design.sv and the
    outputs.
    """
    out = tmp_path_factory.mktemp(request.param)
    synthesized(out, unit_text(), request.param)
    return out


def test_every_cell_is_of_the_library_and_has_a_module(unit):
    consistent(unit)
    owners = loaded(unit, "hierarchy.json")
    assert owners["modules"]["steps__3"] == "AddRedKoc"
    assert {"steps__1", "reduction", ""} <= set(owners["cells"].values())


def test_registers_have_the_names_of_the_source(unit):
    registers = [name for name, cell in top_of(unit)["cells"].items() if cell["type"].startswith("DFF")]
    assert len(registers) == loaded(unit, "area.json")["flops"]
    assert {"valid_reg_1", "valid_reg_3"} <= set(registers)


def test_areas_add_up(unit):
    report = loaded(unit, "area.json")
    total = report["area_um2"]
    assert report["cells"] == len(netlist_of(unit).cells) == sum(report["kinds"].values())
    by_path = {item["path"]: item for item in report["by_module"]}
    assert by_path[""]["area_um2"] == total and by_path[""]["share"] == 1
    parts = sum(item["area_um2"] for path, item in by_path.items() if path)
    assert 0.2 * total < parts < total


def test_no_output_shares_a_net(unit):
    read = netlist_of(unit)
    assert not read.constants
    ends = [net for _, net in (*read.port_bits("input"), *read.port_bits("output"))]
    assert len(ends) == len(set(ends))


def test_report_of_the_run(unit):
    report = loaded(unit, "synthesis.json")
    assert picked(report, "tool clock_ns") == ("yosys", 3.0)
    rewritten = report["style"] == optimised.STYLE
    assert picked(report, "shared_adders carry_save_rows") == (8 if rewritten else 0, 0)
    assert report["options"].get("adders") == ("ripple" if rewritten else None)
    assert report["seconds"] > 0
    assert report["peak_memory_mib"] > 10
    assert report["options"]["clock_gating"] and loaded(unit, "area.json")["clock_gates"]


def test_unit_is_its_design(unit):
    report = proof(unit)
    assert report.equivalent and not report.refuted, report.summary
    assert report == product.read(unit / "equivalence.json", Equivalence)
    assert {"state", "valid", "ostream__msg"} <= {part.part for part in report.parts}


@parametrize(
    "kinds, other",
    [
        (("AND2_X1", "NAND2_X1", "NOR2_X1", "XOR2_X1", "XNOR2_X1"), "OR2_X1"),
        *later((("INV_X1",), "BUF_X1")),
    ],
)
def test_one_wrong_cell_is_refuted(unit, tmp_path, kinds, other, library):
    module = top_of(unit)
    cells = module["cells"]
    name = next(name for name, cell in cells.items() if cell["type"] in kinds)
    old, new = library.cells[cells[name]["type"]], library.cells[other]
    pins = dict(zip((*old.inputs, *old.outputs), (*new.inputs, *new.outputs), strict=True))
    cell = cells[name]
    cell["type"] = other
    for field in ("connections", "port_directions"):
        cell[field] = {pins[pin]: value for pin, value in cell[field].items()}
    refutation(unit, tmp_path, module)


# a product by 1 does not use its pipeline of the other factor after the first stage
UNREAD = """\
module dut(input logic clk, input logic en, input logic [3:0] a, output logic [3:0] y);
  logic [3:0] ones [3], held [3], sum [3];
  always_ff @(posedge clk) if (en) begin
    ones[0] <= 4'd1;
    held[0] <= a;
    for (int i = 1; i < 3; i++) begin
      ones[i] <= ones[i - 1];
      held[i] <= held[i - 1];
      sum[i] <= sum[i - 1] + (ones[i - 1][i] ? held[i - 1] : 0);
    end
    sum[0] <= (ones[0][0] ? held[0] : 0) + 1;
  end
  assign y = sum[2] + (ones[2][3] ? held[2] : 0);
endmodule
"""


def test_registers_that_nobody_reads(tmp_path):
    """Unread registers are removed, and a constant has their name in the netlist; that is no difference, but
    an observable change is.
    """
    synthesized(tmp_path, UNREAD)
    report = proof(tmp_path)
    assert report.equivalent and report.unread_registers > 0
    (tmp_path / "design.sv").write_text(UNREAD.replace("ones[2][3] ?", "ones[2][0] ?"))
    report = proof(tmp_path)
    assert report.refuted and {part.part for part in report.parts if part.result == "disproved"} == {"y"}


def test_nothing_to_compare_is_no_proof(tmp_path):
    (tmp_path / "design.sv").write_text("module dut(input logic clk, input logic a);\nendmodule\n")
    ports = {name: {"direction": "input", "bits": [bit]} for bit, name in enumerate(("clk", "a"), 2)}
    write_top(tmp_path, {"attributes": {"top": "1"}, "ports": ports, "cells": {}, "netnames": ports})
    report = proof(tmp_path)
    assert report.equivalent is False and report.refuted is False and report.parts == []
    assert report.summary.startswith("nothing is proved: ")


WIDE = """
module dut(input logic clk, input logic [129:0] a, input logic [129:0] b, output logic y);
  always_ff @(posedge clk) y <= a OPERATOR b;
endmodule
"""


@regress
def test_long_carries_are_networks(tmp_path, library):
    """Long carries are proved against a ripple, which would take about 5 ns."""
    synthesized(tmp_path, WIDE.replace("OPERATOR", ">="))
    assert proof(tmp_path).equivalent
    assert nldm.analyze(netlist_of(tmp_path), library, library.constraints(1.5)).wns_ns > 0
    (tmp_path / "design.sv").write_text(WIDE.replace("OPERATOR", ">"))
    assert proof(tmp_path).refuted


def test_clock_gate_with_another_enable_is_refuted(unit, tmp_path):
    module = top_of(unit)
    gate = next(cell for cell in module["cells"].values() if cell["type"].startswith("CLKGATE"))
    gate["connections"]["E"] = module["ports"]["reset"]["bits"]
    refutation(unit, tmp_path, module)


SMALL = """\
module Inner(input logic clk, input logic en, input logic [5:0] a, b, output logic [5:0] sum);
  always_ff @(posedge clk) if (en) sum <= a - b;
endmodule
module dut(
  input logic clk, reset, en, input logic [5:0] a, b,
  output logic [5:0] x, y, output logic [11:0] p, output logic less);
  Inner inner(.clk, .en, .a, .b, .sum(x));
  logic [1:0] state;
  always_ff @(posedge clk or posedge reset)
    if (reset) state <= 0;
    else state <= state + 2'd1;
  assign y = state == 2'd3 ? x : a;
  always_ff @(posedge clk) p <= 12'(a) * 12'(b);
  assign less = x < b;
endmodule
"""


@regress
@parametrize(
    "options",
    [
        {"hierarchy": True, "adders": "full-adders", "clock_gating": False},
        {"goal": "fast"},
        {"goal": "area", "adders": "kogge-stone", "booth": False, "leave_out": "sharing,carry-save"},
        {"style": "plain", "hierarchy": True},
        {"style": "plain", "booth": False, "clock_gating": False},
    ],
    ids=str,
)
def test_styles_and_options_make_the_same_circuit(tmp_path, options):
    synthesized(tmp_path, SMALL, **options)
    report = proof(tmp_path)
    assert report.equivalent, report.summary
    area = loaded(tmp_path, "area.json")
    assert bool(area["clock_gates"]) == options.get("clock_gating", True)
    assert ("FA_X1" in area["kinds"]) == (options.get("adders") == "full-adders")
    assert {item["path"] for item in area["by_module"]} == {"", "inner"}


@regress
def test_the_goal_area_is_smaller(unit, tmp_path):
    """The goal area gives a smaller netlist after sizing, at a clock that both goals meet."""
    areas = {}
    for goal in ("clock", "area"):
        (made := tmp_path / goal).mkdir()
        synthesize(unit / "design.sv", TOP, made, style=optimised.STYLE, goal=goal)
        sized = sizing.size(made / "netlist.json", made, clock_ns=3.0).after
        assert sized.wns_ns >= 0
        areas[goal] = sized.area_um2
    assert areas["area"] < 0.97 * areas["clock"]


ARITHMETIC = """\
module dut(input logic clk, input logic [4:0] a, n, input logic [2:0] x, input logic [5:0] b,
           output logic [9:0] p, output logic [7:0] q, output logic [4:0] wrapped,
           output logic [6:0] chained);
  logic [5:0] t [3];
  logic [6:0] s [3];
  always_comb begin
    t[0] = 6'(a) + 6'(x[0] ? n : 5'd0);
    s[0] = 7'(a) + 7'(x[0] ? n : 5'd0);
    for (int i = 1; i < 3; i++) begin
      t[i] = 6'(t[i - 1][5:1]) + (t[i - 1][1] ? 6'h3f : 6'(n)); // may pass its width
      s[i] = 7'(s[i - 1][6:1]) + 7'(s[i - 1][1] ^ x[i] ? n : 5'd0);
    end
  end
  always_ff @(posedge clk) begin
    p <= 10'(a) * 10'(a);
    q <= 8'(b) * 8'(b);
    wrapped <= t[2][4:0];
    chained <= s[2];
  end
endmodule
"""


@regress
def test_chains_that_may_be_rewritten(tmp_path):
    """The chain whose sums fit their width is rewritten; the chain whose sums may exceed it is not."""
    synthesized(tmp_path, ARITHMETIC)
    assert loaded(tmp_path, "synthesis.json")["carry_save_rows"] == 3
    report = proof(tmp_path)
    assert report.equivalent, report.summary


def test_estimates_and_what_is_too_large(unit, tmp_path, monkeypatch):
    expected = estimate.cells(loaded(unit / "work", "coarse.json"))
    assert 0.5 < expected / loaded(unit, "area.json")["cells"] < 2
    monkeypatch.setattr(reading, "MAX_CELLS", expected // 2)
    with refused(r"dut would take some .* cells.*at most .*smaller width") as error:
        synthesize(unit / "design.sv", TOP, tmp_path)
    assert "\n" not in str(error.value) and not (tmp_path / "netlist.v").exists()


CHAIN = """\
module dut(input logic clk, input logic [15:0] a, b, output logic y);
  logic [16:0] c;
  always_comb begin
    c[0] = 1'b0;
    for (int i = 0; i < 16; i++) c[i + 1] = a[i] & (b[i] | c[i]);
  end
  always_ff @(posedge clk) y <= c[16];
endmodule
"""


@regress
@parametrize("order", [("area", "depth"), ("depth", "area")])
def test_a_mapping_that_is_late_is_made_again(tmp_path, monkeypatch, order):
    """The faster of both mappings is kept, whichever was first; a mapping that meets the clock is not
    repeated.
    """
    (tmp_path / "design.sv").write_text(CHAIN)
    both = {name: optimised.STRUCTURES[name] for name in order}
    kept, delays = [], []
    for clock_ns, structures in ((0.2, both), (100, both), (0.2, dict([*both.items()][::-1]))):
        monkeypatch.setattr(optimised, "STRUCTURES", structures)
        synthesize(tmp_path / "design.sv", TOP, tmp_path, style=optimised.STYLE, clock_ns=clock_ns)
        kept.append(loaded(tmp_path, "synthesis.json")["structure"])
        delays += map(float, optimised.ABC_DELAY.findall((tmp_path / "work" / "map.log").read_text()))
    assert kept == ["depth", order[0], "depth"]
    assert delays[0] == delays[2]


def test_the_goal_area_keeps_the_smaller_mapping(tmp_path, monkeypatch):
    ways, kept = optimised.AREA_STRUCTURES, {}
    for names in (["shapes"], ["cuts"], ["shapes", "cuts"], ["cuts", "shapes"]):
        monkeypatch.setattr(optimised, "AREA_STRUCTURES", {name: ways[name] for name in names})
        synthesized(tmp_path, CHAIN, goal="area")
        area = loaded(tmp_path, "area.json")["area_um2"]
        kept[tuple(names)] = area, loaded(tmp_path, "synthesis.json")["structure"]
    *alone, forward, backward = kept.values()
    assert len({*alone}) == 2 and min(alone) == forward == backward


@parametrize(
    "words, area_um2",  # a tree of multiplexers takes 194 for data, a decoder 69 for constants
    [("a", 170), ("{8'd0, 8'd37, 8'd74, 8'd111, 8'd148, 8'd185, 8'd222}", 67)],
    ids=["data", "constants"],
)
def test_words_chosen_by_an_index(words, area_um2, tmp_path):
    """Data words are selected by a decoder, constants by multiplexers, which can be folded."""
    ports = "input logic clk, input logic [6:0][7:0] a, input logic [2:0] k, output logic [7:0] y, z"
    body = f"wire [6:0][7:0] words = {words};\nalways_ff @(posedge clk) {{z, y}} <= {{y, words[k]}};"
    synthesized(tmp_path, module(body, ports))
    assert loaded(tmp_path, "area.json")["area_um2"] < area_um2
    assert proof(tmp_path).equivalent


@parametrize("clock_ns, adders", [(3.0, "ripple"), (0.5, "mixed")])
def test_subtractions_ripple_where_there_is_time(clock_ns, adders, tmp_path):
    text = module("always_ff @(posedge clk) y <= y - (y - a);")
    synthesized(tmp_path, text.replace("[3:0]", "[7:0]"), clock_ns=clock_ns)
    assert loaded(tmp_path, "synthesis.json")["options"]["adders"] == adders


@regress
@parametrize("name", ["naive-001", "mont-001", "naive", "mont", "mont-ct"])
def test_machines_of_8_bits_are_their_designs(tmp_path, name):
    synthesized(tmp_path, translate(find(name).at(8).wrapped(XCEL), TOP))
    report = proof(tmp_path, seconds=300)
    assert report.equivalent, report.summary


@regress
@parametrize(
    "make, clock_ns, area_um2",
    [
        (lambda: find("mont-001").at(32).multiplier(), 3.0, 13000),
        (lambda: find("mont-001").at(32).wrapped(XCEL), 3.25, 63000),  # meets 3 ns only without wires
        (lambda: find("naive-001").at(32).wrapped(XCEL), 3.0, 17500),  # it squares with a multiplier
        (lambda: find("mont").at(32).wrapped(XCEL), 3.05, 12500),  # misses 3 ns by 2 ps
    ],
    ids=["MontMulRem", "mont-001", "naive-001", "mont"],
)
def test_areas_of_32_bits(tmp_path, make, clock_ns, area_um2):
    synthesized(tmp_path, translate(make(), TOP), clock_ns=clock_ns)
    report = sizing.size(tmp_path / "netlist.json", tmp_path, clock_ns=clock_ns)
    assert report.after.wns_ns >= 0
    assert loaded(tmp_path, "area.json")["area_um2"] == report.after.area_um2 <= area_um2


def module(body, ports="input logic clk, input logic [3:0] a, output logic [3:0] y"):
    return f"module dut({ports});\n{body}\nendmodule\n"


@parametrize(
    "text, message",
    {
        module("assign y = a"): r"design.sv:2.*expected ';'",
        module("assign y = a;").replace("dut", "other"): "'dut' is not a valid top-level module",
        module("missing u(.a, .y);"): "unknown module 'missing'",
        module("always @* if (a[0]) y = a;"): "is a latch",
        module("logic [3:0] z; assign z = z ^ a; assign y = z;"): "combinational loop.*break it",
        module("logic [3:0] z; assign y = a + z;"): "z.*nothing drives it",
        module("assign y = a + 4'd1; assign y = ~a;"): "y.* more than one driver",
        module(
            "assign y = a; assign y = ~a;", "input clk, input [3:0] a, output [3:0] y"
        ): r"^dut: y has more than one driver",
        module(
            "logic [31:0] mem [65536]; always_ff @(posedge clk) begin mem[i] <= d; q <= mem[i]; end",
            "input logic clk, input logic [15:0] i, input logic [31:0] d, output logic [31:0] q",
        ): "2097152 bits.*no memory macros",
    }.items(),
    ids=["syntax", "top", "module", "latch", "loop", "undriven", "drivers", "wires", "memory"],
)
def test_what_makes_no_circuit(tmp_path, text, message):
    with refused(message) as error:
        synthesized(tmp_path, text)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "netlist.v").exists()


# as in jpeg_encoder: a step of a division in each of several processes, and a function that calls another
CALLS = """\
module dut(input clk, input en, input [7:0] a, input [7:0] b, output reg [7:0] x, output reg [7:0] y,
           output [7:0] z);
  function LIFETIME [7:0] step; input [7:0] s; input [7:0] d; reg [7:0] difference; begin
    difference = s - d;
    if (difference[7]) step = {s[6:0], 1'b0}; else step = {difference[6:0], 1'b1};
  end endfunction
  function LIFETIME [7:0] twice; input [7:0] s; reg [7:0] first; begin
    first = step(s, 8'd3);
    twice = step(first, s);
  end endfunction
  task LIFETIME swap; input [7:0] from; output [7:0] to; begin to = {from[3:0], from[7:4]}; end endtask
  reg [7:0] pipe [0:2];
  integer n;
  always @(posedge clk) if (en) begin
    pipe[0] <= step(a, b);
    for (n = 1; n < 3; n = n + 1) pipe[n] <= step(pipe[n - 1], b);
  end
  always @(posedge clk) x <= twice(pipe[2]);
  always @(posedge clk) swap(twice(x), y);
  assign z = step(x, y);
endmodule
"""


@parametrize("style", [plain.STYLE, optimised.STYLE])
def test_function_that_several_processes_call(tmp_path, style):
    """Each call has its own variables, as if the function were automatic."""
    out, automatic = tmp_path / "netlist", tmp_path / "automatic"
    for folder, lifetime in ((out, ""), (automatic, "automatic")):
        folder.mkdir()
        (folder / "design.sv").write_text(CALLS.replace("LIFETIME", lifetime))
    synthesized(out, CALLS.replace("LIFETIME", ""), style)
    assert proof(automatic, out).equivalent


def test_function_that_reads_what_another_call_left(tmp_path):
    text = """\
module dut(input clk, input [3:0] a, b, output reg [3:0] x, y);
  function [3:0] sum; input [3:0] v; reg [3:0] so_far; begin
    so_far = so_far + v;
    sum = so_far;
  end endfunction
  always @(posedge clk) x <= sum(a);
  always @(posedge clk) y <= sum(b);
endmodule
"""
    with refused(r"^dut: sum\.so_far has more than one driver: declare its function or task automatic, or"):
        synthesized(tmp_path, text)


@parametrize(
    "options, message",
    [
        ({"style": "speed"}, "unknown style.*plain, optimised"),
        ({"adders": "carry-skip"}, "unknown kind of adder.*brent-kung"),
        ({"boot": True}, "did you mean 'booth'"),
        ({"clock_ns": 0.0}, "clock of 0.0 ns"),
        ({"hierarchy": "maybe"}, "hierarchy = maybe: give True or False"),
        ({"goal": "power"}, "unknown goal.*clock, area, fast"),
        ({"leave_out": "booth"}, "unknown pass of synthesis"),
        ({"style": "plain", "adders": "ripple"}, "unknown option of the style plain.*booth"),
    ],
    ids=str,
)
def test_wrong_options(tmp_path, options, message):
    with refused(message):
        synthesized(tmp_path, SMALL, **options)


def test_paths_with_blanks(tmp_path):
    """Yosys reads the design and the library through links, but cannot work in such a folder."""
    folder = tmp_path / "a design"
    folder.mkdir()
    (folder / "design.sv").write_text(SMALL)
    library = second_kit(tmp_path / "a kit")
    synthesize(folder / "design.sv", TOP, tmp_path, kit_directory=library)
    assert {cell["type"] for cell in top_of(tmp_path)["cells"].values()} <= {
        *map(cell_name, kit.find().library.cells)
    }
    remedy = "choose another folder .--output, MODEXLAB_CACHE or TMPDIR."
    with refused(rf"Yosys cannot work in .*/a design/work, .*{remedy}"):
        synthesize(folder / "design.sv", TOP, folder)


def test_missing_file_and_wrong_names(tmp_path):
    with refused("there is no file"):
        synthesize(tmp_path / "none.sv", TOP, tmp_path)
    (tmp_path / "design.sv").write_text(SMALL)
    with refused("no name of a module"):
        synthesize(tmp_path / "design.sv", "a b", tmp_path)
    with refused("no library in it"):
        with_wire_load("", 1.0)


def test_a_library_without_wires_gets_some():
    text = with_wire_load("library (x) {\n  capacitive_load_unit (1, ff);\n  cell (y) { }\n}\n", 0.5)
    found = liberty.parse(text)
    model = found.wire_loads[found.default_wire_load]
    assert (model.name, model.length_um(3) * model.cap_ff_per_um) == ("by_reader", approx(1.5))


def test_the_form_of_a_sum_shows(tmp_path):
    """AddRed in the textbook's form takes two rows of adders per step in the style plain, and Koc's form one;
    the style optimised makes them nearly the same netlist.
    """
    areas = {}
    for style in (plain.STYLE, optimised.STYLE):
        for form in ("textbook", "koc"):
            out = tmp_path / f"{form}-{style}"
            out.mkdir()
            synthesized(out, unit_text(add_red=form), style)
            report = loaded(out, "synthesis.json")
            assert report["caveats"] == ([] if style == plain.STYLE else [optimised.FORM])
            areas[form, style] = loaded(out, "area.json")["area_um2"]
    assert areas["textbook", optimised.STYLE] == approx(areas["koc", optimised.STYLE], rel=0.05)
    assert areas["textbook", plain.STYLE] > 1.2 * areas["koc", plain.STYLE]


BY_HAND = "from pyosys.libyosys import *; run_pass('script plain.ys', Design())"


@parametrize(
    "options", [{}, *later([{"hierarchy": True}], [{"booth": False, "clock_gating": False}])], ids=str
)
def test_the_plain_script_gives_the_netlist_by_hand(options, tmp_path):
    """The script has at most forty lines, and the netlist has its cells and connections under other names."""
    synthesized(tmp_path, SMALL, plain.STYLE, **options)
    folder = shutil.copytree(tmp_path / mapped.SCRIPT, tmp_path / "copy")
    script, commands = ((folder / name).read_text().splitlines() for name in ("plain.ys", "plain.abc"))
    assert len(script) + len(commands) <= 40 and BY_HAND in "".join(script)
    before = (folder / "mapped.v").read_bytes()
    (folder / "mapped.v").unlink()
    subprocess.run([sys.executable, "-c", BY_HAND], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    assert (folder / "mapped.v").read_bytes() == before
    by_hand, ours = (
        [(cell["type"], cell["connections"]) for cell in top["cells"].values()]
        for top in (json.loads((folder / "mapped.json").read_text())["modules"][TOP], top_of(tmp_path))
    )
    assert by_hand == ours[: len(by_hand)]  # SMALL has no constants at its cells


@regress
@parametrize("name", ["naive-001", "mont-001"])
def test_stock_synthesis_takes_the_area_of_the_page(name, tmp_path):
    """The commands on the page of the exploration, and the area that it states for them."""
    page = (ROOT / "docs" / "explanation" / "exploration.md").read_text()
    area = re.search(rf"^\| `{name}` \| ([\d,]+) \|$", page, re.MULTILINE)
    commands = "\n".join(re.findall(r"^ {4}(.+)$", page, re.MULTILINE))
    (tmp_path / "design.sv").write_text(translate(find(name).at(32).exported(XCEL), "mont_001_32_xcel"))
    (tmp_path / "nangate45.lib").symlink_to(kit.find().lib)
    log = yosys.run("stock", commands, tmp_path).log
    (found,) = re.findall(r"Chip area.*: *([\d.]+)$", log, re.MULTILINE)
    assert f"{float(found):,.0f}" == area[1]


def test_netlist_of_another_design_is_no_candidate(unit, tmp_path):
    (tmp_path / "design.sv").write_text(SMALL)
    with refused("not the same design"):
        proof(tmp_path, unit)


# ---- sharing on its own


def adders(design):
    return sum(cell["type"] == "$add" for cell in design["modules"][TOP]["cells"].values())


def test_textbook_steps_become_one_adder_each(tmp_path):
    """Two additions per step become one, and the common word y + n is computed once per stage."""
    (tmp_path / "design.sv").write_text(unit_text(add_red="textbook", pipelined=True))
    reading.read_design(tmp_path / "design.sv", TOP, tmp_path)
    design = loaded(tmp_path, "coarse.json")
    assert adders(design) == 16
    assert sharing.share_adders(design) == 8
    # eight adders replace the second sums, and each of the four stages has an adder for y + n; unread adders
    # are still there
    assert adders(design) == 16 + 8 + 4


@parametrize(
    "body",
    [
        "reg [3:0] unused; assign y = a;",
        "reg [3:0] r; always @(posedge clk) if (a[0]) r <= 0; assign y = a ^ r;",
        "parameter WITH = 0; reg [3:0] r; always @* begin r = 4'bx; if (WITH) r = a; end assign y = WITH ? "
        "r : a;",
        "reg ready, ready_reg; always @(posedge clk) begin ready_reg <= a[0]; ready <= ready_reg; end "
        "assign y = {4{ready}};",
    ],
    ids=["never used", "reset alone", "x under these parameters", "a net called as the register of another"],
)
def test_legal_verilog_is_taken(tmp_path, body):
    """Unused registers and don't-cares are not reported as undriven, and two objects never get one name,
    which ends in an assertion of yosys.
    """
    synthesized(tmp_path, module(body, "input clk, input [3:0] a, output [3:0] y"))
    assert (tmp_path / "netlist.v").exists()


def test_an_assertion_of_yosys_is_told_as_one():
    log = (
        "1.2. Executing JSON frontend.\nERROR: Assert `count_id(cell->name) == 0' failed in "
        "kernel/rtlil.cc:2881.\n"
    )
    said = yosys._reason(log, 1, Path("write.log"))
    assert "stumbled over its own data in its pass JSON" in said and "no error in the Verilog" in said


def held(enable="opens", value="a"):
    """A marked register with its enable, which is a flip-flop by default."""
    return f"""\
module Held(input logic clk, input logic opens, input logic [3:0] entering,
            (* latch *) output logic [3:0] word);
  always_ff @(posedge clk) if (opens) word <= entering;
endmodule
module dut(input logic clk, input logic go, input logic [3:0] a, input logic [1:0] i, output logic y);
  logic opens;
  logic [3:0] word;
  always_ff @(posedge clk) begin opens <= go; y <= word[i]; end
  Held held(.clk, .opens({enable}), .entering({value}), .word);
endmodule
"""


def test_marked_registers_are_latches(tmp_path, library):
    """The proof sees registers with an enable; both timing engines start from the flip-flop that opens the
    latches.
    """
    synthesized(tmp_path, held())
    latches = [name for name, cell in netlist_of(tmp_path).cells.items() if library.cells[cell.kind].latch]
    assert sorted(latches) == [f"held.word_reg_{place}" for place in range(4)]
    assert proof(tmp_path).equivalent
    reports = {
        engine: timing.analyze(tmp_path / "netlist.v", TOP, tmp_path / engine, clock_ns=1.0, engine=engine)
        for engine in timing.ENGINES
    }
    assert all(report.met for report in reports.values())
    slacks = {report.wns_ns for report in reports.values()}
    assert max(slacks) - min(slacks) < 1e-4
    for report in reports.values():
        start = report.paths[0].points[0].name
        assert start.endswith("/G") or start == "opens_reg/CK"
    module = top_of(tmp_path)
    module["cells"][latches[0]]["connections"]["D"] = module["cells"][latches[1]]["connections"]["D"]
    assert [part.part for part in refutation(tmp_path, tmp_path, module).parts if part.result == "disproved"]


def test_latches_that_could_be_seen_open(tmp_path, library):
    with refused("word is marked as a latch: its enable has to be the output of a flip-flop"):
        synthesized(tmp_path, held(enable="go"))
    synthesized(tmp_path, held(value="a + 4'd1"))
    assert not any(library.cells[cell.kind].latch for cell in netlist_of(tmp_path).cells.values())


@regress
def test_the_smallest_netlist_inverts_no_register(tmp_path, library):
    synthesized(tmp_path, unit_text(), goal="area")
    read = netlist_of(tmp_path)
    driven = [
        library.cells[read.cells[driver[0]].kind].ff
        for name, cell in read.cells.items()
        if cell.kind.startswith("INV") and (driver := read.driver[cell.pins["A"]]) and driver[0] in read.cells
    ]
    assert driven and not any(driven)
    assert proof(tmp_path).equivalent
