"""Plans of bit heaps: no bit is lost for any rows, and a plan by rows costs about as much as one by
columns.
"""

import heapq
import itertools
import random
from operator import add

from hypothesis import strategies as st
from modexlab.fl.compression.bit_heap import CARRY_DELAYS, SUM_DELAYS, Line, columns_of, plan_heap
from modexlab.fl.multipliers.scaled import ScaledShape
from modexlab.fl.multipliers.scaled_heap import ROWS, step_heap, step_rows

from tests.harness import draws, parametrize, refused


def check_structure(plan):
    """Every bit is used once, in order of creation; only carries at the top are lost."""
    unused = list(plan.words)
    nlines = len(plan.lines)

    def use(rows, made):
        for part in itertools.chain(*rows):
            assert part.word < made and not part.columns & ~unused[part.word]
            unused[part.word] &= ~part.columns

    for made, adder in zip(range(nlines, len(unused), 2), plan.adders, strict=True):
        use(adder.rows, made)
        x, y, z = map(columns_of, adder.rows)
        assert plan.words[made] == x | y | z
    use(plan.pair, len(unused))
    assert not any(unused)
    before = sum(word.bit_count() for word in plan.words[:nlines])
    after = sum(columns_of(row).bit_count() for row in plan.pair)
    # a full adder removes one bit, a half adder none, and those in the top column lose their carries
    lost = sum((adder.full | adder.half) >> plan.columns - 1 for adder in plan.adders)
    assert before - plan.nfull == after + lost
    placed = itertools.chain.from_iterable(plan.levels)
    assert sorted(placed) == list(range(len(plan.adders)))


def evaluate(plan, values):
    """The pair for these input rows, whose values start at their lowest column."""
    words = [value << line.lo for value, line in zip(values, plan.lines, strict=True)]

    def gather(row):
        return sum(words[part.word] & part.columns for part in row)

    for adder in plan.adders:
        x, y, z = map(gather, adder.rows)
        words += [x ^ y ^ z, (x & y | x & z | y & z) << 1]
    return tuple(map(gather, plan.pair))


LINES = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 40), st.integers(0, 40)).map(
        lambda item: Line(item[0] / 8, item[1], item[1] + item[2])
    ),
    max_size=14,
)


@draws(100, lines=LINES, seed=st.integers(0, 2**32))
def test_any_rows(lines, seed):
    """The pair has the sum of the rows, exactly if the heap is wide enough, otherwise modulo its width."""
    rng = random.Random(seed)
    top = max((line.hi for line in lines), default=0)
    for columns in (top + 4, max(1, top - 3)):
        plan = plan_heap([line for line in lines if line.lo < columns], columns)
        check_structure(plan)
        values = [
            rng.choice([0, (1 << line.hi - line.lo) - 1, rng.getrandbits(line.hi - line.lo)])
            & (1 << max(0, columns - line.lo)) - 1
            for line in plan.lines
        ]
        total = sum(value << line.lo for value, line in zip(values, plan.lines, strict=True))
        found = sum(evaluate(plan, values))
        assert (found - total) % (1 << columns) == 0
        assert found == total or columns <= top


@parametrize("delay", [0, 1])
@parametrize("rows", ROWS)
@parametrize("nbits, w", [(8, 4), (13, 6), (32, 34), (64, 16), (128, 66)])
def test_step(nbits, w, rows, delay):
    """The selected rows of a step sum to its products, for the largest possible words."""
    shape = ScaledShape(nbits, w, delay)
    plan = step_heap(shape, rows)
    check_structure(plan)
    digit = quotient = (1 << w) - 1
    b, m_prime = (1 << shape.operand_nbits) - 2 * (1 << w), (1 << nbits) - 1
    word = {"digit": (digit, b), "quotient": (quotient, m_prime), "both": (1, b + m_prime)}
    span = 3 if rows == "radix-4" else 1
    values = [0, 0]
    for row in step_rows(shape, rows):
        factor, multiple = word[row.product]
        values.append(multiple * (span if factor != 1 else 1))
        assert values[-1].bit_length() <= row.line.hi - row.line.lo
    assert sum(evaluate(plan, values)) == digit * b + quotient * m_prime


def by_columns(lines, columns):
    """The usual three-greedy algorithm, column by column: numbers of full and half adders, and the arrival
    time.
    """
    heap = [[] for _ in range(columns + 1)]
    for line in lines:
        for column in range(line.lo, min(line.hi, columns)):
            heap[column].append(line.arrival)
    nfull = nhalf = 0
    for column in range(columns):
        here = heap[column]
        heapq.heapify(here)
        if (
            len(here) > 2 and len(here) % 2
        ):  # otherwise its last bit would wait for the last carry from the column below
            late = max(heapq.heappop(here), heapq.heappop(here))
            heapq.heappush(here, late + 0.08)
            heap[column + 1].append(late + 0.06)
            nhalf += 1
        while len(here) > 2:
            _, y, z = (heapq.heappop(here) for _ in range(3))
            heapq.heappush(here, max(map(add, (y, z), SUM_DELAYS)))
            heap[column + 1].append(max(map(add, (y, z), CARRY_DELAYS)))
            nfull += 1
    return nfull, nhalf, max(map(max, filter(None, heap[:columns])))


@parametrize("nbits, w", [(32, 16), (64, 34), (128, 66), (256, 66), (1024, 66)])
def test_costs_as_much_as_by_columns(nbits, w):
    """Full adders within 1 % and arrival within 3 % of the plan by columns; half adders are a few percent
    more, at the ends of the rows.
    """
    plan = step_heap(ScaledShape(nbits, w), "radix-4")
    nfull, nhalf, arrival = by_columns(list(plan.lines), plan.columns)
    assert plan.nfull <= 1.01 * nfull
    assert plan.arrival <= 1.03 * arrival
    # a half adder is 0.62 of a full adder
    assert plan.nfull + 0.62 * plan.nhalf <= (1.06 if nbits < 128 else 1.03) * (nfull + 0.62 * nhalf)
    assert len(plan.adders) == len(plan.lines) - 2


def test_unknown_rows():
    with refused("booth"):
        step_heap(ScaledShape(32, 16), "booth")
