"""A bounded search for factors, limited to what anyone can find in seconds.

The methods, in this order: trial division; the order of 2 (for each k up to twice the length, all primes with
2^k = 1 or -1 are found together: those of the algebraic factors of 2^t - 1 and 2^t + 1, whatever the
cofactor); the known primes of the Fermat numbers; roots; Pollard's p - 1 (1974) and rho (1975, in Brent's
form). Their bounds shrink with the length, so that the search takes seconds even at 4096 bits.

A search that finds nothing proves nothing. It is meant for numbers like those of paper 000, section 4.1:
(2^(n+2) - 1) / 3, which is a product of Fermat numbers if n + 2 is a power of two. "Prime" here means that a
number passes 32 Miller-Rabin tests.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from math import gcd, isqrt, prod

import rsa.prime

from .errors import BadInput, shown

TRIAL_BOUND = 1 << 16
BATCH = 128  # numbers that are multiplied before each gcd

# prime factors of F_k = 2^(2^k) + 1: F0 to F4 Fermat; F5 Euler 1732, F6 Landry 1880, F7 Morrison and
# Brillhart 1970, F8 Brent and Pollard 1980, F9 Lenstra, Lenstra, Manasse and Pollard 1990. Tests multiply
# them.
FERMAT_PRIMES: dict[int, tuple[int, ...]] = {
    0: (3,),
    1: (5,),
    2: (17,),
    3: (257,),
    4: (65537,),
    5: (641, 6700417),
    6: (274177, 67280421310721),
    7: (59649589127497217, 5704689200685129054721),
    8: (1238926361552897, 93461639715357977769163558199606896584051237541638188580280321),
    9: (
        2424833,
        7455602825647884208337395736200454918783366342657,
        741640062627530801524787141901937474059940781097519023905821316144415759504705008092818711693940737,
    ),
}


@dataclass(frozen=True)
class Factor:
    """A divisor that was found; `by` names the method, `prime` is whether it is prime."""

    value: int
    prime: bool
    by: str


@dataclass(frozen=True)
class Factors:
    """n as a product of the factors found, smallest first; `searched` describes the methods used."""

    n: int
    factors: tuple[Factor, ...]
    searched: str

    def __post_init__(self) -> None:
        assert prod(factor.value for factor in self.factors) == self.n, self

    @property
    def complete(self) -> bool:
        """Whether all factors are prime."""
        return all(factor.prime for factor in self.factors)

    @property
    def split(self) -> bool:
        """Whether a factor other than 1 and n was found."""
        return len(self.factors) > 1

    @property
    def is_prime(self) -> bool:
        return not self.split and self.complete and self.n > 1


def find_factors(n: int) -> Factors:
    """The factors of n that the search finds."""
    if n < 1:
        raise BadInput(f"{shown(n)} has no factors to look for: give a number of 1 or more")
    found = []
    rest = n
    for p in primes_below(TRIAL_BOUND):
        if p * p > rest:
            break
        while rest % p == 0:
            found.append(Factor(p, True, "trial division"))
            rest //= p
    parts = [(rest, "trial division")] if rest > 1 else []
    if rest > 1 and not is_prime(rest):
        parts = list(_by_order_of_two(rest, 2 * n.bit_length()))
    smallest_p1, smallest_rho = 1 << 60, 1 << 60  # the smallest bounds that were used
    while parts:
        part, by = parts.pop()
        if is_prime(part):
            found.append(Factor(part, True, by))
            continue
        for method, split in (
            ("Fermat number", _fermat_prime),
            ("root", _root),
            ("Pollard p - 1", _pollard_p1),
            ("Pollard rho", _pollard_rho),
        ):
            divisor = split(part)
            if divisor:
                # an algebraic form or the table is a better explanation than the method that split the number
                name = method if by in ("rest", "trial division") or method == "Fermat number" else by
                parts += [(divisor, name), (part // divisor, name)]
                break
        else:
            smallest_p1 = min(smallest_p1, p1_bound(part))
            smallest_rho = min(smallest_rho, rho_steps(part))
            found.append(Factor(part, False, by))
    searched = f"trial division below {TRIAL_BOUND}, 2^k - 1 and 2^k + 1 for k up to {2 * n.bit_length()}"
    if not all(factor.prime for factor in found):
        searched += f", Pollard p - 1 to {smallest_p1}, {smallest_rho} steps of Pollard rho"
    return Factors(n, tuple(sorted(found, key=lambda factor: factor.value)), searched)


def order_of_two(n: int, factors: Factors | None = None) -> int | None:
    """The least t > 0 with 2^t = 1 modulo an odd n, or None if factors needed to compute it are unknown."""
    factors = factors or find_factors(n)
    if not factors.complete:
        return None
    multiple = 1  # a multiple of the order, the product of phi(p^k), and its primes
    primes = set()
    for value in (factor.value for factor in factors.factors):
        below = find_factors(value - 1)
        if not below.complete:
            return None
        multiple *= value * (value - 1)
        primes |= {value, *(factor.value for factor in below.factors)}
    t = multiple
    for p in primes:
        while t % p == 0 and pow(2, t // p, n) == 1 % n:
            t //= p
    return t


def is_prime(n: int, rounds: int = 32) -> bool:
    """Whether n passes this many rounds of the Miller-Rabin test."""
    if n < 4 or n % 2 == 0:
        return n in (2, 3)
    return rsa.prime.miller_rabin_primality_testing(n, rounds)


@cache
def primes_below(bound: int) -> tuple[int, ...]:
    """All primes below a bound."""
    sieve = bytearray([1]) * bound
    sieve[:2] = b"\0\0"
    for p in range(2, isqrt(bound) + 1):
        if sieve[p]:
            sieve[p * p :: p] = bytes(len(range(p * p, bound, p)))
    return tuple(p for p in range(bound) if sieve[p])


def _by_order_of_two(n: int, last: int) -> Iterator[tuple[int, str]]:
    """The factors of an odd n by order of 2: for each k, the product of the primes for which k is the least
    with 2^k = 1 or -1; last, the remaining cofactor.
    """
    power = 1
    for start in range(0, last, BATCH):
        powers = []
        for _ in range(start, min(start + BATCH, last)):
            power = 2 * power % n
            powers.append(power)
        if _first_divisor((before**2 - 1 for before in powers), n) is None:
            continue
        for k, value in enumerate(powers, start + 1):
            for multiple, name in ((value - 1, f"2^{k} - 1"), (value + 1, f"2^{k} + 1")):
                part = 1
                while (divisor := gcd(multiple, n)) > 1:
                    n //= divisor
                    part *= divisor
                if part > 1:
                    yield part, name
                if n == 1:
                    return
    yield n, "rest"


def _first_divisor(numbers: Iterable[int], n: int) -> int | None:
    """The first divisor of n above 1, perhaps n itself, that divides one of these numbers.

    A gcd is slow, so the numbers of a batch are multiplied first and one gcd is computed.
    """
    numbers = iter(numbers)
    while batch := list(islice(numbers, BATCH)):
        product = 1
        for number in batch:
            product = product * number % n
        if gcd(product, n) > 1:
            return next(divisor for number in batch if (divisor := gcd(number, n)) > 1)
    return None


def _fermat_prime(n: int) -> int | None:
    known = (p for primes in FERMAT_PRIMES.values() for p in primes)
    return next((p for p in known if n % p == 0 and n != p), None)


def _root(n: int) -> int | None:
    """The k-th root of n if n is a k-th power. k is small, as n has no prime factor below TRIAL_BOUND."""
    for k in primes_below(max(3, n.bit_length() // (TRIAL_BOUND.bit_length() - 1) + 1)):
        root = 1 << -(-n.bit_length() // k)  # an upper bound, from which Newton's iteration descends
        while (better := ((k - 1) * root + n // root ** (k - 1)) // k) < root:
            root = better
        if root**k == n:
            return root
    return None


def p1_bound(n: int) -> int:
    """The smoothness bound of p - 1 up to which `_pollard_p1` finds p."""
    return min(1 << 16, (1 << 25) // n.bit_length())


def _pollard_p1(n: int) -> int | None:
    bound = p1_bound(n)

    def numbers() -> Iterator[int]:
        x = 3  # not 2: primes with a small order of 2 have been found already, or appear together
        for p in primes_below(bound):
            power = p
            while power * p <= bound:
                power *= p
            x = pow(x, power, n)
            yield x - 1

    divisor = _first_divisor(numbers(), n)
    return None if divisor == n else divisor


def rho_steps(n: int) -> int:
    """The number of steps of `_pollard_rho`; finding a prime p takes about the square root of p."""
    return (1 << 24) // n.bit_length()


def _pollard_rho(n: int) -> int | None:
    """A factor of n by Pollard rho in Brent's form, which compares each number of the walk with the one at
    the last power of two.
    """

    def numbers(constant: int) -> Iterator[int]:
        y, length = 2, 1
        while True:
            x = y
            for step in range(2 * length):
                y = (y * y + constant) % n
                if step >= length:
                    yield x - y
            length *= 2

    for constant in (1, 3):
        divisor = _first_divisor(islice(numbers(constant), rho_steps(n)), n)
        if divisor != n:
            return divisor
    return None  # both walks found all primes of n at once
