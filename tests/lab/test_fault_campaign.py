"""Fault campaigns: wrong results are released without a check and withheld with one; a single wrong result
factors the key.
"""

import math
from unittest.mock import Mock

import pytest
from modexlab.eval.assurance.attacks import fault_campaign
from modexlab.eval.assurance.attacks.fault_campaign import FaultCampaign
from modexlab.eval.designs.catalogue import find
from modexlab.rtl.sim.campaigns.faults import Effect, Fault, faults_of
from pytest import approx

from tests.command_line import picked
from tests.harness import parametrize, regress
from tests.programs import EVERYTHING, machine_of

CHECKED = {"fit": "modulus", **EVERYTHING}
UNCHECKED = {**CHECKED, "verify": False}


def campaign(samples, **settings):
    """A campaign with this number of random faults; None: with all possible faults."""
    made = FaultCampaign(machine_of("mont-keyed", 16, **settings))
    made.run(made.faults(samples, exhaustive=samples is None))
    return made


@regress
def test_with_and_without_the_check():
    """The same faults with and without a check; most wrong results that are released reveal a prime of the
    key.
    """
    checked, unchecked = campaign(1500, **CHECKED), campaign(1500, **UNCHECKED)
    assert checked.counts[Effect.WRONG] == 0 < checked.counts[Effect.CAUGHT]
    assert unchecked.counts[Effect.WRONG] > 30
    for item in (checked, unchecked):
        told = item.as_json()
        assert told["injected"] == 1500 == sum(picked(told, "no_effect caught hang wrong_result"))
        for name in ("injected", "wrong_result"):
            assert told[name] == sum(row[name] for row in told["registers"])
        assert not told["exhaustive"] and told["wrong_result"] / 1500 < told["wrong_result_at_most"] < 0.5
    assert checked.bellcore() == {"wrong_results_that_factor": 0}
    key = unchecked.machine.key
    assert len(unchecked.factored) > unchecked.counts[Effect.WRONG] // 2
    for _, message, wrong, factor in unchecked.factored:
        assert factor in (key.p, key.q) and math.gcd(pow(wrong, key.e) - message, key.n) == factor
        assert wrong != pow(message, key.d or 0, key.n)


@parametrize("wrong, total, percent", [(0, 100, 3.70), (5, 100, 11.18), (10, 10, 100.0), (1, 2000, 0.282)])
def test_the_share_of_wrong_results_has_an_upper_bound(wrong, total, percent):
    """Upper ends of Wilson's interval at 95 %, as tables of statistics have them."""
    made = FaultCampaign(find("mont").at(8))
    made.outcomes = [Mock(effect=Effect.WRONG if index < wrong else Effect.NONE) for index in range(total)]
    assert 100 * made.most_wrong() == approx(percent, abs=0.006)


def test_operations_that_share_a_model():
    """Responses and cycles equal those of single runs on fresh models, also for flips after the response."""
    target = FaultCampaign(machine_of("mont-keyed", 16, **UNCHECKED))
    model = target.model
    operation = next(item for item in target.operations if len(item.before) == 2)
    control = [
        register
        for register in model.registers
        if register.path.startswith(("ctrl", "units__0.valid", "setup"))
    ]
    faults = target.faults(300, False) + faults_of(control, lambda _: range(3, target.cycles, 20))
    faults.append(Fault(model.registers[0], 0, target.cycles + 5))
    most = 3 * target.cycles
    shared = model.campaign([operation.request], faults, [operation.golden], most, before=[operation.before])
    assert len({item.effect for item in shared}) == len(Effect)
    for item in shared:
        alone = model.run(operation.request, most, item.fault, operation.before)
        assert (item.response, item.cycles) == alone, item.fault


def test_requests_and_states_vary():
    """All operands of a machine without a key are random; some operations follow others."""
    made = FaultCampaign(find("mont").at(8))
    operands = [operation.request[:3] for operation in made.operations]
    assert len({mod for _, _, mod in operands}) > 8 and len({exp for _, exp, _ in operands}) > 8
    assert all(operation.golden == (0, pow(*operation.request[:3])) for operation in made.operations)
    assert {len(operation.before) for operation in made.operations} == {0, 1, 2}


def test_results_belong_to_the_hardware(monkeypatch):
    """A part of a campaign has another key with other Verilog, and the same one with other comments."""
    made = FaultCampaign(find("mont").at(8))
    faults = made.faults(3, False)

    def key(verilog):
        monkeypatch.setattr(made.model, "verilog", verilog)
        made.__dict__.pop("hardware", None)
        return fault_campaign.Part(made, faults).key

    text = made.model.verilog
    assert key(text) == key(text + "\n// remark\n") != key(text.replace("+", "-", 1))


def test_an_interrupted_campaign_goes_on(store, monkeypatch, cli):
    """It reuses the recorded results, injects only the other faults, and has the same outcomes; other faults
    share nothing with it.
    """
    monkeypatch.setattr(fault_campaign, "MOST_OF_PART", 100)
    monkeypatch.setattr(fault_campaign, "LEAST_OF_PART", 100)
    models, injected = fault_campaign.Faulted.campaign, []

    def counted(model, requests, faults, *more):
        injected.extend(faults)
        if len(injected) == 300:
            raise KeyboardInterrupt
        return models(model, requests, faults, *more)

    def run(made):
        made.run(made.faults(450, False), store=store)
        return made

    machine = find("mont").at(8)
    monkeypatch.setattr(fault_campaign.Faulted, "campaign", counted)
    first = FaultCampaign(machine, 4)
    with pytest.raises(KeyboardInterrupt):
        run(first)
    assert len(first.outcomes) == 200 and first.reused == 0
    result = cli.finds("attack faults mont --nbits 8 --samples 450 --operations 4")  # a wrong result left
    assert "200 of them are from earlier runs" in result.out
    assert len(injected) == 300 + 250
    second = run(FaultCampaign(machine, 4))
    assert second.reused == 450 and len(injected) == 550
    assert run(FaultCampaign(machine, 4, seed=2)).reused == 0
    monkeypatch.setattr(FaultCampaign, "_made_by", lambda _: ["changed"])
    whole = run(FaultCampaign(machine, 4))
    assert whole.outcomes == second.outcomes and whole.reused == 0


@regress
def test_every_flip_flop_in_every_cycle():
    """16 bits: a machine with a check releases no wrong result."""
    made = campaign(None, **CHECKED)
    assert made.exhaustive and len(made.outcomes) == made.possible
    assert made.counts[Effect.WRONG] == 0


@regress
def test_a_machine_of_its_own_control():
    """A machine with its own controller has no check and no CRT."""
    made = FaultCampaign(find("mont-001").at(16), 2)
    made.run(made.faults(2000, False))
    assert made.counts[Effect.WRONG] > 200 and made.bellcore() is None
