"""Modular exponentiation at the functional level: every schedule in every domain, with the conversions.

The oracles are pow, and rsa.core.encrypt_int of the `rsa` package.
"""

import itertools
from contextlib import nullcontext
from functools import partial

import rsa
from hypothesis import strategies as st
from modexlab.fl.domains import DOMAINS, Identity, MontgomeryDomain
from modexlab.fl.mod_exp import mod_exp, operand_status
from modexlab.fl.program.schedules import SCHEDULES
from modexlab.fl.status import MEANING, Status

from tests.fl.test_schedules import replay
from tests.harness import any_odd, any_word, bad_calls, draws, parametrize, refused
from tests.tables.mod_exp import PAPER_001, PAPER_004, corners

# the table of all machines, with operands that a machine accepts, and more
CORNERS = [
    row.request
    for nbits in (8, 32, 128)
    for row in [*corners(nbits, nbits), *{32: PAPER_001, 128: PAPER_004}.get(nbits, [])]
    if row.base < row.mod and row.mod % 2
]
CORNERS += [(15, 7, 225), (0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFF), ((1 << 4096) - 2, 65537, (1 << 4096) - 1)]


ANY_MODULUS = [name for name in DOMAINS if name != "pseudo"]  # that one needs a divisor of 2^nbits - 1


@parametrize("domain", ANY_MODULUS)
@parametrize("schedule", SCHEDULES)
def test_mod_exp_corners(schedule, domain):
    for operands in CORNERS:
        assert mod_exp(*operands, domain=domain, schedule=schedule) == pow(*operands), operands


def test_published_results():
    assert mod_exp(5745, 65537, PAPER_001[0].mod, domain="montgomery") == PAPER_001[1].base
    encryption, decryption = PAPER_004
    assert mod_exp(*encryption.request, domain="montgomery") == decryption.base
    assert mod_exp(*decryption.request, schedule="ladder") == encryption.base


@parametrize("schedule", SCHEDULES)
@draws(80, data=st.data(), width=st.sampled_from((1, 2, 8, 32, 64, 256)), spare=st.integers(0, 40))
def test_mod_exp(schedule, data, width, spare):
    """All domains, in a machine that is `spare` bits wider than the modulus."""
    n = data.draw(any_odd(width))
    base, exp = data.draw(st.integers(0, n - 1)), data.draw(any_word(width))
    golden = rsa.core.encrypt_int(base, exp, n)
    for domain in ANY_MODULUS:
        assert mod_exp(base, exp, n, domain=domain, schedule=schedule, nbits=width + spare) == golden


@parametrize("schedule", SCHEDULES)
@draws(80, nbits=st.integers(2, 64), data=st.data())
def test_pseudo_modulus(schedule, nbits, data):
    """Arithmetic modulo 2^nbits - 1, with one reduction modulo its divisor at the end (paper 000, equation
    21).
    """
    divisors = [c for c in (1, 3, 5, 7, 15, 17, 31, 127, 255) if ((1 << nbits) - 1) % c == 0]
    n = ((1 << nbits) - 1) // data.draw(st.sampled_from(divisors))
    base, exp = data.draw(st.integers(0, max(0, n - 1))), data.draw(any_word(nbits))
    assert mod_exp(base, exp, n, domain="pseudo", schedule=schedule, nbits=nbits) == pow(base, exp, n)


def test_pseudo_modulus_that_is_none():
    with refused(r"modulus 7 does not divide 2\^8 - 1: give one that does, such as 85"):
        mod_exp(3, 5, 7, domain="pseudo", nbits=8)


@draws(80, any_word(70), any_word(40), st.integers(1, 1 << 64))
def test_identity_takes_every_modulus_and_every_base(base, exp, n):
    assert mod_exp(base, exp, n) == pow(base, exp, n)


@parametrize("schedule", SCHEDULES)
@draws(50, data=st.data(), exp=any_word(32))
def test_trace_with_conversions(schedule, data, exp):
    """Every operand is a constant or an earlier product; every product is right; the last is the result."""
    n = data.draw(any_odd(32))
    base = data.draw(st.integers(0, n - 1))
    trace = []
    result = mod_exp(base, exp, n, domain="montgomery", schedule=schedule, nbits=32, trace=trace)
    constants = {"b": base, "1": 1, "enter": (1 << 64) % n, "leave": 1, "one": (1 << 32) % n}
    held = replay(trace, constants, lambda a, b: a * b * pow(2, -32, n) % n)
    assert held["r"] == result == pow(base, exp, n)
    chosen = SCHEDULES[schedule]
    assert sum(map(len, trace)) == 2 + chosen.plan(exp).nproducts + 1
    assert len(trace) == 3 - (chosen.multipliers == 2) + len(chosen.plan(exp).steps)


