"""Schedules: the right power, the textbook number of products, and a trace that matches the computation.

The oracles are pow; multiplication of integers (a schedule over addition with one = 0 must give base * exp);
the textbook counts, written here as formulas of the exponent's bits; and a replay of the trace.
"""

import itertools
import random
import re
from functools import partial
from operator import add
from statistics import fmean

from hypothesis import strategies as st
from modexlab.fl.multipliers.montgomery import Montgomery
from modexlab.fl.program.schedules import MAX_WINDOW, SCHEDULES, best_fixed_window, best_sliding_window

from tests.harness import any_odd, any_word, bad_calls, draws, parametrize

PAPER_N = 27277 * 95443  # paper 001, Figure 1
FULL_SCAN = [name for name, schedule in SCHEDULES.items() if schedule.full_scan]
WINDOWED = [name for name, schedule in SCHEDULES.items() if "k" in schedule.options]

# ones, a bit, ones but for the last, ones at both ends, patterns, a gap, those of paper 001, 4,093 bits
EXPONENTS = (*range(5), 0xFF, 0xFFFFFFFF, 0x1FFFFFFFF, 1 << 31, 1 << 64, 0xFFFFFFFE, 1 << 63 | 1)
EXPONENTS += (0xAAAAAAAA, 0x55555555, 0b11 << 40 | 0b11, 65537, 977851481, 0x1B << 4088 | 0xC0FFEE)
EACH_WINDOW = [{"k": k} for k in (1, 2, 3, 4, 5, 8)]
EACH_SCHEDULE = parametrize("name", SCHEDULES)

exponents = any_word(6) | any_word(32) | any_word(200)


def mul_mod(n, a, b):
    return a * b % n


def options(draw, name, exp):
    """Random options that a schedule accepts for an exponent, or none."""
    length = exp.bit_length()
    able = {"nbits": st.integers(length, length + 9), "k": st.integers(1, 7)}
    return {key: draw(able[key]) for key in sorted(SCHEDULES[name].options) if draw(st.booleans())}


def count(plan):
    """(steps, products of two different factors, squares) of a plan."""
    ops = [op for step in plan.steps for op in step]
    squares = sum(op.x == op.y for op in ops)
    return len(plan.steps), len(ops) - squares, squares


# the textbooks: functions of the exponent and its options to (steps, products, squares)


def one_by_one(products, squares):
    return products + squares, products, squares


def textbook_left_to_right(exp):
    return one_by_one(exp.bit_count() - 1, exp.bit_length() - 1) if exp else (0, 0, 0)


def scanned(exp, nbits):
    return exp.bit_length() if nbits is None else nbits


