"""Modules with many instances: mapped, sized and proved once, with the same result as the whole design."""

import json
import shutil

import pytest
from modexlab.flow import product
from modexlab.flow.netlist.hierarchy import Hierarchy
from modexlab.flow.synth import tiles
from modexlab.flow.synth.area import Area
from modexlab.flow.synth.sizing import sizing
from modexlab.flow.synth.synthesis import SynthesisReport, synthesize
from modexlab.flow.synth.tiles import Tiles

from tests.flow.designs import TOP, loaded, proof, sizing_slack, synthesized, top_of, write_top
from tests.harness import later, module_fixture, one_now, parametrize, refused, regress

COUNT = 5
TIGHT_NS = 0.62

# inputs of the first element are constant, and each element passes on its x; `mixer` has no register and is
# no tile
DESIGN = f"""
module mixer (input logic [3:0] a, input logic [3:0] b, output logic [3:0] y);
  assign y = a ^ {{b[0], b[3:1]}};
endmodule

module element (
  input logic clk, input logic go, input logic [3:0] x, input logic [3:0] m, input logic [7:0] a,
  output logic [3:0] next_x, output logic [7:0] acc
);
  logic [7:0] kept;
  assign acc = kept;
  always_ff @(posedge clk) begin
    next_x <= x;
    if (go) kept <= x * m + a;
  end
endmodule

module dut (
  input logic clk, input logic go, input logic [3:0] x, input logic [{4 * COUNT - 1}:0] m,
  output logic [7:0] y, output logic [3:0] last
);
  logic [3:0] xs [{COUNT + 1}];
  logic [7:0] sums [{COUNT + 1}];
  assign xs[0] = x;
  assign sums[0] = 8'd0;
  assign y = sums[{COUNT}];
  assign last = xs[{COUNT}];
  for (genvar i = 0; i < {COUNT}; i++) begin : row
    logic [3:0] mixed;
    mixer mix (.a(m[4*i +: 4]), .b(xs[i]), .y(mixed));
    element pe (.clk, .go, .x(xs[i]), .m(mixed), .a(sums[i]), .next_x(xs[i+1]), .acc(sums[i+1]));
  end
endmodule
"""


@pytest.fixture(autouse=True, scope="module")
def small():
    """Makes small modules worth being tiles."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiles, "LEAST_SAVED", 50)
        yield


@module_fixture
def made(tmp_path_factory):
    """The netlist with tiles; in `sized`, sized for a clock that it misses at first."""
    out = tmp_path_factory.mktemp("tiles")
    synthesized(out, DESIGN)
    sizing.size(out / "netlist.json", out / "sized", clock_ns=TIGHT_NS)
    return out


def test_only_modules_with_registers_at_their_outputs(made):
    (tile,) = product.read(made / Tiles.FILE, Tiles).tiles
    assert tile.name == "element" and len(tile.paths) == COUNT
    assert product.read(made / SynthesisReport.FILE, SynthesisReport).tiles == {"element": COUNT}


def test_every_instance_has_the_same_cells(made):
    area, owners = product.read(made / Area.FILE, Area), product.read(made / Hierarchy.FILE, Hierarchy)
    of = {module_area.path: module_area for module_area in area.by_module if module_area.module == "element"}
    assert len(of) == COUNT
    assert len({(module_area.cells, module_area.area_um2) for module_area in of.values()}) == 1
    assert area.flops == COUNT * 12
    assert {owners.cells[cell] for cell in owners.cells if cell.startswith("row[2].pe.")} == {"row[2].pe"}
    assert "mixer" in {module_area.module for module_area in area.by_module}


@parametrize("which", one_now((".", "sized"), "sized"))
def test_the_whole_is_the_design_by_parts_and_flat(made, which):
    by_parts = proof(made, made / which, tiles_json=made / which / Tiles.FILE)
    assert by_parts.equivalent
    of_tile = {part.part for part in by_parts.parts if part.part.startswith("element: ")}
    assert {"element: acc", "element: next_x"} <= of_tile and len(of_tile) < 5
    assert proof(made, made / which).equivalent


def test_sized_by_parts_as_the_whole_says(made):
    report = product.read(made / "sized" / "sizing.json", sizing.Sizing)
    assert report.before and report.after
    assert report.after.wns_ns == pytest.approx(sizing_slack(made / "sized", TIGHT_NS), abs=1e-4)
    assert report.before.wns_ns < -0.02 and report.after.wns_ns > report.before.wns_ns + 0.02
    tiled = product.read(made / "sized" / Tiles.FILE, Tiles)
    (tile,) = tiled.tiles
    assert tiles.differences(top_of(made / "sized"), tile, tiled.netlists[tile.module]) == []


def another_cell(module, tiled, prefix):
    """Replace a two-input gate by another one."""
    cells = module["cells"]
    name, cell = next(
        (name, cell)
        for name, cell in sorted(cells.items())
        if name.startswith(prefix) and cell["type"].startswith(("NAND2", "NOR2"))
    )
    cell["type"] = "NOR2_X1" if cell["type"].startswith("NAND2") else "NAND2_X1"
    if prefix == "row[":  # in all instances, and in the tile
        leaf = name.rpartition(".")[2]
        (tile,) = tiled["tiles"]
        for path in tile["paths"]:
            cells[f"{path}.{leaf}"]["type"] = cell["type"]
        tiled["netlists"][tile["modules"][0]]["cells"][leaf]["type"] = cell["type"]


def other_nets(module, tiled, prefix):
    """Exchange two inputs of an instance."""
    a, b = (module["netnames"][f"{prefix}.{port}"]["bits"][0] for port in "mx")
    for name, cell in module["cells"].items():
        if name.startswith(f"{prefix}."):
            pins = cell["connections"].items()
            cell["connections"] = {pin: [{a: b, b: a}.get(bit, bit)] for pin, (bit,) in pins}


@parametrize(
    "damage, where",
    [
        *later((another_cell, "row[3].pe."), (another_cell, "row[")),
        (other_nets, "row[1].pe"),
    ],
)
def test_wrong_netlists_are_refuted(made, tmp_path, damage, where):
    module, tiled = top_of(made), loaded(made, Tiles.FILE)
    damage(module, tiled, where)
    write_top(tmp_path, module)
    (tmp_path / Tiles.FILE).write_text(json.dumps(tiled))
    report = proof(made, tmp_path, tiles_json=tmp_path / Tiles.FILE)
    assert report.refuted
    wrong = [item.part for item in report.parts if item.result == "disproved"]
    assert all("element" in part for part in wrong), wrong
    assert any(part.startswith(where.rstrip(".")) for part in wrong) or where == "row["


def test_tiles_of_another_design_are_refused(made, tmp_path):
    shutil.copy(made / "netlist.json", tmp_path)
    (tmp_path / Tiles.FILE).write_text((made / Tiles.FILE).read_text().replace("row[4].pe", "row[7].pe"))
    with refused("run the step sizing again"):
        proof(made, tmp_path, tiles_json=tmp_path / Tiles.FILE)


@regress
def test_a_small_design_has_none(made, tmp_path, monkeypatch):
    monkeypatch.setattr(tiles, "LEAST_SAVED", 10_000)
    synthesize(made / "design.sv", TOP, tmp_path, style="optimised")
    assert product.read(tmp_path / Tiles.FILE, Tiles).tiles == ()
