"""Pseudo-moduli and the search for factors: every claim about a modulus is verified by multiplication."""

import random
from math import isqrt, prod

from hypothesis import given
from hypothesis import strategies as st
from modexlab.fl.factors import FERMAT_PRIMES, find_factors, is_prime, order_of_two
from modexlab.fl.multipliers.pseudo_modulus import PseudoModuli
from modexlab.proc.software.seeded_keys import seeded_key

from tests.harness import bad_calls, draws, parametrize

ODD = st.integers(1, 2**200).map(lambda x: 2 * x + 1)
DIGITS = st.integers(4, 32)
FAMILY = (4, 6, 8, 10, 12, 16, 30, 32, 62, 64, 100, 128, 256, 512, 1024)  # t of (2^t - 1) / 3


# ---- shapes that exist for every odd modulus


@draws(200, n=ODD, w=DIGITS)
def test_ends(n, w):
    """Each multiple has the ones that its shape promises, and a c of the stated length."""
    moduli, nbits = PseudoModuli(n, w), n.bit_length()
    ones = (1 << w) - 1
    low, high, both = moduli.low_end, moduli.high_end, moduli.both_ends
    for modulus in (low, high, both):
        assert modulus.value == modulus.c * n
        assert modulus.extra_nbits == (modulus.c * n).bit_length() - nbits
    assert low.value & ones == ones
    assert low.c <= ones
    delta = (1 << (nbits + w)) - high.value
    assert 0 < delta <= n
    assert high.c.bit_length() in (w, w + 1)
    assert both.value & ones == ones
    assert both.value >> (nbits + w) == ones
    assert both.c.bit_length() in (2 * w, 2 * w + 1)
    assert both.value + (n << w) >= 1 << (nbits + 2 * w)  # the next c with this residue is too large


def test_worked_example():
    """N = 0xB5C3, w = 4, computed by hand."""
    moduli = PseudoModuli(0xB5C3, 4)
    assert (moduli.low_end.c, moduli.low_end.value) == (5, 0x38CCF)
    assert (moduli.high_end.c, moduli.high_end.value) == (0x16, 0xF9EC2)
    assert (moduli.both_ends.c, moduli.both_ends.value) == (0x165, 0xFD78EF)


def test_counts():
    """1024 bits, w = 16: it saves a quotient digit per step, and costs more steps and longer operands."""
    moduli = PseudoModuli((1 << 1024) - 105, 16)
    assert (moduli.plain_steps, moduli.plain_digit_products) == (64, 2 * 64 * 64 + 64)
    assert moduli.low_end.steps == 67  # 1 + ceil(1026 / 16) digits, and one step more
    assert moduli.low_end.digit_products == 66 * (66 + 64)
    assert moduli.both_ends.steps < moduli.plain_steps


# ---- 2^t - 1 and 2^t + 1


@draws(80, n=st.integers(1, 5000).map(lambda x: 2 * x + 1))
def test_powers_of_small_moduli_are_exact(n):
    """The least t by exhaustive search."""
    moduli = PseudoModuli(n)
    t = next(t for t in range(1, n + 1) if (2**t - 1) % n == 0)
    plus = next((t for t in range(1, n + 1) if (2**t + 1) % n == 0), None)
    assert (moduli.powers.minus, moduli.powers.plus, moduli.powers.exact) == (t, plus, True)
    assert moduli.power_minus_one.value == 2**t - 1
    found = moduli.power_plus_one
    assert (found, plus) == (None, None) or found.value == 2**plus + 1


def test_order_beyond_the_search_is_found_by_factors():
    """27277 * 95443, of paper 001: the order of 2 is far beyond the search, and is computed from
    the factors.
    """
    moduli = PseudoModuli(2603398711)
    t = moduli.powers.minus
    assert moduli.powers.exact and t > moduli.powers.bound
    check_order(t, moduli.n)
    assert moduli.power_minus_one is None
    assert moduli.table()[0][1:] == (
        None,
        f"the least t is {t}: a number of so many bits is out of reach",
    )


