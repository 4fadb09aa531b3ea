"""The page docs/howto/add-multiplier.md, step by step, with ShiftSub as the new unit."""

import shutil
from dataclasses import replace

import pytest
from modexlab.cl.serial import ShiftSubCL
from modexlab.cl.timing import ShiftSubTiming
from modexlab.eval.designs import catalogue
from modexlab.eval.designs.control import BARE, DIRECT
from modexlab.eval.designs.machine import Design
from modexlab.eval.designs.multipliers.multiplier import Multiplier, Unit
from modexlab.rtl.units.shift_sub import ShiftSub

from tests.harness import check_fl_mod_exps, check_native, parametrize, run_mod_exps
from tests.paths import ROOT
from tests.tables import mod_exp

# as on the page, with shift-sub instead of Blakley
BLAKLEY = Multiplier(
    "Blakley", (), lambda nbits, values: Unit(ShiftSub, ShiftSubCL, ShiftSubTiming(nbits, 1, "count"))
)


def test_recipe():
    page = (ROOT / "docs" / "howto" / "add-multiplier.md").read_text()
    entry = '"blakley", BLAKLEY, "residue", DIRECT'
    assert f"`Design({entry}, " in page
    own = Design("blakley", BLAKLEY, "residue", DIRECT, "one's own")
    assert not own.programmed
    rows = mod_exp.table(8)
    check_fl_mod_exps(own, rows, 8)
    rtl = check_native(own, rows, 8)
    assert run_mod_exps(own.at(8).cl(), rows, own, 8, "python") == rtl


def test_folder(tmp_path):
    """A design in a folder is found by its reference, and its identity follows its files."""
    solution = ROOT / "docs" / "labs" / "instructor" / "lab3" / "solution" / "blakley"
    folder = shutil.copytree(solution, tmp_path / "blakley")
    found = catalogue.find(str(folder))
    assert catalogue.find(found.reference) is found
    assert found.at(8).cycles(5, 5, 13) > found.at(8, bits_per_cycle=4).cycles(5, 5, 13)
    rtl = folder / "rtl.py"
    rtl.write_text(rtl.read_text() + "\n")
    edited = catalogue.find(found.reference)
    assert edited.reference == found.reference and edited.identity != found.identity


@parametrize("domain, checked", [("residue", "identity"), ("identity", "residue")])
def test_hardware_that_checks_other_operands_than_the_domain(domain, checked):
    """Hardware that would accept bases above the modulus is rejected when the machine is planned."""
    wrong = replace(BARE, build=lambda spec: BARE.build(replace(spec, domain=checked)))
    with pytest.raises(ValueError, match=r"blakley: domain .* but the hardware checks"):
        Design("blakley", BLAKLEY, domain, wrong, "one's own").at(8)
