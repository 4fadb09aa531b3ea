"""The product by one bit heap: FL, CL and RTL run the same table, for all kinds of rows, delays, streams and
final additions.
"""

from functools import partial
from itertools import pairwise
from random import Random

from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.hashes import SHA256
from hypothesis import strategies as st
from modexlab.cl.heap_mont import HeapMontCL, HeapMontTiming
from modexlab.eval.designs.catalogue import find
from modexlab.eval.lab.comparison import cores
from modexlab.fl.compression.bit_heap import Line, plan_heap
from modexlab.fl.rsa_keys import RSAKey, numbers_of
from modexlab.fl.status import Status
from modexlab.rtl.sim import simulate
from modexlab.rtl.units.heap.bit_heap import BitHeap
from modexlab.rtl.units.heap.heap_mont import HeapMont

from tests.harness import (
    RTL_BACKENDS,
    agreed,
    any_odd,
    any_stream,
    any_word,
    case,
    check_powers,
    draws,
    evaluated,
    parametrize,
    ran,
    regress,
    stepped,
)
from tests.keys import openssl_key
from tests.tables import scaled
from tests.tables.scaled import check_product, constants, run_products


def timing(nbits, w, how):
    return HeapMontTiming(nbits, w, **{name: value for name, value in how.items() if name != "rows"})


def delay_of(how):
    return how.get("quotient_delay", 0)


BOTH = {"quotient_delay": 1, "streams": 2}
UNITS = [
    case(8, 4, later=False),
    case(13, 6, later=False, rows="joint", streams=2, loads=2, adds=2, quotient_delay=1),
    case(13, 6, rows="and", adds=2),
    case(13, 6, rows="and", **BOTH),
    case(16, 10, loads=2),
    case(16, 10, streams=2, adds=2),
    case(24, 16, streams=2, loads=2),
    case(8, 32, **BOTH),
    case(8, 32, rows="joint"),
    case(32, 34, adds=2, quotient_delay=1),
]


@parametrize("nbits, w, how", UNITS)
def test_table_at_every_level_and_stage(nbits, w, how):
    """The stamps of CL and of RTL with every backend are equal, with delays and stalls."""
    delay = delay_of(how)
    rows = scaled.table(nbits, w, quotient_delay=delay)
    agreed(
        partial(HeapMontCL, nbits, w, **how),
        partial(HeapMont, nbits, w, **how),
        lambda unit, *where: run_products(unit, rows, nbits, w, *where, delay),
        RTL_BACKENDS if w == 4 else ("native",),
    )