def check_order(t, n):
    """Check that t is the least with 2^t = 1 modulo n."""
    assert pow(2, t, n) == 1 % n
    assert all(pow(2, t // p, n) != 1 % n for p in set(values(find_factors(t))))


def values(found):
    """The factors that were found."""
    return [factor.value for factor in found.factors]


def test_hopeless_for_a_key():
    """A real key: t is unknown, the reason is stated, and the search is bounded."""
    moduli = PseudoModuli(seeded_key(256).n)
    assert (moduli.powers.minus, moduli.powers.plus, moduli.powers.exact) == (None, None, False)
    rows = moduli.table()
    assert [row[0] for row in rows] == ["2^t - 1", "2^t + 1", "low end", "high end", "both ends"]
    for _, found, why in rows[:2]:
        assert found is None and "no t up to 1024" in why and "hopeless" in why
    assert all(found for _, found, _ in rows[2:])


@draws(100, n=st.integers(0, 2**40).map(lambda x: x | 1))
def test_order_of_two(n):
    check_order(order_of_two(n), n)


# ---- factors


def test_fermat_numbers():
    """The products of the known primes."""
    for k, primes in FERMAT_PRIMES.items():
        assert prod(primes) == 2**2**k + 1
        assert all(map(is_prime, primes))


@parametrize("t", FAMILY)
def test_family_of_paper_000(t):
    """m2 = (2^t - 1) / 3, of all sizes in the paper and more: recognised, factored, and warned of."""
    n = (2**t - 1) // 3
    moduli = PseudoModuli(n)
    assert moduli.family_000 == t
    assert moduli.powers.minus == t
    assert (moduli.power_minus_one.c, moduli.power_minus_one.value) == (3, 2**t - 1)
    found = values(moduli.factors)
    assert prod(found) == n and moduli.factors.complete and all(map(is_prime, found))
    assert f"N = (2^{t} - 1) / 3, the family of paper 000" in moduli.warning
    assert ("Fermat" in moduli.warning) == (t & (t - 1) == 0)


def test_a_key_of_the_family_is_broken_from_public_data():
    """RSA-1024 of paper 000: the factors found decrypt a ciphertext."""
    n, e = (2**1024 - 1) // 3, 65539
    phi = prod(p - 1 for p in values(PseudoModuli(n).factors))
    message = random.Random(3).randrange(n)
    assert pow(pow(message, e, n), pow(e, -1, phi), n) == message


@draws(200, st.integers(1, 2**44))
def test_small_numbers_are_factored(n):
    found = find_factors(n)
    assert prod(values(found)) == n and found.complete
    for p in values(found):
        assert is_prime(p) if p > 2**20 else all(p % d for d in range(2, isqrt(p) + 1))


@given(st.lists(st.sampled_from([3, 5, 641, 65537, 6700417, 2**31 - 1, 2**61 - 1, 2**89 - 1]), max_size=6))
def test_repeated_factors(primes):
    assert values(find_factors(prod(primes))) == sorted(primes)


def test_no_more_is_claimed_than_was_found():
    """A product of two strong primes stays one composite factor, without a warning."""
    key = seeded_key(512)
    moduli = PseudoModuli(key.n)
    (rest,) = moduli.factors.factors
    assert (rest.value, rest.prime, moduli.factors.complete, moduli.warning) == (key.n, False, False, "")
    assert "does not prove" in moduli.verdict and "Pollard rho" in moduli.verdict


def test_what_is_left_is_said():
    """A partial factorisation: the small primes are named, and the rest is called composite."""
    key = seeded_key(512)
    moduli = PseudoModuli(key.n * 641 * 274177)
    assert values(moduli.factors) == [641, 274177, key.n]
    assert "known factors, 2 of them prime: 641 * 274177 *" in moduli.warning
    assert f"Not factored further by this search: {key.n.bit_length()} bits" in moduli.warning


def test_cofactor_does_not_hide_a_special_form():
    """Primes with a small order of 2 are found with any cofactor."""
    key = seeded_key(384)
    found = find_factors(key.n * (2**127 - 1) * (2**61 - 1))
    assert values(found) == [2**61 - 1, 2**127 - 1, key.n]
    assert [factor.by for factor in found.factors] == ["2^61 - 1", "2^127 - 1", "rest"]


@parametrize(
    "n, words",
    [
        (2**61 - 1, "N divides 2^61 - 1"),
        (2**61 - 1, "N is prime (Miller-Rabin)"),
        (2**64 + 1, "N divides 2^64 + 1"),
        (2**64 + 1, "N is fully factored: 274177 * 67280421310721"),
        (0xB5C3, "N is fully factored: 19 * 31 * 79"),
        (65539**2, "N is fully factored: 65539 * 65539"),
    ],
)
def test_warnings(n, words):
    assert words in PseudoModuli(n).warning


@parametrize("n", [4, 6, 9, 561, 3215031751, 3825123056546413051, (2**61 - 1) * (2**89 - 1)])
def test_composites_are_no_primes(n):
    """Composites, including Carmichael numbers and strong pseudoprimes to many small bases."""
    assert not is_prime(n)


test_bad_input = bad_calls(
    (PseudoModuli, 0, 16, "modulus 0: give an odd modulus of 3 or more"),
    (PseudoModuli, 1, 16, "modulus 1: all numbers are 0 modulo 1; give an odd modulus of 3 or more"),
    (PseudoModuli, -3, 16, "modulus -3"),
    (PseudoModuli, 24, 16, r"modulus 24 is even, and so are all its multiples.*\(its odd part is 3\)"),
    (PseudoModuli, 15, 3, "digits of 3 bits: give 4 to 208; the nearest is 4"),
    (PseudoModuli, 15, 218, "the nearest is 208"),
    (find_factors, 0, "0 has no factors"),
)
