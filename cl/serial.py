"""Cycle-level models of the units that process a factor bit by bit: ShiftSub, ShiftSubCarrySave, MMMul and
MMRed.

A generator does the work of a unit and yields once for each cycle. No number of cycles is given: they follow
from the steps, and tests compare them with the formulas (timing.py) and with RTL.
"""

from ..fl.multipliers.bit_by_bit import add_reds, reduced, shift_sub
from .one_at_a_time import stepped_cl


def SerialMontCL(nbits, bits_per_cycle=1):
    """MMMul and MMRed: AddReds for all bits of b, and a last cycle that subtracts."""

    def work(a, b, n):
        state = 0
        yield  # the operands are stored
        for first in range(0, nbits, bits_per_cycle):
            state = add_reds(state, b >> first, a, n, bits_per_cycle)
            yield
        yield  # the subtraction
        return reduced(state, n)

    return stepped_cl(nbits, work)


def ShiftSubCL(nbits, bits_per_cycle=1, until="count", carry_save=False):
    """ShiftSub and ShiftSubCarrySave."""
    return stepped_cl(
        nbits, lambda a, b, n: shift_sub_steps(a, b, n, nbits, bits_per_cycle, until, carry_save)
    )


def shift_sub_steps(a, b, n, nbits, bits_per_cycle, until, carry_save=False):
    """The work of ShiftSub, or of ShiftSubCarrySave, which aligns a short modulus before the steps and the
    product after them.

    Steps end after all bits ("count"), or with the highest 1 of b ("spent"), which the unit of paper 004 sees
    a cycle later ("noticed").
    """

    def has_more(taken):
        """Whether a step follows after so many bits."""
        if until == "count":
            return taken < nbits
        if until == "spent" and taken == 0:  # there is a step even for b = 0
            return True
        return b != 0

    aligning = nbits - n.bit_length() if carry_save else 0
    product, taken = 0, 0
    yield  # the operands are stored
    for _ in range(aligning):
        yield
    while has_more(taken):
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
