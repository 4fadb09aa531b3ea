"""`--interface unit`: a multiplier without its machine, through the flow and on FPGAs, and designs without
one.
"""

from modexlab.eval.designs.catalogue import designs, find
from modexlab.eval.designs.unit_chip import UnitChip, chip
from modexlab.eval.lab.point import Point
from modexlab.flow import product, workload
from modexlab.flow.graph.runner import run_flow
from modexlab.flow.workload import Simulated

from tests.command_line import picked, refusals
from tests.harness import one_now, parametrize, refused, regress

# operands in the machine
WITHOUT = {"fold", "fold-ct", "serial-003", "serial-003-one", "serial", "systolic", "tiny", "tiny-ct"}


@parametrize("name", one_now((design.name for design in designs() if design.name not in WITHOUT), "heap"))
def test_products_of_every_unit(name):
    """Corner cases and random factors at RTL, and the cycles of the formula; heap has several
    static ports.
    """
    made = chip(find(name), 16, {}, "unit")
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


test_units_within_their_machine_are_refused = refusals(
    "asic --fpga --nbits 64 --interface unit", dict.fromkeys(sorted(WITHOUT), "take the whole machine")
)


@regress
def test_on_an_fpga(cli):
    """Paper 002's array has one multiplier per element and two for the quotient."""
    report = cli("asic --fpga systolic-002 --nbits 32 --device artix-7 --interface unit --json").json()
    counts = report["devices"]["artix-7"]
    assert picked(report, "interface top") == ("unit", "systolic_002_32_unit")
    assert counts["dsps"] == report["parameters"]["words"] + 2
    assert counts["slices"] == max(-(-counts["luts"] // 4), -(-counts["ffs"] // 8))


def test_only_where_products_are_measured():
    assert isinstance(Point("mont", 16, interface="unit", stage="fpga").chip(), UnitChip)
    with refused("does no exponentiation; give stage fpga"):
        Point("mont", 16, interface="unit", stage="native").check()
