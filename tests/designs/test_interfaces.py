"""Interfaces: the declared properties are those of the hardware; a new interface is one component and one
entry.
"""

import itertools
from dataclasses import dataclass

import pytest
from modexlab.eval.designs import interfaces
from modexlab.eval.designs.catalogue import find
from modexlab.eval.designs.interfaces import INTERFACES, NO_TRAITS, Interface
from modexlab.fl.mod_exp import exponentiation
from modexlab.fl.status import STATUS_NBITS, Status
from modexlab.rtl.messages import connect_fields, connect_handshake, declare_streams, mk_message
from pymtl3 import Component

from tests.harness import accessed, one_now, parametrize, refused
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


class SwappedStream(Component):
    """A third-party interface: operands arrive in another order, and the result precedes its status."""

    def construct(s, nbits, mk_machine):
        request = mk_message(f"SwappedReq_{nbits}", (("mod", nbits), ("exp", nbits), ("base", nbits)))
        response = mk_message(f"SwappedResp_{nbits}", (("result", nbits), ("status", STATUS_NBITS)))
        declare_streams(s, request, response)
        s.machine = mk_machine()
        connect_handshake(s.istream, s.machine.istream)
        connect_handshake(s.machine.ostream, s.ostream)
        connect_fields(s.istream.msg, s.machine.istream.msg, "base", "exp", "mod")
        connect_fields(s.machine.ostream.msg, s.ostream.msg, "status", "result")


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


def check(interface, level, backend):
    """Check all rows; return the cycles of each."""
    with MONT.at(8).session(level=level, backend=backend, interface=interface) as machine:
        answers = machine.run(list(ROWS.values()))
    expected = [ModExpRow(name, *row).golden(MONT, 8) for name, row in ROWS.items()]
    assert [(answer.status, answer.result) for answer in answers] == expected
    return [answer.cycles for answer in answers]


@parametrize("name", one_now(INTERFACES, "stream", "xcel"))
def test_levels_and_stages_agree(name):
    assert set(check(name, "fl", None)) == {None}
    stamps = check(name, "cl", None)
    assert stamps == check(name, "rtl", "python") == check(name, "rtl", "native")


@parametrize("name", INTERFACES)
def test_functional_model_answers_as_the_hardware(name):
    """Model and hardware agree response by response, also on rejected operands."""
    interface, machine, shape = INTERFACES[name], MONT.at(8), exponentiation(8)
    requests = [interface.requests(shape, row) for row in ROWS.values()]
    model = [
        tuple(map(int, message))
        for accesses in requests
        for message in interface.respond(shape, machine.fl, accesses)
    ]
    assert accessed(machine.wrapped(interface), itertools.chain(*requests)) == model


@parametrize("name", INTERFACES)
def test_a_batch_of_short_operations_does_not_time_out(name):
    """The cycle limit of a run includes bus accesses, which dominate short operations."""
    machine, interface, short = MONT.at(8), INTERFACES[name], ROWS["exponent 0"]
    with machine.session(interface=name) as session:
        answers = session.run([short] * 250)
        (alone,) = session.run([short])
    assert {(answer.status, answer.result) for answer in answers} == {(Status.OK, 1)}
    requests = len(interface.requests(machine.shape, machine.carried(*short)))
    assert alone.cycles <= machine.cycles(*short) + interface.request_cycles * requests


def test_a_third_interface(swapped, cli):
    """One component and one entry suffice for every level, the command line and the flow."""
    test_levels_and_stages_agree("swapped")
    how = "mont --nbits 8 --interface swapped"
    run = f"run {how} --base 5 --exp 11 --mod 253"
    cli.reports(run, ok=True, interface="swapped")
    cli.shows(f"{run} --level fl", ", with swapped fields)")
    port = "istream__msg  { mod[7:0], exp[7:0], base[7:0] }"
    cli.shows(f"verilog {how}", "module mont_8_swapped", port)
    done = cli.json(f"asic {how} --to rtl-sim")
    assert done["tests"]["rtl"]["failed"] == 0 and done["tests"]["rtl"]["passed"] > 20
    assert "swapped: operands in the other order" in " ".join(cli("run --help").out.split())
    assert interfaces.titles()["swapped"] == "with swapped fields"


def test_unknown_interface():
    with refused("unknown interface 'xcell': did you mean 'xcel'"):
        MONT.at(8).session(interface="xcell")
