"""Plan of a compression tree as plain data: the bits and compressors of each level, and the destinations of
their outputs.

compression.py makes plans; this module defines them. A bit is identified by (level, column, place); level 0
is the matrix of partial products. A plan stores only the number of compressors of each kind in each column of
a level. The inputs and the destinations of the outputs follow from one rule, `Level` and `Plan.runs`, that
hardware (rtl/units/compression_tree.py) and drawing (eval/report/drawing.py) share, so a plan of millions of
cells is small.

The first bits of a column go to its 5:3 compressors, the next to its full adders, then to its half adder, and
the rest pass on. The t-th of k compressors of a kind gets the bits t, t + k, t + 2k ... of theirs. In the
next level a column has the bits that passed, the sums of its own cells, the carries of the column below,
the fours of the one below that, and the folded bits.

The paper does not define its 5:3 compressor. Here it counts its inputs: its outputs have one, two and four
times their weight.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ..cost import Cost, level_cost, mod_sum_cost, products_cost
from ..mod_sum import ModSum
from ..moduli import Modulus
from ..multipliers.folding import Fold, fold

OPERATIONS = ("multiply", "square", "reduce")
CELLS = ("five", "full", "half")  # in the order in which they are placed
SIZE = {"five": 5, "full": 3, "half": 2}
OUTPUTS = {"five": 3, "full": 2, "half": 2}  # of weight 1, 2 and 4 times that of the inputs

Counts = tuple[int, ...]  # one number per column
Place = tuple[int, int, bool]  # column, place, inverted


class Run(NamedTuple):
    """Consecutive bits of a column with the same origin: outputs of the cells of one kind in one column,
    passed bits, products of one weight (`column` is the weight), or a bit of the correction.
    """

    kind: str  # of CELLS, or "pass", "product", "correction"
    output: int
    column: int
    size: int  # in bits
    inverted: bool = False


class Cell(NamedTuple):
    """A compressor: the places of its inputs in its column, and the destinations of each output as (column,
    place, inverted).
    """

    level: int
    column: int
    kind: str
    number: int
    inputs: tuple[int, ...]
    outputs: tuple[tuple[Place, ...], ...]


@dataclass(frozen=True)
class Level:
    """One level: the number of bits in each column, and the cells that take them."""

    heights: Counts
    cells: dict[str, Counts]

    def first(self, kind: str, column: int) -> int:
        """The place of the first bit that goes to cells of this kind; with "pass", of the first bit that
        passes on.
        """
        place = 0
        for cell in CELLS:
            if cell == kind:
                break
            place += SIZE[cell] * self.cells[cell][column]
        return place

    def inputs(self, kind: str, column: int, number: int) -> tuple[int, ...]:
        """The places of the bits that one cell takes."""
        first, count = self.first(kind, column), self.cells[kind][column]
        return tuple(first + number + count * i for i in range(SIZE[kind]))

    def passing(self, column: int) -> int:
        """The number of bits of a column that pass on."""
        return self.heights[column] - self.first("pass", column)

    def total(self, kind: str) -> int:
        return sum(self.cells[kind])


@dataclass(frozen=True)
class Plan:
    """A planned tree. `rivals` has the cost of each strategy, or None if planning stopped because it was too
    expensive.
    """

    operation: str
    modulus: Modulus
    operand_nbits: int
    strategy: str
    adder: str
    levels: tuple[Level, ...]
    rows: Counts  # the remaining bits of each column: 0, 1 or 2
    constants: tuple[tuple[int, int], ...]  # the correction: (column, bit)
    rivals: tuple[tuple[str, Cost | None], ...] = ()

    # ---- counts

    @property
    def columns(self) -> int:
        return self.modulus.columns

    def count(self, kind: str) -> int:
        """The number of cells of a kind."""
        return sum(level.total(kind) for level in self.levels)

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of levels, of cells of each kind, and of bits in the matrix."""
        return {
            "levels": len(self.levels),
            **{kind: self.count(kind) for kind in CELLS},
            "bits": sum(self.heights(0)),
        }

    @cached_property
    def cost(self) -> Cost:
        """The cost of the whole unit in gates, final adder included (cost.py)."""
        tree = products_cost(and_gates(self.operation, self.operand_nbits))
        for level in self.levels:
            constant = self._with_constant() if level is self.levels[0] else {}
            tree = tree.then(level_cost({kind: level.total(kind) for kind in CELLS}, constant))
        final = self.mod_sum
        return tree.then(
            mod_sum_cost(self.adder, self.columns, len(final.multiples), final.zero_at is not None)
        )

    def _with_constant(self) -> dict[str, int]:
        """The number of cells of level 0, by kind, that have a bit of the correction as input."""
        level = self.levels[0]
        found = dict.fromkeys(CELLS, 0)
        for column in {column for column, _ in self.constants}:
            kind = next((kind for kind in CELLS if level.cells[kind][column]), None)
            if kind:
                found[kind] += 1
        return found

    # ---- structure

    def heights(self, level: int) -> Counts:
        """The number of bits in each column before a level; after the last level, of the two rows."""
        return self.levels[level].heights if level < len(self.levels) else self.rows

    @cached_property
    def folds(self) -> tuple[Fold, Fold]:
        """The folds of the carries of weight 2^columns and of twice that."""
        return carry_folds(self.modulus)

    @cached_property
    def all_runs(self) -> list[list[list[Run]]]:
        """`runs` of every level and of the two rows, cached for repeated use."""
        return [self.runs(level) for level in range(len(self.levels) + 1)]

    def runs(self, level: int) -> list[list[Run]]:
        """The runs of bits in each column before a level, in the order of their places."""
        if level == 0:
            return matrix(self.operation, self.modulus, self.operand_nbits, self.constants)
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
        goes_to: dict[tuple[str, int, int], list[Place]] = {}
        for column, runs in enumerate(self.runs(level + 1)):
            place = 0
            for run in runs:
                goes_to.setdefault(run[:3], []).append((column, place, run.inverted))
                place += run.size
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


