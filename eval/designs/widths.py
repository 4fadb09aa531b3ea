"""Widths of machines: the allowed range, the width that operands need, range checks; full-length operands."""

import random
from collections.abc import Sequence

from ...fl.errors import BadInput, bits, shown
from .interfaces import Operands

MIN_NBITS, MAX_NBITS = 8, 4096


def width_for(*numbers: int) -> int:
    """The width of the machine for these numbers: the longest one, rounded up to a multiple of 32 bits."""
    return max(32, *(-(-number.bit_length() // 32) * 32 for number in numbers))


def check_width(nbits: int) -> int:
    """Return `nbits`; BadInput if it is out of range."""
    if not MIN_NBITS <= nbits <= MAX_NBITS:
        raise BadInput(f"a width of {bits(nbits)} is out of range; give {MIN_NBITS} to {MAX_NBITS}")
    return nbits


def full_length(nbits: int, modulus_nbits: int, modulus: int | None) -> Operands:
    """Pseudo-random operands of these lengths, the same in every call; an odd modulus unless one is given."""
    generator = random.Random(nbits)
    odd = generator.getrandbits(modulus_nbits) | 1 << (modulus_nbits - 1) | 1
    mod = odd if modulus is None else modulus
    base = generator.randrange(mod or 1)
    return base, generator.getrandbits(nbits) | 1 << (nbits - 1), mod


def check_fit(nbits: int, parts: Sequence[Operands]) -> None:
    """BadInput, with a sufficient width, unless the operands of all exponentiations fit."""
    longest, name = max(
        (value.bit_length(), name)
        for part in parts
        for name, value in zip(("base", "exponent", "modulus"), part, strict=True)
    )
    if longest <= nbits:
        return
    value = next(value for part in parts for value in part if value.bit_length() == longest)
    wide = width_for(value)
    remedy = f"give --nbits {wide} or more" if wide <= MAX_NBITS else f"no machine is wider than {MAX_NBITS}"
    raise BadInput(f"{name} {shown(value)} does not fit in {nbits} bits; {remedy}")
