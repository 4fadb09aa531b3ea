"""Raw requests, with random bits in every field: functional level, cycle-level model and native RTL agree in
every response and cycle, for every set of protections; `pow` gives the answers.

`make test` has a few sets, `make regress` all of them with more requests.
"""

import itertools
import math
from dataclasses import replace

from modexlab.eval.designs.catalogue import designs
from modexlab.fl.program.ir import Fetch, Keep, SetExponent, Stretch
from modexlab.fl.status import Status
from modexlab.rtl.keyed.microcode import Microcode
from modexlab.rtl.sim import Stall

from tests.harness import case, examples, later, parametrize, ran, refuses
from tests.programs import EVERYTHING, PROTECTIONS, changed, machine_of
from tests.raw_requests import RawRequests, expected

ON_TWIN = 70  # requests to a twin, whose simulation in Python takes longest
WINDOW = {"schedule": "fixed-window"}
# sets that differ in domain, width of the units, fields and status
AT_ONCE = [
    ("heap", 8, {"crt": True, "blind": "message", "verify": True}),
    ("mont-keyed", 8, {"public": True, **EVERYTHING}),
    ("mont-keyed", 8, {"crt": True, "blind": "no", "verify": False, **WINDOW}),
]
SETS = [
    (name, nbits, {**protection, **how})
    for protection, (name, nbits, how) in itertools.product(
        PROTECTIONS,
        (
            ("heap", 8, {}),
            ("heap", 16, {}),
            ("heap", 8, {"public": True}),
            ("mont-keyed", 8, WINDOW),
            ("mont-keyed", 16, {"fit": "modulus", **WINDOW}),
            ("mont-keyed", 8, {"public": True, **WINDOW}),
            ("mont-keyed", 8, {"schedule": "always"}),
        ),
    )
    if not (name == "heap" and "public" in how and protection["crt"])
]
ALL = [case(name, nbits, later=(name, nbits, how) not in AT_ONCE, **how) for name, nbits, how in SETS]
MORE = [
    case("heap", 64, crt=True, verify=True),
    case("heap", 40, **EVERYTHING),
    case("heap", 9, schedule="always", crt=True, blind="message", verify=True),
    case("heap", 8, schedule="always", crt=True, blind="both", verify=True),
    case("heap", 8, schedule="always", verify=True),
    case("heap", 8, schedule="always", streams=2, verify=True, blind="message"),
    case("heap", 8, public=True),
    case("mont-keyed", 8, schedule="always", verify=True),
    case("mont-keyed", 8, public=True, **WINDOW),
    *(case(design, 8) for design in designs()),
]


def cycles_of(machine, request):
    """Cycles by the rule of the program, or by the formula of a machine without one."""
    if machine.build.programmed is None:
        return machine.cycles(*request[:3])
    made = machine.programmed
    return made.timing.replayed(made.trace(request), request[1])


@parametrize("name, nbits, how", [*ALL, *MORE])
def test_levels_agree(name, nbits, how):
    machine = machine_of(getattr(name, "name", name), nbits, **how)
    requests = RawRequests(machine).some(examples(140))
    made = ran(machine.rtl(), requests)
    free = -1
    for request, answer, accepted, done in zip(
        requests, made.responses, made.accepted, made.done, strict=True
    ):
        assert machine.fl(*request) == answer, request
        assert expected(machine, request) in (answer, None), request
        if accepted > free:  # a machine in several parts may have another operation under way
            assert done - accepted == cycles_of(machine, request), request
        free = done
    few, stall = requests[-ON_TWIN:], Stall(seed=5, source=0.2, sink=0.3)
    assert ran(machine.cl(), few, "python", stall=stall) == ran(machine.rtl(), few, stall=stall)


# ---- the public exponent of a check


def with_long_e(machine, e):
    """The machine with its key, but with another public exponent."""
    key = machine.key
    return machine.with_key(replace(key, e=e, d=pow(e, -1, math.lcm(key.p - 1, key.q - 1))))


@parametrize("nbits, blind", [(16, "no"), (16, "message"), *later((64, "both"), (130, "no"))])
def test_the_check_uses_all_of_e(nbits, blind):
    """On units of half the width: bits of e in its upper half count, and a key may have them."""
    machine = machine_of("heap", nbits, crt=True, verify=True, blind=blind)
    key = machine.key
    good = machine.carried(5, key.d, key.n)
    order = math.lcm(key.p - 1, key.q - 1)
    longest = key.e + (2**nbits - 1 - key.e) // order * order  # also an exponent of the key
    assert longest.bit_length() > nbits // 2 + 1
    wrong = [changed(machine, good, exp=key.e | 1 << place) for place in (nbits - 1, nbits // 2)]
    long_key = with_long_e(machine, longest)
    requests = [*wrong, changed(machine, good, exp=longest), long_key.carried(7, long_key.key.d, key.n)]
    results = [(Status.FAULT, 0)] * 2 + [(Status.OK, pow(base, key.d, key.n)) for base in (5, 7)]
    made = ran(machine.rtl(), requests)
    assert made.responses == results == [machine.fl(*request) for request in requests]
    assert made.latencies == [cycles_of(machine, request) for request in requests]
    assert made.latencies[-1] == long_key.cycles(7, long_key.key.d, key.n) > machine.cycles(5, key.d, key.n)


def test_an_e_that_is_longer_than_its_field():
    machine = machine_of("heap", 16, crt=True, verify=True)
    longer = machine.key.e + 8 * (machine.key.p - 1) * (machine.key.q - 1)
    held = with_long_e(machine, longer)
    refuses(
        lambda: held.carried(5, held.key.d, held.key.n),
        f"e of the key has {longer.bit_length()} bits",
        f"--nbits {longer.bit_length()}",
    )


# ---- widths


def dropped(code):
    """Numbers of a request that are longer than the word or the exponent register that loads them."""
    widths = {f"in.{name}": kind.nbits for name, kind in code.request_type.__bitstruct_fields__.items()}
    low = code.program.joins
    widths |= {f"{name}.low": low for name in widths} | {
        f"{name}.high": n - low for name, n in widths.items()
    }
    widths["0"] = 0
    slots = {keep.slot: keep.src for keep in code.program.find(Keep) if keep.src in widths}
    read = {fetch.slot for fetch in code.program.find(Fetch)}
    residue = code.shape.residue_nbits
    found = [(slot, src) for slot, src in slots.items() if slot in read and widths[src] > residue]
    held = {}
    for word in code.words:
        for load in word.find(SetExponent, Stretch):
            src = held.get(load.src, load.src)
            if widths[src] > code.exponent_nbits:
                found.append(("exponent", src))
        held |= {fetch.dst: slots[fetch.slot] for fetch in word.find(Fetch) if fetch.slot in slots}
    return found


@parametrize("name", ["heap", "mont-keyed"])
def test_no_number_of_a_request_loses_bits(name):
    """At any width; the datapath connects the lower bits of a source that is longer than its register."""
    for nbits, how in itertools.product((8, 9, 16, 40, 130, 1024), PROTECTIONS):
        machine = machine_of(name, nbits, **WINDOW, **how)
        program, _, shape = machine.rtl()._dsl.args
        assert dropped(Microcode(program, shape)) == [], machine
