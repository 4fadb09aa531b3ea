"""Paper 000's claim as a regression test: a product modulo the pseudo-modulus 2^(n+2) - 1 is cheaper than one
modulo m = 2^n + k.

The costs are counts from the plans: levels, cells, gates and their depth (fl/cost.py), without synthesis. The
family's moduli are for arithmetic and benchmarks of multipliers, not for keys: the factors of all of them are
known (fl/moduli.py).
"""

import resource

import pytest
from modexlab.eval.papers.published import paper
from modexlab.fl.compression.compression import BEST, OURS, STRATEGIES, make_plan
from modexlab.fl.compression.compression_plan import CELLS
from modexlab.fl.cost import GATES, Cost
from modexlab.fl.moduli import parse

from tests.fl.compression_oracle import evaluate, family, faults
from tests.harness import one_now, parametrize, regress

TABLE_5 = (4, 6, 8, 10)
TABLE_7 = (30, 62, 126, 254, 510, 1022)  # pseudo-moduli of the paper's RSA lengths, 32 to 1024 bits
# paper 000, Table 5: modulus -> delay in ns, area (printed in micrometres) at 180 nm
PUBLISHED = {
    row.replace(" ", ""): tuple(
        paper("000").table("5").at(row, column).amount for column in ("Delay", "Area")
    )
    for row in paper("000").table("5").rows
}
ALL_STRATEGIES = (BEST, *STRATEGIES, *OURS)


def pair(n, strategy=BEST):
    """The multipliers modulo m and modulo its pseudo-modulus."""
    modulus, pseudo = family(n)
    return make_plan("multiply", modulus, None, strategy), make_plan("multiply", pseudo, None, strategy)


def cell_gates(plan):
    """The gates of all cells of the tree, to compare trees of different cells."""
    return sum(GATES[kind] * plan.count(kind) for kind in CELLS)


@parametrize("strategy", ALL_STRATEGIES)
@parametrize("n", TABLE_5 + TABLE_7[:4])
def test_pseudo_modulus_is_cheaper(n, strategy):
    """PM < M at every size of Table 5 and beyond, for all cells: levels, cells, gates, depth, final
    adders.
    """
    modulus, pseudo = pair(n, strategy)
    assert len(pseudo.levels) < len(modulus.levels)
    assert sum(pseudo.count(kind) for kind in CELLS) < sum(modulus.count(kind) for kind in CELLS)
    assert cell_gates(pseudo) < cell_gates(modulus)
    assert pseudo.cost.area < modulus.cost.area
    assert pseudo.cost.delay < modulus.cost.delay
    assert len(pseudo.mod_sum.multiples) < len(modulus.mod_sum.multiples)


def test_table_5_is_reproduced_in_order():
    """Each pair of Table 5 has the same winner in delay, area and their product; in each family area grows
    with n.

    The delay of the pseudo-moduli grows too. The delays of our trees for 2^8 + 85 and 2^10 + 341 differ by
    less than a level.
    """
    plans = {str(plan.modulus): plan for n in TABLE_5 for plan in pair(n)}
    assert set(plans) == set(PUBLISHED)
    ours = {name: plan.cost for name, plan in plans.items()}
    theirs = {name: Cost(area, delay) for name, (delay, area) in PUBLISHED.items()}
    for costs in (ours, theirs):
        moduli, pseudo_moduli = ([costs[str(family(n)[which])] for n in TABLE_5] for which in (0, 1))
        for modulus, pseudo in zip(moduli, pseudo_moduli, strict=True):
            assert pseudo.delay < modulus.delay
            assert pseudo.area < modulus.area
            assert pseudo.product < modulus.product
        for row in (moduli, pseudo_moduli):
            assert row == sorted(row, key=lambda cost: cost.area)
        assert pseudo_moduli == sorted(pseudo_moduli, key=lambda cost: cost.delay)


@parametrize("n", [10, 12, 16, 32])
def test_shapes_rank_as_in_figures_13_and_14(n):
    """2^n is cheapest, then 2^n - 1 and 2^n + 1, then the others; among these, area grows with the number of
    ones in k, and the slowest is one of the two with the most ones.

    The trees have only full and half adders, so that they are comparable. The paper does not state its n. Its
    text says that the area decreases with the number of ones in k; its Figure 14 and the preceding sentence
    say that it grows.
    """
    cost = {
        k: make_plan("multiply", parse(f"2^{n}{k:+d}" if k else f"2^{n}"), None, "full-half").cost
        for k in (0, -1, 1, -3, 3, -5, 5, -21, 21, -85, 85)
    }
    others = [cost[k] for k in cost if abs(k) > 1]
    for measure in (lambda item: item.delay, lambda item: item.area):
        assert measure(cost[0]) < min(measure(cost[-1]), measure(cost[1]))
        assert max(measure(cost[-1]), measure(cost[1])) < min(map(measure, others))
        assert max(map(measure, others)) == max(measure(cost[k]) for k in (-85, -21, 21, 85))
    for sign in (-1, 1):
        three_and_five, twenty_one, eighty_five = (
            max(cost[sign * k].area for k in ks) for ks in ((3, 5), (21,), (85,))
        )
        assert three_and_five < twenty_one < eighty_five


@parametrize("n", [8, 16, 32])
def test_ones_of_k_cost(n):
    """Section 2.2.1.4: each carry out of 2^n + k returns as as many bits as |2^(n+1)|_m has ones."""
    for k in (3, 5, 21, 85):
        plan = make_plan("multiply", parse(f"2^{n}+{k}"))
        assert len(plan.folds[0].columns) <= k.bit_count()  # 2^(n+1) = -2k
    assert len(make_plan("multiply", parse(f"2^{n}-1")).folds[0].columns) == 1


@pytest.mark.usefixtures("untraced")
@parametrize("n", [*TABLE_5, *one_now(TABLE_7, *TABLE_7[:4])])
def test_reduction_operators(n):
    """Section 5.1: the residue of a word of twice the length is also cheaper modulo the pseudo-modulus,
    although that is longer.
    """
    modulus, pseudo = family(n)
    width = 2 * pseudo.operand_nbits
    costs = [make_plan("reduce", item, width).cost for item in (modulus, pseudo)]
    assert costs[1].delay < costs[0].delay
    assert costs[1].area < costs[0].area


@regress
@pytest.mark.usefixtures("untraced")
def test_large_plans():
    """Trees of 128 and 1024 bits of all shapes need less than 4 GiB, and are right in detail."""
    for n in (126, 1022):
        for modulus in (*family(n), parse(f"2^{n + 2}+1"), parse(f"2^{n + 2}-85")):
            plan = make_plan.__wrapped__("multiply", modulus)
            top = (1 << plan.operand_nbits) - 1
            assert faults(plan) == []
            for a, b in ((top, top), (top // 3, top // 7)):
                assert evaluate(plan, a, b) == a * b % modulus.value
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 4 << 20  # KiB


@regress
@parametrize("n", TABLE_7[4:])
@parametrize("strategy", ALL_STRATEGIES)
def test_pseudo_modulus_is_cheaper_up_to_1024_bits(n, strategy):
    test_pseudo_modulus_is_cheaper(n, strategy)
