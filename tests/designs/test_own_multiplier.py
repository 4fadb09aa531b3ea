"""The page "Add a multiplier" of CONTRIBUTING.md, followed to the letter with a unit that stands in for one's own."""

from collections.abc import Mapping
from typing import Any

import pytest
from modexlab.cl.serial import ShiftSubCL
from modexlab.cl.timing import ShiftSubTiming
from modexlab.eval.designs.catalogue import assemble, schedule_param
from modexlab.eval.designs.design import Design
from modexlab.eval.designs.machine import Build
from modexlab.rtl.machines.mod_exp_plan import Plan
from modexlab.rtl.units.shift_sub import ShiftSub

from tests.harness import check_fl_mod_exps, check_formula, run_mod_exps, stamps
from tests.tables import mod_exp


def design(domain: str, **plan: Any) -> Design:
    """An entry as the page has it, with shift-sub for Blakley."""

    def build(nbits: int, values: Mapping[str, Any]) -> Build:
        return assemble(
            Plan(nbits, values["schedule"], **plan), ShiftSub, ShiftSubCL, ShiftSubTiming(nbits, 1, "count")
        )

    params = (schedule_param(),)
    return Design("blakley", "Blakley", domain, "one's own", params, build)


def test_recipe() -> None:
    own = design("residue", reduced_only=True)
    rows = mod_exp.table(8)
    check_fl_mod_exps(own, rows, 8)
    cl = run_mod_exps(own.at(8).cl(), rows, own, 8, "python")
    rtl = run_mod_exps(own.at(8).rtl(), rows, own, 8, "native")
    assert stamps(cl) == stamps(rtl)
    check_formula(own, rows, rtl, 8)


@pytest.mark.parametrize(("domain", "plan"), [("residue", {}), ("identity", {"reduced_only": True})])
def test_hardware_that_checks_other_operands_than_the_domain(domain: str, plan: dict) -> None:
    """The mistake that would let a base above the modulus through is refused when the machine is made."""
    with pytest.raises(ValueError, match=r"blakley: domain .* but the hardware checks"):
        design(domain, **plan).at(8)
