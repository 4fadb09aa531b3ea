"""Cycle-level models of the units that process a factor bit by bit: ShiftSub, ShiftSubCarrySave, MMMul and
MMRed.

A generator does the work of a unit and yields once for each cycle. No number of cycles is given: they follow
from the steps, and tests compare them with the formulas (timing.py) and with RTL.
"""

from ..fl.multipliers.bit_by_bit import add_red, shift_sub
from .one_at_a_time import stepped_cl


def SerialMontCL(nbits, bits_per_cycle=1):
    """MMMul and MMRed: AddReds for all bits of b, and a last cycle that subtracts."""

    def work(a, b, n):
        state = 0
        yield  # the operands are stored
        for first in range(0, nbits, bits_per_cycle):
            for i in range(first, first + bits_per_cycle):
                state = add_red(state, b >> i & 1, a, n)
            yield
        yield  # the subtraction
        return state - n if state >= n else state

    return stepped_cl(nbits, work)


def ShiftSubCL(nbits, bits_per_cycle=1, until="count", carry_save=False):
    """ShiftSub and ShiftSubCarrySave, which aligns a short modulus before the steps and the product after
    them.

    Steps end after all bits ("count"), or with the highest 1 of b ("spent"), which the unit of paper 004 sees
    a cycle later ("noticed").
    """

    def work(a, b, n):
        aligning = nbits - n.bit_length() if carry_save else 0
        product, taken = 0, 0
        yield  # the operands are stored
        for _ in range(aligning):
            yield
        while taken < nbits if until == "count" else b or (until == "spent" and not taken):
            for _ in range(bits_per_cycle):
                product, a = shift_sub(product, a, b & 1, n)
                b >>= 1
                taken += 1
            yield
        if until == "noticed":
            yield
        if carry_save:
            yield  # the sum of the pair
            yield  # its correction
        for _ in range(aligning):
            yield
        return product

    return stepped_cl(nbits, work)
