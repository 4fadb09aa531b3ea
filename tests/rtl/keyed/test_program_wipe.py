"""After an operation with a private key, no register and no word of a memory depends on it.

Two operations with different keys, messages and random numbers run on one model; one cycle after the response
was accepted, all registers are equal, bit by bit. Registers have random bits at power-up, so that registers
that are never written are detected too.
"""

from random import Random

from modexlab.fl.status import Status
from modexlab.proc.software.seeded_keys import seeded_key
from modexlab.rtl.sim.campaigns.faults import Faulted

from tests.harness import case, parametrize, signals_of, stepped
from tests.programs import EVERYTHING, SECRET, changed, machine_of

MOST_CYCLES = 100_000
CASES = [
    case("mont-keyed", later=False, fit="modulus", **EVERYTHING),
    case("mont-keyed", **EVERYTHING),
    case("heap", **EVERYTHING),
]
CASES += [
    case(name, **{**EVERYTHING, "schedule": schedule, **how})
    for name in ("mont-keyed", "heap")
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
    case("mont-keyed", pipelined=True, steps_per_stage=2, nstages=2, **EVERYTHING),
    case("mont-keyed", add_red="carry-save", **EVERYTHING),
    case("heap", streams=2, adds=2, loads=2, **EVERYTHING),
    case("heap", quotient_delay=1, **EVERYTHING),
]
PLAIN = [
    case(name, later=(name, schedule) != ("mont-keyed", "fixed-window"), schedule=schedule)
    for name in ("mont-keyed", "heap")
    for schedule in ("fixed-window", "sliding-window")
]
PUBLIC = [
    case(name, later=(name, how) != ("heap", {}), public=True, schedule="fixed-window", **how)
    for name, how in (("heap", {}), ("heap", {"verify": True}), ("mont-keyed", {}))
]


def requests(machine, which):
    """Operations of a key with their statuses: the right one first, some with wrong numbers, some that
    are refused.
    """
    rng = Random(which)
    key = seeded_key(machine.nbits, which)
    good = machine.with_key(key, rng.randrange).carried(2 + rng.randrange(key.n - 2), key.d, key.n)
    fields = machine.programmed.named(good)
    found = [(good, Status.OK), (changed(machine, good, mod=0), Status.ZERO_MODULUS)]

    wrong = []
    if "qinv" in fields:
        wrong += [(Status.BAD_KEY, "qinv", 8), (Status.BAD_KEY, "p", 8), (Status.BAD_KEY, "q", 1)]
    if machine.programmed.program.verified:
        wrong.append((Status.FAULT, "dp" if "dp" in fields else "exp", 2))
    found += [
        (changed(machine, good, **{name: fields[name] ^ flipped}), status) for status, name, flipped in wrong
    ]
    if machine.design.reduced_only:
        found.append((changed(machine, good, base=key.n), Status.BASE_TOO_LARGE))
    return found


def differing(one, other):
    """The registers that differ."""
    return {path: (one[path], other[path]) for path in one if one[path] != other[path]}


@parametrize("name, how", CASES)
def test_nothing_of_a_key_is_left(name, how):
    """After a successful operation, after BAD_KEY and FAULT, and after a refused request."""
    machine = machine_of(name, 16, **how)
    model = Faulted(machine.rtl())
    for both in zip(requests(machine, 1), requests(machine, 2), strict=True):
        states = []
        for request, status in both:
            answer, left = model.state(request, MOST_CYCLES)
            assert answer[0] == status and (status is Status.OK or answer[1] == 0), request
            states.append(left)
        assert differing(*states) == {}, both


def test_before_the_answer_it_is_there():
    """The comparison can fail: two cycles after the request, and in the middle."""
    machine = machine_of("mont-keyed", 16, fit="modulus", **EVERYTHING)
    model = Faulted(machine.rtl())
    rights = [requests(machine, which)[0][0] for which in (1, 2)]
    for cycle in (2, 200):
        assert len(differing(*(model.state(request, cycle)[1] for request in rights))) > 1


@parametrize("name, how", PLAIN + PUBLIC)
def test_nothing_of_a_base_is_left(name, how):
    """A machine without a key keeps modulus and exponent, like all machines without a window, but no power of
    a base, and no result; so does a public operation, since a message may be secret.
    """
    machine = machine_of(name, 16, **how)
    model, exp, mod, states = Faulted(machine.rtl()), 0x1357, 0xB5C3, []
    for base in (0x1357, 0xB5C2):
        request = machine.programmed.public(base, exp, mod) if "public" in how else (base, exp, mod)
        response, left = model.state(request, MOST_CYCLES)
        assert response == (Status.OK, pow(base, exp, mod))
        states.append(left)
    assert differing(*states) == {}


def after_reset(machine, request, at):
    """Every signal when a machine has overwritten itself after a reset, in this cycle of an operation."""
    unit = stepped(machine.rtl())
    while int(unit.ctrl.resetting):
        unit.sim_tick()
    for (name, _), value in zip(machine.shape.request, request, strict=True):
        field = getattr(unit.istream.msg, name)
        field @= value
    unit.istream.val @= 1
    for _ in range(at):
        unit.sim_tick()
    for name, _ in machine.shape.request:
        field = getattr(unit.istream.msg, name)
        field @= 0
    unit.istream.val @= 0
    before = signals_of(unit)
    unit.sim_reset()
    while int(unit.ctrl.resetting):
        assert not int(unit.ostream.val) and not int(unit.istream.rdy)
        unit.sim_tick()
    return before, signals_of(unit)


@parametrize("name, how", [case("mont-keyed", later=False, **EVERYTHING), case("heap", **EVERYTHING)])
def test_no_key_outlives_a_reset(name, how):
    """A reset while the key is loaded, in a loop, and at the end of an operation."""
    machine = machine_of(name, 16, **how)
    rights = [requests(machine, which)[0][0] for which in (1, 2)]
    for at in (6, 100, 300):
        one, other = (after_reset(machine, request, at) for request in rights)
        assert differing(one[0], other[0]), "the key is in it"
        assert differing(one[1], other[1]) == {}, at
