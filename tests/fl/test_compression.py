"""Compression trees at the functional level: moduli, folding, plans that conserve the value, results against
Python integers.
"""

import itertools

from hypothesis import given
from hypothesis import strategies as st
from modexlab.fl.compression.compression import BEST, OURS, STRATEGIES, make_plan
from modexlab.fl.compression.compression_follow import follow
from modexlab.fl.compression.compression_plan import CELLS, OPERATIONS
from modexlab.fl.compression.prefix import ADDERS, CARRY_PROPAGATE, prefix_network
from modexlab.fl.mod_sum import ModSum
from modexlab.fl.moduli import SHAPES, Modulus, classify, parse
from modexlab.fl.multipliers.folding import fold

from tests.fl.compression_oracle import evaluate, family, faults, final_rows, multiplier
from tests.harness import any_word, bad_calls, draws, later, one_now, parametrize, refused, untraced

ALL_STRATEGIES = (BEST, *STRATEGIES, *OURS)
SMALL = ["2^4", "2^4-1", "2^4+1", "2^4-3", "2^4-5", "2^4+3", "2^4+5", "2^4+9"]  # 4 or 5 bits
SIX_BITS = ["2^6", "2^6-1", "2^5+1", "2^6-3", "2^6-11", "2^5+3", "2^5+11"]


def golden(plan, a, b):
    result = {"multiply": a * b, "square": a * a, "reduce": a}[plan.operation]
    return result % plan.modulus.value


# ---- moduli


@parametrize(
    "text, modulus",
    [
        ("2^8", Modulus("2^n", 8, 0)),
        ("2^8-1", Modulus("2^n-1", 8, 1)),
        ("2 ** 8 + 1", Modulus("2^n+1", 8, 1)),
        ("2^8-0x55", Modulus("2^n-k", 8, 85)),
        ("2^5+11", Modulus("2^n+k", 5, 11)),
        ("43", Modulus("2^n+k", 5, 11)),
        ("0xff", Modulus("2^n-1", 8, 1)),
        ("253", Modulus("2^n-k", 8, 3)),
        ("7", Modulus("2^n-1", 3, 1)),
    ],
)
def test_moduli_as_users_write_them(text, modulus):
    assert parse(text) == modulus
    assert parse(str(modulus)) == modulus
    assert classify(modulus.value).value == modulus.value


@given(st.integers(3, 2**64))
def test_every_odd_modulus_and_power_of_two_has_a_shape(value):
    if value % 2 and value.bit_count() > 1:
        assert classify(value).value == value
        assert classify(value).operand_nbits == (value - 1).bit_length()
    elif value.bit_count() > 1:
        with refused("is even: give an odd one"):
            classify(value)


test_bad_moduli = bad_calls(
    (parse, "2^8-4", "makes the modulus 252 even: .* nearest are 3 and 5"),
    (parse, "2^8-127", "give an odd k from 3 to 125, the nearest is 125"),
    (parse, "2^8+300", "give an odd k from 3 to 253, the nearest is 253"),
    (Modulus, "2^n-k", 8, 1, r"take shape 2\^n-1"),
    (Modulus, "2^n+k", 8, 0, r"take shape 2\^n$"),
    (Modulus, "2^n", 8, 3, r"take shape 2\^n"),
    (parse, "2^3-3", "give n of 4 or more"),
    (parse, "2^1-1", "give 2 to"),
    (parse, "2^9999-1", "give 2 to"),
    (parse, "a prime", "write it as"),
    (classify, 2, "the smallest .* is 3"),
    (classify, 0, "the smallest .* is 3"),
    (classify, 250, "is even: give an odd one, such as 249 or 251, or a power of two"),
    (classify, (1 << 2000) + 1, "has 2001 bits: trees are planned up to"),
)


def test_family_is_table_4():
    pairs = [(m.value, pm.value) for m, pm in map(family, (2, 4, 6, 8))]
    assert pairs == [(5, 15), (21, 63), (85, 255), (341, 1023)]
    assert str(family(8)[0]) == "2^8+85"