@parametrize("nbits, w, how", UNITS)
def test_formula(nbits, w, how):
    """The cycles of a single product equal the formula, those of two products `pair`; neither depends on the
    operands.
    """
    unit = timing(nbits, w, how)
    delay, loads, adds = delay_of(how), how.get("loads", 1), how.get("adds", 1)
    ndigits = 1 + delay - (-(nbits + 2) // w)
    assert unit.fixed == loads + adds + ndigits + delay
    apart = max(loads, adds) + ndigits + delay if how.get("streams") == 2 else unit.fixed
    assert unit.pair() == unit.fixed + apart
    with simulate(HeapMont(nbits, w, **how)) as sim:
        for row in scaled.table(nbits, w, quotient_delay=delay):
            static = {"modulus": constants(row.mod, w, delay)[1]}
            assert sim.run([row.request], statics=static).latencies == [unit.fixed]
            run = sim.run([row.request, (row.b, row.a), row.request], statics=static)
            first, second, third = (done - run.accepted[0] for done in run.done)
            assert (first, second, third - second) == (unit.fixed, unit.pair(), apart)


@parametrize("loads, adds", [(1, 3), (3, 1), (2, 2)])
def test_loads_overlap_the_final_addition_of_the_other_stream(loads, adds):
    """The twin starts products that follow one another as often as the formula says."""
    how = {"streams": 2, "loads": loads, "adds": adds}
    row, *_ = scaled.table(16, 10)
    run = ran(
        HeapMontCL(16, 10, **how), [row.request] * 4, "python", statics={"modulus": constants(row.mod, 10)[1]}
    )
    assert {after - before for before, after in pairwise(run.done)} == {timing(16, 10, how).interval()}


@parametrize(
    "nbits, w, how",
    [
        case(16, 4, later=False, streams=2, adds=2),
        case(16, 4, quotient_delay=1, loads=2),
        case(33, 12, rows="joint"),
        case(40, 22, rows="and", **BOTH),
        case(21, 8, streams=2, loads=2, quotient_delay=1),
    ],
)
def test_any_stream(nbits, w, how):
    """Hypothesis: arbitrary streams of products with arbitrary delays and stalls: CL and RTL agree in every
    stamp.
    """
    delay = delay_of(how)

    def request_of(n, a, b):
        m, m_prime = constants(n, w, delay)
        return (a % (2 * m), b % (2 * m)), {"modulus": m_prime}

    any_stream(
        HeapMont(nbits, w, **how),
        HeapMontCL(nbits, w, **how),
        any_odd(nbits),
        st.integers(0),
        request_of,
        lambda n, factors, answer: check_product(answer, *factors, n, nbits, w, delay),
    )


WIDE = (
    (32, 18, {}, 100_000),
    (64, 34, {}, 100_000),
    (128, 66, {}, 100_000),
    (128, 130, {"streams": 2}, 100_000),
    (256, 66, {}, 100_000),
    (256, 66, {"streams": 2, "adds": 2}, 100_000),
    (512, 66, {}, 100_000),
    (512, 66, {"quotient_delay": 1, "adds": 2}, 100_000),
    (1024, 70, {}, 100_000),
    (1024, 66, {"quotient_delay": 1, "adds": 2, "streams": 2}, 10_000),
    (1024, 172, {}, 10_000),
    (1024, 16, {}, 10_000),
    (2048, 70, {}, 100_000),
    (4096, 66, {}, 5_000),
)


@regress
@parametrize("nbits, w, how, count", WIDE)
def test_wide(nbits, w, how, count):
    """The corners, then many random products, natively; responses are compared with integers, latencies with
    the formula.
    """
    delay = delay_of(how)
    unit = timing(nbits, w, how)
    rng = Random(f"{nbits} {w}")
    rows = scaled.table(nbits, w, count=3, quotient_delay=delay)
    run_products(HeapMont(nbits, w, **how), rows, nbits, w, "native", delay=delay)
    with simulate(HeapMont(nbits, w, **how)) as sim:
        some = [(1 << nbits) - 1, 3, *(rng.getrandbits(nbits) | 1 | 1 << nbits - 1 for _ in range(4))]
        some += [rng.getrandbits(rng.randrange(2, nbits)) | 1 for _ in range(2)]
        for n in some:
            m, m_prime = constants(n, w, delay)
            requests = [(rng.randrange(2 * m), rng.randrange(2 * m)) for _ in range(count // len(some))]
            run = sim.run(requests, statics={"modulus": m_prime})
            for answer, (a, b) in zip(run.responses, requests, strict=True):
                check_product(answer, a, b, n, nbits, w, delay)
            assert run.done[0] - run.accepted[0] == unit.fixed
            assert run.done[-1] - run.done[0] == (len(requests) - 1) * unit.interval()


def test_the_catalogue_is_among_the_wide_ones():
    """At each width of the table of cores, the digit of the catalogue is tested with 10^5 products in `make
    regress`.
    """
    many = {(nbits, w) for nbits, w, how, count in WIDE if not how and count >= 1e5}
    own = {(nbits, find("heap").at(nbits).parameters["digit_nbits"]) for nbits in cores.widths()}
    assert own <= many


# ---- a whole private operation


@regress
@parametrize(
    "nbits, options",
    [
        (1024, {}),
        (1024, {"crt": True}),
        (2048, {"crt": True}),
        (2048, {"crt": True, "digit_nbits": 172}),
        (2048, {}),
    ],
)
def test_a_private_operation_is_that_of_openssl(nbits, options):
    """Natively: the machine of the catalogue computes OpenSSL's PKCS#1 v1.5 signature, in the cycles of the
    formula.
    """
    other = openssl_key(nbits)
    signature = int.from_bytes(other.sign(b"modexlab", padding.PKCS1v15(), SHA256()), "big")
    key = RSAKey(**numbers_of(other))
    machine = find("heap").at(nbits, **options)
    if machine.keyed:
        machine = machine.with_key(key)
    operands = pow(signature, key.e, key.n), key.d, key.n
    run = check_powers(machine, [operands])
    assert run.responses == [(Status.OK, signature)]
    assert run.latencies == [machine.cycles(*operands)]


# ---- the heap alone


@draws(40, st.data())
def test_heap_of_any_rows(data):
    """Hypothesis: the pair of an arbitrary plan is the sum of its rows."""
    ends = st.tuples(st.integers(0, 20), st.integers(0, 20), st.floats(0, 1))
    lines = [Line(late, min(a, b), max(a, b) + 1) for a, b, late in data.draw(st.lists(ends, min_size=3))]
    heap = stepped(BitHeap(plan_heap(lines, 30)))
    values = [data.draw(any_word(line.hi - line.lo)) << line.lo for line in lines]
    for port, value in zip(heap.row, values, strict=True):
        port @= 2**30 - 1 - value
    evaluated(heap)
    assert int(~heap.sum) + int(~heap.carry) == sum(values)
