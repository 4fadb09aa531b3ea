"""PseudoMul, PseudoSquare, PseudoReduce: CL and RTL with all backends, equal in values and cycles, and as
planned.
"""

import itertools
from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from modexlab.cl.pseudo_mul import PSEUDO_MUL_TIMING, PseudoMulCL
from modexlab.fl.compression.compression import BEST, OURS, STRATEGIES, make_plan
from modexlab.fl.compression.prefix import ADDERS
from modexlab.fl.mod_sum import ModSum
from modexlab.fl.moduli import parse
from modexlab.rtl.sim import Stall, lint, simulate, translate
from modexlab.rtl.units.compression_tree import CompressionTree
from modexlab.rtl.units.mod_adder import ModAdder
from modexlab.rtl.units.prefix_adder import PrefixAdder
from modexlab.rtl.units.pseudo_mul import PseudoCore, PseudoMul, PseudoReduce, PseudoSquare

from tests.fl.compression_oracle import evaluate, family, final_rows
from tests.harness import (
    agreed,
    any_word,
    bad_calls,
    draws,
    evaluated,
    later,
    one_now,
    parametrize,
    ran,
    ran_alike,
    regress,
    regress_if,
    run_products,
    stepped,
)
from tests.tables.rows import ProductRow, with_delays

# at 6 bits: a modulus of each shape, the strategy, the adder
KINDS = {
    "2^n": ("2^5", "five-full-half", "brent-kung"),
    "2^n-1": ("2^6-1", BEST, "kogge-stone"),
    "2^n+1": ("2^5+1", "full", "sklansky"),
    "2^n-k": ("2^6-11", "five-full", "carry-propagate"),
    "2^n+k": ("2^5+11", "full-half", "brent-kung"),
}
ONE_KIND = parametrize("kind", one_now(KINDS, "2^n-1"))  # the test does not depend on the tree
NBITS = 6
OPERATIONS = {"multiply": PseudoMul, "square": PseudoSquare, "reduce": PseudoReduce}


def makers(kind, operation="multiply"):
    """The makers of the RTL unit and of its twin, and the modulus."""
    spec, strategy, adder = KINDS[kind]
    modulus = parse(spec)
    nbits = 2 * NBITS if operation == "reduce" else NBITS
    arguments = (nbits, modulus.value, strategy, adder)
    return partial(OPERATIONS[operation], *arguments), partial(PseudoMulCL, *arguments), modulus


