"""Requests with a public exponent: RTL, twin, cycle rule and formula agree in every response and cycle, and
other requests keep their cycles.
"""

import itertools

from modexlab.eval.designs.interfaces import AXI4LITE, XCEL
from modexlab.eval.designs.verilog.machine import verilog
from modexlab.eval.designs.workload_names import ENCRYPT, parts_of
from modexlab.fl.axi4lite import register_map
from modexlab.fl.status import Status
from modexlab.rtl.sim import Stall

from tests.harness import case, one_now, parametrize, ran, refused, refuses, regress
from tests.programs import EVERYTHING, changed, machine_of
from tests.tables.keyed import outcomes

BOTH = Stall(seed=7, source=0.3, sink=0.4)
NBITS = 32
MOST = 700  # cycles at 1,024 bits, including the conversion into the form


CASES = [
    case("heap"),
    case("heap", later=False, verify=True, blind="both"),
    case("mont-keyed", later=False, crt=True, verify=True, schedule="fixed-window", fit="modulus"),
    case("heap", schedule="always", scan="full", forward=False),
    case("heap", schedule="always", verify=True, blind="message", streams=2),
    case("heap", digit_nbits=8, quotient_delay=1, doublings_per_cycle=2, halvings_per_cycle=3),
    case("mont-keyed", schedule="fixed-window"),
    case("mont-keyed", schedule="fixed-window", conversion="square", forward=False),
    case("mont-keyed", schedule="always", blind="exponent"),
    case("mont-keyed", schedule="always", scan="full"),
    case("mont-keyed", schedule="fixed-window", verify=True),
]


def corners(nbits):
    """Exponents, bases and moduli at the ends of their ranges; even moduli and bases that are too large."""
    top = (1 << nbits) - 1
    moduli = (0, 1, 2, 3, 0xD3, top - 1, top)
    exponents = (0, 1, 2, 3, 65537 & top, top >> 1, top)
    for mod, exp in itertools.product(moduli, exponents):
        yield from ((base & top, exp, mod) for base in dict.fromkeys((0, 1, 5, mod - 1, mod, top)))


def private_ones(machine):
    """Requests with a private exponent."""
    if machine.keyed:
        return [machine.carried(base, machine.key.d, machine.key.n) for base in (0, 5, machine.key.n - 1)]
    n = (1 << machine.nbits) - 5
    return [machine.carried(n - 2, exp, n) for exp in (0, 1, 3, n)]


