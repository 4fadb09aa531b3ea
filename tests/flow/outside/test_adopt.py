"""Netlists of other tools: the elaborated design that these tools read, and the adoption of a netlist."""

import re

from modexlab.eval.designs.catalogue import find
from modexlab.flow import product
from modexlab.flow.graph import figures
from modexlab.flow.kit import kit
from modexlab.flow.netlist import yosys
from modexlab.flow.synth.adopt import adopt
from modexlab.flow.synth.area import Area
from modexlab.flow.synth.elaborate import elaborate
from modexlab.rtl.sim.translation.translate import translate

from tests.flow.designs import TOP, consistent, loaded, synthesized
from tests.flow.outside.nodes import configured, mflowgen, output
from tests.harness import parametrize, refused, regress
from tests.paths import ROOT

STOCK = ROOT / "flow" / "examples" / "stock-yosys"
CHIP_AREA = re.compile(r"Chip area for module '\\\w+': ([\d.]+)")
HIERARCHICAL = """\
module inner(input a, input b, output y);
  wire n;
  NAND2_X1 g(.A1(a), .A2(b), .ZN(n));
  INV_X1 h(.A(n), .ZN(y));
endmodule
module dut(input clk, input a, input b, output q, output same, output one);
  wire y;
  inner first(.a(a), .b(b), .y(y));
  DFF_X1 \\q_reg[0] (.D(y), .CK(clk), .Q(q), .QN());
  INV_X1 unused(.A(a));
  assign same = a;
  assign one = 1'b1;
endmodule
"""
FLAT = """\
module dut(input clk, input a, output q);
  wire \\unit.left.n ;
  wire _0_;
  INV_X1 _1_(.A(a), .ZN(_0_));
  INV_X1 _2_(.A(_0_), .ZN(\\unit.left.n ));
  DFF_X1 _3_(.D(\\unit.left.n ), .CK(clk), .Q(q));
endmodule
"""


def adopted(directory, text, **options):
    """The directory with the files of an adopted netlist."""
    (directory / "other.v").write_text(text)
    adopt(directory / "other.v", TOP, directory, kit.find(), **options)
    return directory


@parametrize("name", ["heap", "systolic"])
def test_elaborated_design_has_no_system_function(name, tmp_path):
    """The node of Yosys in mflowgen replaces each `$` by `_` and reads the result."""
    text = translate(find(name).at(8).rtl(), TOP)
    assert "$clog2(" in text
    (tmp_path / "design.sv").write_text(text)
    elaborate(tmp_path / "design.sv", TOP, tmp_path)
    plain = (tmp_path / "design.v").read_text()
    assert not re.search(r"\$\w+\s*\(|\$signed|\$bwmux", plain)
    (tmp_path / "plain.v").write_text(plain.replace("$", "_"))
    yosys.run(
        "read", f"read_verilog plain.v\nhierarchy -check -top {TOP}\nproc\nflatten\ncheck -assert\n", tmp_path
    )


def test_adopted_netlist_is_not_changed(tmp_path):
    """Unused cells, constants and ports of one net stay; modules of a netlist with hierarchy are exact."""
    adopted(tmp_path, HIERARCHICAL)
    hierarchy, area = loaded(tmp_path, "hierarchy.json"), loaded(tmp_path, "area.json")
    assert hierarchy["modules"] == {"": TOP, "first": "inner"}
    assert hierarchy["cells"] == {"first.g": "first", "first.h": "first", "q_reg[0]": "", "unused": ""}
    assert area["cells"] == 4 and area["flops"] == 1
    cells = kit.find().library.cells
    assert area["area_um2"] == round(sum(cells[kind].area * n for kind, n in area["kinds"].items()), 3)


def test_modules_of_a_flat_netlist(tmp_path):
    """Names of nets give the modules; a cell without one is in the module of its readers."""
    hierarchy = loaded(adopted(tmp_path, FLAT), "hierarchy.json")
    assert hierarchy["cells"] == {"_1_": "unit.left", "_2_": "unit.left", "_3_": ""}
    assert hierarchy["modules"] == {"": TOP, "unit": "unit", "unit.left": "unit.left"}


@parametrize(
    "text, message",
    [
        (FLAT.replace("dut", "other"), "other.v: unknown module 'dut': there are other; give the netlist"),
        (FLAT.replace("INV_X1", "INVX9"), "module dut has instances of INVX9, and neither .* has them: map"),
        (FLAT.replace("wire _0_;", "wire _0_; wire z = a & q;"), r"module dut has instances of \$and, and"),
        (FLAT.replace("wire _0_;", "wire _0_"), r"^other\.v:4: syntax error"),
    ],
)
def test_wrong_netlist_is_refused(text, message, tmp_path):
    with refused(message):
        adopted(tmp_path, text)


def test_our_netlist_adopted_is_the_same(tmp_path):
    """Area by module and cells of a netlist of our own synthesis, read back from its Verilog."""
    ours = tmp_path / "ours"
    ours.mkdir()
    synthesized(ours, translate(find("mont-001").at(8).multiplier(), TOP))
    theirs = adopted(tmp_path, (ours / "netlist.v").read_text(), elaborated=ours / "work" / "hierarchy.json")
    one, other = (loaded(directory, "area.json") for directory in (ours, theirs))
    assert {**one, "by_module": []} == {**other, "by_module": []}
    assert consistent(ours).cells.keys() == consistent(theirs).cells.keys()


def stock_area(directory):
    """The area that the node of mflowgen reports."""
    (stats,) = directory.glob("*-open-yosys-synthesis/outputs/synth.stats.txt")
    return float(CHIP_AREA.search(stats.read_text())[1])


def test_stock_node_in_place_of_ours(tmp_path):
    """mflowgen runs its own synthesis; the area is that of its `stat`."""
    nodes = configured(tmp_path, STOCK, design="mont", nbits=8)
    assert {"elaborate", "open-yosys-synthesis", "adopt", "timing", "place", "summary"} <= nodes
    assert not nodes & {"synthesis", "sizing"}
    mflowgen(tmp_path, "make", "adopt")
    area = product.read(output(tmp_path, "adopt", "area.json"), Area)
    assert area.area_um2 == round(stock_area(tmp_path), 3) > 0
    assert {"dpath", "units__0"} <= {module.path for module in area.by_module if module.flops}


@regress
@parametrize("name", ["mont", "heap", "systolic"])
def test_our_steps_behind_the_stock_node(name, tmp_path):
    """The commands of the page: the netlist passes the tests, before and after layout."""
    configured(tmp_path, STOCK, design=name, nbits=8, density=0.6)
    mflowgen(tmp_path, "make", "summary")
    report = product.read(output(tmp_path, "summary", "summary.json"), figures.Summary)
    assert report.tests_failed == 0 and report.tests_passed > 0
    assert report.before_layout.area_um2 == round(stock_area(tmp_path), 3)
    assert report.after_layout.wires == "routing" and report.after_layout.energy_nj
