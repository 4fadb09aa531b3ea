"""Montgomery's product x*y*R^-1 mod N for odd N < R = 2^nbits, with its constants.

It uses REDC of paper 001, Algorithm 2 (Montgomery 1985): division by R is a shift.
"""

from ..errors import BadInput, shown


class Montgomery:
    """The Montgomery arithmetic of one odd modulus n, with R = 2^nbits > n."""

    def __init__(self, n: int, nbits: int) -> None:
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
        self.n, self.nbits = n, nbits
        self.r = 1 << nbits
        self.r_mod_n = self.r % n  # the residue of 1
        self.r2_mod_n = self.r**2 % n  # a product with it converts into the domain
        # N' of paper 001, equation 5: R*R^-1 - N'*N = 1 with 0 < N' < R, which is -N^-1 modulo R
        self.n_prime = self.r - pow(n, -1, self.r)

    def redc(self, t: int) -> int:
        """t * R^-1 mod n for 0 <= t <= R*n: paper 001, Algorithm 2."""
        n = self.n
        if not 0 <= t <= n << self.nbits:
            raise BadInput(
                f"{shown(t)} is outside 0..R*N: REDC takes products of a residue and a number below R"
            )
        t = self.unreduced(t, 1)
        return t - n if t >= n else t

    def unreduced(self, x: int, y: int) -> int:
        """(x * y + q * n) / R, without a final subtraction."""
        t = x * y
        return (t + t * self.n_prime % self.r * self.n) >> self.nbits

    def product(self, x: int, y: int) -> int:
        """x * y * R^-1 mod n by multiplication and REDC, for x < R and y < n (or the other way round)."""
        return self.redc(x * y)
