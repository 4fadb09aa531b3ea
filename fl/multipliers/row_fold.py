"""Reduction by rows of residues: a product modulo n in one addition of rows, with no quotient and no carry
before it.

After S. Kawamura, K. Takabayashi and A. Shimbo, "A fast modular arithmetic algorithm using a residue table",
Electronics Letters 27(14), 1991, with the table in registers and a whole product at once. The modulus is
shifted up: M = n * 2^s with its highest bit at place w - 1 of w bits, and numbers are multiplied modulo M,
which says the same modulo n. Of a product T < 2^(w + c) the c columns from 2^w on are taken away and residues
put in their place, of which every second is kept: X_g = 2^(w + 2g) mod M.

T comes as a pair s + c = T of its heap, before any carry has run. A half adder in each column makes of it a
sum and a carry, which is worth the next column, and of the two at most one is 1. So the row of a column is
one of {0, X, 2X} if it is even, of {0, 2X, X'} if it is odd (X' the residue of the next two columns), by one
AOI22 a bit; these rows and the low words of the pair are added up to a new pair.

Bounds. A row is at most 2 (M - 1), a low word at most 2^w - 1 <= 2M - 1, so that a fold is below B = (2c + 4)
M, and below (2c + 2) 2^w, as M < 2^w. Operands below that have products below 2^(w + c) if (2c + 2)^2 <= 2^(c
- w): `columns` is the least even c with that, 46 for 32 bits, of which operands have 39. A base has at most w
bits, and so has 2^s: they are operands as they are, and the modulus may be even. At the end x < B is divided
by M: floor(x / 2^k) < M for 2^k >= 2c + 4, and k more bits come in by twos, 4y + d mod M.

The result r * b^e is kept with r = 2^s: (2^s b^e) mod M = (b^e mod n) 2^s, from which a shift down by s gives
what was asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ..errors import BadInput, shown

LEAST_NBITS = 8


@dataclass(frozen=True)
class FoldShape:
    """The words of a machine of nbits bits, which makes so many residues a cycle."""

    nbits: int
    steps: int = 2

    def __post_init__(self) -> None:
        if self.nbits < LEAST_NBITS:
            raise BadInput(f"{self.nbits} bits: residues in registers are for {LEAST_NBITS} bits or more")
        if not 1 <= self.steps <= 4:
            raise BadInput(f"{self.steps} residues a cycle: give 1 to 4")

    @cached_property
    def columns(self) -> int:
        """c, those of a product that are folded."""
        columns = 2
        while (2 * columns + 2) ** 2 << self.nbits > 1 << columns:
            columns += 2
        return columns

    @property
    def bound(self) -> int:
        """Operands are below."""
        return (2 * self.columns + 2) << self.nbits

    @property
    def operand_nbits(self) -> int:
        return (self.bound - 1).bit_length()

    @property
    def product_nbits(self) -> int:
        return self.nbits + self.columns

    @property
    def residues(self) -> int:
        """How many are kept."""
        return self.columns // 2

    @property
    def tail_nbits(self) -> int:
        """k, the bits of the result that come in one after the other at the end: a whole number of cycles."""
        least = (2 * self.columns + 3).bit_length()
        return -(-least // (2 * self.steps)) * 2 * self.steps

    # ---- cycles

    @property
    def tail_cycles(self) -> int:
        return self.tail_nbits // (2 * self.steps)

    def made_by(self, residues: int) -> int:
        """The cycle in which so many are made: one in cycle 0, then `steps` a cycle."""
        return -(-(residues - 1) // self.steps)

    @property
    def lead_cycles(self) -> int:
        """From cycle 0 to the first square: its fold, and that of 2^s * base, want the residues of 2^w to
        2^(2w - 1), the next one all.

        A fold is a cycle behind its product, the second square two behind the first; and base and 2^s enter
        in the two cycles before.
        """
        return max(self.made_by(-(-self.nbits // 2)), self.made_by(self.residues) - 2, 2)


def aligned(shape: FoldShape, mod: int) -> tuple[int, int]:
    """M and s for a modulus."""
    if not 0 < mod < 1 << shape.nbits:
        raise BadInput(f"modulus {shown(mod)}: give one from 1 to 2^{shape.nbits} - 1")
    shift = shape.nbits - mod.bit_length()
    return mod << shift, shift


def residues(shape: FoldShape, modulus: int) -> list[int]:
    """X_g for M, by steps of 4y mod M, as they are made."""
    y = 1 << shape.nbits - 2
    made = []
    for _ in range(shape.residues):
        y = 4 * y % modulus
        made.append(y)
    return made


def fold(shape: FoldShape, table: Sequence[int], s: int, c: int) -> int:
    """A number below B that is s + c mod M, for s + c < 2^product_nbits."""
    w = shape.nbits
    low = (1 << w) - 1
    sums, carries = (s ^ c) >> w, (s & c) >> w
    total = (s & low) + (c & low)
    for column in range(shape.columns):
        group, odd = divmod(column, 2)
        if sums >> column & 1:
            total += table[group] << odd
        elif carries >> column & 1:
            total += table[group + 1] if odd else table[group] << 1
    return total


def remainder(shape: FoldShape, modulus: int, x: int) -> int:
    """x mod M for x < B, by the steps of the tail."""
    y = x >> shape.tail_nbits
    for place in range(shape.tail_nbits - 2, -1, -2):
        y = (4 * y + (x >> place & 3)) % modulus
    return y