def mixed(rows, others):
    """The rows, with the others in between."""
    step = max(1, len(rows) // len(others))
    for at, row in enumerate(rows):
        yield row
        if at % step == 0:
            yield from others[at // step :][:1]


@parametrize("name, how", CASES)
def test_corners(name, how):
    """All corners, with private operations in between, which all take the same time if that is promised:
    results by `pow`, cycles by rule and formula; the twin has the same stamps.
    """
    machine = machine_of(name, NBITS, public=True, **how)
    made = machine.programmed
    requests = list(mixed([made.public(*row) for row in corners(NBITS)], private_ones(machine)))
    run = ran(machine.rtl(), requests)
    for request, answer, latency in zip(requests, run.responses, run.latencies, strict=True):
        status = made.inspect(made.named(request))
        exp = machine.key.d if machine.keyed and not request[-1] else request[1]
        expected = pow(request[0], exp, request[2]) if status is Status.OK else 0
        assert answer == (status, expected) == made.fl(request), request
        assert latency == made.cycles(*request) == made.timing.replayed(made.trace(request), request[1])
    assert {Status.OK, Status.ZERO_MODULUS} <= {status for status, _ in run.responses}
    private = {count for count, request in zip(run.latencies, requests, strict=True) if not request[-1]}
    assert len(private) == 1 or not machine.promises.every_exponent
    some = requests[:: 1 + len(requests) // 40]
    assert ran(machine.rtl(), some, stall=BOTH) == ran(machine.cl(), some, "python", stall=BOTH)


@parametrize("nbits", [16, 64, 256, 1024, 2048])
def test_private_operations_take_the_time_that_they_had(nbits):
    """By formula: the same cycles as without public requests, after one cycle that examines the request."""
    with_public, without = (machine_of("heap", nbits, public=public) for public in (True, False))
    n = (1 << nbits) - 5
    assert with_public.cycles(3, n - 2, n) == without.cycles(3, n - 2, n)
    first, second = (machine.programmed.timing.loading_cycles for machine in (with_public, without))
    assert (first, second) == (1, 0)


@parametrize("nbits", [256, 1024, 2048])
def test_cycles_of_an_encryption(nbits):
    """For 65537: the way to R^2, 17 squares, 2 products for the ones, 1 into the form and 1 that wipes the
    unit, the way out, a cycle for each 0, and 5 microinstructions without a product.
    """
    machine = machine_of("heap", nbits, public=True)
    (part,) = parts_of(ENCRYPT, machine, nbits)
    form, operands = machine.programmed.recipe.scaled, part.work.operands
    expected = form.constant_cycles(operands[2]) + 21 * machine.product_cycles + form.leaving_cycles + 15 + 5
    assert machine.cycles(*operands) == expected
    assert nbits != 1024 or expected <= MOST


@regress
def test_numbers_of_a_private_key_are_refused():
    """Each of them is refused; the next request works."""
    machine = machine_of("mont-keyed", 16, public=True, **EVERYTHING)
    made, n = machine.programmed, machine.key.n
    good = made.public(5, 17, n)
    wrong = [changed(machine, good, **{name: 1}) for name in made.names[3:-1]]
    assert len(wrong) == len(made.private) == 8
    answers = ran(machine.rtl(), [*wrong, good]).responses
    assert answers == [(Status.BAD_KEY, 0)] * 8 + [(0, pow(5, 17, n))]


def test_machines_without_public_requests():
    """Schedules that reveal every exponent, and units of half the width, refuse the option with the
    remedy.
    """
    revealing = "sliding-window"
    refuses(
        lambda: machine_of("mont-keyed", 32, public=True, schedule=revealing),
        "public = true",
        "give schedule=fixed-window",
    )
    refuses(lambda: machine_of("mont-keyed", 32, public=True, schedule="always"), "scan=full")
    refuses(lambda: machine_of("heap", 32, public=True, crt=True), "half as wide", "crt=false")
    with refused("--set public=true"):
        machine_of("heap", 32).programmed.public(3, 5, 7)


def test_the_exponent_of_a_request():
    """Only the default public exponent, or the given one, is flagged as public."""
    machine = machine_of("heap", 32, public=True)
    assert machine.carried(3, 65537, 7) == (3, 65537, 7, 1)
    assert machine.carried(3, 17, 7) == (3, 17, 7, 0)
    assert machine.with_public(17).carried(3, 17, 7) == (3, 17, 7, 1)
    assert machine_of("heap", 32).carried(3, 65537, 7) == (3, 65537, 7)


@parametrize("interface", one_now((XCEL, AXI4LITE), AXI4LITE))
def test_behind_registers(interface):
    """The last given number is the flag; with a number of a private key the request is refused, and a flag of
    two bits is too wide.
    """
    machine = machine_of("heap", NBITS, public=True, verify=True)
    made, n = machine.programmed, machine.key.n
    public = made.public(5, 65537, n)
    private = private_ones(machine)
    requests = [public, *private, (*public[:3], 1, 1), (*public[:-1], 2), public]
    right = (Status.OK, pow(5, 65537, n))
    powers = [(Status.OK, pow(base, machine.key.d, n)) for base, *_ in private]
    expected = [right, *powers, (Status.BAD_KEY, 0), (Status.TOO_WIDE, 0), right]
    assert outcomes(interface, machine, requests) == expected


def test_the_promise_is_about_private_exponents():
    public, alone = (machine_of("heap", NBITS, public=public).promises for public in (True, False))
    assert public.every_exponent and alone.every_exponent
    assert public.sentence.endswith("; for an exponent that a request calls public, cycles depend on it")
    assert alone.sentence.endswith("; a public operation takes as long as a private one")
    assert public.as_json() == alone.as_json() | {"public_requests": True}
    text = verilog(machine_of("heap", NBITS, public=True), "stream")
    assert "for exp = 65537, public; " in text and "public[0:0] }" in text


def test_registers_say_that_it_takes_public_exponents():
    for public in (False, True):
        machine = machine_of("heap", NBITS, public=public)
        able = register_map(machine.shape, machine.traits)["CAPABILITIES"]
        assert able.field("public_exponents").reset == able.reset >> 27 & 1 == public
