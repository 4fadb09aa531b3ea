"""The plan of a compression tree: a * b mod m, a * a mod m or x mod m for one modulus m (paper 000, section 2.2.1).

1. Pre-computation. The products a_j * b_k of weight 2^(j+k) make a matrix with a column for each weight. Those beyond the
   word are folded back (folding.py). The constant that inverted bits leave, the correction, is one more row of it.
2. Compression, level by level, until no column has more than two bits. In each level 5:3 compressors are placed wherever
   five bits are left, then full adders, then half adders, from the lowest column upward and line after line. What is
   carried out of the last column is folded back in the same level: the end-around carry, inverted for 2^n + 1. Three strategies
   are planned; the one with the smallest delay x area (cost.py) is the plan.
3. The two rows that are left are added modulo m (mod_sum.py; equation 5 and Figure 6).

A bit is known by (level, column, place). A plan stores no more than how many compressors of each kind a level has in each
column. Which bits they take, and where their outputs go, follows by one rule, `Level` and `Plan.runs`, that evaluation,
hardware (rtl/compression_tree.py) and drawing (eval/drawing.py) share; so a plan of millions of cells is small. The first bits
of a column go to its 5:3 compressors, the next to its full adders, then to its half adder, and the rest pass on; of the k
compressors of a kind, the t-th takes of their bits those at t, t + k, t + 2k ...

Where a half adder fits is not where it helps, and in the last column of 2^n + k each makes more bits than it takes: with all that
fit, the tree would not end. One is placed where the column would otherwise exceed Dadda's bound for the next level. If a
carry folds to several bits, none is placed in the last column, and none on account of folded bits. With that, a tree may still
go in circles, as may one of 5:3 compressors: after `_patience` levels only full adders are placed, and these always end, as
every one in the last column leaves less than it takes (folding.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

from .cost import Cost, level_cost, mod_sum_cost, products_cost
from .errors import BadInput, shown, unknown
from .folding import Fold, fold
from .mod_sum import ModSum
from .moduli import MAX_PLANNED_NBITS, Modulus
from .prefix import ADDERS

OPERATIONS = ("multiply", "square", "reduce")
CELLS = ("five", "full", "half")  # in the order in which they are placed
SIZE = {"five": 5, "full": 3, "half": 2}
OUTPUTS = {"five": 3, "full": 2, "half": 2}  # of weight 1, 2 and 4 times that of the inputs
STRATEGIES = {
    "five-full-half": CELLS,
    "full": ("full",),
    "five-full": ("five", "full"),
}
OURS = {"full-half": ("full", "half")}  # not one of the paper's three: Dadda's cells alone
BEST = "best"
MAX_REDUCED_NBITS = 2 * MAX_PLANNED_NBITS

Counts = tuple[int, ...]  # a number for each column


class Run(NamedTuple):
    """Bits that lie together in a column, and what they are: outputs of the cells of one kind in one column, bits
    that pass, products of one weight (`column` is the weight), or a bit of the correction."""

    kind: str  # of CELLS, or "pass", "product", "correction"
    output: int
    column: int
    count: int
    inverted: bool = False


class Cell(NamedTuple):
    """A compressor: the places of its inputs in its column, and where each output goes: (column, place, inverted)."""

    level: int
    column: int
    kind: str
    number: int
    inputs: tuple[int, ...]
    outputs: tuple[tuple[tuple[int, int, bool], ...], ...]


@dataclass(frozen=True)
class Level:
    """One level: the bits of each column, and the cells that take them."""

    heights: Counts
    cells: dict[str, Counts]

    def first(self, kind: str, column: int) -> int:
        """The place of the first bit that goes to cells of this kind; with "pass", of the first that passes on."""
        place = 0
        for each in CELLS:
            if each == kind:
                break
            place += SIZE[each] * self.cells[each][column]
        return place

    def inputs(self, kind: str, column: int, number: int) -> tuple[int, ...]:
        """The places from which one cell takes its bits."""
        first, count = self.first(kind, column), self.cells[kind][column]
        return tuple(first + number + count * i for i in range(SIZE[kind]))

    def passing(self, column: int) -> int:
        """How many bits of a column pass on."""
        return self.heights[column] - self.first("pass", column)

    def total(self, kind: str) -> int:
        return sum(self.cells[kind])


@dataclass(frozen=True)
class Plan:
    """A tree that is planned; `rivals` has what each strategy would have cost, None where it was given up as dearer."""

    operation: str
    modulus: Modulus
    operand_nbits: int
    strategy: str
    adder: str
    levels: tuple[Level, ...]
    rows: Counts  # the bits of each column that are left: 0, 1 or 2
    constants: tuple[tuple[int, int], ...]  # the correction: (column, bit)
    rivals: tuple[tuple[str, Cost | None], ...] = ()

    # ---- counts

    @property
    def columns(self) -> int:
        return self.modulus.columns

    def count(self, kind: str) -> int:
        """All cells of a kind."""
        return sum(level.total(kind) for level in self.levels)

    @property
    def counts(self) -> dict[str, int]:
        """Levels, cells of each kind, bits of the matrix."""
        return {
            "levels": len(self.levels),
            **{kind: self.count(kind) for kind in CELLS},
            "bits": sum(self.heights(0)),
        }

    @cached_property
    def cost(self) -> Cost:
        """Of the whole unit, final adder included, in gates (cost.py)."""
        tree = products_cost(_products(self.operation, self.operand_nbits))
        for level in self.levels:
            constant = self._with_constant() if level is self.levels[0] else {}
            tree = tree.then(level_cost({kind: level.total(kind) for kind in CELLS}, constant))
        final = self.mod_sum
        return tree.then(
            mod_sum_cost(self.adder, self.columns, len(final.multiples), final.zero_at is not None)
        )

    def _with_constant(self) -> dict[str, int]:
        """Cells of level 0 with an input that is a bit of the correction."""
        level = self.levels[0]
        found = dict.fromkeys(CELLS, 0)
        for column in {column for column, _ in self.constants}:
            kind = next((kind for kind in CELLS if level.cells[kind][column]), None)
            if kind:
                found[kind] += 1
        return found

    # ---- structure

    def heights(self, level: int) -> Counts:
        """The bits of each column before a level, or, after the last one, the two rows."""
        return self.levels[level].heights if level < len(self.levels) else self.rows

    @cached_property
    def folds(self) -> tuple[Fold, Fold]:
        """What the carries of weight 2^columns and twice that become."""
        return _carry_folds(self.modulus)

    @cached_property
    def all_runs(self) -> list[list[list[Run]]]:
        """`runs` of every level and of the rows: for those that need them again and again."""
        return [self.runs(level) for level in range(len(self.levels) + 1)]

    def runs(self, level: int) -> list[list[Run]]:
        """For each column, what its bits are before a level, in the order of their places."""
        if level == 0:
            return _matrix(self.operation, self.modulus, self.operand_nbits, self.constants)
        below = self.levels[level - 1]
        columns = self.columns
        runs: list[list[Run]] = [[] for _ in range(columns)]
        beyond: tuple[list[Run], list[Run]] = ([], [])  # weights 2^columns and twice that
        for column in range(columns):
            if passing := below.passing(column):
                runs[column].append(Run("pass", 0, column, passing))
        for output in range(3):
            for column in range(columns):
                for kind in CELLS:
                    if output >= OUTPUTS[kind] or not below.cells[kind][column]:
                        continue
                    run = Run(kind, output, column, below.cells[kind][column])
                    weight = column + output
                    (runs[weight] if weight < columns else beyond[weight - columns]).append(run)
        for fold_of, out in zip(self.folds, beyond, strict=True):
            for column in fold_of.columns:
                runs[column] += [run._replace(inverted=fold_of.inverted) for run in out]
        return runs

    def cells(self, level: int) -> Iterator[Cell]:
        """The compressors of a level, one by one."""
        goes_to: dict[tuple[str, int, int], list[tuple[int, int, bool]]] = {}
        for column, runs in enumerate(self.runs(level + 1)):
            place = 0
            for run in runs:
                goes_to.setdefault(run[:3], []).append((column, place, run.inverted))
                place += run.count
        here = self.levels[level]
        for column in range(self.columns):
            for kind in CELLS:
                for number in range(here.cells[kind][column]):
                    outputs = tuple(
                        tuple(
                            (to, first + number, inverted)
                            for to, first, inverted in goes_to.get((kind, output, column), ())
                        )
                        for output in range(OUTPUTS[kind])
                    )
                    yield Cell(level, column, kind, number, here.inputs(kind, column, number), outputs)

    @cached_property
    def mod_sum(self) -> ModSum:
        """The final addition of the two rows."""
        first, second = (
            sum(1 << column for column, height in enumerate(self.rows) if height >= least) for least in (1, 2)
        )
        return ModSum(self.modulus.value, self.columns, first, second)


# -------------------------------------------------------------------------------------------------- pre-computation


def product_range(operation: str, nbits: int, weight: int) -> tuple[int, int, int]:
    """The pairs (j, k) of operand bits whose product has this weight: j from `first` on, `count` of them, k = total - j.

    A square has a_j * a_k twice, so that the pair with j < k is found one weight higher.
    """
    total = weight - 1 if operation == "square" else weight
    first = max(0, total - nbits + 1)
    last = (total - 1) // 2 if operation == "square" else min(total, nbits - 1)
    return first, max(0, last - first + 1), total


def product_count(operation: str, nbits: int, weight: int) -> int:
    """The bits of this weight in the matrix before folding."""
    if operation == "reduce":
        return 1
    count = product_range(operation, nbits, weight)[1]
    return count + 1 if operation == "square" and weight % 2 == 0 else count  # a_j * a_j = a_j


def product_weights(operation: str, nbits: int) -> range:
    return range(nbits if operation == "reduce" else 2 * nbits - 1)


def _products(operation: str, nbits: int) -> int:
    """AND gates."""
    if operation == "reduce":
        return 0
    return sum(product_range(operation, nbits, weight)[1] for weight in product_weights(operation, nbits))


def _product_bits(operation: str, nbits: int, weight: int, a: int, b: int, b_reversed: int) -> int:
    """The bits of this weight, as the bits of a number."""
    if operation == "reduce":
        return a >> weight & 1
    first, count, total = product_range(operation, nbits, weight)
    bits = (a >> first) & (b_reversed >> (nbits - 1 - total + first)) & ((1 << count) - 1) if count else 0
    if operation == "square" and weight % 2 == 0:
        bits |= (a >> weight // 2 & 1) << count
    return bits


def _matrix(
    operation: str, modulus: Modulus, nbits: int, constants: Sequence[tuple[int, int]]
) -> list[list[Run]]:
    """The columns of level 0: the correction, the products of their own weight, then the folded ones."""
    runs: list[list[Run]] = [[] for _ in range(modulus.columns)]
    for column, _ in constants:
        runs[column].append(Run("correction", 0, column, 1))
    for weight in product_weights(operation, nbits):
        run = Run("product", 0, weight, product_count(operation, nbits, weight))
        if not run.count:
            continue
        if weight < modulus.columns:
            runs[weight].append(run)
            continue
        columns, inverted = fold(modulus, weight)
        for column in columns:
            runs[column].append(run._replace(inverted=inverted))
    return runs


# ------------------------------------------------------------------------------------------------------ compression


def _carry_folds(modulus: Modulus) -> tuple[Fold, Fold]:
    return (
        fold(modulus, modulus.columns, shrinks=True),
        fold(modulus, modulus.columns + 1, shrinks=True),
    )


def _dadda_bound(height: int) -> int:
    """The largest height below this one in 2, 3, 4, 6, 9, 13 ...: what one level of full adders can reach."""
    bound = 2
    while bound * 3 // 2 < height:
        bound = bound * 3 // 2
    return bound


def _patience(height: int) -> int:
    """The levels after which a strategy has only full adders left: two or three times what trees of this height need."""
    return 16 + 4 * height.bit_length()


class _Compression:
    """Plans the levels of one strategy; knows heights only, as the bits of a column are all alike."""

    def __init__(self, heights: Sequence[int], folds: tuple[Fold, Fold], kinds: Sequence[str]) -> None:
        self.heights = list(heights)
        self.folds = folds
        self.kinds = kinds
        self.patience = _patience(max(heights))
        self.levels: list[Level] = []
        self.folded = [0] * len(self.heights)  # of the bits that arrive in this level
        self.inverted = 0  # the value of all bits that were inverted on the way

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
        """`count` bits arrive in a column, or are folded if it is beyond the word."""
        beyond = column - len(heights)
        if beyond < 0:
            heights[column] += count
        elif count:
            columns, inverted = self.folds[beyond]
            for each in columns:
                heights[each] += count
                self.folded[each] += count
            if inverted:
                self.inverted += count * self.folds[beyond].value

    def _halves(self, halves: list[int], left: list[int], heights: list[int]) -> None:
        """Half adders for the columns that would be too high without; a carry may make the next one too high."""
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


def _plan_once(
    operation: str, modulus: Modulus, nbits: int, strategy: str, adder: str, rows: int, bound: Cost | None
) -> tuple[Plan | None, int]:
    """A plan whose correction has a row (`rows` = 1) and a bit more in column 0 (2), and the correction that it needs.

    None if it comes to cost more than the bound.
    """
    columns = modulus.columns
    constants = [(column, 0) for column in range(columns if rows else 0)] + [(0, 0)] * (rows == 2)
    matrix = _matrix(operation, modulus, nbits, constants)
    inverted = sum(run.count << column for column, runs in enumerate(matrix) for run in runs if run.inverted)
    heights = [sum(run.count for run in runs) for runs in matrix]
    work = _Compression(heights, _carry_folds(modulus), {**STRATEGIES, **OURS}[strategy])
    so_far = products_cost(_products(operation, nbits))
    while not work.done:
        work.step()
        level = work.levels[-1]
        so_far = so_far.then(level_cost({kind: level.total(kind) for kind in CELLS}, {}))
        if bound and so_far.product > 4 * bound.product:
            return None, 0
    correction = -(inverted + work.inverted) % modulus.value
    bits = []
    if rows:
        row = min(correction, (1 << columns) - 1)
        bits = [(column, row >> column & 1) for column in range(columns)]
        bits += [(0, correction - row)] * (rows == 2)
        bits.sort(key=lambda bit: bit[0])
    plan = Plan(
        operation, modulus, nbits, strategy, adder, tuple(work.levels), tuple(work.heights), tuple(bits)
    )
    return plan, correction


def _plan(
    operation: str, modulus: Modulus, nbits: int, strategy: str, adder: str, bound: Cost | None
) -> Plan | None:
    """The plan by one strategy. How large the correction is, is known at the end, and so whether it has a place."""
    for rows, largest in ((0, 0), (1, (1 << modulus.columns) - 1), (2, modulus.value)):
        plan, correction = _plan_once(operation, modulus, nbits, strategy, adder, rows, bound)
        if plan is None or correction <= largest:
            return plan
    return None


@lru_cache(maxsize=64)
def make_plan(
    operation: str,
    modulus: Modulus,
    operand_nbits: int | None = None,
    strategy: str = BEST,
    adder: str = "brent-kung",
) -> Plan:
    """The tree of an operation for a modulus: a product or a square of words of operand_nbits, by default as long as the
    largest residue, or the residue of one word of operand_nbits, by default twice that."""
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
        raise BadInput(f"operands of {shown(nbits)} bits: trees are planned for 1 to {limit}")
    if strategy != BEST:
        plan = _plan(operation, modulus, nbits, strategy, adder, None)
        assert plan is not None  # only a bound makes it give up
        return plan
    best: Plan | None = None
    rivals: list[tuple[str, Cost | None]] = []
    for name in STRATEGIES:
        plan = _plan(operation, modulus, nbits, name, adder, best.cost if best else None)
        rivals.append((name, plan.cost if plan else None))
        if plan and (best is None or plan.cost.product < best.cost.product):
            best = plan
    assert best is not None
    return replace(best, rivals=tuple(rivals))


# ------------------------------------------------------------------------------------------------------- evaluation


def _full(x: int, y: int, z: int) -> tuple[int, int]:
    return x ^ y ^ z, x & y | x & z | y & z


def _outputs(kind: str, inputs: Sequence[int]) -> tuple[int, ...]:
    """What cells of a kind make of their bits; each number holds a bit of every cell."""
    if kind == "half":
        x, y = inputs
        return x ^ y, x & y
    if kind == "full":
        return _full(*inputs)
    partial, first = _full(*inputs[:3])
    total, second = _full(partial, *inputs[3:])
    return total, first ^ second, first & second


def final_rows(plan: Plan, a: int, b: int = 0) -> tuple[int, int]:
    """The two rows that the tree leaves for operands a and b (a alone for a square or a residue)."""
    nbits = plan.operand_nbits
    if plan.operation != "multiply":
        b = a
    for name, value in (("a", a), ("b", b)):
        if not 0 <= value < 1 << nbits:
            raise BadInput(f"operand {name} = {shown(value)}: give 0 or more, below 2^{nbits}")
    reverse = int(f"{b:0{nbits}b}"[::-1], 2)
    known = {
        ("product", 0, weight): _product_bits(plan.operation, nbits, weight, a, b, reverse)
        for weight in product_weights(plan.operation, nbits)
    }
    state = _gather(plan.all_runs[0], known, plan.constants)
    for number, level in enumerate(plan.levels):
        made: dict[tuple[str, int, int], int] = {}
        for column, bits in enumerate(state):
            for kind in CELLS:
                if count := level.cells[kind][column]:
                    mask = (1 << count) - 1
                    inputs = []
                    for _ in range(SIZE[kind]):
                        inputs.append(bits & mask)
                        bits >>= count
                    for output, value in enumerate(_outputs(kind, inputs)):
                        made[kind, output, column] = value
            made["pass", 0, column] = bits
        state = _gather(plan.all_runs[number + 1], made, ())
    first = sum((bits & 1) << column for column, bits in enumerate(state))
    second = sum((bits >> 1) << column for column, bits in enumerate(state))
    return first, second


def _gather(
    runs: list[list[Run]], known: dict[tuple[str, int, int], int], constants: Sequence[tuple[int, int]]
) -> list[int]:
    """The bits of each column, put together run by run."""
    correction = iter(constants)
    state = []
    for each in runs:
        bits = place = 0
        for run in each:
            value = next(correction)[1] if run.kind == "correction" else known[run[:3]]
            bits |= (value ^ ((1 << run.count) - 1) if run.inverted else value) << place
            place += run.count
        state.append(bits)
    return state


def evaluate(plan: Plan, a: int, b: int = 0) -> int:
    """The result, by following every bit of the plan and adding the two rows as the hardware does."""
    return plan.mod_sum.add(*final_rows(plan, a, b))


# -------------------------------------------------------------------------------------------------------- checking


def faults(plan: Plan) -> list[str]:
    """What is wrong with a plan as a sum, whatever the operands: nothing, if it conserves the value modulo m.

    Every output must be placed in columns that are together worth its weight modulo m, every bit of a column must be
    taken or passed on once, and the correction must make up for all bits that are inverted.
    """
    m = plan.modulus.value
    wrong = []
    inverted = 0
    for level in range(len(plan.levels) + 1):
        placed: dict[tuple[str, int, int], int] = {}
        sizes: dict[tuple[str, int, int], int] = {}
        for column, runs in enumerate(plan.runs(level)):
            if sum(run.count for run in runs) != plan.heights(level)[column]:
                wrong.append(f"level {level}, column {column}: not as many bits as its height")
            for run in runs:
                if run.kind == "correction":
                    continue
                key = run[:3]
                placed[key] = placed.get(key, 0) + (-1 if run.inverted else 1) * (1 << column)
                sizes[key] = run.count
                inverted += run.count << column if run.inverted else 0
        for key, count in _made(plan, level).items():
            kind, output, column = key
            if (placed.get(key, 0) - (1 << (column + output))) % m:
                wrong.append(f"level {level}: {kind} output {output} of column {column} changes its value")
            if key in sizes and sizes[key] != count:
                wrong.append(f"level {level}: {kind} output {output} of column {column} is not taken whole")
        if set(placed) - set(_made(plan, level)):
            wrong.append(f"level {level}: takes bits that nothing makes")
    for number, level in enumerate(plan.levels):
        wrong += [
            f"level {number}, column {column}: cells for more bits than there are"
            for column in range(plan.columns)
            if level.passing(column) < 0
        ]
    correction = sum(bit << column for column, bit in plan.constants)
    if (correction + inverted) % m:
        wrong.append(f"the correction is {shown(correction)}, the inverted bits are worth {shown(inverted)}")
    if max(plan.rows) > 2:
        wrong.append("more than two rows are left")
    return wrong


def _made(plan: Plan, level: int) -> dict[tuple[str, int, int], int]:
    """All bits there are for a level: source -> how many."""
    if level == 0:
        weights = product_weights(plan.operation, plan.operand_nbits)
        made = {
            ("product", 0, weight): product_count(plan.operation, plan.operand_nbits, weight)
            for weight in weights
        }
    else:
        below = plan.levels[level - 1]
        made = {("pass", 0, column): below.passing(column) for column in range(plan.columns)}
        for kind in CELLS:
            for column, count in enumerate(below.cells[kind]):
                made.update({(kind, output, column): count for output in range(OUTPUTS[kind])})
    return {key: count for key, count in made.items() if count}


# ------------------------------------------------------------------------------------------------------- following


def follow(plan: Plan, j: int, k: int = 0) -> list[str]:
    """The way of the product a_j * b_k (of bit j, for a residue) through the tree, a sentence for each level.

    A cell's sum has the weight of its inputs, so that the way goes on with it; its carry is told.
    """
    lines, address = _start(plan, j, k)
    for number, level in enumerate(plan.levels):
        if address is None:
            break
        column, place = address
        kind = next(
            (
                kind
                for kind in CELLS
                if place < level.first(kind, column) + SIZE[kind] * level.cells[kind][column]
            ),
            None,
        )
        if kind is None:
            address = column, place - level.first("pass", column)
            lines.append(
                f"level {number}: passes from place {place} of column {column} to place {address[1]}"
            )
            continue
        cell = next(
            cell
            for cell in plan.cells(number)
            if cell.column == column and cell.kind == kind and place in cell.inputs
        )
        where = [" and ".join(map(_place, output)) or "nowhere" for output in cell.outputs]
        lines.append(
            f"level {number}: from place {place} of column {column} into {kind} {cell.number}; its sum goes to "
            f"{where[0]}, its carry to {where[1]}" + (f", its 4 to {where[2]}" if kind == "five" else "")
        )
        address = cell.outputs[0][0][:2]
    if address:
        lines.append(f"after the last level: bit {address[0]} of row {'AB'[address[1]]}")
    return lines


def _place(to: tuple[int, int, bool]) -> str:
    return f"column {to[0]} place {to[1]}{' inverted' if to[2] else ''}"


def _start(plan: Plan, j: int, k: int) -> tuple[list[str], tuple[int, int] | None]:
    """Where a product is in the matrix; of several places, the first."""
    nbits = plan.operand_nbits
    if plan.operation == "reduce":
        name, weight, term = f"x_{j}", j, 0
    elif plan.operation == "square" and j == k:
        weight = 2 * j
        name, term = f"a_{j}", product_count("square", nbits, weight) - 1
    else:
        weight = j + k + (plan.operation == "square")
        j = min(j, k) if plan.operation == "square" else j
        name, term = f"a_{j} * {'a' if plan.operation == 'square' else 'b'}_{k}", 0
        term = j - product_range(plan.operation, nbits, weight)[0]
    if weight not in product_weights(plan.operation, nbits):
        raise BadInput(f"{name} is no product of operands of {nbits} bits: give bits 0 to {nbits - 1}")
    found = []
    for column, runs in enumerate(plan.runs(0)):
        place = 0
        for run in runs:
            if run.kind == "product" and run.column == weight:
                found.append((column, place + term, run.inverted))
            place += run.count
    where = " and ".join(map(_place, found)) or "nowhere: it is a multiple of the modulus"
    return [f"{name} has weight 2^{weight}: it goes to {where}"], found[0][:2] if found else None
