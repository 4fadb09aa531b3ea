"""Word-serial Montgomery products: DigitSerial of paper 003 adds bit by bit, our WordSerial multiplies digit
by digit.
"""

from collections.abc import Callable
from typing import Any

from ....cl.digit_serial import scaled_serial_product_cycles, serial_product_cycles
from ....cl.timing import FixedTiming
from ....fl.multipliers.digit_serial import LEAST_DIGIT, SerialShape, widest_digit
from ....fl.multipliers.scaled_serial import ScaledSerialShape
from ....fl.param import Count, Param
from .multiplier import Multiplier, Unit, Values, within_machine

IN_MEMORIES = "its operands are in the machine's memories; take the whole machine"
DIGIT_003 = 32  # the paper's narrowest, which has the least area


def digit_at(nbits: int) -> int:
    """The paper's 32 bits, or the widest power of two that the width allows."""
    widest = widest_digit(nbits)
    return min(DIGIT_003, 1 << (widest.bit_length() - 1))


DIGIT_NBITS = Param(
    "digit_nbits",
    digit_at,
    Count(LEAST_DIGIT),
    "S, bits of a digit and of the adder; an addition takes ceil((nbits + 3) / S) cycles, at least three",
)


def shape_of(nbits: int, values: Values) -> SerialShape:
    """The digits of an operand."""
    return SerialShape(nbits, values[DIGIT_NBITS.name])


def of_shape(
    shape_of: Callable[[int, Values], Any], cycles: Callable[[Any], int]
) -> Callable[[int, Values], Unit]:
    """The cycles of a product; there is no unit apart from the machine."""
    return lambda nbits, values: within_machine(IN_MEMORIES, FixedTiming(cycles(shape_of(nbits, values))))


DIGIT_SERIAL = Multiplier("DigitSerial", (DIGIT_NBITS,), of_shape(shape_of, serial_product_cycles))


# ---- on a scaled modulus


def word_at(nbits: int) -> int:
    """The paper's 32 bits, or the widest power of two that the width has room for."""
    return min(DIGIT_003, 1 << (nbits.bit_length() - 1))


WORD_NBITS = Param(
    "digit_nbits",
    word_at,
    Count(8),
    "S, bits of a word; a step of a product consumes one word per cycle",
)
STEP_NBITS = Param(
    "step_nbits",
    lambda nbits: min(16, word_at(nbits) // 2),
    tuple(range(4, 33)),
    "k, bits of a factor per step, a divisor of S; the two multipliers are k x S",
)


def words_of(nbits: int, values: Values) -> ScaledSerialShape:
    """The words of an operand."""
    return ScaledSerialShape(nbits, values[WORD_NBITS.name], values[STEP_NBITS.name])


WORD_SERIAL = Multiplier(
    "WordSerial", (WORD_NBITS, STEP_NBITS), of_shape(words_of, scaled_serial_product_cycles)
)
