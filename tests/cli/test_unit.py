"""`--interface unit`: a multiplier without its machine, through the flow and on FPGAs, and where it cannot
be.
"""

import pytest
from modexlab.eval.designs import catalogue
from modexlab.eval.designs.unit_chip import UnitChip, chip
from modexlab.eval.lab.point import Point
from modexlab.fl.errors import BadInput
from modexlab.flow import product, workload
from modexlab.flow.graph.runner import run_flow
from modexlab.flow.workload import Simulated

from tests.harness import regress_if

WITHOUT = {"fold", "fold-ct", "serial-003", "serial-003-one", "serial", "systolic"}  # operands in the machine
QUICK = {"heap"}  # whose static ports are not the modulus alone


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(design.name, marks=regress_if(design.name not in QUICK))
        for design in catalogue.designs()
        if design.name not in WITHOUT
    ],
)
def test_products_of_every_unit(name):
    """Corners and random factors at RTL, and the cycles of the formula."""
    made = chip(catalogue.find(name), 16, {}, "unit")
    files = run_flow(["rtl-sim"], made, {}, lambda _: None, jobs=1).files()
    ran = product.read(files["rtl_sim.json"], Simulated)
    assert ran.tests_failed == 0 and ran.tests_passed >= 20, ran.failures
    work = workload.load(files["workload.json"])
    (operands,) = made.energy()
    timing = made.machine.timing
    assert (
        ran.cycles == {"product": timing.latency(*operands.operands)}
        and not work.energy["product"].whole_cycles
    )


@pytest.mark.parametrize("name", sorted(WITHOUT))
def test_units_within_their_machine_are_refused(cli, name):
    assert "take the whole machine" in cli.fails(f"asic --fpga {name} --nbits 64 --interface unit")


@pytest.mark.regress
def test_on_an_fpga(cli):
    """Paper 002's array has a multiplier an element and two for the quotient."""
    asked = "asic --fpga systolic-002 --nbits 32 --device artix-7 --interface unit --json"
    report = cli(f"{asked}").json()
    counts = report["devices"]["artix-7"]
    assert (report["interface"], report["top"]) == ("unit", "systolic_002_32_unit")
    assert counts["dsps"] == report["parameters"]["words"] + 2
    assert counts["slices"] == max(-(-counts["luts"] // 4), -(-counts["ffs"] // 8))


def test_only_where_products_are_measured():
    assert isinstance(Point("mont", 16, interface="unit", stage="fpga").chip(), UnitChip)
    with pytest.raises(BadInput, match="does no exponentiation; give stage fpga"):
        Point("mont", 16, interface="unit", stage="native").check()
