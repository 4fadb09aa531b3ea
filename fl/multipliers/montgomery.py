"""Montgomery's product x*y*R^-1 mod N for odd N < R = 2^nbits, with its constants.

REDC of paper 001, Algorithm 2 (Montgomery 1985): division by R is a shift.
"""

from dataclasses import dataclass, field

from ..errors import BadInput, shown


@dataclass(frozen=True)
class Montgomery:
    """The arithmetic of one odd modulus n, with R = 2^nbits > n."""

    n: int
    nbits: int
    r: int = field(init=False, repr=False)  # R
    r_mod_n: int = field(init=False, repr=False)  # R mod N: the residue of 1
    r2_mod_n: int = field(init=False, repr=False)  # R^2 mod N: a product by it enters the residues
    n_prime: int = field(init=False, repr=False)  # N' of paper 001, equation 5: R*R^-1 - N'*N = 1, 0 < N' < R

    def __post_init__(self) -> None:
        n, nbits = self.n, self.nbits
        if n <= 0:
            raise BadInput(f"modulus {shown(n)}: a Montgomery product needs an odd modulus of 1 or more")
        if n % 2 == 0:
            raise BadInput(
                f"modulus {shown(n)} is even: a Montgomery product needs an odd modulus, "
                "give one, or use a design of domain identity"
            )
        if n.bit_length() > nbits:
            raise BadInput(
                f"modulus {shown(n)} does not fit in {nbits} bits: give a width of at least {n.bit_length()}"
            )
        r = 1 << nbits
        # N' = -N^-1 mod R is equation 5 taken mod R
        constants = {"r": r, "r_mod_n": r % n, "r2_mod_n": r * r % n, "n_prime": r - pow(n, -1, r)}
        for name, value in constants.items():
            object.__setattr__(self, name, value)

    def redc(self, t: int) -> int:
        """t * R^-1 mod n for 0 <= t <= R*n: paper 001, Algorithm 2."""
        n, nbits, mask = self.n, self.nbits, self.r - 1
        if not 0 <= t <= n << nbits:
            raise BadInput(
                f"{shown(t)} is outside 0..R*N: REDC takes products of a residue and a number below R"
            )
        m = (t & mask) * self.n_prime & mask
        t = (t + m * n) >> nbits
        return t - n if t >= n else t

    def product(self, x: int, y: int) -> int:
        """x * y * R^-1 mod n by multiplication and REDC, for x < R and y < n (or the other way round)."""
        return self.redc(x * y)
