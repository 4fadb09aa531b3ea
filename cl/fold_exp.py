"""FoldExpCL: the cycle-level twin of FoldExp, and its formula.

From the handshake of the request: 1 cycle, S cycles until the first square (`lead_cycles`), two for each bit
of the exponent, then the last fold, its sum, and T cycles for the division (`tail_cycles`; both in
fl/multipliers/row_fold.py):

    S + 2 max(len, 1) + T + 3       where len is the length of the exponent, or nbits with a full scan

At 32 bits this is 14 + 2 len: 48 cycles for 65537, 78 for an exponent of 32 bits.
"""

from functools import partial

from ..fl.mod_exp import mod_exp, operand_status
from ..fl.multipliers.row_fold import FoldShape
from .one_at_a_time import exponentiation_cl
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


def FoldExpCL(shape, full_scan):
    """The twin of FoldExp."""
    return exponentiation_cl(shape.nbits, fold_status, mod_exp, partial(fold_exp_cycles, shape, full_scan))
