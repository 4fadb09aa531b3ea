"""Planner of compression trees: a * b mod m, a * a mod m or x mod m for one modulus m (paper 000, section
2.2.1).

1. Pre-computation. The products a_j * b_k of weight 2^(j+k) form a matrix with one column per weight.
Products beyond the word are folded back (folding.py). The constant that the inverted bits leave, the
correction, is one more row of the matrix, or only the ones of that row.

2. Compression, level by level, until no column has more than two bits. In each level 5:3 compressors are
placed wherever five bits are left, then full adders, then half adders, from the lowest column upward. A carry
out of the last column is folded back in the same level: the end-around carry, inverted for 2^n + 1. Three
strategies are planned; the one with the smallest delay x area (cost.py) becomes the plan.

3. The two remaining rows are added modulo m (mod_sum.py; equation 5 and Figure 6).

A half adder is not always useful, and in the last column of 2^n + k each half adder produces more bits than
it takes: if one were placed wherever it fits, the compression would not terminate. So one is placed only
where the column would otherwise exceed Dadda's bound for the next level. If a carry folds to several bits, no
half adder is placed in the last column, and folded bits do not count towards the height of a column. Even so,
a tree may cycle, and so may a tree of 5:3 compressors. After `_patience` levels only full adders are placed.
These always terminate, because each one in the last column leaves less than it takes (folding.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ..cost import Cost, level_cost, products_cost
from ..errors import BadInput, bits, unknown
from ..moduli import MAX_PLANNED_NBITS, Modulus
from ..multipliers.folding import Fold
from .compression_plan import CELLS, OPERATIONS, SIZE, Level, Plan, and_gates, carry_folds, matrix
from .prefix import ADDERS

STRATEGIES = {
    "five-full-half": CELLS,
    "full": ("full",),
    "five-full": ("five", "full"),
}
OURS = {"full-half": ("full", "half")}  # in addition to the paper's three: only Dadda's cells
BEST = "best"
TRIES = 3  # iterations to make tree and correction agree
MAX_REDUCED_NBITS = 2 * MAX_PLANNED_NBITS


def _dadda_bound(height: int) -> int:
    """The largest height below this one in 2, 3, 4, 6, 9, 13 ...: the result of one level of full adders."""
    bound = 2
    while bound * 3 // 2 < height:
        bound = bound * 3 // 2
    return bound


def _patience(height: int) -> int:
    """The number of levels after which a strategy places only full adders: two or three times as many as
    trees of this height need.
    """
    return 16 + 4 * height.bit_length()


class _Compression:
    """Planner of the levels of one strategy. It tracks only heights, as the bits of a column are
    interchangeable.
    """

    def __init__(self, heights: Sequence[int], folds: tuple[Fold, Fold], kinds: Sequence[str]) -> None:
        self.heights = list(heights)
        self.folds = folds
        self.kinds = kinds
        self.patience = _patience(max(heights))
        self.levels: list[Level] = []
        self.folded = [0] * len(self.heights)  # folded bits that arrive in this level, by column
        self.inverted = 0  # the sum of the weights of all inverted bits

    @property
    def done(self) -> bool:
        return max(self.heights) <= 2

    def step(self) -> None:
        """Plan one level."""
        width = len(self.heights)
        cells = {kind: [0] * width for kind in CELLS}
        left = list(self.heights)
        self.folded = [0] * width
        kinds = self.kinds if len(self.levels) < self.patience else ("full",)
        for kind in kinds:
            if kind != "half":
                for column in range(width):
                    cells[kind][column], left[column] = divmod(left[column], SIZE[kind])
        heights = [left[i] + cells["five"][i] + cells["full"][i] for i in range(width)]
        for column in range(width):
            self._carry(heights, column + 1, cells["five"][column] + cells["full"][column])
            self._carry(heights, column + 2, cells["five"][column])
        if "half" in kinds:
            self._halves(cells["half"], left, heights)
        self.levels.append(
            Level(tuple(self.heights), {kind: tuple(counts) for kind, counts in cells.items()})
        )
        self.heights = heights

    def _carry(self, heights: list[int], column: int, count: int) -> None:
        """Add `count` bits to a column, or fold them if it is beyond the word."""
        beyond = column - len(heights)
        if beyond < 0:
            heights[column] += count
        elif count:
            columns, inverted = self.folds[beyond]
            for value in columns:
                heights[value] += count
                self.folded[value] += count
            if inverted:
                self.inverted += count * self.folds[beyond].value

    def _halves(self, halves: list[int], left: list[int], heights: list[int]) -> None:
        """Place half adders in the columns that would otherwise be too high; a carry may make the next column
        too high.
        """
        bound = _dadda_bound(max(self.heights))
        several = len(self.folds[0].columns) > 1
        last = len(heights) - 1
        placed = True
        while placed:
            placed = False
            for column in range(last if several else last + 1):
                height = heights[column] - (self.folded[column] if several else 0)
                if height <= bound or left[column] < 2 or halves[column]:
                    continue
                halves[column] = 1
                heights[column] -= 1
                self._carry(heights, column + 1, 1)
                placed = True


@dataclass(frozen=True)
class _Task:
    """A heap to plan, and the cost above which a plan is discarded."""

    operation: str
    modulus: Modulus
    nbits: int
    strategy: str
    adder: str
    bound: Cost | None

    def attempt(self, places: Sequence[int]) -> tuple[Plan | None, int]:
        """A plan that reserves a correction bit, so far 0, in each of these columns; and the correction that
        it needs.
        """
        constants = [(column, 0) for column in places]
        columns = matrix(self.operation, self.modulus, self.nbits, constants)
        inverted = sum(run.size << i for i, runs in enumerate(columns) for run in runs if run.inverted)
        heights = [sum(run.size for run in runs) for runs in columns]
        work = _Compression(heights, carry_folds(self.modulus), {**STRATEGIES, **OURS}[self.strategy])
        so_far = products_cost(and_gates(self.operation, self.nbits))
        while not work.done:
            work.step()
            level = work.levels[-1]
            so_far = so_far.then(level_cost({kind: level.total(kind) for kind in CELLS}, {}))
            # far too expensive; a near miss is still worth reporting
            if self.bound and so_far.product > 4 * self.bound.product:
                return None, 0
        plan = Plan(
            self.operation,
            self.modulus,
            self.nbits,
            self.strategy,
            self.adder,
            tuple(work.levels),
            tuple(work.heights),
            tuple(constants),
        )
        return plan, -(inverted + work.inverted) % self.modulus.value

    def best(self) -> Plan | None:
        """The cheaper of two plans: with bits only where the correction is 1, or with a whole row of them."""
        found = [plan for plan in (self._with_ones(), self._with_row()) if plan]
        return min(found, key=lambda plan: plan.cost.product, default=None)

    def _with_ones(self) -> Plan | None:
        """The plan with bits only where the correction is 1. Tree and correction depend on each other;
        usually a few iterations make them agree.
        """
        correction = 0
        for _ in range(1 + TRIES):
            guess = correction
            if guess >> self.modulus.columns:
                break
            ones = [column for column in range(self.modulus.columns) if guess >> column & 1]
            plan, correction = self.attempt(ones)
            if plan is None:
                break
            if correction == guess:
                return replace(plan, constants=tuple((column, 1) for column in ones))
        return None

    def _with_row(self) -> Plan | None:
        """The plan with a row that has room for any correction. For 2^n modulo 2^n + 1 it needs an
        extra bit.
        """
        width = self.modulus.columns
        for places in (range(width), [0, *range(width)]):
            plan, correction = self.attempt(places)
            if plan is None:
                break
            row = min(correction, (1 << width) - 1)
            if correction - row < 1 + len(places) - width:
                bits = [(column, row >> column & 1) for column in range(width)]
                extra = [(0, correction - row)] if len(places) > width else []
                return replace(plan, constants=tuple(extra + bits))
        return None


@lru_cache(maxsize=64)
def make_plan(
    operation: str,
    modulus: Modulus,
    operand_nbits: int | None = None,
    strategy: str = BEST,
    adder: str = "brent-kung",
) -> Plan:
    """The tree of an operation for a modulus. Operands of a product or square have operand_nbits, by default
    the length of the largest residue; the operand of a reduction has operand_nbits, by default twice that.
    """
    if operation not in OPERATIONS:
        raise unknown("operation", operation, OPERATIONS)
    if strategy not in (BEST, *STRATEGIES, *OURS):
        raise unknown("strategy", strategy, (BEST, *STRATEGIES, *OURS))
    if adder not in ADDERS:
        raise unknown("adder", adder, ADDERS)
    reduces = operation == "reduce"
    nbits = modulus.operand_nbits * (2 if reduces else 1) if operand_nbits is None else operand_nbits
    limit = MAX_REDUCED_NBITS if reduces else MAX_PLANNED_NBITS
    if not 1 <= nbits <= limit:
        raise BadInput(f"operands of {bits(nbits)}: trees are planned for 1 to {limit}")
    if strategy != BEST:
        plan = _Task(operation, modulus, nbits, strategy, adder, None).best()
        assert plan is not None  # planning fails only because of a bound
        return plan
    best = None
    rivals = []
    for name in STRATEGIES:
        plan = _Task(operation, modulus, nbits, name, adder, best.cost if best else None).best()
        rivals.append((name, plan.cost if plan else None))
        if plan and (best is None or plan.cost.product < best.cost.product):
            best = plan
    assert best is not None
    return replace(best, rivals=tuple(rivals))
