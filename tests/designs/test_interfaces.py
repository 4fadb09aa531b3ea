"""Interfaces: the declared properties are those of the hardware; a new interface is one component and one
entry.
"""

from dataclasses import dataclass

import pytest
from modexlab.eval.designs import interfaces
from modexlab.eval.designs.catalogue import find
from modexlab.eval.designs.interfaces import INTERFACES, NO_TRAITS, Interface
from modexlab.fl.mod_exp import exponentiation
from modexlab.fl.status import Status
from modexlab.rtl.sim import simulate

from tests.designs.swapped_stream import SwappedStream
from tests.harness import one_now, refused
from tests.tables.rows import ModExpRow

MONT = find("mont")
ROWS = {
    "ordinary": (5, 11, 253),
    "exponent 0": (7, 0, 251),
    "base 0": (0, 9, 255),
    "zero divisor": (15, 2, 225),
    "modulus 1": (0, 3, 1),
    "even modulus": (3, 5, 254),
    "base not below the modulus": (255, 5, 255),
}


@dataclass(frozen=True)
class Swapped(Interface):
    """A third-party interface: three methods for one component, and the functional level."""

    def wrap(self, shape, make, traits=NO_TRAITS):
        return SwappedStream(shape.widest, make)

    def requests(self, shape, request):
        return [request[::-1]]

    def outcome(self, shape, responses):
        ((result, status),) = responses
        return status, result

    def respond(self, shape, compute, requests):
        ((mod, exp, base),) = requests
        return [tuple(compute(base, exp, mod))[::-1]]


@pytest.fixture
def swapped(monkeypatch):
    """The entry of the interface."""
    entry = Swapped("swapped", "with swapped fields", "operands in the other order")
    monkeypatch.setitem(INTERFACES, entry.name, entry)
    return entry


def check(interface, level, stage):
    """Check all rows; return the cycles of each."""
    with MONT.at(8).session(level=level, stage=stage, interface=interface) as machine:
        answers = machine.run(list(ROWS.values()))
    expected = [ModExpRow(name, *row).golden(MONT, 8) for name, row in ROWS.items()]
    assert [(answer.status, answer.result) for answer in answers] == expected
    return [answer.cycles for answer in answers]


@pytest.mark.parametrize("name", one_now(INTERFACES, "stream", "xcel"))
def test_levels_and_stages_agree(name):
    assert set(check(name, "fl", None)) == {None}
    stamps = check(name, "cl", None)
    assert stamps == check(name, "rtl", "python") == check(name, "rtl", "native")


@pytest.mark.parametrize("name", INTERFACES)
def test_functional_model_answers_as_the_hardware(name):
    """Model and hardware agree response by response, also on rejected operands."""
    interface = INTERFACES[name]
    requests = [message for row in ROWS.values() for message in interface.requests(exponentiation(8), row)]
    with simulate(MONT.at(8).wrapped(interface), "native") as simulation:
        answered = [tuple(map(int, message)) for message in simulation.run(requests).responses]
    model = [
        tuple(map(int, message))
        for row in ROWS.values()
        for message in interface.respond(
            exponentiation(8), lambda *of: MONT.at(8).fl(*of), interface.requests(exponentiation(8), row)
        )
    ]
    assert answered == model


@pytest.mark.parametrize("name", INTERFACES)
def test_a_batch_of_short_operations_does_not_time_out(name):
    """The cycle limit of a run includes bus accesses, which dominate short operations."""
    machine = MONT.at(8)
    short = ROWS["exponent 0"]
    with machine.session(interface=name) as session:
        answers = session.run([short] * 250)
        (alone,) = session.run([short])
    assert {(answer.status, answer.result) for answer in answers} == {(Status.OK, 1)}
    requests = len(INTERFACES[name].requests(machine.shape, machine.carried(*short)))
    assert alone.cycles <= machine.cycles(*short) + INTERFACES[name].request_cycles * requests


def test_a_third_interface(swapped, cli):
    """One component and one entry suffice for every level, the command line and the flow."""
    assert set(check("swapped", "fl", None)) == {None}
    stamps = check("swapped", "rtl", "native")
    assert stamps == check("swapped", "cl", None) == check("swapped", "rtl", "python")
    operands = ("mont", "--nbits", 8, "--base", 5, "--exp", 11, "--mod", 253)
    report = cli("run", *operands, "--interface", "swapped", "--json").json()
    assert report["ok"] and report["interface"] == "swapped"
    assert ", with swapped fields)" in cli("run", *operands, "--interface", "swapped", "--level", "fl").out
    text = cli("verilog", "mont", "--nbits", 8, "--interface", "swapped").out
    assert "module mont_8_swapped" in text and "istream__msg  { mod[7:0], exp[7:0], base[7:0] }" in text
    done = cli("asic", "mont", "--nbits", 8, "--interface", "swapped", "--to", "rtl-sim", "--json").json()
    assert done["tests"]["rtl"]["failed"] == 0 and done["tests"]["rtl"]["passed"] > 20
    assert "swapped: operands in the other order" in " ".join(cli("run", "--help").out.split())
    assert interfaces.titles()["swapped"] == "with swapped fields"


def test_unknown_interface():
    with refused("unknown interface 'xcell': did you mean 'xcel'"):
        MONT.at(8).session(interface="xcell")
