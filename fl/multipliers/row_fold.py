"""Reduction by rows of residues: a product modulo n in one addition of rows, without a quotient and without
carry propagation before it.

The method is based on S. Kawamura, K. Takabayashi and A. Shimbo, "A fast modular arithmetic algorithm using a
residue table", Electronics Letters 27(14), 1991, with the table in registers and a whole product at once. The
modulus is shifted up: M = n * 2^s has its highest bit at position w - 1 of w bits, and numbers are multiplied
modulo M, which implies congruence modulo n. The c columns from 2^w on of a product T < 2^(w + c) are replaced
by residues, of which every second is stored: X_g = 2^(w + 2g) mod M.

T arrives as the pair s + c = T of its heap, before carry propagation. A half adder in each column turns it
into a sum and a carry, which has the weight of the next column; at most one of the two is 1. So the row of a
column is one of {0, X, 2X} if it is even, and one of {0, 2X, X'} if it is odd (X' is the residue of the next
two columns), selected by one AOI22 per bit. These rows and the low words of the pair are added to a new pair.

Bounds. A row is at most 2 (M - 1), a low word at most 2^w - 1 <= 2M - 1, so a fold is below B = (2c + 4) M,
and below (2c + 2) 2^w, as M < 2^w. Operands below that bound have products below 2^(w + c) if (2c + 2)^2 <=
2^(c - w): `columns` is the least even c that satisfies this, 46 for 32 bits, where operands have 39 bits. A
base has at most w bits, and so has 2^s, so both are valid operands, and the modulus may be even. At the end x
< B is divided by M: floor(x / 2^k) < M for 2^k >= 2c + 4, and the k low bits are shifted in two at a time, 4y
+ d mod M.

The result is kept multiplied by r = 2^s: (2^s b^e) mod M = (b^e mod n) 2^s, which a right shift by s turns
into the result.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ..errors import BadInput, shown

LEAST_NBITS = 8


@dataclass(frozen=True)
class FoldShape:
    """The widths of a machine of nbits bits that computes `steps` residues per cycle."""

    nbits: int
    steps: int = 2

    def __post_init__(self) -> None:
        if self.nbits < LEAST_NBITS:
            raise BadInput(f"{self.nbits} bits: residues in registers are for {LEAST_NBITS} bits or more")
        if not 1 <= self.steps <= 4:
            raise BadInput(f"{self.steps} residues a cycle: give 1 to 4")

    @cached_property
    def columns(self) -> int:
        """c, the number of columns of a product that are folded."""
        columns = 2
        while (2 * columns + 2) ** 2 << self.nbits > 1 << columns:
            columns += 2
        return columns

    @property
    def bound(self) -> int:
        """The exclusive upper bound of operands."""
        return (2 * self.columns + 2) << self.nbits

    @property
    def operand_nbits(self) -> int:
        return (self.bound - 1).bit_length()

    @property
    def product_nbits(self) -> int:
        return self.nbits + self.columns

    @property
    def residues(self) -> int:
        """The number of residues that are stored."""
        return self.columns // 2

    @property
    def tail_nbits(self) -> int:
        """k, the number of low bits of the result that are shifted in at the end, rounded up to
        whole cycles.
        """
        least = (2 * self.columns + 3).bit_length()
        return -(-least // (2 * self.steps)) * 2 * self.steps

    # ---- cycles

    @property
    def tail_cycles(self) -> int:
        return self.tail_nbits // (2 * self.steps)

    def made_by(self, residues: int) -> int:
        """The cycle in which this many residues have been computed: one in cycle 0, then `steps`
        per cycle.
        """
        return -(-(residues - 1) // self.steps)

    @property
    def lead_cycles(self) -> int:
        """Cycles from cycle 0 to the first square. Its fold, and that of 2^s * base, need the residues of 2^w
        to 2^(2w - 1); the next fold needs all.

        A fold is one cycle after its product, the second square two cycles after the first, and base and 2^s
        enter in the two cycles before.
        """
        return max(self.made_by(-(-self.nbits // 2)), self.made_by(self.residues) - 2, 2)


def aligned(shape: FoldShape, mod: int) -> tuple[int, int]:
    """M and s for a modulus."""
    if not 0 < mod < 1 << shape.nbits:
        raise BadInput(f"modulus {shown(mod)}: give one from 1 to 2^{shape.nbits} - 1")
    shift = shape.nbits - mod.bit_length()
    return mod << shift, shift


def residues(shape: FoldShape, modulus: int) -> list[int]:
    """The residues X_g for M, computed by steps of 4y mod M as in the hardware."""
    y = 1 << shape.nbits - 2
    made = []
    for _ in range(shape.residues):
        y = 4 * y % modulus
        made.append(y)
    return made


def fold(shape: FoldShape, table: Sequence[int], s: int, c: int) -> int:
    """A number below B that is congruent to s + c modulo M, for s + c < 2^product_nbits."""
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
    """x mod M for x < B, by the final division steps of the hardware."""
    y = x >> shape.tail_nbits
    for place in range(shape.tail_nbits - 2, -1, -2):
        y = (4 * y + (x >> place & 3)) % modulus
    return y
