"""RowFold: products modulo n by rows of residues, for a machine that keeps its operands in the multiplier's
pipeline.
"""

from ....cl.fold_exp import FOLD_TIMING
from ....fl.errors import BadInput
from ....fl.multipliers.row_fold import FoldShape
from ....fl.param import Param
from .multiplier import Multiplier, Unit, Values, within_machine

MOST_NBITS = 128  # a machine needs over n / 2 residues in registers, and n^2 full adders
STEPS = Param(
    "residues_per_cycle",
    2,
    (1, 2, 3, 4),
    "residues per cycle of the chain, by two doublings each; at the end it divides at the same rate",
)


def shape_of(nbits: int, values: Values) -> FoldShape:
    """The shape of a machine; BadInput if it is too wide."""
    if nbits > MOST_NBITS:
        raise BadInput(
            f"a width of {nbits} bits: rows of residues are a register of {nbits} bits for every second bit; "
            f"give at most {MOST_NBITS}, or another design, such as mont or heap"
        )
    return FoldShape(nbits, values[STEPS.name])


def unit(nbits: int, values: Values) -> Unit:
    """The cycles of a product; there is no unit apart from the machine."""
    shape_of(nbits, values)
    return within_machine("r and b are in its stages alone; take the whole machine", FOLD_TIMING)


ROW_FOLD = Multiplier("RowFold", (STEPS,), unit)
