"""The products of the functional level and their surroundings: MulRem, division, Montgomery, domains.

The oracles are Python's % and pow, with pow(2, -nbits, n) for R^-1.
"""

import pytest
from hypothesis import strategies as st
from modexlab.fl.domains import DOMAINS, Identity, MontgomeryDomain, make_domain
from modexlab.fl.errors import shown, unknown
from modexlab.fl.multipliers.montgomery import Montgomery
from modexlab.fl.multipliers.mul_rem import mul_rem

from tests.harness import any_odd, any_word, bad_calls, draws, parametrize, refused
from tests.tables.mod_exp import M_004
from tests.tables.products import corners

WIDTHS = (1, 2, 3, 8, 31, 32, 33, 64, 128, 256, 1024)
P, Q = 27277, 95443  # the factors of paper 001's n = 2603398711


@st.composite
def montgomery_operands(draw, widths=WIDTHS):
    """(n, nbits, x, y): an odd n of at most nbits bits, x < 2^nbits, y < n."""
    nbits = draw(st.sampled_from(widths))
    n = draw(any_odd(nbits))
    return n, nbits, draw(any_word(nbits)), draw(st.integers(0, n - 1))


# the table of all multipliers, and rows at the smallest widths and above the modulus
CORNERS = [
    pytest.param(row.mod, nbits, row.a, row.b, id=f"{nbits} bits, {row.name}")
    for nbits in (8, 32, 4096)
    for row in corners(nbits)
]
CORNERS += [(1, 1, 0, 0), (1, 8, 255, 0), (3, 2, 2, 2), (15, 4, 3, 5), (9, 4, 3, 3)]
CORNERS += [(P * Q, 32, 0xFFFFFFFF, P * Q - 1), (P * Q, 32, P, Q), (P * Q, 32, 1000 * P, 77 * Q)]
CORNERS += [(0x80000001, 32, 0x80000000, 0x80000000), (0xFFFFFFFB, 32, 1 << 31, 1 << 30)]
CORNERS += [((1 << 2048) ** 2 - 1, 4096, (1 << 2048) - 1, (1 << 2048) + 1)]


# mul_rem


@parametrize(
    "n, nbits, x, y", [*CORNERS, (10, 4, 7, 9), (4, 2, 2, 2), (1, 3, 5, 7), (7, 7, 100, 100), (2, 3, 0, 5)]
)
def test_mul_rem_corner(n, nbits, x, y):
    assert mul_rem(x, y, n) == sum(y << i for i in range(nbits) if x >> i & 1) % n


@draws(400, any_word(1100), any_word(1100), st.integers(1, 1 << 1050))
def test_mul_rem_is_the_remainder_of_the_product(a, b, n):
    remainder = mul_rem(a, b, n)
    assert 0 <= remainder < n and (a * b - remainder) % n == 0


# Montgomery


@parametrize("n, nbits, x, y", CORNERS)
def test_montgomery_corner(n, nbits, x, y):
    assert Montgomery(n, nbits).product(x, y) == x * y * pow(2, -nbits, n) % n


@draws(400, operands=montgomery_operands())
def test_montgomery_product(operands):
    test_montgomery_corner(*operands)


@draws(200, montgomery_operands())
def test_the_constants_are_those_of_the_paper(operands):
    n, nbits, _, _ = operands
    mont = Montgomery(n, nbits)
    r = 2**nbits
    assert (mont.r, mont.r_mod_n, mont.r2_mod_n) == (r, r % n, r * r % n)
    # equation 5: R*R^-1 - N'*N = 1, so R^-1 is (1 + N'*N) / R, and an inverse of R
    r_inverse, rest = divmod(1 + mont.n_prime * n, r)
    assert rest == 0 < mont.n_prime < r
    assert r * r_inverse % n == 1 % n


@draws(120, montgomery_operands())
def test_enter_and_leave(operands):
    n, nbits, _, y = operands
    mont = Montgomery(n, nbits)
    entered = mont.product(y, mont.r2_mod_n)
    assert entered == (y << nbits) % n and mont.redc(entered) == y
    assert mont.product(1 % n, mont.r2_mod_n) == mont.r_mod_n


@draws(120, montgomery_operands(), st.data())
def test_redc_over_its_whole_range(operands, data):
    n, nbits, _, _ = operands
    t = data.draw(st.integers(0, n << nbits))
    assert Montgomery(n, nbits).redc(t) == t * pow(2, -nbits, n) % n