@parametrize("n", [4, 30, 126, 1022])
def test_family_is_no_key(n):
    """The family's moduli have known factors, so they are a benchmark of multipliers and cannot be
    RSA keys.
    """
    half = 1 << (n // 2 + 1)
    assert 3 * family(n)[0].value == (half - 1) * (half + 1)


# ---- folding


def test_folding_as_in_figure_5():
    """Modulus 43: 2^6 is 21 or -22, with three ones each, so the positive one is used; 2^7 ... 2^10 are -1,
    -2, -4, -8.
    """
    folded = [fold(parse("2^5+11"), weight) for weight in range(6, 11)]
    assert folded == [((0, 2, 4), False), *(((i,), True) for i in range(4))]


def test_folding_of_efficient_moduli():
    assert [fold(parse("2^8"), weight).columns for weight in (8, 11)] == [(), ()]
    assert [fold(parse("2^8-1"), weight) for weight in (8, 11)] == [((0,), False), ((3,), False)]
    assert [fold(parse("2^8+1"), weight) for weight in (8, 11)] == [((0,), True), ((3,), True)]
    assert fold(parse("2^8+1"), 16) == ((0,), False)


@given(st.integers(1, 2**40), st.integers(0, 90))
def test_folding_keeps_the_value(half, more):
    modulus = classify(2 * half + 1)
    weight = modulus.columns + more
    for shrinks in (False, True):
        digits = fold(modulus, weight, shrinks=shrinks)
        value = -digits.value if digits.inverted else digits.value
        assert (value - (1 << weight)) % modulus.value == 0
        assert digits.value < 1 << modulus.columns
        if shrinks:
            assert digits.value <= 3 * (1 << modulus.columns) // 4


# ---- prefix networks


@parametrize("adder", [adder for adder in ADDERS if adder != CARRY_PROPAGATE])
@parametrize("nbits", [1, 2, 3, 5, 8, 13, 32, 33, 128])
def test_prefix_networks_span_all_bits(adder, nbits):
    """Every node joins two adjacent spans, and at the end all spans reach down to bit 0."""
    lowest = list(range(nbits))
    for level in prefix_network(adder, nbits):
        before = list(lowest)
        for i, j in level:
            assert before[i] == j + 1
            lowest[i] = before[j]
    assert set(lowest) == {0}
    if adder != "brent-kung":
        assert len(prefix_network(adder, nbits)) == (nbits - 1).bit_length()


# ---- plans


@untraced
@parametrize(
    "spec, strategy",
    [
        *itertools.product(SMALL, ALL_STRATEGIES),
        ("2^5+11", BEST),
        *later(*((spec, BEST) for spec in SIX_BITS)),
    ],
)
def test_every_product_of_small_words(spec, strategy):
    plan = multiplier(spec, strategy)
    check_plan(plan, itertools.product(range(1 << plan.operand_nbits), repeat=2))


def check_plan(plan, operands):
    """Check the plan, and its result of each of these pairs of operands."""
    assert faults(plan) == []
    for a, b in operands:
        assert evaluate(plan, a, b) == golden(plan, a, b), (plan.modulus, a, b)


@untraced
@parametrize("operation", ["square", "reduce"])
@parametrize("spec", [*SMALL, *SIX_BITS])
def test_every_square_and_every_residue(spec, operation):
    for strategy in ALL_STRATEGIES:
        plan = make_plan(operation, parse(spec), None, strategy)
        step = 1 << max(0, plan.operand_nbits - 8)  # only the upper bits are folded
        check_plan(plan, ((a, 0) for a in range(0, 1 << plan.operand_nbits, step)))


@untraced
@parametrize("most", one_now([70, 300], 70))
def test_every_small_modulus(most):
    """All shapes at all small widths, also with words longer than a residue; corner operands of each."""
    for value in range(3, most):
        if value % 2 == 0 and value.bit_count() > 1:
            continue
        modulus = classify(value)
        for nbits in (modulus.operand_nbits, modulus.operand_nbits + 3):
            top = (1 << nbits) - 1
            corners = (0, 1, value - 1, min(value, top), top, top ^ 1, top // 3)
            check_plan(make_plan("multiply", modulus, nbits), itertools.product(corners, repeat=2))


@draws(60, *map(st.sampled_from, (SHAPES, OPERATIONS, ALL_STRATEGIES)), st.integers(4, 48), st.data())
def test_any_tree(shape, operation, strategy, n, data):
    """Hypothesis: any shape, width, k, operation, strategy and operands."""
    if shape.endswith("k"):
        k = 2 * data.draw(st.integers(1, (1 << (n - 2 if shape == "2^n-k" else n - 1)) - 2)) + 1
    else:
        k = int(shape != "2^n")
    plan = make_plan(operation, Modulus(shape, n, k), None, strategy)
    word = any_word(plan.operand_nbits)
    pairs = data.draw(st.lists(st.tuples(word, word), min_size=4, max_size=4))
    check_plan(plan, pairs)
    for a, b in pairs:
        first, second = final_rows(plan, a, b)
        assert (first + second - golden(plan, a, b)) % plan.modulus.value == 0


def test_two_rows_of_ones():
    """2^n - 1: a word of ones represents 0 and produces two rows of ones; the ModSum of the paper would
    return m.
    """
    plan = multiplier("2^5-1")
    assert final_rows(plan, 31, 31) == (31, 31)
    assert evaluate(plan, 31, 31) == 0


@draws(300, st.data(), st.integers(1, 300), any_word(9), any_word(9))
def test_sum_of_any_two_rows(data, m, most_a, most_b):
    """ModSum returns the remainder, whatever the maxima of its rows."""
    a, b = (data.draw(st.integers(0, most)) for most in (most_a, most_b))
    nbits = (m - 1).bit_length()  # as for 2^n
    assert ModSum(m, nbits, most_a, most_b).add(a, b) == (a + b) % m


def test_cells_take_every_bit_once():
    """`cells` uses and places every bit once, and has as many compressors as the levels."""
    plan = multiplier("2^8+85", "five-full-half")
    for number, level in enumerate(plan.levels):
        cells, above = list(plan.cells(number)), plan.heights(number + 1)
        taken = [(cell.column, place) for cell in cells for place in cell.inputs]
        placed = [output[:2] for cell in cells for output in itertools.chain(*cell.outputs)]
        assert len(set(taken)) == len(taken) and len(set(placed)) == len(placed)
        assert all(place < above[column] for column, place in placed)
        passed = sum(level.passing(column) for column in range(plan.columns))
        assert (len(taken), len(placed)) == (sum(level.heights) - passed, sum(above) - passed)


def test_strategies_use_their_cells():
    used = {
        strategy: {kind for kind in CELLS if multiplier("2^12-5", strategy).count(kind)}
        for strategy in (*STRATEGIES, *OURS)
    }
    assert used == {
        "full": {"full"},
        "five-full": {"five", "full"},
        "five-full-half": {"five", "full", "half"},
        "full-half": {"full", "half"},
    }


@parametrize("spec", ["2^16-1", "2^16+1", "2^16", "2^16-5", "2^16+85"])
def test_best_is_the_best_of_three(spec):
    best = multiplier(spec)
    costs = {name: multiplier(spec, name).cost for name in STRATEGIES}
    assert best.cost.product == min(cost.product for cost in costs.values())
    assert best.cost == costs[best.strategy]
    assert all(cost in (costs[name], None) for name, cost in best.rivals)


def test_square_has_half_of_the_products():
    for spec in ("2^16-1", "2^16+1", "2^16", "2^16-5", "2^14+21"):
        product, square = (make_plan(operation, parse(spec)) for operation in ("multiply", "square"))
        assert square.counts["bits"] < 0.65 * product.counts["bits"]
        assert square.cost.area < 0.8 * product.cost.area


def test_following_a_bit():
    """The path of a product: each sentence starts where the previous one ended."""
    plan = multiplier("2^8+85")
    lines = follow(plan, 7, 3)
    assert lines[0] == "a_7 * b_3 has weight 2^10: it goes to column 0 place 7"  # 2^10 = 1 mod 341
    assert lines[1].startswith(
        "level 0: from place 7 of column 0 into full 1; its sum goes to column 0 place 1"
    )
    assert lines[-1].startswith("after the last level: bit ")
    assert "inverted" in follow(multiplier("2^8+1"), 8, 3)[0]
    assert follow(multiplier("2^8"), 7, 7) == [
        "a_7 * b_7 has weight 2^14: it goes to nowhere: it is a multiple of the modulus"
    ]
    assert follow(make_plan("square", parse("2^8-1")), 3, 3)[0].startswith(
        "a_3 has weight 2^6: it goes to column 6"
    )
    with refused("give bits 0 to 8"):
        follow(plan, 9, 9)


BYTE = parse("2^8-1")
test_bad_plans = bad_calls(
    (make_plan, "divide", BYTE, "unknown operation 'divide'"),
    (make_plan, "multiply", BYTE, None, "fulll", "unknown strategy 'fulll': did you mean 'full'"),
    (make_plan, "multiply", BYTE, None, BEST, "ripple", "unknown adder 'ripple'"),
    (make_plan, "multiply", BYTE, 5000, "operands of 5000 bits: trees are planned for 1 to"),
    (make_plan, "multiply", BYTE, 0, "operands of 0 bits"),
)
