"""tiny, the machine with a serial adder: all digit widths of its adder, and its promised cycles."""

import itertools

from hypothesis import strategies as st
from modexlab.eval.designs.catalogue import find
from modexlab.rtl.mod_exp.tiny.shift_counter import ShiftCounter, states_of

from tests.harness import (
    any_word,
    check_native,
    check_powers,
    draws,
    later,
    one_now,
    parametrize,
    refused,
    stepped,
)
from tests.tables import mod_exp

TINY, TINY_CT = find("tiny"), find("tiny-ct")


@parametrize("design", one_now([TINY, TINY_CT], TINY))
@parametrize(
    "nbits, digit", [(16, 16), *later((12, 4), (8, 2), (8, 8), (13, 1), (24, 8), (40, 8), (64, 16), (128, 4))]
)
def test_table_with_an_adder_of_any_width(design, nbits, digit):
    check_native(design, mod_exp.table(nbits, 8), nbits, digit_nbits=digit)


@parametrize("digit", one_now((1, 2, 4, 16), 4))
@draws(15, data=st.data())
def test_any_operation(digit, data):
    """Hypothesis: arbitrary moduli, bases below them, and exponents; the formula of the cycles."""
    word = any_word(16)
    mod = data.draw(word.filter(bool))
    operation = (data.draw(word) % mod, data.draw(word), mod)
    machine = TINY.at(16, digit_nbits=digit)
    assert check_powers(machine, [operation]).latencies == [machine.cycles(*operation)]


def test_zeros_in_front_of_the_exponent_take_a_cycle_each():
    product = 64 * (2 * 64 + 1)
    none, one, shorter, longer = (TINY.at(64).cycles(3, exp, 7) for exp in (0, 1, 32769, 65537))
    assert (one - none, longer - shorter) == (product, product - 1)


def test_an_adder_of_the_whole_width_takes_a_cycle_for_each_bit():
    assert TINY.at(16, digit_nbits=16).cycles(3, 65535, 65533) == 1 + 32 * 17 + 1


def test_every_operation_of_tiny_ct_takes_the_same_time():
    machine = TINY_CT.at(16)
    rows = [(0, 0, 1), (1, 0, 2), (65534, 65535, 65535), (5, 1, 60001), (5, 1 << 15, 60001)]
    assert set(check_powers(machine, rows).latencies) == {32 * 16 * 33 + 1}


def test_states_of_a_counter_are_distinct():
    for nbits in range(1, 13):
        states = states_of(1 << nbits)
        assert sorted(states) == list(range(1 << nbits))


@parametrize("count", (2, 3, 13, 16, 200, 256))
def test_a_counter_goes_through_its_states_again_and_again(count):
    counter = stepped(ShiftCounter(count))
    expected = itertools.cycle(states_of(count))
    for cycle in range(8 * count):
        counter.clears @= cycle == 0 or cycle == 5 * count
        counter.steps @= cycle % 3 > 0
        if counter.clears:
            expected = itertools.cycle(states_of(count))
            state = next(expected)
        elif counter.steps:
            state = next(expected)
        counter.sim_tick()
        assert counter.state == state


@parametrize("digit", one_now((1, 8), 8))
def test_words_open_while_their_request_waits(digit):
    """Latches need the request until the cycle after they are open (units/memory/held_word.py)."""
    machine = stepped(TINY.at(8, digit_nbits=digit).rtl())
    source = machine.istream
    opened, waited = 0, False
    for cycle in range(2000):
        if not waited:
            source.val @= cycle % 3 == 0
            source.msg @= type(source.msg)(cycle % 11, cycle % 5, 11)
        machine.ostream.rdy @= cycle % 4 == 0
        machine.sim_eval_combinational()
        waits = bool(source.val & ~source.rdy)
        if machine.ctrl.opens:
            opened += 1
            assert waited and waits
        waited = waits
        machine.sim_tick()
    assert opened > 20 // digit


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
