"""Paper 000's claim as a regression test: a product modulo the pseudo-modulus 2^(n+2) - 1 is cheaper than one
modulo m = 2^n + k.

The costs are counts from the plans: levels, cells, gates and their depth (fl/cost.py), without synthesis. The
family's moduli are for arithmetic and benchmarks of multipliers, not for keys: the factors of all of them are
known (fl/moduli.py).
"""

import operator
import resource
from operator import attrgetter

from modexlab.eval.papers.published import paper
from modexlab.fl.compression.compression import BEST, OURS, STRATEGIES, make_plan
from modexlab.fl.compression.compression_plan import CELLS
from modexlab.fl.cost import GATES, Cost
from modexlab.fl.moduli import parse

from tests.fl.compression_oracle import evaluate, family, faults, multiplier
from tests.harness import one_now, parametrize, regress, untraced

TABLE_5 = (4, 6, 8, 10)
TABLE_7 = (30, 62, 126, 254, 510, 1022)  # pseudo-moduli of the paper's RSA lengths, 32 to 1024 bits
# paper 000, Table 5: modulus -> delay in ns, area (printed in micrometres) at 180 nm
PRINTED = paper("000").table("5")
PUBLISHED = {
    row.replace(" ", ""): Cost(*(PRINTED.at(row, column).amount for column in ("Area", "Delay")))
    for row in PRINTED.rows
}
ALL_STRATEGIES = (BEST, *STRATEGIES, *OURS)


def pair(n, strategy=BEST):
    """The multipliers modulo m and modulo its pseudo-modulus."""
    return [multiplier(str(modulus), strategy) for modulus in family(n)]


@parametrize("strategy", ALL_STRATEGIES)
@parametrize("n", one_now(TABLE_5 + TABLE_7, *TABLE_5, *TABLE_7[:4]))
def test_pseudo_modulus_is_cheaper(n, strategy):
    """PM < M at every size of Table 5 and beyond, for all cells: levels, cells, gates, depth, final
    adders.
    """

    def costs(plan):
        yield from (len(plan.levels), plan.cost.area, plan.cost.delay, len(plan.mod_sum.multiples))
        yield sum(map(plan.count, CELLS))
        yield sum(GATES[kind] * plan.count(kind) for kind in CELLS)  # to compare trees of different cells

    modulus, pseudo = map(costs, pair(n, strategy))
    assert all(map(operator.lt, pseudo, modulus))


def test_table_5_is_reproduced_in_order():
    """Each pair of Table 5 has the same winner in delay, area and their product; in each family area grows
    with n.

    The delay of the pseudo-moduli grows too. The delays of our trees for 2^8 + 85 and 2^10 + 341 differ by
    less than a level.
    """
    ours = {str(plan.modulus): plan.cost for n in TABLE_5 for plan in pair(n)}
    assert ours.keys() == PUBLISHED.keys()
    for costs in (ours, PUBLISHED):
        moduli, pseudo_moduli = ([costs[str(family(n)[which])] for n in TABLE_5] for which in (0, 1))
        for measure in ("delay", "area", "product"):
            for modulus, pseudo in zip(moduli, pseudo_moduli, strict=True):
                assert getattr(pseudo, measure) < getattr(modulus, measure)
        for row, measure in ((moduli, "area"), (pseudo_moduli, "area"), (pseudo_moduli, "delay")):
            assert row == sorted(row, key=attrgetter(measure))


@parametrize("n", [10, 12, 16, 32])
def test_shapes_rank_as_in_figures_13_and_14(n):
    """2^n is cheapest, then 2^n - 1 and 2^n + 1, then the others; among these, area grows with the number of
    ones in k, and the slowest is one of the two with the most ones.

    The trees have only full and half adders, so that they are comparable. The paper does not state its n. Its
    text says that the area decreases with the number of ones in k; its Figure 14 and the preceding sentence
    say that it grows.
    """
    cost = {
        k: multiplier(f"2^{n}{k:+d}" if k else f"2^{n}", "full-half").cost
        for k in (0, -1, 1, -3, 3, -5, 5, -21, 21, -85, 85)
    }
    others = [cost[k] for k in cost if abs(k) > 1]
    for measure in map(attrgetter, ("delay", "area")):
        assert measure(cost[0]) < min(measure(cost[-1]), measure(cost[1]))
        assert max(measure(cost[-1]), measure(cost[1])) < min(map(measure, others))
        assert max(map(measure, others)) == max(measure(cost[k]) for k in (-85, -21, 21, 85))
    for sign in (-1, 1):
        areas = [cost[sign * k].area for k in (3, 5, 21, 85)]
        assert max(areas[:2]) < areas[2] < areas[3]


@parametrize("n", [8, 16, 32])
def test_ones_of_k_cost(n):
    """Section 2.2.1.4: each carry out of 2^n + k returns as as many bits as |2^(n+1)|_m has ones."""
    for k in (3, 5, 21, 85):
        plan = multiplier(f"2^{n}+{k}")
        assert len(plan.folds[0].columns) <= k.bit_count()  # 2^(n+1) = -2k
    assert len(multiplier(f"2^{n}-1").folds[0].columns) == 1


@untraced
@parametrize("n", one_now(TABLE_5 + TABLE_7, *TABLE_5, *TABLE_7[:4]))
def test_reduction_operators(n):
    """Section 5.1: the residue of a word of twice the length is also cheaper modulo the pseudo-modulus,
    although that is longer.
    """
    width = 2 * family(n)[1].operand_nbits
    modulus, pseudo = (make_plan("reduce", item, width).cost for item in family(n))
    assert pseudo.delay < modulus.delay and pseudo.area < modulus.area


@regress
@untraced
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
