"""Faults and cycle-by-cycle activity of netlists, compared with the RTL simulation and with the engine's
counts.
"""

from dataclasses import replace

from modexlab.eval.assurance.attacks.fault_campaign import Part
from modexlab.eval.assurance.attacks.leakage import TOGGLES, assess
from modexlab.eval.assurance.attacks.net_campaign import NetCampaign
from modexlab.eval.assurance.attacks.rsa_leakage import compared
from modexlab.eval.designs.catalogue import find
from modexlab.flow.gates.engine import GateTables
from modexlab.flow.gates.faults import FaultyNetlist, NetFault, Stuck
from modexlab.flow.gates.gates import netlist_of
from modexlab.flow.gates.power_trace import TracedNetlist
from modexlab.flow.kit import kit
from modexlab.rtl.sim.campaigns.faults import Effect, Fault, Faulted
from modexlab.rtl.sim.protocol import UnexpectedResponse

from tests.harness import module_fixture, regress
from tests.programs import EVERYTHING, machine_of

LIBRARY = kit.find().library
MACHINE = find("mont").at(8)
REQUEST = MACHINE.carried(77, 0x8D, 0xB3)
GOLDEN = (0, pow(77, 0x8D, 0xB3))
MOST = 40


@module_fixture
def faulty():
    netlist, ports = netlist_of(MACHINE.rtl())
    return FaultyNetlist(GateTables(netlist, LIBRARY), ports)


@regress
def test_flips_of_flip_flops_do_what_they_do_at_rtl(faulty):
    """The responses and their cycles are equal; registers that synthesis has merged are left out."""
    nets = faulty.tables.netlist.aliases
    model = Faulted(MACHINE.rtl())

    def bits():
        for site in model.registers:
            for bit in range(site.nbits):
                yield (f"{site.path}[{bit}]" if site.nbits > 1 else site.path), Fault(site, bit, 3)

    found = {name: (nets[name], fault) for name, fault in bits() if name in nets}
    held = [net for net, _ in found.values()]
    alone = {name: row for name, row in found.items() if held.count(row[0]) == 1}
    assert len(alone) > 50
    wrong = 0
    for name, (net, fault) in alone.items():
        expected = model.run(REQUEST, MOST, fault)
        try:
            assert faulty.run(REQUEST, MOST, NetFault(net, Stuck.FLIP, 3)) == expected, name
        except UnexpectedResponse:
            assert name.startswith("ctrl"), name  # a second response
        wrong += expected[0] not in (GOLDEN, None)
    assert wrong > 10


def test_stuck_nets(faulty):
    """A stuck bit of the result shows in the response, a stuck valid signal hangs the machine, and without a
    fault the result is correct.
    """
    netlist = faulty.tables.netlist
    assert faulty.run(REQUEST, MOST)[0] == GOLDEN
    for bit in range(8):
        net = netlist.net(f"ostream__msg[{bit}]")
        for kind, value in ((Stuck.AT_0, 0), (Stuck.AT_1, 1)):
            answer, _ = faulty.run(REQUEST, MOST, NetFault(net, kind))
            assert isinstance(answer, tuple) and answer[1] >> bit & 1 == value
    assert faulty.run(REQUEST, MOST, NetFault(netlist.net("ostream__val"), Stuck.AT_0)) == (None, 0)
    assert faulty.run(REQUEST, MOST)[0] == GOLDEN, "the tables are as they were"


def test_a_flip_after_earlier_operations(faulty):
    """A flip in the result register of the previous operation is overwritten, and one in its last cycle is
    not.
    """
    other = MACHINE.carried(3, 0xF1, 0xB3)
    response, cycle = faulty.run(REQUEST, MOST, before=[other, other])
    assert (response, cycle) == faulty.run(REQUEST, MOST)
    net = faulty.tables.netlist.net("ostream__msg[0]")
    assert faulty.run(REQUEST, MOST, NetFault(net, Stuck.FLIP, 0), [other])[0] == GOLDEN
    flipped, _ = faulty.run(REQUEST, MOST, NetFault(net, Stuck.FLIP, cycle), [other])
    assert flipped == (0, GOLDEN[1] ^ 1)


def test_a_campaign_of_nets(monkeypatch):
    """The cache key of a part of the campaign contains the digest of the library."""
    made = NetCampaign(MACHINE)
    made.run(made.faults(90, False))
    keys = [Part(made, []).key]
    another = replace(kit.find(), digest="another")
    monkeypatch.setattr(kit, "find", lambda *_: another)
    assert Part(made, []).key not in keys
    told = made.as_json()
    assert told["injected"] == 90 == sum(row["injected"] for row in told["modules"])
    assert {row["kind"]: row["injected"] for row in told["kinds"]} == {kind.value: 30 for kind in Stuck}
    assert told["wrong_result"] > 20 and told["bellcore"] is None


def test_movements_of_all_cycles_are_those_that_the_engine_counts(faulty):
    model = TracedNetlist(faulty.tables.netlist, LIBRARY, faulty.ports, LIBRARY.constraints(3.0))
    traced = model.run([MACHINE.carried(base, 0x8D, 0xB3) for base in (77, 3, 77, 77, 77)], 12)
    assert traced.total == model._model.engine.counts().timed.sum() > 10_000
    assert traced.responses[0] == traced.responses[4] == GOLDEN
    assert {rows.shape for rows in traced.rows} == {(MACHINE.cycles(77, 0x8D, 0xB3) + 1, len(model.modules))}
    # an operation after an identical one has the same transitions in each cycle
    assert (traced.rows[3] == traced.rows[4]).all() and (traced.rows[0] != traced.rows[1]).any()
    model.close()


def test_what_leaks_is_found_on_the_netlist():
    found = assess(compared(MACHINE), 600, TOGGLES)
    assert found.power_leaks and not found.time_leaks
    assert {"ctrl", "ctrl.issue"} <= {finding.name for finding in found.alone()}


@regress
def test_a_check_catches_stuck_nets_too():
    """At 16 bits, some stuck-at faults escape, because the check uses the same unit; without the check many
    escape.
    """
    settings = {"fit": "modulus", **EVERYTHING}
    counts = []
    for verify in (True, False):
        made = NetCampaign(machine_of("mont-keyed", 16, **{**settings, "verify": verify}))
        made.run(made.faults(300, False))
        counts.append(made.counts)
    assert counts[0][Effect.WRONG] * 5 < counts[1][Effect.WRONG]
    assert counts[0][Effect.CAUGHT] > 50


@regress
def test_what_is_blinded_passes_on_the_netlist():
    """With all glitches, in the sum and in each module; without exponent blinding the same program leaks."""
    blinded = {"schedule": "fixed-window", "blind": "both"}
    found = assess(compared(machine_of("mont-keyed", 16, **blinded)), 900, TOGGLES)
    assert not found.leaks and sum(map(found.judged, range(len(found.curve)))) > 150
    assert not found.alone()
    assert assess(
        compared(machine_of("mont-keyed", 16, **{**blinded, "blind": "message"})), 600, TOGGLES
    ).power_leaks