@draws(120, montgomery_operands((1, 8, 32, 256, 2048)))
def test_r2_comes_from_doublings_and_squarings_too(operands):
    """The method of the machine without a divider: double 1 up to 2*R, then square once per bit of nbits."""
    n, nbits, _, _ = operands
    mont = Montgomery(n, nbits)
    x = pow(2, nbits + 1, n)
    doubled = 1  # x is 2^doubled * R
    for bit in f"{nbits:b}"[1:]:
        x, doubled = mont.product(x, x), 2 * doubled
        if bit == "1":
            x, doubled = 2 * x % n, doubled + 1
    assert (doubled, x) == (nbits, mont.r2_mod_n)


def test_redc_at_both_ends():
    mont, top = Montgomery(P * Q, 32), P * Q << 32
    assert mont.redc(0) == mont.redc(top) == 0  # T = R*N, which paper 001's Algorithm 2 allows
    for t in (-1, top + 1):
        with refused(r"outside 0\.\.R\*N"):
            mont.redc(t)


def test_n_prime_of_paper_004():
    """Section II.A of paper 004: n = 128, its m and m' (given there as a negative number)."""
    assert Montgomery(M_004, 128).n_prime == -133419654858893623771608150101834274859 % 2**128


test_bad_moduli = bad_calls(
    (Montgomery, 0, 32, "modulus 0.*odd modulus"),
    (Montgomery, -3, 32, "modulus -3.*odd modulus"),
    (Montgomery, 10, 32, "modulus 10 is even.*identity"),
    (Montgomery, 257, 8, "modulus 257.*8 bits.*at least 9"),
    (Montgomery, (1 << 4096) + 1, 4096, r"\(4097 bits\).*at least 4097"),
    (Montgomery, 1, 0, "modulus 1.*at least 1"),
    (mul_rem, 3, 4, 0, "modulus 0.*1 or more"),
    (mul_rem, 3, 4, -7, "modulus -7.*1 or more"),
)


# domains


@parametrize("name", [name for name in DOMAINS if name != "pseudo"])  # it is for divisors of 2^nbits - 1
@draws(120, operands=montgomery_operands())
def test_a_domain_multiplies(name, operands):
    n, nbits, x, y = operands
    x %= n
    domain = make_domain(name, n, nbits)
    product = domain.product(domain.enter(x), domain.enter(y))
    assert domain.leave(product) == x * y % n
    assert domain.leave(domain.one) == 1 % n
    # a number may be represented in more than one way
    assert domain.leave(domain.product(domain.one, domain.enter(x))) == x


def test_conversions_are_products_by_their_constants():
    mont, plain = MontgomeryDomain(P * Q, 32), Identity(P * Q - 1)
    assert mont.enter(5745) == mont.product(5745, mont.enter_by) == (5745 << 32) % (P * Q)
    assert mont.leave(12345) == mont.product(12345, mont.leave_by)
    # reduced on the way in: paper 001, Algorithm 1, line 2
    assert (plain.enter_by, plain.leave_by, plain.enter(P * Q), plain.leave(7)) == (None, None, 1, 7)


def test_the_width_of_a_domain():
    domains = Identity(1000), MontgomeryDomain(1001), MontgomeryDomain(1001, 32)
    assert [domain.nbits for domain in domains] == [10, 10, 32]


def test_paper_004_answers_the_modulus_for_0():
    """Algorithm 5 as printed, with > instead of >=, returns the modulus for 0: the reason for the rows with a
    product of 0.
    """

    def as_printed(a, b, m):
        p, c = 0, a
        while b:
            p = p + c if b & 1 else p
            p = p - m if p > m else p
            c = c << 1
            c = c - m if c > m else c
            b >>= 1
        return p

    assert as_printed(7, 29, 203) == 203 and mul_rem(7, 29, 203) == 0


# messages


@parametrize(
    "value, text",
    [
        (0, "0"),
        (-12, "-12"),
        (2**64 - 1, "18446744073709551615"),
        (2**64, "0x10000000...00000000 (65 bits)"),
        (-(2**64), "-0x10000000...00000000 (65 bits)"),
        (2**4096 - 1, "0xffffffff...ffffffff (4096 bits)"),
    ],
)
def test_shown(value, text):
    assert shown(value) == text


def test_unknown_without_a_near_name_lists_what_there_is():
    error = unknown("stage", "qqq", ["python", "native"])
    assert str(error) == "unknown stage 'qqq': there are python, native"
