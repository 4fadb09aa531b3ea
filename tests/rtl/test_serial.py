"""The digit-serial processor (paper 003): its products, its counts, and the widths with the longest
numbers.
"""

import re
from random import Random

from hypothesis import strategies as st
from modexlab.eval.designs.catalogue import find
from modexlab.fl.domains import Redundant
from modexlab.fl.multipliers.digit_serial import SerialShape, product, widest_digit
from modexlab.fl.multipliers.scaled import ScaledMontgomery, ScaledShape
from modexlab.rtl.sim import translate

from tests.harness import any_odd, check_native, check_powers, draws, later, one_now, parametrize, refused
from tests.tables import mod_exp, unsubtracted

OURS = find("serial")
TWO, ONE = find("serial-003"), find("serial-003-one")


@parametrize("nbits", [8, 13, 32])
def test_serial_products(nbits):
    """The function of the hardware, addition by addition, gives a product of each row, the same number as the
    domain.
    """
    for row in unsubtracted.corners(nbits) + unsubtracted.drawn(nbits, 50):
        made = product(nbits, row.a, row.b, row.mod)
        assert row.right(made, 1 << (nbits + 2)), row
        assert made == Redundant(row.mod, nbits).product(row.a, row.b), row


@draws(200, st.data(), st.integers(1, 300))
def test_serial_product_of_any_width(data, nbits):
    n = data.draw(any_odd(nbits))
    a, b = (data.draw(st.integers(0, 2 * n - 1)) for _ in "ab")
    made = product(nbits, a, b, n)
    assert made < 2 * n and (made << nbits + 2) % n == a * b % n


# paper 003, Figure 17.4, K = 1024, e = 65537; the rows of 64 and 128 bits, which the paper exchanges, are
# corrected (`modexlab show papers 003 --errata`)
N_CK = {32: 645_288, 64: 332_440, 128: 176_016, 256: 97_804}