# --------------------------------------------------------------------------------------------------
# pre-computation


def product_range(operation: str, nbits: int, weight: int) -> tuple[int, int, int]:
    """The pairs (j, k) of operand bits whose product has this weight, as (first, count, total): j starts at
    first, there are count pairs, and k = total - j.

    A square has a_j * a_k twice, so the pair with j < k is found one weight higher.
    """
    total = weight - 1 if operation == "square" else weight
    first = max(0, total - nbits + 1)
    last = (total - 1) // 2 if operation == "square" else min(total, nbits - 1)
    return first, max(0, last - first + 1), total


def product_count(operation: str, nbits: int, weight: int) -> int:
    """The number of bits of this weight in the matrix before folding."""
    if operation == "reduce":
        return 1
    count = product_range(operation, nbits, weight)[1]
    return count + 1 if operation == "square" and weight % 2 == 0 else count  # a_j * a_j = a_j


def product_weights(operation: str, nbits: int) -> range:
    return range(nbits if operation == "reduce" else 2 * nbits - 1)


def and_gates(operation: str, nbits: int) -> int:
    """The number of AND gates that form the partial products."""
    if operation == "reduce":
        return 0
    return sum(product_range(operation, nbits, weight)[1] for weight in product_weights(operation, nbits))


def matrix(
    operation: str, modulus: Modulus, nbits: int, constants: Sequence[tuple[int, int]]
) -> list[list[Run]]:
    """The columns of level 0: the correction, then the products of that weight, then the folded products."""
    runs: list[list[Run]] = [[] for _ in range(modulus.columns)]
    for column, _ in constants:
        runs[column].append(Run("correction", 0, column, 1))
    for weight in product_weights(operation, nbits):
        run = Run("product", 0, weight, product_count(operation, nbits, weight))
        if not run.size:
            continue
        if weight < modulus.columns:
            runs[weight].append(run)
            continue
        columns, inverted = fold(modulus, weight)
        for column in columns:
            runs[column].append(run._replace(inverted=inverted))
    return runs


def carry_folds(modulus: Modulus) -> tuple[Fold, Fold]:
    return (
        fold(modulus, modulus.columns, shrinks=True),
        fold(modulus, modulus.columns + 1, shrinks=True),
    )
