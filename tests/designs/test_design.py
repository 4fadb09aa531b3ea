"""Design.at plans one machine for a width and settings, and all callers share it."""

import dataclasses

import pytest
from modexlab.eval.designs import catalogue
from modexlab.eval.designs.interfaces import XCEL

from tests.harness import one_now, parametrize, refused

from ..command_line import ENCRYPT

MONT = catalogue.find("mont")


@pytest.fixture(name="planned")
def count_plans(monkeypatch):
    """The parameter values with which a copy of `mont` in the catalogue was planned."""
    plans = []

    def build(spec):
        plans.append({"nbits": spec.nbits, **spec.values})
        return MONT.control.build(spec)

    counted = dataclasses.replace(MONT, control=dataclasses.replace(MONT.control, build=build))
    monkeypatch.setitem(catalogue._BY_NAME, "mont", counted)
    return plans


def test_one_object(planned):
    design = catalogue.find("mont")
    machine = design.at(32, nstages=2)
    assert design.at(32, nstages=2) is machine
    assert (
        design.at(32, steps_per_stage=8, nstages=2) is machine
    )  # an explicit default selects the same machine
    assert design.at(32) is not machine
    assert planned == [{"nbits": 32, **machine.parameters}, {"nbits": 32, **design.at(32).parameters}]
    with pytest.raises(dataclasses.FrozenInstanceError):
        machine.nbits = 64
    machine.parameters["nstages"] = 4  # a copy
    assert machine.parameters["nstages"] == 2


@parametrize(
    "argv",
    [
        f"run mont {ENCRYPT} --level fl",
        f"run mont {ENCRYPT} --level cl",
        "run --level formula mont --nbits 64 --workload decrypt",
        "verilog mont --nbits 8",
    ],
)
def test_a_command_plans_once(argv, planned, cli):
    cli.passes(argv)
    assert len(planned) == 1


def test_a_choice_is_not_a_number():
    """True == 1, but a machine cached for one is not returned for the other."""
    assert MONT.at(32, pipelined=True).parameters["pipelined"] is True
    with refused(r"pipelined = 1 is not possible; give one of false, true"):
        MONT.at(32, pipelined=1)
    with refused(r"nstages = \[1\] is not possible"):
        MONT.at(32, nstages=[1])


def test_own_machine_is_not_that_of_another_design():
    other = dataclasses.replace(MONT, name="other")
    assert other.at(8).design is other
    assert (other.at(8).top(XCEL), MONT.at(8).top(XCEL)) == ("other_8_xcel", "mont_8_xcel")


@parametrize("modulus", [0, 1, 35])
def test_a_modulus_of_ones_own(modulus):
    """A given modulus replaces the random one, even 0, which the caller rejects."""
    base, _, mod = MONT.at(32).some_operands(modulus)
    assert mod == modulus and base < max(mod, 1)


@parametrize("name", one_now(("mont-keyed", "heap"), "heap"))
@parametrize("exp", [65537, 12345, 0])
def test_the_function_of_machines_with_public_exponents(name, exp):
    """It takes the operands that the formula takes."""
    machine = catalogue.find(name).at(38, public=True)
    base, mod = 0x123456789, (1 << 38) - 45
    assert tuple(machine.fl(base, exp, mod)) == (0, pow(base, exp, mod))
    assert machine.cycles(base, exp, mod) > 0
