"""The plain modular product, as MulRem computes it.

Paper 001, Algorithm 1 uses (a * b) % n as its one operation; its section 2.3 builds the unit that divides.
Any a and b are allowed, even at or above n; only division by zero has no result.
"""

from ..errors import BadInput, shown


def mul_rem(a: int, b: int, n: int) -> int:
    """a * b mod n."""
    if n <= 0:
        raise BadInput(f"modulus {shown(n)}: there is no remainder by it, give a modulus of 1 or more")
    return a * b % n
