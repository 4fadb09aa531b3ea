"""After an operation with a private key, no register and no word of a memory depends on it.

Two operations with different keys, messages and random numbers run on one model; one cycle after the response
was accepted, all registers are equal, bit by bit. Registers have random bits at power-up, so that registers
that are never written are detected too.
"""

from random import Random

import pytest
from modexlab.fl.status import Status
from modexlab.proc.software.seeded_keys import seeded_key
from modexlab.rtl.sim.campaigns.faults import Faulted

from tests.harness import parametrize, regress_if
from tests.programs import EVERYTHING, SECRET, machine_of

MOST_CYCLES = 100_000
CASES = [
    ("mont", {"fit": "modulus", **EVERYTHING}, False),
    ("naive", EVERYTHING, True),
    ("ssmm-ct", {"fit": "modulus", **EVERYTHING}, True),
    ("heap", EVERYTHING, False),
]
CASES += [
    (name, {**EVERYTHING, "schedule": schedule, **how}, True)
    for name in ("mont", "naive", "ssmm-ct", "heap")
    for schedule in SECRET
    for how in (
        {"forward": False},
        {"verify": False},
        {"crt": False},
        {"crt": False, "blind": "no"},
        {"blind": "no", "verify": False},
    )
]
CASES += [
    ("mont", {"pipelined": True, "steps_per_stage": 2, "nstages": 2, **EVERYTHING}, True),
    ("mont", {"add_red": "carry-save", **EVERYTHING}, True),
    ("heap", {"streams": 2, "adds": 2, "loads": 2, **EVERYTHING}, True),
    ("heap", {"quotient_delay": 1, **EVERYTHING}, True),
    ("naive", {"multiplier_bits_per_cycle": 4, **EVERYTHING}, True),
    ("ssmm", EVERYTHING, True),
]
PLAIN = [
    (name, {"schedule": schedule}, name != "mont" or schedule != "fixed-window")
    for name in ("mont", "naive", "ssmm", "heap")
    for schedule in ("fixed-window", "sliding-window")
]


def parameters(cases):
    return [
        pytest.param(name, how, id=" ".join([name, *map(str, how.values())]), marks=regress_if(later))
        for name, how, later in cases
    ]


def requests(machine, which):
    """Operations of a key with their statuses: the right one, some with wrong numbers, some that
    are refused.
    """
    rng = Random(which)
    key = seeded_key(machine.nbits, which)
    names = machine.programmed.names
    good = machine.with_key(key, rng.randrange).carried(2 + rng.randrange(key.n - 2), key.d, key.n)
    fields = dict(zip(names, good, strict=True))

    def wrong(**numbers):
        return tuple({**fields, **numbers}.values())

    found = {"right": (good, Status.OK)}
    if "qinv" in names:
        found["wrong qinv"] = wrong(qinv=fields["qinv"] ^ 8), Status.BAD_KEY
        found["wrong p"] = wrong(p=fields["p"] ^ 8), Status.BAD_KEY
        found["even q"] = wrong(q=fields["q"] ^ 1), Status.BAD_KEY
    if machine.programmed.program.verified:
        exponent = "dp" if "dp" in names else "exp"
        found["wrong exponent"] = wrong(**{exponent: fields[exponent] ^ 2}), Status.FAULT
    found["no modulus"] = wrong(mod=0), Status.ZERO_MODULUS
    if machine.design.reduced_only:
        found["base too large"] = wrong(base=fields["mod"]), Status.BASE_TOO_LARGE
    return found


def differing(one, other):
    """The registers that differ."""
    return {path: (one[path], other[path]) for path in one if one[path] != other[path]}


@parametrize("name, how", parameters(CASES))
def test_nothing_of_a_key_is_left(name, how):
    """After a successful operation, after BAD_KEY and FAULT, and after a refused request."""
    machine = machine_of(name, 16, **how)
    model = Faulted(machine.rtl())
    one, other = (requests(machine, which) for which in (1, 2))
    for what, (request, status) in one.items():
        first, left = model.state(request, MOST_CYCLES)
        second, also_left = model.state(other[what][0], MOST_CYCLES)
        assert (first[0], second[0]) == (status, status), what
        assert status is Status.OK or first[1] == second[1] == 0
        assert differing(left, also_left) == {}, what


def test_before_the_answer_it_is_there():
    """The comparison can fail: two cycles after the request, and in the middle."""
    machine = machine_of("mont", 16, fit="modulus", **EVERYTHING)
    model = Faulted(machine.rtl())
    (one, _), (other, _) = (requests(machine, which)["right"] for which in (1, 2))
    for cycle in (2, 200):
        left, also_left = (model.state(request, cycle)[1] for request in (one, other))
        assert len(differing(left, also_left)) > 1


@parametrize("name, how", parameters(PLAIN))
def test_nothing_of_a_base_is_left_in_a_table(name, how):
    """A machine without a key keeps modulus and exponent, like all machines without a window, but no power of
    a base, and no result.
    """
    machine = machine_of(name, 16, **how)
    rng = Random(3)
    model = Faulted(machine.rtl())
    mod = 0xB5C3
    states = []
    for _ in range(2):
        base = rng.randrange(2, mod)
        response, left = model.state((base, 0x1357, mod), MOST_CYCLES)
        assert response == (Status.OK, pow(base, 0x1357, mod))
        states.append(left)
    assert differing(*states) == {}
