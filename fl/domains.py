"""Domains: the number representations in which multipliers work, and the conversions of operands and results.

A domain gives a schedule an abstract product and the representation of 1. If possible, a conversion is a
product of the same multiplier; `enter_by` and `leave_by` are the second operands of those products, or None
if no conversion is needed. So a machine, its cycle-level twin and the trace of `mod_exp` count the same
products.
"""

from abc import ABC, abstractmethod

from .errors import BadInput, shown, unknown
from .multipliers.montgomery import Montgomery
from .multipliers.mul_rem import mul_rem
from .multipliers.row_fold import LEAST_NBITS as FOLD_LEAST_NBITS
from .multipliers.row_fold import FoldShape, aligned, fold, remainder, residues
from .multipliers.scaled import ScaledMontgomery, ScaledShape


class Domain(ABC):
    """Numbers mod n in some representation; by default without conversion."""

    odd_only = False  # whether even moduli are refused
    reduced_only = False  # whether numbers at or above the modulus are refused
    plain_unit = True  # its multiplier accepts any modulus, and numbers of the same length
    enter_by: int | None = None
    leave_by: int | None = None

    def __init__(self, n: int, nbits: int | None = None) -> None:
        """For modulus n in a machine of nbits bits (default: the bit length of n)."""
        self.n = n
        self.nbits = n.bit_length() if nbits is None else nbits
        if n <= 0:
            raise BadInput(f"modulus {shown(n)}: there are no numbers below it, give a modulus of 1 or more")
        if n.bit_length() > self.nbits:
            raise BadInput(
                f"modulus {shown(n)} does not fit in {nbits} bits: give a width of at least {n.bit_length()}"
            )
        self.one = 1 % n  # 0 for modulus 1

    @property
    def unit_modulus(self) -> int:
        """The value at a multiplier's `modulus` port."""
        return self.n

    @abstractmethod
    def product(self, a: int, b: int) -> int:
        """The product of two numbers of the domain, in the domain."""

    def enter(self, x: int) -> int:
        """The representation of x."""
        return x % self.n if self.enter_by is None else self.product(x, self.enter_by)

    def leave(self, x: int) -> int:
        """The number below n that x represents."""
        return x if self.leave_by is None else self.product(x, self.leave_by)


class Identity(Domain):
    """Plain numbers with the product of MulRem, for any modulus (paper 001, Algorithm 1)."""

    def product(self, a: int, b: int) -> int:
        return mul_rem(a, b, self.n)


class Residue(Identity):
    """Plain numbers below the modulus, for a multiplier that does not divide, such as ShiftSub."""

    reduced_only = True


class Fixed(Residue):
    """Plain numbers below the modulus for which the multiplier is generated."""

    plain_unit = False


class Folded(Identity):
    """Numbers below a multiple of the modulus, whose products are folded by rows of residues (row_fold.py).

    A modulus shorter than the least width of that algorithm is padded with zeros to it.
    """

    plain_unit = False

    def __init__(self, n: int, nbits: int | None = None) -> None:
        super().__init__(n, nbits)
        self.shape = FoldShape(max(self.nbits, FOLD_LEAST_NBITS))
        self.aligned, _ = aligned(self.shape, n)
        self.residues = residues(self.shape, self.aligned)

    def product(self, a: int, b: int) -> int:
        return fold(self.shape, self.residues, a * b, 0)

    def enter(self, x: int) -> int:
        return x

    def leave(self, x: int) -> int:
        return remainder(self.shape, self.aligned, x) % self.n


class Pseudo(Fixed):
    """Numbers modulo a multiple of the modulus whose arithmetic is cheap: 2^nbits - 1 (paper 000, section
    2.2.3).

    Numbers enter unchanged and leave by one reduction modulo n, the paper's final correction.
    """

    def __init__(self, n: int, nbits: int | None = None) -> None:
        super().__init__(n, nbits)
        self.pseudo = (1 << self.nbits) - 1
        if self.pseudo % n:
            raise BadInput(
                f"modulus {shown(n)} does not divide 2^{self.nbits} - 1: give one that does, "
                f"such as {shown(self.pseudo // 3) if self.nbits % 2 == 0 else 'the pseudo-modulus itself'}"
            )

    def product(self, a: int, b: int) -> int:
        return mul_rem(a, b, self.pseudo)

    def leave(self, x: int) -> int:
        return x % self.n


class MontgomeryDomain(Domain):
    """Residues x*R mod n with R = 2^nbits, for an odd n (paper 001, equations 6 to 9).

    Numbers enter by a product with R^2 mod n and leave by a product with 1.
    """

    odd_only = True
    reduced_only = True
    leave_by = 1

    def __init__(self, n: int, nbits: int | None = None) -> None:
        super().__init__(n, nbits)
        self.take(Montgomery(n, self.nbits))

    def take(self, montgomery: Montgomery) -> None:
        """Use the constants of this arithmetic."""
        self.montgomery = montgomery
        self.one = montgomery.r_mod_n
        self.enter_by = montgomery.r2_mod_n

    def product(self, a: int, b: int) -> int:
        return self.montgomery.product(a, b)


class Redundant(MontgomeryDomain):
    """Montgomery residues below twice the modulus, for a product without final subtraction, with R >= 4n.

    Papers 000 (Algorithm 2) and 003 use R = 2^(nbits + 2), the default; paper 002 uses whole words.
    """

    plain_unit = False

    def __init__(self, n: int, nbits: int | None = None, r_nbits: int | None = None) -> None:
        super().__init__(n, nbits)
        self.take(Montgomery(n, r_nbits or self.nbits + 2))
        if self.montgomery.r < 4 * n:
            raise BadInput(
                f"modulus {shown(n)}: R = 2^{r_nbits} is less than four times of it, so that results are no "
                "operands; "
                f"give a modulus of at most {self.montgomery.nbits - 2} bits"
            )

    def product(self, a: int, b: int) -> int:
        return self.montgomery.unreduced(a, b)

    def leave(self, x: int) -> int:
        result = self.product(x, 1)
        return 0 if result == self.n else result


class ScaledMont(MontgomeryDomain):
    """Residues x*R modulo N, kept below 2M for the multiple M = c*N = -1 mod 2^w (scaled.py), for an odd n.

    Numbers enter by a product with R^2 mod n. They leave by a product with 1 modulo n itself, whose result is
    below n.
    """

    plain_unit = False

    def __init__(
        self, n: int, nbits: int | None = None, digit_nbits: int = 16, quotient_delay: int = 0
    ) -> None:
        super().__init__(n, nbits)
        self.scaled = ScaledMontgomery(n, ScaledShape(self.nbits, digit_nbits, quotient_delay))
        self.take(self.scaled.original)

    @property
    def unit_modulus(self) -> int:
        return self.scaled.m_prime

    def product(self, a: int, b: int) -> int:
        return self.scaled.product(a, b)

    def leave(self, x: int) -> int:
        return self.scaled.leave(x)


DOMAINS: dict[str, type[Domain]] = {
    "identity": Identity,
    "residue": Residue,
    "fixed": Fixed,
    "folded": Folded,
    "pseudo": Pseudo,
    "redundant": Redundant,
    "montgomery": MontgomeryDomain,
    "scaled": ScaledMont,
}


def make_domain(name: str, n: int, nbits: int | None = None, **options: int) -> Domain:
    """The domain with this name for modulus n in a machine of nbits bits."""
    if name not in DOMAINS:
        raise unknown("domain", name, DOMAINS)
    return DOMAINS[name](n, nbits, **options)
