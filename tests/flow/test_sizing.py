"""Sizes, buffers and pins: the clock met, area given back, and the same function as before."""

import math
import shutil
from dataclasses import replace

import pytest
from modexlab.flow import product
from modexlab.flow.synth import optimised
from modexlab.flow.synth.sizing import full_adders, sizing
from modexlab.flow.synth.sizing.circuit import wired
from modexlab.flow.synth.sizing.families import Families
from modexlab.flow.synth.sizing.report import Sizing
from modexlab.flow.timing.wire_table import NetWire
from pytest import approx

from tests.flow.designs import consistent, loaded, netlist_of, proof, sizing_slack, synthesized, unit_text
from tests.harness import module_fixture, one_now, parametrize, refused

TIGHT_NS = 0.95  # what the unit below misses as it comes from abc

EFFORT = sizing.Effort(rounds=1, batches=6, recoveries=3)


@module_fixture
def unit(tmp_path_factory):
    """Paper 001's MontMulRem, 8 bits, not sized by abc; for a fast clock in `sized`, a slow one in `slow`."""
    out = tmp_path_factory.mktemp("unit")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(optimised.MARGINS, "clock", 1.5)
        patch.setattr(sizing, "effort_for", lambda cells, plain: EFFORT)
        synthesized(out, unit_text())
        sizing.size(out / "netlist.json", out / "sized", clock_ns=TIGHT_NS)
        sizing.size(out / "netlist.json", out / "slow", clock_ns=5.0)
    return out


def test_paths_become_faster_as_reported(unit):
    report = product.read(unit / "sized" / "sizing.json", Sizing)
    before = sizing_slack(unit, TIGHT_NS)
    after = sizing_slack(unit / "sized", TIGHT_NS)
    assert report.before.wns_ns == approx(before, abs=1e-4) and before < -0.05
    assert report.after.wns_ns == approx(after, abs=1e-4)
    assert after > before / 2
    assert report.moves["resized"] and report.moves["exchanged"] and report.moves["buffers"]


def test_area_is_given_back_where_there_is_slack(unit):
    report = product.read(unit / "slow" / "sizing.json", Sizing)
    assert report.after.area_um2 < report.before.area_um2
    assert sizing_slack(unit / "slow", 5.0) >= 0
    assert report.moves["made_smaller"]


def test_gates_become_full_adders_where_there_is_slack(unit):
    report = product.read(unit / "slow" / "sizing.json", Sizing)
    kinds = loaded(unit / "slow", "area.json")["kinds"]
    assert kinds["FA_X1"] == report.moves["full_adders"] > 40
    assert report.after.cells < report.before.cells - 2 * kinds["FA_X1"]
    # where there is none nothing is exchanged, and no path may become later for it
    assert loaded(unit / "sized", "area.json")["kinds"].get("FA_X1", 0) < kinds["FA_X1"]


def test_the_area_of_gates_does_not_depend_on_the_order_of_a_set(unit, library):
    """With areas whose sums are rounded otherwise in another order."""
    cells = {kind: replace(cell, area=cell.area**0.7) for kind, cell in library.cells.items()}
    read = netlist_of(unit)
    found = full_adders.find(read, replace(library, cells=cells))
    assert len(found) > 40
    for adder in found:
        assert adder.gone == math.fsum(cells[read.cells[name].kind].area for name in adder.cells)


@parametrize("which", one_now(["sized", "slow"], "sized"))
def test_sized_unit_is_its_design(unit, which):
    report = proof(unit, unit / which)
    assert report.equivalent and not report.refuted, report.summary


def test_products_agree(unit):
    out = unit / "sized"
    report = loaded(out, "sizing.json")
    assert loaded(out, "area.json")["area_um2"] == approx(report["after"]["area_um2"], abs=0.01)
    buffers = {name for name in consistent(out).cells if "drive_" in name}
    assert len(buffers) == report["moves"]["buffers"]
    text = (out / "netlist.v").read_text()
    assert all(name in text for name in buffers)


def test_wires_of_a_placement_count(unit):
    read = netlist_of(unit)
    net = next(net for _, net in read.port_bits("output"))
    circuit = wired(read, 1.0, {read.nets[net]: NetWire(30.0, 200.0), "clock_tree.net": NetWire(9.0)})
    assert circuit.caps_ff[net] == 30.0 and circuit.res_kohm[net] == 0.2
    other = next(place for place in range(len(read.nets)) if place != net)
    assert circuit.caps_ff[other] == len(read.sinks[other])


def test_only_alike_cells_are_of_a_family(library):
    families = Families(library)
    names = {families.kinds[other] for other in families.others[families.number["NAND2_X1"]]}
    assert names == {"NAND2_X2", "NAND2_X4"}
    assert families.commutative["AOI21_X1"] == [("B1", "B2")]
    assert families.commutative["MUX2_X1"] == []
    assert ("A1", "A2") in families.commutative["NAND3_X1"]


def test_a_missing_hierarchy_is_refused(unit, tmp_path):
    with refused("hierarchy"):
        sizing.size(shutil.copy(unit / "netlist.json", tmp_path / "netlist.json"), tmp_path, clock_ns=3.0)