@parametrize("digit", N_CK)
def test_serial_counts_of_the_paper(digit):
    machine = TWO.at(1024, digit_nbits=digit)
    m = -(-1026 // digit)
    assert machine.product_cycles == (2 * m + 2) + 1027 * m
    assert machine.products(65537) == 17 + 2
    assert machine.cycles(2, 65537, 3) == N_CK[digit]


@parametrize("digit", one_now(N_CK, 256))
def test_serial_counts_in_hardware(digit):
    """Native RTL at 1,024 bits: the result, and N_CK from the handshake of the request to that of the
    response.
    """
    machine = TWO.at(1024, digit_nbits=digit)
    base, _, mod = machine.some_operands()
    assert check_powers(machine, [(base, 65537, mod)]).latencies == [N_CK[digit]]


@parametrize("design", one_now((TWO, ONE), TWO))
@parametrize("nbits, digit", [(14, 8), *later((13, 5), (14, 4), (13, 4), (16, 6), (16, 9))])
def test_serial_digits_of_all_kinds(design, nbits, digit):
    """Digits that divide K + 2, for which the paper's M would be one bit short; three and more digits; digits
    that do not divide the width.
    """
    check_native(design, mod_exp.table(nbits, 8), nbits, digit_nbits=digit)


def test_serial_numbers_are_as_long_as_said():
    """2B + N reaches K + 3 bits: M digits of ceil((K + 2) / S) would lose its highest bit."""
    nbits = 14
    longest = max(
        (2 * (2 * mod - 1) + mod).bit_length() for mod in range((1 << nbits - 1) + 1, 1 << nbits, 2)
    )
    assert longest == nbits + 3
    assert SerialShape(nbits, 8).ndigits == 3 > -(-(nbits + 2) // 8)


@draws(100, nbits=st.integers(8, 4096), digit=st.integers(2, 1024))
def test_serial_widths(nbits, digit):
    """Valid widths have three digits; the error for others names the nearest valid one."""
    widest = widest_digit(nbits)
    assert SerialShape(nbits, min(digit, widest)).ndigits >= 3
    if digit > widest:
        with refused(f"nearest that the width can have is {widest}$"):
            SerialShape(nbits, digit)


def test_serial_memories_are_memories():
    """One module for all memories: an array, written at one index, not a register with a multiplexer."""
    text = translate(TWO.at(64).rtl(), "dut")
    memory = text.partition("module DigitMemory")[2].partition("endmodule")[0]
    assert re.search(r"digits ?\[", memory)
    assert text.count("DigitMemory memory") == 7


@parametrize("design", one_now((TWO, ONE, OURS), TWO))
@parametrize(
    "nbits, digit, count",
    [(16, 4, 100), *later((64, 16, 100_000), (64, 32, 100_000), (1024, 32, 1_000), (1024, 128, 1_000))],
)
def test_serial_many_products(design, nbits, digit, count):
    """Exponentiations with this many products in total, natively."""
    machine = design.at(nbits, digit_nbits=max(digit, min(nbits, 32)) if design is OURS else digit)
    rng = Random(nbits)
    rows = []
    while sum(machine.products(exp) for _, exp, _ in rows) < count:
        mod = rng.getrandbits(rng.randint(2, nbits)) | 1
        rows.append((rng.randrange(mod), rng.getrandbits(min(nbits, 100)), mod))
    check_powers(machine, rows)


# ---- our own machine, on a scaled modulus


@parametrize("digit", N_CK)
def test_serial_of_ours_takes_fewer_cycles(digit):
    """At every S of the paper, without given numbers: at most a seventh of the cycles of a product, and less
    than a quarter for e = 65537.
    """
    ours, theirs = (design.at(1024, digit_nbits=digit) for design in (OURS, TWO))
    full = 2, (1 << 1024) - 1, 3
    assert ours.given == ()
    assert 7 * ours.product_cycles < theirs.product_cycles
    assert 4 * ours.cycles(2, 65537, 3) < N_CK[digit]
    assert 7 * ours.cycles(*full) < theirs.cycles(*full)


@parametrize(
    "nbits, digit, step", [(13, 10, 5), *later((14, 8, 4), (8, 8, 4), (30, 16, 8), (33, 32, 16), (33, 18, 6))]
)
def test_serial_of_ours_with_words_of_all_kinds(nbits, digit, step):
    """Three and more words; digits that do not divide the width; words that the digits of a factor do not
    fill.
    """
    check_native(OURS, mod_exp.table(nbits, 8), nbits, digit_nbits=digit, step_nbits=step)


@draws(60, data=st.data())
def test_serial_way_out(data):
    """Hypothesis on fl/multipliers/scaled_serial.py: the result is at most twice the modulus, and the right
    residue.
    """
    nbits, k = data.draw(st.integers(1, 70)), data.draw(st.integers(4, 32))
    n = data.draw(any_odd(nbits))
    arithmetic = ScaledMontgomery(n, ScaledShape(nbits, k))
    p = data.draw(st.integers(0, 2 * arithmetic.m - 1))
    r, word = 1 << arithmetic.shape.wide, 1 << k
    quotient = p * word * arithmetic.multiple.n_prime % r
    v = (p * word + quotient * arithmetic.m) // r
    left, rest = divmod(v + v * arithmetic.c % word * n, word)
    assert rest == 0 and left <= 2 * n
    assert left % n == p * pow(r, -1, n) % n


@parametrize(
    "digit, message",
    [
        (40, "words of 40 bits are not two or more digits of 16 bits: give words of 32 bits"),
        (64, "words of 64 bits are 2 to a number of 97 bits.*the nearest that the width can have is 48"),
        (16, "words of 16 bits are not two or more digits of 16 bits: give words of 32 bits"),
    ],
)
def test_serial_words_that_cannot_be(digit, message):
    with refused(message):
        OURS.at(64, digit_nbits=digit)
