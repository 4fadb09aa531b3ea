"""FoldExpCL: the cycle-level model of FoldExp, and its formula.

The model is the pipeline of the machine: stage 1 multiplies, stage 2 folds the product of the cycle before,
and a chain makes residues meanwhile. A fold that needs a residue before it is made would fail; products
begin as soon as none does. No number of cycles is given: tests compare them with the formula and with RTL.

The formula counts from the handshake of the request: 1 cycle, S cycles until the first square
(`lead_cycles`), two for each bit of the exponent, then the last fold, its sum, and T cycles for the division
(`tail_cycles`; both in fl/multipliers/row_fold.py):

    S + 2 max(len, 1) + T + 3       where len is the length of the exponent, or nbits with a full scan

At 32 bits this is 14 + 2 len: 48 cycles for 65537, 78 for an exponent of 32 bits.
"""

from functools import partial

from ..fl.mod_exp import operand_status
from ..fl.multipliers.row_fold import FoldShape, aligned, fold
from .one_at_a_time import stepped_mod_exp_cl
from .timing import FixedTiming

FOLD_TIMING = FixedTiming(2)  # from operands to the reduced product; a product can start in every cycle


fold_status = partial(operand_status, odd_only=False, reduced_only=False)


def scanned(shape: FoldShape, full_scan: bool, exp: int) -> int:
    """The number of bits of the exponent that are scanned."""
    return shape.nbits if full_scan else max(exp.bit_length(), 1)


def fold_exp_cycles(shape: FoldShape, full_scan: bool, base: int, exp: int, mod: int) -> int:
    """Cycles of FoldExp."""
    if fold_status(base, mod):
        return 1
    return shape.lead_cycles + 2 * scanned(shape, full_scan, exp) + shape.tail_cycles + 3


class FoldPipeline:
    """The chain of residues and the two stages, of one operation."""

    def __init__(self, shape, modulus):
        self.shape, self.modulus = shape, modulus
        self.table = []  # the residues made so far
        self.residue = 1 << shape.nbits - 2
        self.product = 0  # made in the cycle before
        self.total = 0  # folded in the cycle before, a factor of this one's product

    def advance(self, x, y):
        """A cycle that multiplies x and y."""
        self.total = fold(self.shape, self.table, self.product, 0)
        self.product = x * y
        for _ in range(self.shape.steps if self.table else 1):
            if len(self.table) < self.shape.residues:
                self.residue = 4 * self.residue % self.modulus
                self.table.append(self.residue)

    def may_start(self):
        """Whether each fold finds its residues if products begin in this cycle: the base and 2^s, then b b
        and r b, which are two words long, and from then on products of factors below the bound of a fold.
        """
        nbits = self.shape.nbits
        widths = (nbits, nbits, 2 * nbits, 2 * nbits, self.shape.product_nbits)
        residues = [-(-(width - nbits) // 2) for width in widths]  # one for two columns
        made = len(self.table) or 1 - self.shape.steps  # the first cycle makes one
        return all(
            needed <= max(0, made + self.shape.steps * later) for later, needed in enumerate(residues, 1)
        )

    def divide(self):
        """The remainder of the last sum, some bits of which are shifted in in each cycle."""
        shape, x = self.shape, self.total
        y, per_cycle = x >> shape.tail_nbits, 2 * shape.steps
        for top in range(shape.tail_nbits, 0, -per_cycle):
            for place in range(top - 2, top - per_cycle - 1, -2):
                y = (4 * y + (x >> place & 3)) % self.modulus
            yield
        return y


def FoldExpCL(shape, full_scan):
    """The model of FoldExp."""

    def power(base, exp, mod):
        modulus, shift = aligned(shape, mod)
        pipeline = FoldPipeline(shape, modulus)
        yield  # the operands are stored
        while not pipeline.may_start():
            pipeline.advance(0, 0)
            yield
        for number in (base, 1 << shift):  # b and r enter
            pipeline.advance(number, 1)
            yield
        for place in range(scanned(shape, full_scan, exp)):
            b = pipeline.total
            pipeline.advance(b, b)
            yield
            pipeline.advance(pipeline.total, b if exp >> place & 1 else 1)
            yield
        pipeline.advance(0, 0)  # the last fold
        yield
        yield  # its sum enters the chain
        return (yield from pipeline.divide()) >> shift

    return stepped_mod_exp_cl(shape.nbits, fold_status, power)
