"""Programs of exponentiation: the interpreter returns the result of `pow`, and a program executes the
products of its schedule.

The references are Python's `pow`, the RSA equation, and the plans of schedules.py, whose products are
compared by their factors.
"""

import itertools
import re
from random import Random

from hypothesis import strategies as st
from modexlab.fl.program.builder import program_of
from modexlab.fl.program.interpreter import Arithmetic, run
from modexlab.fl.program.ir import (
    Check,
    Fetch,
    Flow,
    Keep,
    Loop,
    Move,
    Product,
    SetExponent,
    SetModulus,
    Word,
    assemble,
)
from modexlab.fl.program.recipe import Recipe
from modexlab.fl.program.schedules import SCHEDULES
from modexlab.fl.status import Status
from modexlab.proc.software.seeded_keys import seeded_key

from tests.harness import any_word, draws, one_now, parametrize, refused
from tests.programs import (
    DOMAINS,
    PROTECTIONS,
    SECRET,
    check_plain,
    check_private,
    computed,
    label,
    messages,
    numbers,
    plain_recipes,
    private_fields,
    recipe_of,
)
from tests.tables import mod_exp

WIDTHS = (8, 16)
PLAIN = [recipe for nbits in WIDTHS for recipe in plain_recipes(nbits)]


@parametrize("recipe", PLAIN, ids=label)
def test_corners(recipe):
    """The table of exponentiations: exponents 0, 1, all ones, one bit; bases 0, 1, n - 1, above n; moduli 0,
    1, 3, even, the largest.
    """
    for row in mod_exp.table(recipe.nbits):
        check_plain(recipe, *row.request)


@draws(400, st.sampled_from(PLAIN), st.booleans(), st.data())
def test_any_exponentiation(recipe, legal, data):
    """Hypothesis: arbitrary operands, legal or not, on any of these programs."""
    base, exp, mod = (data.draw(any_word(recipe.nbits)) for _ in range(3))
    if legal:
        mod |= 1
        base %= mod
    check_plain(recipe, base, exp, mod)


# ---- private keys

FITTED = [(domain, False) for domain in DOMAINS] + [("montgomery", True)]
KEYED = [
    recipe_of(nbits, domain, schedule, fits=fits, **protection)
    for nbits in (16, 32)
    for (domain, fits), schedule in itertools.product(FITTED, SECRET)
    for protection in PROTECTIONS
]


@parametrize("domain, fits", FITTED)
@parametrize("nbits", one_now((16, 32, 64), 16))
def test_private_operations(domain, fits, nbits):
    """Every combination of CRT, blinding and check, every schedule allowed for a secret exponent."""
    rng = Random(f"{domain} {nbits}")
    for schedule, protection in itertools.product(SECRET, PROTECTIONS):
        recipe = recipe_of(nbits, domain, schedule, fits=fits, **protection)
        key = seeded_key(nbits, rng.randrange(30))
        for message in messages(key, rng)[:: 1 if nbits == 16 else 2]:
            check_private(recipe, key, message, rng)


@draws(75, st.sampled_from(KEYED), st.integers(1, 500), st.randoms(use_true_random=False))
def test_any_private_operation(recipe, seed, rng):
    """Hypothesis: arbitrary keys, messages and random numbers."""
    key = seeded_key(recipe.nbits, seed)
    check_private(recipe, key, rng.randrange(key.n), rng)


def answered(recipe, **wrong):
    """The answers of a program to a few messages under a key with some wrong numbers."""
    rng = Random(1)
    key = seeded_key(recipe.nbits, 3)
    return [
        computed(recipe, private_fields(recipe, numbers(key) | wrong, message, rng))
        for message in (2, key.n - 2, 12345)
    ]


BY_CRT = [recipe for recipe in KEYED if recipe.nbits == 32 and recipe.crt]


@parametrize("recipe", BY_CRT[::5], ids=label)
def test_primes_that_are_not_of_the_modulus(recipe):
    """A wrong qinv, or p and q whose product is not n, gives BAD_KEY, with and without a check of
    the result.
    """
    key, other = seeded_key(recipe.nbits, 3), seeded_key(recipe.nbits, 4)
    right, p = key.crt(), other.crt().p
    wrong = {"qinv": right.qinv ^ 1}, {"qinv": 0}, {"p": p, "qinv": pow(right.q, -1, p)}, {"n": other.n}
    assert all(answered(recipe, **numbers) == [(Status.BAD_KEY, 0)] * 3 for numbers in wrong)


@parametrize("recipe", [item for item in KEYED if item.nbits == 32][::7], ids=label)
def test_exponents_that_are_not_of_the_key(recipe):
    """A wrong private exponent gives FAULT if the result is checked, otherwise a wrong result."""
    key = numbers(seeded_key(recipe.nbits, 3))
    for name in ("dp", "dq") if recipe.crt else ("d",):
        wrong = answered(recipe, **{name: key[name] ^ 4})
        if recipe.verify:
            assert wrong == [(Status.FAULT, 0)] * 3
        else:
            assert [status for status, _ in wrong] == [Status.OK] * 3 and wrong != answered(recipe)


# ---- the products are those of the schedule


