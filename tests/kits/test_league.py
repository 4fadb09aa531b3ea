"""`modexlab compare cores --kit all`: figures in units of each library, and rankings compared with the one at
45 nm.

All figures are invented, except for the units of the kits: the tests are about the arithmetic.
"""

import re

import pytest
from modexlab.eval.lab.comparison import league as lab
from modexlab.eval.lab.metrics import Measurement, figure
from modexlab.eval.lab.point import Point
from modexlab.flow.kit import kit
from pytest import approx

from tests.harness import parametrize
from tests.kits import pdks

pytestmark = pytest.mark.usefixtures("untranslated")
TESTS = {"rtl": {"passed": 30, "failed": 0}, "gates": {"passed": 30, "failed": 0}}
AREAS = {"mont": 1000.0, "naive": 2000.0, "ssmm": 300.0}  # um2 at 45 nm
CYCLES = {"mont": 2, "naive": 18, "ssmm": 15}


def record(ledger, name, kit_name, area, clock, corners=(), marks=()):
    figures = [figure("area_um2", area), figure("clock_ns", clock), figure("wns_ns", 0.1)]
    figures += [figure(f"period_{corner}_ns", value) for corner, value in corners]
    figures.append(figure("cycles", CYCLES[name], "product"))
    point = Point(name, 16, interface="unit", stage="flow", flow=(("fmax", True), ("kit", kit_name)))
    ledger.record(point, Measurement(tuple(figures), 1.0, {}, "", "made up", marks, {"tests": TESTS}))


@pytest.fixture
def measured(ledger):
    """Three cores at 45 nm and with sky130hd, where short clocks put `naive` first."""
    for name, area in AREAS.items():
        record(ledger, name, "nangate45", area, 1.0)
        slow = {"mont": 50.0, "naive": 1.0, "ssmm": 30.0}[name]
        record(ledger, name, "sky130hd", 4 * area, slow, (("slow", 4.0), ("typical", 1.0), ("fast", 0.5)))
    return ledger


@parametrize(
    "second, tau",
    [
        ([1, 2, 3, 4], 1.0),
        ([4, 3, 2, 1], -1.0),
        ([1, 2, 4, 3], 4 / 6),  # five pairs agree, one does not
        ([2, 2, 3, 4], 5 / 6),  # a tie counts for neither
    ],
)
def test_kendall_s_tau(second, tau):
    assert lab.kendall([10, 20, 30, 40], second) == approx(tau)


def test_units_of_the_default_kit():
    """The units agree with the text of the Liberty file, read independently."""
    text = kit.find().lib.read_text()
    area = float(re.search(r"cell \(NAND2_X1\) \{.*?area\s*:\s*([\d.]+)", text, re.DOTALL)[1])
    found = lab.measured_units("nangate45")
    assert found.nand2_um2 == area and found == lab.units_of("nangate45")
    # INV_X1 with 4 x 1.7 fF; its table has 10 to 20 ps at 3.66 fF and twice that at 7.33 fF
    assert 0.015 < found.fo4_ns["typical"] < 0.03


@parametrize("name", pdks.INSTALLED)
def test_recorded_units_are_those_of_the_liberty_files(monkeypatch, name):
    pdks.require(monkeypatch, name)
    assert lab.measured_units(name) == lab.units_of(name)


def test_units_are_recorded_again(cli, monkeypatch, tmp_path):
    """The units of installed kits, with their digests; other kits stay as they are."""
    text = lab.UNITS.read_text()
    monkeypatch.setattr(lab, "UNITS", tmp_path / "kits.json")
    monkeypatch.delenv(kit.PDK_ROOT, raising=False)
    lab.UNITS.write_text(text.replace("0.798", "0.598"))
    told = cli.passes("compare cores --kit all --own --record").err
    assert "no units recorded for " in told and "nangate45" not in told
    assert lab.UNITS.read_text() == text


def test_corners_and_units(measured):
    found = lab.league(measured)
    one = next(
        item
        for item in found
        if item.core.design == "mont" and item.kit == "sky130hd" and item.corner == "fast"
    )
    # the clock of 50 ns is for the slow corner, where the longest path takes eight times as long
    assert one.period_ns == 50 / 8
    assert one.product_ns == 2 * 50 / 8
    assert one.area_time == approx(4000 * 2 * 50 / 8 / 1e6)
    fo4 = lab.units_of("sky130hd").fo4_ns["fast"]
    assert one.gates == approx(4000 / 3.7536) and one.product_fo4 == approx(12.5 / fo4)
    assert one.gate_time == approx(one.gates * one.product_fo4 / 1000)
    assert [item.kit for item in found[:3]] == ["nangate45"] * 3, "the base is first"
    assert [item.place for item in found[:3]] == [1, 2, 3]


def test_rankings(measured):
    held = lab.held_to_base(lab.league(measured))
    assert [(item.kit, item.corner, item.cores) for item in held] == [
        ("sky130hd", corner, 3) for corner in ("slow", "typical", "fast")
    ]
    # mont 2000, ssmm 4500, naive 36000 at 45 nm; naive 144,000, mont 400,000, ssmm 540,000 with sky130hd
    assert [item.tau for item in held] == [approx(-1 / 3)] * 3 and {item.tau_area for item in held} == {1.0}
    assert "-0.33 everywhere, and the order is the same in 0 of 3 cases" in lab.answer(held)


def test_marked_rows_are_left_out(ledger, cli):
    record(ledger, "mont", "sky130hd", 1.0, 1.0, marks=("misses its clock",))
    assert lab.league(ledger) == []
    out = cli.passes("compare cores mont --kit all --own --nbits 16").out
    assert "Left out: mont, 16 bits, sky130hd: misses its clock." in out


def test_the_command(measured, cli):
    command = "compare cores --kit all --own"
    found = cli.passes(f"{command} --json").json()
    assert len(found["cores"]) == 12 and len(found["agreements"]) == 3
    assert found["cores"][0]["units"] == {"nand2_um2": 0.798, "fo4_ns": approx(0.022, abs=1e-3)}
    text = cli.passes(command).out
    assert found["answer"].split(":")[0] in text and "16 bits: a product, with every kit" in text


def test_a_kit_has_a_table_of_its_own(measured, cli):
    """The default kit's table has no rows of another kit."""

    def ours(options):
        cores = cli.passes(f"compare cores mont --nbits 16 --own --json {options}").json()
        return [item for item in cores if item["kind"] == "ours" and item["area_um2"]]

    (core,) = ours("--kit sky130hd")
    assert core["area_um2"] == 4000.0 and core["kit"] == "sky130hd"
    assert "SkyWater" in core["technology"] and "--kit sky130hd" in core["command"]
    assert [item["area_um2"] for item in ours("")] == [1000.0]
