"""MulRem's modular product, and the division of paper 001's divider.

Paper 001, Algorithm 1 uses (a * b) % n as its one operation; its section 2.3 builds the unit that divides.
Any a and b are allowed, also at or above n; only division by zero has no answer.
"""

from ..errors import BadInput, shown


def mul_rem(a: int, b: int, n: int) -> int:
    """a * b mod n."""
    if n <= 0:
        raise BadInput(f"modulus {shown(n)}: there is no remainder by it, give a modulus of 1 or more")
    return a * b % n


def div_rem(a: int, b: int) -> tuple[int, int]:
    """Quotient and remainder of a by b, both unsigned: a = quotient * b + remainder, remainder < b."""
    if b <= 0:
        raise BadInput(f"divisor {shown(b)}: nothing can be divided by it, give a divisor of 1 or more")
    if a < 0:
        raise BadInput(f"dividend {shown(a)}: the divider is unsigned, give 0 or more")
    return divmod(a, b)
