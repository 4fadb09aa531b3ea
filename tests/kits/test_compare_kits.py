"""`modexlab compare cores --kit`: the cores of one library, and of all. All figures are invented."""

import pytest
from modexlab.eval.lab.metrics import Measurement, figure
from modexlab.eval.lab.point import Point

pytestmark = pytest.mark.usefixtures("untranslated")
TESTS = {"rtl": {"passed": 30, "failed": 0}, "gates": {"passed": 30, "failed": 0}}


@pytest.fixture(autouse=True)
def measured(store):
    """One core at 45 nm and with sky130hd."""
    for kit, area in (("nangate45", 1000.0), ("sky130hd", 4000.0)):
        figures = figure("area_um2", area), figure("clock_ns", 1.0), figure("wns_ns", 0.1)
        point = Point("mont", 16, interface="unit", stage="flow", flow=(("fmax", True), ("kit", kit)))
        cycles = figure("cycles", 2, "product")
        store.record(point, Measurement((*figures, cycles), 1.0, {}, "", "made up", (), {"tests": TESTS}))


def ours(cli, options):
    cores = cli.passes(f"compare cores mont --nbits 16 --own --json {options}").json()
    return [item for item in cores if item["kind"] == "ours" and item["area_um2"]]


def test_a_kit_has_a_table_of_its_own(cli):
    """The default kit's table has no rows of another kit."""
    (core,) = ours(cli, "--kit sky130hd")
    assert core["area_um2"] == 4000.0 and core["kit"] == "sky130hd"
    assert "SkyWater" in core["technology"] and "--kit sky130hd" in core["command"]
    assert [item["area_um2"] for item in ours(cli, "")] == [1000.0]


def test_all_kits(cli):
    assert {item["kit"]: item["area_um2"] for item in ours(cli, "--kit all")} == {
        None: 1000.0,
        "sky130hd": 4000.0,
    }
    text = cli.passes("compare cores mont --nbits 16 --own --kit all").out
    assert "technology" in text.split("One flow (")[0]