def table(m, nbits):
    """Corner operands of the modulus and of the word; operands may be any words."""
    top = (1 << nbits) - 1
    corners = (0, 1, m - 1, m // 2, top, top // 3)
    pairs = itertools.product(corners, repeat=2)
    return with_delays([ProductRow(f"{a} * {b}", a & top, b & top, m) for a, b in pairs])


@ONE_KIND
def test_table_at_every_level_and_stage(kind):
    """The stamps of CL and of RTL with every backend are equal, with delays and stalls."""
    rtl, cl, modulus = makers(kind)
    rows = table(modulus.value, NBITS)
    agreed(cl, rtl, lambda unit, *where: run_products(unit, rows, "identity", NBITS, *where))


NARROW = [
    *[(4, spec) for spec in ("2^3", "2^4-1", "2^3+1", "2^4-3", "2^3+3")],
    *[(5, spec) for spec in ("2^4", "2^5-1", "2^4+1", "2^5-5", "2^4+9")],
]


@parametrize(
    "nbits, spec",
    [
        *later(*NARROW),
        *[
            pytest.param(NBITS, spec, marks=regress_if(kind != "2^n-1"))
            for kind, (spec, _, _) in KINDS.items()
        ],
        (NBITS, "2^4+3"),  # words longer than a residue
    ],
)
def test_every_product(nbits, spec):
    """All pairs of words of 4 to 6 bits, with the strategy of the shape above."""
    modulus = parse(spec)
    unit = PseudoMul(nbits, modulus.value, *KINDS[modulus.shape][1:])
    check_products(unit, modulus, itertools.product(range(1 << nbits), repeat=2))


def check_products(unit, modulus, pairs):
    pairs = list(pairs)
    run = ran(unit, pairs, statics={"modulus": 0})
    assert run.responses == [a * b % modulus.value for a, b in pairs]


@ONE_KIND
@parametrize("operation", one_now(("square", "reduce"), "square"))
def test_every_square_and_every_residue(kind, operation):
    rtl, _, modulus = makers(kind, operation)
    words = list(range(1 << (2 * NBITS if operation == "reduce" else NBITS)))
    power = 2 if operation == "square" else 1
    run = ran(rtl(), words, statics={"modulus": 0})
    assert run.responses == [a**power % modulus.value for a in words]
    assert set(run.latencies) == {PSEUDO_MUL_TIMING.fixed}
    stalled = ran_alike(rtl, words[-50:], statics={"modulus": 0}, stall=Stall(seed=9, source=0.4, sink=0.3))
    assert stalled.responses == run.responses[-50:]


@ONE_KIND
def test_timing(kind):
    rtl, _, _ = makers(kind)
    timing = PSEUDO_MUL_TIMING
    both = ran(rtl(), [(5, 9), (11, 13)], statics={"modulus": 0})
    assert both.latencies == [timing.latency(5, 9, 0)] * 2 == [timing.fixed] * 2
    assert both.done[1] - both.accepted[0] == timing.pair((5, 9), (11, 13), 0)


@ONE_KIND
def test_tree_makes_the_rows_of_its_plan(kind):
    """The two rows of the hardware equal those of the evaluated plan."""
    spec, strategy, adder = KINDS[kind]
    modulus = parse(spec)
    plan = make_plan("multiply", modulus, NBITS, strategy, adder)
    tree = stepped(CompressionTree("multiply", modulus.value, NBITS, strategy, adder))
    for a, b in itertools.product(range(0, 1 << NBITS, 5), range(0, 1 << NBITS, 3)):
        evaluated(tree, a=a, b=b)
        assert (tree.row_a, tree.row_b) == final_rows(plan, a, b)


@parametrize("adder", ADDERS)
@parametrize("nbits", [1, 4, 7, 32])
def test_adders(adder, nbits):
    component = stepped(PrefixAdder(nbits, adder))
    top = (1 << nbits) - 1

    @draws(100)
    @example(top, 1)
    @example(top, top)
    @example(0, 0)
    @given(any_word(nbits), any_word(nbits))
    def check(x, y):
        evaluated(component, x=x, y=y)
        assert int(component.sum) | int(component.carry_out) << nbits == x + y

    check()


@parametrize("m, nbits", [(31, 5), (32, 5), (33, 5), (29, 5), (17, 5), (43, 6), (61, 6), (35, 6)])
def test_mod_adder(m, nbits):
    """Equation 5 for all pairs of rows: none to three multiples are subtracted, and for 2^n - 1 two rows of
    ones give 0.
    """
    top = (1 << nbits) - 1
    component = stepped(ModAdder(m, nbits, top, top, "brent-kung"))
    model = ModSum(m, nbits, top, top)
    for a, b in itertools.combinations_with_replacement(range(top + 1), 2):
        assert evaluated(component, a=a, b=b).out == model.add(a, b) == (a + b) % m, (a, b)


@parametrize("spec, count", [("2^16", 0), ("2^16-1", 1), ("2^16+1", 1), ("2^16-5", 2), ("2^16+5", 3)])
def test_subtractions_of_equation_5(spec, count):
    """The number of multiples of m that are subtracted from two full rows; fewer if the rows of a tree have
    gaps.
    """
    modulus = parse(spec)
    top = (1 << modulus.columns) - 1
    assert len(ModSum(modulus.value, modulus.columns, top, top).multiples) == count
    for strategy in (*STRATEGIES, *OURS):
        assert len(make_plan("multiply", modulus, None, strategy).mod_sum.multiples) <= count


@draws(
    6,
    st.integers(4, 2**9).map(lambda half: 2 * half + 1),
    st.sampled_from([*STRATEGIES, *OURS]),
    st.sampled_from(ADDERS),
    st.sampled_from(list(OPERATIONS)),
    st.data(),
)
def test_any_modulus(m, strategy, adder, operation, data):
    """Hypothesis: the combinational hardware for arbitrary odd moduli, with arbitrary cells."""
    nbits = max(4, m.bit_length())
    out_nbits = (m - 1).bit_length() if operation == "reduce" else nbits
    core = stepped(PseudoCore(operation, nbits, out_nbits, m, strategy, adder))
    word = any_word(nbits)
    for _ in range(5):
        a = data.draw(word)
        b = data.draw(word) if operation == "multiply" else a if operation == "square" else 1
        evaluated(core, a=a, **({"b": b} if operation == "multiply" else {}))
        assert int(core.out) == a * b % m


@parametrize("spec", one_now(("2^16-1", "2^16+85", "2^16+1", "2^16-21"), "2^16-1"))
def test_wider_products(spec):
    """Hypothesis at 16 and 17 bits natively: hardware, plan and Python's integers."""
    modulus = parse(spec)
    nbits = modulus.operand_nbits
    plan = make_plan("multiply", modulus, nbits)
    word = any_word(nbits)
    with simulate(PseudoMul(nbits, modulus.value)) as sim:

        @draws(100, st.lists(st.tuples(word, word), min_size=1, max_size=5))
        def check(pairs):
            run = sim.run(pairs, statics={"modulus": 0})
            assert run.responses == [a * b % modulus.value for a, b in pairs]
            assert run.responses == [evaluate(plan, a, b) for a, b in pairs]

        check()


@parametrize("strategy", [*STRATEGIES, *OURS])
def test_verilog_is_clean_and_readable(strategy):
    """It passes `verilator -Wall`, and a level has the cells of the plan."""
    unit = PseudoMul(9, 341, strategy)
    text = translate(unit)
    lint(text)
    plan = make_plan("multiply", parse("2^8+85"), 9, strategy)
    for planned, level in zip(plan.levels, unit.core.tree.levels, strict=True):
        for kind, word in (("five", "FiveThreeCompressors"), ("full", "FullAdders"), ("half", "HalfAdders")):
            assert hasattr(level, kind) == bool(planned.total(kind)), (level, kind)
            assert not plan.count(kind) or word in text


test_bad_units = bad_calls(
    (PseudoMul(8, 257).elaborate, r"residues modulo 2\^8\+1 have 9 bits, the unit has 8: give it 9"),
    (PseudoMul(8, 250).elaborate, "is even"),
    (PseudoMul(3, 7).elaborate, "give 4 or more"),
    (
        PseudoMul(200, (1 << 200) - 1).elaborate,
        "operands of 200 bits is too large to translate: give up to 136",
    ),
    (
        PseudoMul(128, 0xC0FFEE15_BADC0DE5_DEADBEEF_12345679_0F1E2D3D).elaborate,
        "give it 160 bits or more",
    ),
    (
        PseudoMul(128, (1 << 128) // 5 * 3 | 0x5A5A5A5A5A5A5A5A5A5B).elaborate,
        "give a k with fewer ones",
    ),
    (PseudoMulCL, 8, 257, "give it 9 bits or more"),
)


@regress
def test_large_units():
    """Units of 64 and 128 bits are translated; their products are right."""
    for n in (62, 126):
        for modulus in family(n):
            nbits = modulus.operand_nbits
            translate(PseudoMul(nbits, modulus.value))
            top = (1 << nbits) - 1
            pairs = [(top, top), (modulus.value - 1, modulus.value - 1), (top // 3, top // 5), (0, top)]
            check_products(PseudoMul(nbits, modulus.value), modulus, pairs)
