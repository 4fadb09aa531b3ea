"""Systolic: Montgomery products by a linear array of processing elements with one small multiplier each:
paper 002's, and ours, which never idles.
"""

from ....cl.systolic import SystolicMontCL, scaled_array_timing, systolic_timing
from ....fl.multipliers.scaled import ScaledShape
from ....fl.multipliers.systolic import DIGIT_NBITS as LEGAL
from ....fl.multipliers.systolic import LEAST_WORDS, SystolicShape
from ....fl.param import Count, Param
from ....rtl.units.systolic.systolic_mont import SystolicMont
from .multiplier import Multiplier, Unit, Values, within_machine

DIGIT_002 = 16
PUBLISHED_NBITS = (512, 1024, 2048, 4096)  # with as many words as in the paper, for moduli two bits shorter


def digit_at(nbits: int) -> int:
    """The paper's 16 bits if the width has two such words, else 4."""
    return DIGIT_002 if nbits >= 2 * DIGIT_002 else 4


def words_002(nbits: int) -> int:
    """The paper's number of elements at its widths; elsewhere enough for every modulus of the width."""
    spare = 0 if nbits in PUBLISHED_NBITS else 2
    return max(LEAST_WORDS, -(-(nbits + spare) // digit_at(nbits)))


DIGIT_NBITS = Param("digit_nbits", digit_at, tuple(LEGAL), "k, bits of a word; the multipliers are k x k")
WORDS = Param(
    "words",
    words_002,
    Count(LEAST_WORDS),
    "s, words of an operand and processing elements, for moduli of up to k s - "
    "2 bits; at the paper's widths, its own number",
)


def shape_of(nbits: int, values: Values) -> SystolicShape:
    """The words of an operand; for another k as many as needed, unless their number is set."""
    k, words = values[DIGIT_NBITS.name], values[WORDS.name]
    if k != digit_at(nbits) and words == words_002(nbits):
        words = max(LEAST_WORDS, -(-(nbits + 2) // k))
    return SystolicShape(nbits, k, words)


def unit(nbits: int, values: Values) -> Unit:
    """A unit of whole words."""
    shape = shape_of(nbits, values)
    return Unit(lambda _: SystolicMont(shape), lambda _: SystolicMontCL(shape), systolic_timing(shape))


SYSTOLIC = Multiplier("Systolic", (DIGIT_NBITS, WORDS), unit)


# ---- on a scaled modulus

SCALED_DIGIT = Param(
    "digit_nbits",
    lambda nbits: 16 if nbits >= 16 else 4,
    tuple(range(4, 33)),
    "w, bits of a digit; a product takes about nbits / w cycles",
)


def scaled_unit(nbits: int, values: Values) -> Unit:
    """The cycles of a product; there is no unit apart from the machine."""
    why = (
        "words come and go in the order in which the machine has them; take the whole machine, or design "
        "systolic-002"
    )
    return within_machine(why, scaled_array_timing(ScaledShape(nbits, values[SCALED_DIGIT.name])))


SCALED_SYSTOLIC = Multiplier("ScaledSystolic", (SCALED_DIGIT,), scaled_unit)
