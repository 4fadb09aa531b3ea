"""The product on a scaled modulus at the functional level, within its bounds, and the halvings that compute
its constant.
"""

from functools import partial

from hypothesis import strategies as st
from modexlab.fl.domains import ScaledMont as ScaledDomain
from modexlab.fl.mod_exp import mod_exp
from modexlab.fl.multipliers.scaled import ScaledMontgomery, ScaledShape
from modexlab.fl.program.schedules import SCHEDULES
from modexlab.rtl.units.mod_halve import ModHalve

from tests.harness import any_odd, bad_calls, draws, later, parametrize, ran_alike
from tests.tables import scaled
from tests.tables.scaled import check_product

# ---- functional level

ODD = any_odd(300)
DIGITS = st.integers(4, 208)
DELAYS = st.sampled_from([0, 1])


@draws(200, n=ODD, more=st.integers(0, 40), w=DIGITS, delay=DELAYS, draw=st.data())
def test_product(n, more, w, delay, draw):
    """Arbitrary odd moduli in machines of the same width or wider, with arbitrary digits: closed form,
    digit-serial form and integers agree.
    """
    nbits = n.bit_length() + more
    arithmetic = ScaledMontgomery(n, ScaledShape(nbits, w, delay))
    operands = st.one_of(
        st.integers(0, 2 * arithmetic.m - 1), st.sampled_from([0, 1, arithmetic.m, 2 * arithmetic.m - 1])
    )
    a, b = draw.draw(operands), draw.draw(operands)
    product = arithmetic.product(a, b)
    assert product == arithmetic.digit_serial(a, b)
    check_product(product, a, b, n, nbits, w, delay)
    assert arithmetic.m_prime << w * (delay + 1) == arithmetic.m + 1
    assert arithmetic.m_prime % n == pow(2, -w * (delay + 1), n)
    assert arithmetic.product(a, 1) <= arithmetic.m
    assert arithmetic.leave(a) == a * pow(2, -arithmetic.shape.wide, n) % n
    x = a % n
    assert arithmetic.leave(arithmetic.enter(x)) == x


@draws(200, n=ODD, w=DIGITS, delay=DELAYS, draw=st.data())
def test_state_stays_within_its_width(n, w, delay, draw):
    """The state between steps, for arbitrary factors below 2M, and for those that maximise it."""
    shape = ScaledShape(n.bit_length(), w, delay)
    arithmetic = ScaledMontgomery(n, shape)
    b = draw.draw(st.integers(0, 2 * arithmetic.m - 1) | st.just(2 * arithmetic.m - 1))
    # all-one digits exceed the top digits of numbers below 2M; the bound holds anyway
    a = draw.draw(st.integers(0, 2 * arithmetic.m - 1) | st.just((1 << shape.wide) - 1))
    mask, s = (1 << w) - 1, 0
    quotients = [0] * delay
    for i in range(shape.nsteps):
        quotients.append(s & mask)
        s = (s >> w) + quotients[i] * arithmetic.m_prime + (a >> (w * i) & mask) * b
        assert s.bit_length() <= shape.state_nbits


@parametrize("w", [4, 5, 16, 17, 31, 32])
@parametrize("nbits", [8, 13, 64, 521, 4096])
def test_table_at_the_functional_level(nbits, w):
    for row in scaled.table(nbits, w):
        arithmetic = ScaledMontgomery(row.mod, ScaledShape(nbits, w))
        check_product(arithmetic.product(row.a, row.b), row.a, row.b, row.mod, nbits, w)


@draws(
    200,
    n=ODD,
    base=st.integers(0, 2**300),
    exp=st.integers(0, 2**40),
    w=DIGITS,
    schedule=st.sampled_from(sorted(SCHEDULES)),
)
def test_domain_under_every_schedule(n, base, exp, w, schedule):
    base %= n
    domain = ScaledDomain(n, n.bit_length(), w)
    assert mod_exp(base, exp, n, domain=domain, schedule=schedule) == pow(base, exp, n)


def test_worked_example():
    """N = 0xB5C3, w = 4: c = 5, M = 0x38CCF, M' = 0x38CD."""
    arithmetic = ScaledMontgomery(0xB5C3, ScaledShape(16, 4))
    assert (arithmetic.c, arithmetic.m, arithmetic.m_prime) == (5, 0x38CCF, 0x38CD)


@parametrize("nbits", [8, 9, 32, 33, 1024, 4096])
def test_shape(nbits):
    """R is at least 4M for the largest M, with the fewest digits."""
    for w in range(4, 33):
        shape = ScaledShape(nbits, w)
        most = ((1 << w) - 1) * ((1 << nbits) - 1)
        assert 1 << shape.wide >= 4 * most
        assert shape.wide == w * shape.ndigits
        assert shape.wide - w < nbits + w + 2
        assert (2 * most).bit_length() <= shape.operand_nbits <= shape.wide


test_bad_input = bad_calls(
    (ScaledShape, 32, 3, "digits of 3 bits: give 4 to 208; the nearest is 4"),
    (ScaledShape, 32, 209, "the nearest is 208"),
    (ScaledShape, 0, 8, "give 1 or more"),
    (ScaledShape, 32, 8, 2, "give 0 or 1"),
    (ScaledDomain, 10, 8, "modulus 10 is even"),
    (ScaledDomain, 0, 8, "modulus 0"),
    (ScaledDomain, -5, 8, "modulus -5"),
    (ScaledDomain, 257, 8, "does not fit in 8 bits: give a width of at least 9"),
    (ScaledDomain, 7, 8, 210, "digits of 210 bits"),
    (ScaledDomain(7, 8, 4).product, 2 * 9 * 7, 1, "reduce it modulo M"),
    (partial(mod_exp, domain="scaled", nbits=8), 9, 2, 7, "base 9 is not below the modulus 7"),
)


# ---- the halvings that compute M' and leave the domain


@parametrize("halvings, per_cycle", [(8, 4), *later((8, 1), (8, 8), (12, 3))])
def test_mod_halve(halvings, per_cycle):
    """x / 2^halvings modulo n, at most n for x below 2^halvings, in halvings / per_cycle cycles, at all
    backends.
    """
    rows = [(x, n) for n in (1, 3, 7, 97, 127) for x in (0, 1, 2, n - 1, n, 2 * n, 255, 170) if x < 256]
    run = ran_alike(
        lambda: ModHalve(8, 7, halvings, per_cycle),
        [x for x, _ in rows],
        statics=[{"modulus": n} for _, n in rows],
    )
    for (x, n), answer in zip(rows, run.responses, strict=True):
        assert answer < n or (answer == n and (x == 0 or x >= n))
        assert answer * 2**halvings % n == x % n
    assert set(run.latencies) == {halvings // per_cycle}