@parametrize("exp", [0, 1, 2, 0xB5, 0xFF, 0x80, 0xA53C, 0xFFFF, 0x8001, 0x6DB])
@parametrize("name", SCHEDULES)
def test_products_are_those_of_the_plan(name, exp):
    """The same number of products, in the same order, with the same factors: squarings are squarings. (The
    doubling unit converts numbers into the domain.)
    """
    base, mod = 0x1234, 0xFFF1
    schedule = SCHEDULES[name]
    arithmetic = Arithmetic("montgomery", 16)
    scans = (False, True) if "nbits" in schedule.options else (False,)
    for full_scan, window in itertools.product(scans, (1, 2, 3) if schedule.windows else (0,)):
        recipe = Recipe(16, "montgomery", name, full_scan=full_scan, window=window)
        trace = []
        fields = {"base": base, "exp": exp, "mod": mod}
        outcome = run(program_of(recipe), fields, arithmetic, trace=trace)
        assert outcome == (Status.OK, pow(base, exp, mod))
        made = [item[:2] for executed in trace for item in executed.made]
        if recipe.entries:
            assert made.pop() == (0, 0), "the unit is wiped"
        if not recipe.shape.plain_result:
            assert made.pop()[1] == 1, "out of the domain"
        options = {"k": window} if schedule.windows else {}
        if "nbits" in schedule.options and (full_scan or schedule.windows):
            options["nbits"] = recipe.ndigits * recipe.digit_nbits
        entered = (base << 16) % mod
        one = 1 if recipe.shape.plain_result else (1 << 16) % mod
        steps = []
        schedule(entered, exp, lambda a, b: arithmetic.product(a, b, mod, False), one, trace=steps, **options)
        planned = [(item.a, item.b) for step in steps for item in step]
        if exp or name != "sliding-window":  # a plan for exponent 0 has no table
            assert list(map(sorted, made)) == list(map(sorted, planned))


# ---- text and checks of programs


@parametrize("recipe", [*PLAIN[::7], *KEYED[::11]], ids=label)
def test_listing_has_a_line_a_word(recipe):
    """Lines are numbered from 0, and name the next microinstruction if it is not the following one."""
    program = program_of(recipe)
    lines = program.listing()
    assert [int(line.split()[0]) for line in lines] == list(range(len(program.words)))
    for line, word in zip(lines, program.words, strict=True):
        assert all(str(part) in line for part in (*word.products, *word.actions)), line
        assert ("answer" in line) == (word.flow.kind == "answer")
        assert not re.search(r"\s$", line)


END = Word(flow=Flow("answer"))
START = Word(actions=(SetExponent("in.exp"),), takes=True, accepts=True)


def test_two_reads_of_the_memory_in_a_word_are_refused():
    """A microinstruction cannot read two slots, or a slot and the modulus, or store twice."""
    for actions in (
        (Fetch("r", "m"), Fetch("b", "n")),
        (Fetch("r", "m"), SetModulus("n")),
        (Keep("m", "r"), Keep("n", "r")),
    ):
        with refused(r"word 1, .*one port to read and one to write; make it two words"):
            assemble([START, Word(actions=actions), END], slots=("m", "n"))
    assemble([START, Word(actions=(Fetch("r", "m"), Keep("n", "r"))), END], slots=("m", "n"))


@parametrize("read", [Fetch("b", "m"), SetModulus("m")])
def test_a_slot_that_is_read_too_early_is_refused(read):
    """A slot cannot be read by the microinstruction after its store, directly or after a loop; it can after
    another microinstruction, or after a product.
    """
    keep, look, square = Word(actions=(Keep("m", "r"),)), Word(actions=(read,)), (Product("r", "r", "r"),)
    too_early = r"word 1, .*: m is read in the next word, before it is there; put a word between"
    loop, looking = (Loop((Word(square, actions),), right=True) for actions in ((), (read,)))
    for words in ((keep, look), (keep, loop, look), (keep, looking)):
        with refused(too_early):
            assemble([START, *words, END], slots=("m",))
    for words in ((keep, Word(actions=(Move("r", "0"),)), look), (Word(square, keep.actions), look)):
        assemble([START, *words, END], slots=("m",))


def test_what_verify_promises():
    """A result is released only by the last check, which leaves two different registers; the compared values
    are fetched later.
    """
    for recipe in KEYED:
        program = program_of(recipe)
        checks = [word for word in program.words if word.find(Check)]
        final = [any(check.final for check in word.find(Check)) for word in checks]
        assert program.verified == recipe.verify == sum(final)
        if recipe.verify:
            assert final[-1]
            for word in (checks[-1], program.words[program.failure]):
                assert {Move("r", "0"), Move("b", "1")} <= set(word.actions)


@parametrize("schedule", ["left-to-right", "sliding-window"])
def test_schedules_that_show_a_private_exponent_are_refused(schedule):
    """They are refused in every program with a key; those from the right only with CRT or exponent
    blinding.
    """
    with refused(f"schedule '{schedule}' in a program with a private key shows the exponent"):
        program_of(recipe_of(16, "residue", schedule, crt=False, blind="no", verify=True))