def textbook_fixed_window(exp, nbits=None, k=None):
    """HAC 14.82 except for the highest digit: 2^k - 2 products for the table, then k squares and a product
    per digit.
    """
    nbits = scanned(exp, nbits)
    if nbits == 0:
        return 0, 0, 0
    k = k or best_fixed_window(nbits)
    digits = -(-nbits // k) - 1
    table = 2**k - 2
    return table + digits * (k + 1), table - (k > 1) + digits, (k > 1) + digits * k  # b * b is in the table


def textbook_sliding_window(exp, k=None):
    """HAC 14.85: the windows are the matches of a greedy regular expression."""
    if exp == 0:
        return 0, 0, 0
    k = k or best_sliding_window(exp.bit_length())
    windows = re.findall(rf"1(?:[01]{{0,{k - 2}}}1)?" if k > 1 else "1", f"{exp:b}")
    products = len(windows) - 1 + (2 ** (k - 1) - 1)
    return one_by_one(products, exp.bit_length() - len(windows[0]) + (k > 1))


TEXTBOOK = {
    "right-to-left-2": lambda exp: (exp.bit_length(), exp.bit_count(), exp.bit_length()),
    "right-to-left-1": lambda exp: one_by_one(exp.bit_count(), exp.bit_length()),
    "left-to-right": textbook_left_to_right,
    "always": lambda exp, nbits=None: one_by_one(*[scanned(exp, nbits)] * 2),
    "ladder": lambda exp, nbits=None: (scanned(exp, nbits),) * 3,
    "fixed-window": textbook_fixed_window,
    "sliding-window": textbook_sliding_window,
}


def replay(trace, held, product):
    """The registers after a trace from `held`: operands are registers, and products are by `product`."""
    for step in trace:
        for made in step:
            assert (made.a, made.b) == (held[made.x], held[made.y])
            assert made.p == product(made.a, made.b)
        assert len({made.dst for made in step}) == len(step)
        held |= {made.dst: made.p for made in step}
    return held


def traced(name, base, exp, product, one, **options):
    """A power and its trace, which has the products of the plan, and the same result."""
    trace = []
    value = SCHEDULES[name](base, exp, product, one, trace=trace, **options)
    plan = SCHEDULES[name].plan(exp, **options)
    assert [[made[:3] for made in step] for step in trace] == [list(map(tuple, ops)) for ops in plan.steps]
    assert replay(trace, {"b": base, "r": one, "one": one}, product)[plan.result] == value
    return value, trace


def test_the_schedules_of_the_issue_are_there():
    assert list(SCHEDULES) == list(TEXTBOOK)
    assert FULL_SCAN == ["always", "ladder", "fixed-window"]
    assert [name for name, schedule in SCHEDULES.items() if schedule.multipliers == 2] == [
        "right-to-left-2",
        "ladder",
    ]


# values


@EACH_SCHEDULE
def test_power_corners(name):
    """A long exponent differs from a short one in its steps only, which one base shows."""
    *short, long = EXPONENTS
    moduli = (1, 2, 3, 15, 256, PAPER_N, 0xFFFFFFFF, (1 << 128) - 1)
    for exp, n in [*itertools.product(short, moduli), (long, PAPER_N)]:
        product = partial(mul_mod, n)
        bases = {0, 1, 2, 3, 27277, 95443, n // 2, n - 1}
        for base in sorted(bases) if exp != long else (27277,):
            assert SCHEDULES[name](base % n, exp, product, 1 % n) == pow(base, exp, n), (base, exp, n)


@EACH_SCHEDULE
@draws(80, data=st.data(), exp=exponents, n=st.integers(1, 1 << 128))
def test_power(name, data, exp, n):
    base = data.draw(st.integers(0, n - 1))
    value, _ = traced(name, base, exp, partial(mul_mod, n), 1 % n, **options(data.draw, name, exp))
    assert value == pow(base, exp, n)


@EACH_SCHEDULE
@draws(80, data=st.data(), exp=exponents, nbits=st.sampled_from((1, 8, 32, 128)))
def test_power_over_montgomery_products(name, data, exp, nbits):
    n = data.draw(any_odd(nbits))
    base = data.draw(st.integers(0, n - 1))
    residue, one = (base << nbits) % n, (1 << nbits) % n
    product = Montgomery(n, nbits).product
    value, _ = traced(name, residue, exp, product, one, **options(data.draw, name, exp))
    assert value == (pow(base, exp, n) << nbits) % n


@EACH_SCHEDULE
@draws(80, data=st.data(), exp=st.integers(0, 1 << 300), base=st.integers(0, 1 << 64))
def test_any_abstract_product_will_do(name, data, exp, base):
    """Over addition, whose one is 0, a power is a multiple, so only the order of the products is tested."""
    assert SCHEDULES[name](base, exp, add, 0, **options(data.draw, name, exp)) == base * exp


# counts


@parametrize(
    "name, how", [*((name, {}) for name in SCHEDULES), *itertools.product(WINDOWED, EACH_WINDOW)], ids=str
)
def test_count_corners(name, how):
    for exp in EXPONENTS:
        assert count(SCHEDULES[name].plan(exp, **how)) == TEXTBOOK[name](exp, **how), exp


@EACH_SCHEDULE
@draws(30, data=st.data(), exp=exponents | any_word(4096))
def test_count(name, data, exp):
    chosen = options(data.draw, name, exp)
    plan = SCHEDULES[name].plan(exp, **chosen)
    assert count(plan) == TEXTBOOK[name](exp, **chosen)
    assert plan.nproducts == sum(TEXTBOOK[name](exp, **chosen)[1:])
    assert max(map(len, plan.steps), default=0) <= SCHEDULES[name].multipliers


@parametrize(
    "nbits, known", [(32, 49), (128, 174), (256, 334), (512, 645), (1024, 1257), (2048, 2452), (4096, 4808)]
)
def test_count_of_fixed_windows_of_key_length(nbits, known):
    """The known count is n + ceil(n/k) + 2^k - 2 with the best k. Ours needs no product for the highest
    digit.
    """
    assert min(nbits + -(-nbits // k) + 2**k - 2 for k in range(1, 12)) == known
    k = best_fixed_window(nbits)
    assert known - (k + 1) <= SCHEDULES["fixed-window"].plan(1, nbits=nbits).nproducts < known


# traces


TRACES = {  # schedule, options, base, exponent, modulus, result; products by hand: to, of, by, value
    # paper 001, Algorithm 1: also the last iteration squares b
    ("right-to-left-2", (), 3, 5, 7, 5): [
        (("r", "r", "b", 3), ("b", "b", "b", 2)),
        (("b", "b", "b", 4),),
        (("r", "r", "b", 5), ("b", "b", "b", 2)),
    ],
    # from the lowest bit: a product for each 1 and a square for each bit
    ("right-to-left-1", (), 3, 6, 7, 1): [
        (("b", "b", "b", 2),),
        (("r", "r", "b", 2),),
        (("b", "b", "b", 4),),
        (("r", "r", "b", 1),),
        (("b", "b", "b", 2),),
    ],
    # 110: r begins as the base, for the first 1
    ("left-to-right", (), 3, 6, 7, 1): [
        (("r", "b", "b", 2),),
        (("r", "r", "b", 6),),
        (("r", "r", "r", 1),),
    ],
    # the product for the 0 is discarded
    ("always", (), 3, 6, 7, 1): [
        (("r", "r", "r", 1),),
        (("r", "r", "b", 3),),
        (("r", "r", "r", 2),),
        (("r", "r", "b", 6),),
        (("r", "r", "r", 1),),
        (("dummy", "r", "b", 3),),
    ],
    # b stays r times the base
    ("ladder", (), 3, 6, 7, 1): [
        (("r", "r", "b", 3), ("b", "b", "b", 2)),
        (("r", "r", "b", 6), ("b", "b", "b", 4)),
        (("b", "r", "b", 3), ("r", "r", "r", 1)),
    ],
    # digits 00 10 11 of six bits; the first one is 1 and free
    ("fixed-window", (("nbits", 6), ("k", 2)), 3, 11, 100, 47): [
        (("t2", "b", "b", 9),),
        (("t3", "t2", "b", 27),),
        (("r", "one", "one", 1),),
        (("r", "r", "r", 1),),
        (("r", "r", "t2", 9),),
        (("r", "r", "r", 81),),
        (("r", "r", "r", 61),),
        (("r", "r", "t3", 47),),
    ],
    # 10110: the window 101, then 1, then a zero
    ("sliding-window", (("k", 3),), 3, 22, 100, 9): [
        (("t2", "b", "b", 9),),
        (("t3", "b", "t2", 27),),
        (("t5", "t3", "t2", 43),),
        (("t7", "t5", "t2", 87),),
        (("r", "t5", "t5", 49),),
        (("r", "r", "b", 47),),
        (("r", "r", "r", 9),),
    ],
}


@parametrize("case, steps", TRACES.items())
def test_trace_by_hand(case, steps):
    name, options, base, exp, n, result = case
    value, trace = traced(name, base, exp, partial(mul_mod, n), 1, **dict(options))
    assert value == result
    assert [tuple((*made[:3], made.p) for made in step) for step in trace] == steps


def test_a_trace_is_appended_to():
    trace = []
    for _ in range(2):
        SCHEDULES["right-to-left-1"](3, 1, partial(mul_mod, 7), 1, trace=trace)
    assert trace == 2 * [(("r", "r", "b", 1, 3, 3),), (("b", "b", "b", 3, 3, 2),)]


@EACH_SCHEDULE
def test_which_schedules_are_steady_and_regular(name):
    """The properties of the loop equal those counted in the plans of all exponents of six bits."""
    schedule = SCHEDULES[name]
    plans = [schedule.plan(exp) for exp in range(32, 64)]
    assert schedule.steady == (len({len(plan.steps) for plan in plans}) == 1)
    assert schedule.regular == (len({plan.nproducts for plan in plans}) == 1)


@parametrize("name", FULL_SCAN)
@draws(80, data=st.data(), nbits=st.integers(1, 64))
def test_a_full_scan_hides_the_exponent(name, data, nbits):
    """All exponents of a length have the same number of products in the same number of steps."""
    plans = (SCHEDULES[name].plan(data.draw(any_word(nbits)), nbits=nbits) for _ in range(2))
    one, other = ([len(ops) for ops in plan.steps] for plan in plans)
    assert one == other


@draws(80, exponents)
def test_one_multiplier_makes_the_same_products_in_the_same_order(exp):
    two, one = (SCHEDULES[name].plan(exp) for name in ("right-to-left-2", "right-to-left-1"))
    assert [op for ops in two.steps for op in ops] == [op for ops in one.steps for op in ops]


@parametrize("nbits", [1, 2, 17, 32, 128, 256, 512, 1024, 2048, 4096])
def test_the_best_fixed_window_is_the_best(nbits):
    counts = {k: SCHEDULES["fixed-window"].plan(1, nbits=nbits, k=k).nproducts for k in range(1, 10)}
    assert counts[best_fixed_window(nbits)] == min(counts.values())


@parametrize("nbits", [1, 2, 17, 32, 128, 512, 1024, 4096])
def test_the_best_sliding_window_is_the_best_on_average(nbits):
    """The formula is right to within one product; it ignores the positions of the first and the
    last window.
    """
    draw = random.Random(nbits)
    exps = [draw.getrandbits(nbits) | 1 << nbits - 1 for _ in range(30)]
    mean = {k: fmean(textbook_sliding_window(exp, k)[0] for exp in exps) for k in range(1, 9)}
    assert mean[best_sliding_window(nbits)] <= min(mean.values()) + 1


# bad input


def plan(name, exp, **options):
    return SCHEDULES[name].plan(exp, **options)


SCANNED = "no option nbits = 32.*always, ladder, fixed-window"
test_bad_input = bad_calls(
    *((plan, name, -5, "exponent -5: give 0 or more") for name in SCHEDULES),
    *((partial(plan, nbits=8), name, 256, "exponent 256 .* 8 bits .* at least 9") for name in FULL_SCAN),
    *(
        (partial(plan, k=k), name, 65537, f"window of {k} bits: give 1 to {MAX_WINDOW}")
        for name, k in itertools.product(WINDOWED, (0, -1, MAX_WINDOW + 1))
    ),
    (partial(plan, nbits=32), "right-to-left-2", 65537, f"'right-to-left-2'.*{SCANNED}"),
    (partial(plan, nbits=32, k=2), "sliding-window", 65537, f"'sliding-window'.*{SCANNED}"),
    (partial(plan, k=2), "ladder", 65537, "'ladder'.*no option k = 2.*fixed-window, sliding-window"),
)
