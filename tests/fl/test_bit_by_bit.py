"""The algorithms of the papers, bit by bit, against plain integers: Python's % and pow."""

from hypothesis import given
from hypothesis import strategies as st
from modexlab.fl.multipliers.bit_by_bit import (
    add_red,
    interleaved,
    interleaved_signed,
    mm_red,
    mont_mul_rem,
    power_mm_mul,
    power_mm_red,
    power_ss_mul,
    r_squared,
    ss_mul,
)

from tests.harness import any_odd, any_word, parametrize
from tests.tables.mod_exp import M_004
from tests.tables.products import corners

WIDTHS = (1, 2, 3, 8, 32, 33, 128)
CORNERS = [(nbits, row.a, row.b, row.mod) for nbits in (8, 32, 128) for row in corners(nbits)]
ODD = [row for row in CORNERS if row[3] % 2]


@st.composite
def operands(draw, odd=True):
    """(nbits, x, y, n) for x < 2^nbits and y < n < 2^nbits."""
    nbits = draw(st.sampled_from(WIDTHS))
    n = draw(any_odd(nbits) if odd else st.integers(1, (1 << nbits) - 1))
    return nbits, draw(any_word(nbits)), draw(st.integers(0, n - 1)), n


def over_r(value, n, nbits):
    return value * pow(2, -nbits, n) % n


@given(operands())
def test_add_red_halves_modulo_n(case):
    _, x, y, n = case
    state = y + n if x & 2 else y  # any state below 2n
    after = add_red(state, x & 1, y, n)
    assert 2 * after % n == (state + (x & 1) * y) % n and after < 2 * n


@parametrize("case", ODD)
def test_montgomery_corner(case):
    nbits, x, y, n = case
    assert mont_mul_rem(x, y % n, n, nbits) == over_r(x * y, n, nbits)
    assert mm_red(x * (y % n), n, nbits) == over_r(x * y, n, nbits)


@given(operands())
def test_montgomery(case):
    nbits, x, y, n = case
    assert mont_mul_rem(x, y, n, nbits) == mm_red(x * y, n, nbits) == over_r(x * y, n, nbits)
    assert r_squared(n, nbits) == 4**nbits % n


@parametrize("case", CORNERS)
def test_plain_corner(case):
    nbits, x, y, n = case
    assert ss_mul(x % n, y % n, n) == interleaved(x, y % n, n, nbits) == x * y % n
    assert interleaved_signed(x, y % n, n, nbits) == x * y % n


@given(operands(odd=False))
def test_plain(case):
    nbits, x, y, n = case
    assert ss_mul(x % n, y, n) == interleaved(x, y, n, nbits) == x * y % n
    assert interleaved_signed(x, y, n, nbits) == x * y % n


@given(operands(), st.integers(0, 2**40))
def test_powers(case, exp):
    nbits, base, _, n = case
    expected = pow(base, exp, n)
    assert power_mm_red(base % n, exp, n, nbits) == expected
    assert power_mm_mul(base, exp, n, nbits) == expected
    assert power_ss_mul(base % n, exp, n) == expected


def test_the_numbers_of_paper_004():
    """Its example of 128 bits, encrypted and decrypted by each of its algorithms."""
    message, e = 179441695220040973036856247560209845703, 78624383815806095082831236375207684303
    cipher, d = 212957456342734650649396939600336433714, 232543530691965449749356023879307323711
    for base, exp, result in ((message, e, cipher), (cipher, d, message)):
        assert power_mm_red(base, exp, M_004, 128) == result
        assert power_mm_mul(base, exp, M_004, 128) == result
        assert power_ss_mul(base, exp, M_004) == result


def test_the_printed_comparison_is_wrong():
    """With "if S > N", as papers 001 and 004 print it, a product of the two factors of n is n, not 0."""
    n, p, q = 15, 3, 5
    state = 0
    for i in range(4):
        state = add_red(state, p >> i & 1, q, n)
    assert state == n and mont_mul_rem(p, q, n, 4) == 0
    assert ss_mul(p, q, n) == 0
