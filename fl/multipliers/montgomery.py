"""Montgomery's product x*y*R^-1 mod N for odd N < R = 2^nbits, in two ways, with the constants it needs.

Algorithms: REDC of paper 001, Algorithm 2 (Montgomery 1985), where division by R is a shift; and the
bit-serial radix-2 form of paper 001, Algorithm 4, which MontMulRem and its AddRed steps are in hardware. The
two share nothing but N and R, so that each is an oracle for the other.

Algorithm 4 is corrected here. The paper (and its Verilog) ends with `if S > N then S <- S - N`; it must be
S >= N. The loop leaves 0 <= S < 2N, and S = N happens: for x*y = 0 mod N with x*y != 0, such as x = p, y = q
for N = pq, the paper's unit answers N where the product is 0.
"""

from dataclasses import dataclass, field

from ..errors import BadInput, shown


def add_red(s: int, x_i: int, y: int, n: int) -> int:
    """The function of an AddRed, a step of paper 001, Algorithm 4: (S + x_i*Y + q*N) / 2, q makes it even."""
    s += x_i * y
    if s & 1:
        s += n
    return s >> 1


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

    def bit_serial(self, x: int, y: int) -> int:
        """x * y * R^-1 mod n, a bit of x a step, for x < R and y < n: paper 001, Algorithm 4 with S >= N."""
        n, nbits = self.n, self.nbits
        if not (0 <= x < self.r and 0 <= y < n):
            raise BadInput(
                f"operands x = {shown(x)}, y = {shown(y)}: give 0 <= x < 2^{nbits} and 0 <= y < {shown(n)}"
            )
        s = 0
        for bit in reversed(f"{x:0{nbits}b}"):
            s = add_red(s, bit == "1", y, n)
        return s - n if s >= n else s

    def enter(self, x: int) -> int:
        """x as a residue, x*R mod n: paper 001, equation 8."""
        return self.product(x, self.r2_mod_n)

    def leave(self, x: int) -> int:
        """The number whose residue is x, x*R^-1 mod n: paper 001, equation 9."""
        return self.redc(x)
