"""Partial-product rows of one Montgomery step on a scaled modulus, added in one bit heap:
S' = floor(S / 2^w) + q * M' + digit * B.

The rows of the two products can be formed in three ways (rtl/units/heap/heap_step.py):

    radix-4   two bits of a digit select {0, X, 2X, 3X} (3B, 3M' are in registers): w rows, one AOI222 per bit
    and       one bit of a digit selects {0, X}: 2w rows, one gate per bit
    joint     one bit of the digit and one of q select {0, B, M', B + M'}: w rows, all as late as q

Booth recoding is not offered: its signed rows would make the carry-save state wider than its sum, and 3X in
a register costs no more. The state is available at once, the digit after its select lines have driven a row,
and q after the low words of the state have been added.
"""

from typing import NamedTuple

from ..compression.bit_heap import HeapPlan, Line, plan_heap
from ..errors import unknown
from .scaled import ScaledShape

ROWS = ("radix-4", "and", "joint")

# ns, from cells of the NanGate library at small loads; only differences matter
STATE = 0.05  # through the gate that clears it
LINES = 0.15  # from a digit to all bits of a row
SELECT = 0.05  # the selecting gate, and the decoding of two bits
ADDER, ADDER_LEVEL = 0.13, 0.06  # adder of the low words: constant part, and per level of the prefix adder


class StepRow(NamedTuple):
    """A row of one of the products; `place` is the lowest bit of the digit that selects it."""

    product: str  # digit, quotient, both
    place: int
    line: Line


def step_rows(shape: ScaledShape, rows: str) -> list[StepRow]:
    """The rows of the products."""
    if rows not in ROWS:
        raise unknown("rows", rows, ROWS)
    low = 0.0 if shape.quotient_delay else ADDER + ADDER_LEVEL * shape.digit_nbits.bit_length()
    span, more = (2, 2) if rows == "radix-4" else (1, 0)
    select = LINES + (0 if rows == "and" else SELECT)
    products = [
        ("digit", shape.operand_nbits + more, select),
        ("quotient", shape.nbits + more, low + select),
    ]
    if rows == "joint":
        products = [("both", shape.operand_nbits + 1, low + select)]
    return [
        StepRow(product, place, Line(arrival, place, place + width))
        for place in range(0, shape.digit_nbits, span)
        for product, width, arrival in products
    ]


def step_heap(shape: ScaledShape, rows: str) -> HeapPlan:
    """The heap of a step: two rows of the state, then the rows of the products."""
    state = Line(STATE, 0, shape.state_nbits - shape.digit_nbits)
    return plan_heap([state, state, *(row.line for row in step_rows(shape, rows))], shape.state_nbits)
