"""tiny, the machine of rings and a serial adder: all digits of its adder, and the cycles that it promises."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modexlab.eval.designs.catalogue import find

from tests.harness import any_word, check_native, check_powers, draws, later, one_now, parametrize, refused
from tests.tables import mod_exp

TINY, TINY_CT = find("tiny"), find("tiny-ct")


@parametrize("design", [TINY, TINY_CT], ids=lambda design: design.name)
@parametrize(
    "nbits, digit",
    [(12, 4), (16, 16), *later((8, 2), (8, 8), (13, 1), (24, 8), (40, 8), (64, 16), (128, 4))],
)
def test_table_with_an_adder_of_any_width(design, nbits, digit):
    check_native(design, mod_exp.table(nbits, 8), nbits, digit_nbits=digit)


@parametrize("digit", one_now((1, 2, 4, 16), 4))
@draws(40)
@given(data=st.data())
def test_any_operation(digit, data):
    """Hypothesis: any modulus, any base below it, any exponent; the formula of the cycles."""
    word = any_word(16)
    mod = data.draw(word.filter(bool))
    operation = (data.draw(word) % mod, data.draw(word), mod)
    machine = TINY.at(16, digit_nbits=digit)
    assert check_powers(machine, [operation]).latencies == [machine.cycles(*operation)]


def test_zeros_in_front_of_the_exponent_take_a_pass_each():
    machine = TINY.at(64)
    assert machine.cycles(3, 0, 7) == machine.cycles(3, 1, 7) - 64 * 65
    assert machine.cycles(3, 65537, 7) - machine.cycles(3, 32769, 7) == 64 * 65


def test_every_operation_of_tiny_ct_takes_the_same_time():
    machine = TINY_CT.at(16)
    rows = [(0, 0, 1), (1, 0, 2), (65534, 65535, 65535), (5, 1, 60001), (5, 1 << 15, 60001)]
    assert set(check_powers(machine, rows).latencies) == {16 * (16 + 32 * 17) + 1}


@parametrize(
    "digit, message",
    [
        (3, "digit_nbits = 3 does not divide the width.*the next smaller one that does is 2"),
        (6, "no power of two; give 4"),
    ],
)
def test_adders_that_cannot_be(digit, message):
    with refused(message):
        TINY.at(24 if digit == 6 else 16, digit_nbits=digit)


@pytest.mark.regress
@parametrize("nbits", [512, 1024])
def test_wide_operands(nbits):
    """An exponent of a few bits; a full one of 1,024 bits takes 1.6 billion cycles."""
    mod = (1 << nbits) - 105
    check_powers(TINY.at(nbits), [(mod - 2, 5, mod), (3, 0, mod)])
