"""Pseudo-moduli: every claim about a modulus is verified by multiplication."""

from math import prod

from hypothesis import strategies as st
from modexlab.fl.moduli import known_factors
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


def test_an_order_out_of_reach():
    """2 generates the residues of this prime; a number of so many bits is not written."""
    moduli = PseudoModuli(524309)
    assert (moduli.powers.minus, moduli.power_minus_one) == (524308, None)
    why = "the least t is 524308: a number of so many bits is out of reach"
    assert moduli.table()[0][1:] == (None, why)


def test_hopeless_for_a_key():
    """A real key: t is unknown, the reason is stated, and the search is bounded."""
    moduli = PseudoModuli(seeded_key(256).n)
    assert (moduli.powers.minus, moduli.powers.plus, moduli.powers.exact) == (None, None, False)
    rows = moduli.table()
    assert [row[0] for row in rows] == ["2^t - 1", "2^t + 1", "low end", "high end", "both ends"]
    for _, found, why in rows[:2]:
        assert found is None and "no t up to 1024" in why and "hopeless" in why
    assert all(found for _, found, _ in rows[2:])


# ---- moduli that are no keys


@parametrize("t", FAMILY)
def test_family_of_paper_000(t):
    """m2 = (2^t - 1) / 3, of all sizes in the paper and more: recognised, factored, and warned of."""
    n = (2**t - 1) // 3
    moduli = PseudoModuli(n)
    assert prod(known_factors(n, t)) == n and (min(known_factors(n, t)) > 1 or t == 4)
    assert moduli.powers.minus == t
    assert (moduli.power_minus_one.c, moduli.power_minus_one.value) == (3, 2**t - 1)
    assert f"N = (2^{t} - 1) / 3, the family of paper 000" in moduli.warning
    assert known_factors(n + 2, t) is None and known_factors(0, t) is None


@parametrize("n, words", {2**61 - 1: "N divides 2^61 - 1", 2**64 + 1: "N divides 2^64 + 1"}.items())
def test_warnings(n, words):
    assert words in PseudoModuli(n).warning


def test_no_more_is_claimed_than_is_known():
    moduli = PseudoModuli(seeded_key(512).n)
    assert moduli.warning == "" and "does not prove" in moduli.verdict


test_bad_input = bad_calls(
    (PseudoModuli, 0, 16, "modulus 0: give an odd modulus of 3 or more"),
    (PseudoModuli, 1, 16, "modulus 1: all numbers are 0 modulo 1; give an odd modulus of 3 or more"),
    (PseudoModuli, -3, 16, "modulus -3"),
    (PseudoModuli, 24, 16, r"modulus 24 is even, and so are all its multiples.*\(its odd part is 3\)"),
    (PseudoModuli, 15, 3, "digits of 3 bits: give 4 to 208; the nearest is 4"),
    (PseudoModuli, 15, 218, "the nearest is 208"),
)
