"""Programs on a scaled modulus: the computation of R^2, words and their bounds, integers on a modular core;
programs return the result of `pow`.

The interpreter rejects products, sums and leaving numbers outside the bounds of scaled_entry.py, so moduli at
both ends of a width, and short ones, check these bounds too.
"""

from random import Random

import pytest
from hypothesis import strategies as st
from modexlab.fl.errors import BadInput
from modexlab.fl.multipliers.scaled import ScaledShape
from modexlab.fl.multipliers.scaled_entry import ScaledEntry
from modexlab.fl.program.recipe import Recipe
from modexlab.fl.program.schedules import SCHEDULES
from modexlab.fl.status import Status
from modexlab.proc.software.seeded_keys import seeded_key

from tests.harness import draws, later, parametrize, refused
from tests.programs import (
    PROTECTIONS,
    SECRET,
    check_plain,
    check_private,
    computed,
    messages,
    numbers,
    private_fields,
    recipe_of,
)


def form_of(nbits, digit, delay=0, doublings=1, halvings=1):
    """The form of units whose products follow one another as in HeapMont."""
    shape = ScaledShape(nbits, digit, delay)
    return ScaledEntry(shape, shape.nsteps + 1, doublings, halvings)


def moduli(nbits, rng):
    """Moduli at both ends of the width, short ones, and a random one."""
    short, top = rng.getrandbits(max(1, nbits // 2)) | 1, 1 << nbits
    return [1, 3, 5, 15, short, top // 2 + 1, top - 1, top - 3, rng.getrandbits(nbits) | 1]


@draws(
    150,
    nbits=st.integers(4, 90),
    digit=st.sampled_from((4, 5, 8, 16, 17, 32, 66, 208)),
    delay=st.sampled_from((0, 1)),
    doublings=st.integers(1, 4),
    halvings=st.integers(1, 3),
    seed=st.integers(0, 99),
)
def test_into_the_form_and_out(nbits, digit, delay, doublings, halvings, seed):
    """The chain computes R^2, M' is 2^-v, and a number leaves as it entered, whatever word represents it."""
    try:
        form = form_of(nbits, digit, delay, doublings, halvings)
    except BadInput as error:
        assert doublings > 1 and "doublings a cycle" in str(error)
        return
    rng = Random(seed)
    shape = form.shape
    most = (1 << form.word_nbits) - (1 << nbits)
    for mod in moduli(nbits, rng):
        x, m_prime = form.scale(mod)
        assert m_prime % mod == pow(2, -shape.scale_nbits, mod) % mod and 0 < m_prime <= mod
        for squares, doubled in form.chain.runs():
            for _ in range(squares):
                x = form.product(x, x, m_prime)
            x = form.doubled(x, mod) if doubled else x
            assert x <= most
        assert x % mod == pow(2, 2 * shape.wide, mod)
        word = rng.randrange(mod)
        entered = form.product(word, x, m_prime)
        assert form.leave(form.product(entered, 1 << form.halvings, m_prime), mod) == word
        # any word that a fault, or a number wider than the modulus, may leave in a register
        anything = form.product(rng.getrandbits(form.word_nbits), most, m_prime)
        assert anything <= most
        left = form.leave(form.product(anything, 1 << form.halvings, m_prime), mod)
        assert left == anything * pow(2, -shape.wide, mod) % mod


@draws(100, nbits=st.integers(4, 80), digit=st.sampled_from((4, 8, 17, 66)), seed=st.integers(0, 99))
def test_integers_on_a_modular_core(nbits, digit, seed):
    """Two products give the upper half of a * b and the sum of the halves."""
    form = form_of(nbits, digit)
    rng = Random(seed)
    top = (1 << nbits) - 1
    for a, b in ((0, 0), (top, top), (top, 1), (1, top), (rng.getrandbits(nbits), rng.getrandbits(nbits))):
        high = form.product(a << form.lift_nbits, b, 0)
        assert high == a * b >> nbits
        low = form.part(form.product(a << form.lift_nbits, b, form.ones) - high, "top")
        assert low == a * b & top


def test_cycles_to_r_squared():
    """At 2,048 bits and digits of 66: 311 cycles with one doubling per cycle (65 of them to R), 246 with two;
    with digits of 70, 292.
    """
    full = (1 << 2048) - 1
    for digit, doublings, cycles in ((66, 1, 311), (66, 2, 246), (70, 1, 292)):
        assert form_of(2048, digit, doublings=doublings).constant_cycles(full) == cycles
    # leading zeros of a modulus are shifted out digit by digit
    assert form_of(2048, 66).align_cycles((1 << 1024) - 1) == 1024 // 66 + 1024 % 66


def test_halvings_that_are_no_word():
    """2^h must be a word, where h is a multiple of the halvings per cycle; up to nbits halvings are always
    possible.
    """
    assert form_of(32, 18, halvings=32).halvings == 32
    with refused("2\\^64 is no word of 51 bits; give 32 or less"):
        form_of(32, 18, halvings=64)


def test_factors_that_leave_no_place_for_the_modulus():
    """A factor of all ones leaves no room for M' in the state of a step; the interpreter rejects it like the
    hardware's bounds.
    """
    form = form_of(16, 4)
    word = (1 << form.word_nbits) - 1
    assert form.product(word, word - (1 << 16) + 1, (1 << 16) - 1) >> form.word_nbits == 0
    with pytest.raises(AssertionError, match="none for a step"):
        form.product(word, word, (1 << 16) - 1)


@parametrize("nbits, digit", [(8, 4), (14, 4), *later((33, 8))])
@parametrize("schedule", SCHEDULES)
def test_plain(schedule, nbits, digit):
    """Any odd modulus, with exponents 0, 1 and of full length."""
    rng = Random(nbits)
    recipe = Recipe(nbits, "scaled", schedule, scaled=form_of(nbits, digit))
    for mod in moduli(nbits, rng):
        for exp in (0, 1, (1 << nbits) - 1, rng.getrandbits(nbits)):
            base = rng.choice((0, 1 % mod, mod - 1, rng.randrange(mod)))
            check_plain(recipe, base, exp, mod)


def keyed_of(nbits, digit, schedule, how):
    """The recipe of a machine with a key; with CRT, on units of the width of a prime."""
    scaled = form_of(nbits // 2 if how["crt"] else nbits, digit)
    return recipe_of(nbits, "scaled", schedule, scaled=scaled, **how)


@parametrize(
    "nbits, key_nbits, digit",
    [(16, 16, 4), (16, 16, 12), *later((34, 34, 8), (64, 64, 16), (64, 32, 16), (64, 16, 66))],
)
@parametrize("how", PROTECTIONS, ids=str)
def test_private_operations(nbits, key_nbits, digit, how):
    """The RSA equation, with every countermeasure, and keys as long as the machine and shorter ones."""
    rng = Random(nbits)
    for at, schedule in enumerate(SECRET):
        key = seeded_key(key_nbits, at)
        for message in messages(key, rng):
            check_private(keyed_of(nbits, digit, schedule, how), key, message, rng)


def test_wrong_keys():
    """An inconsistent number of a key is detected: directly, or because the result does not encrypt to the
    message.
    """
    recipe = keyed_of(16, 4, "fixed-window", {"crt": True, "blind": "no", "verify": True})
    right = private_fields(recipe, numbers(seeded_key(16, 1)), 2, Random(1))
    for status, names in ((Status.BAD_KEY, ("qinv", "p", "mod")), (Status.FAULT, ("dp", "dq", "exp"))):
        for name in names:
            assert computed(recipe, {**right, name: right[name] ^ 4}) == (status, 0), name