def test_trace_by_hand():
    """2^1 mod 5 with R = 8: conversion with R^2 mod 5 = 4, one round of paper 001's Algorithm 3, conversion
    with 1.
    """
    trace = []
    assert mod_exp(2, 1, 5, domain="montgomery", nbits=3, trace=trace) == 2
    assert trace == [
        (("b", "b", "enter", 2, 4, 1), ("r", "1", "enter", 1, 4, 3)),
        (("r", "r", "b", 3, 1, 1), ("b", "b", "b", 1, 1, 2)),
        (("r", "r", "leave", 1, 1, 2),),
    ]


def test_identity_has_no_conversions():
    trace = []
    assert mod_exp(12, 1, 5, trace=trace) == 2
    assert trace == [(("r", "r", "b", 1, 2, 2), ("b", "b", "b", 2, 2, 4))]


def test_a_domain_of_ones_own():
    """A custom domain needs only a product: here the negatives, -x for x, whose one is -1."""

    class Negative(Identity):
        def __init__(self, n):
            super().__init__(n)
            self.one = -1 % n

        def product(self, a, b):
            return -a * b % self.n

        def enter(self, x):
            return -x % self.n

        leave = enter

    for schedule in SCHEDULES:
        assert mod_exp(7, 1234, 1001, domain=Negative(1001), schedule=schedule) == pow(7, 1234, 1001)


def test_options_reach_the_schedule():
    trace = []
    mod_exp(3, 5, 7, schedule="ladder", exp_nbits=32, trace=trace)
    assert len(trace) == 32
    trace = []
    mod_exp(3, 0xFF, 7, schedule="fixed-window", k=4, trace=trace)
    assert len(trace) == 14 + 5


MONTGOMERY, EIGHT_BITS = partial(mod_exp, domain="montgomery"), partial(mod_exp, nbits=8)

test_bad_input_is_refused = bad_calls(
    (mod_exp, 3, 5, 0, "modulus 0.* 1 or more"),
    (MONTGOMERY, 3, 5, 0, "modulus 0.* 1 or more"),
    (mod_exp, 3, 5, -7, "modulus -7.* 1 or more"),
    (MONTGOMERY, 3, 5, 10, "modulus 10 is even.*identity"),
    (MONTGOMERY, 7, 5, 7, "base 7 is not below the modulus 7.*mod modulus"),
    (MONTGOMERY, 2**80, 5, 7, r"\(81 bits\) is not below the modulus 7.*mod modulus"),
    (mod_exp, -1, 5, 7, "base -1.*0 or more"),
    (mod_exp, 3, -5, 7, "exponent -5.*0 or more"),
    (EIGHT_BITS, 3, 5, 257, "modulus 257.*8 bits.*at least 9"),
    (EIGHT_BITS, 300, 5, 7, "base 300.*8 bits.*at least 9"),
    (partial(MONTGOMERY, nbits=16), 3, 65537, 253, "exponent 65537.*16 bits.*at least 17"),
    (partial(mod_exp, schedule="lader"), 3, 5, 7, "unknown schedule 'lader'.*did you mean 'ladder'"),
    (partial(mod_exp, domain="montgomery32"), 3, 5, 7, "'montgomery32'.*did you mean 'montgomery'"),
    (partial(mod_exp, domain=MontgomeryDomain(9, 8)), 3, 5, 7, "modulus 9 in 8 bits.*modulus 7"),
    (partial(mod_exp, domain=MontgomeryDomain(7, 8), nbits=16), 3, 5, 7, "modulus 7 in 8 bits.*the width"),
)


def test_nothing_is_recorded_for_bad_input():
    trace = []
    with refused("65537"):
        mod_exp(3, 65537, 7, domain="montgomery", schedule="ladder", exp_nbits=16, trace=trace)
    assert trace == []


@parametrize("name, strict", [("identity", False), ("montgomery", True)])
def test_status_and_bad_input_are_one(name, strict):
    """The functional level refuses exactly the operands that the hardware refuses with a status."""
    for base, mod in itertools.product(range(9), repeat=2):
        status = operand_status(base, mod, odd_only=strict, reduced_only=strict)
        with nullcontext() if status == Status.OK else refused():
            assert mod_exp(base, 3, mod, domain=name) == base**3 % mod


def test_the_status_looks_at_the_modulus_first():
    for base, mod, status in (
        (5, 0, Status.ZERO_MODULUS),
        (5, 4, Status.EVEN_MODULUS),
        (5, 5, Status.BASE_TOO_LARGE),
        (4, 5, Status.OK),
    ):
        assert operand_status(base, mod, odd_only=True, reduced_only=True) == status


def test_every_status_has_words():
    assert set(MEANING) == set(Status)
