"""Seeded RSA keys for measurements; anyone can recompute them."""

import functools
import json
import math
import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import rsa

from ...fl.errors import BadInput
from ...fl.rsa_keys import SMALLEST_NBITS, RSAKey
from ...rtl.sim import cache

SIEVE_END = 1 << 16
QUICK_NBITS = 1024  # primes of longer keys take seconds, so they are cached
# places of the primes among the candidates, by width and seed of a key whose search takes ten seconds
PLACES = {(4096, 1): (114, 3537)}


def seeded_key(nbits: int, seed: int = 1) -> RSAKey:
    """A private key whose modulus has exactly nbits bits, the same for the same seed.

    The public exponent is 65537, or 17 if 65537 is longer than the modulus.
    """
    if nbits < SMALLEST_NBITS or nbits % 2:
        raise BadInput(f"RSA key of {nbits} bits: ask for an even number of {SMALLEST_NBITS} or more")
    e = 65537 if nbits > 17 else 17
    if nbits <= QUICK_NBITS:
        p, q = _primes(nbits, seed, e)
    else:
        name = f"primes-{cache.key(str(nbits), str(seed), str(e), Path(__file__).read_text())}"
        p, q = json.loads(cache.stored(name, lambda: json.dumps(_primes(nbits, seed, e)).encode()))
    return RSAKey(p * q, e, pow(e, -1, (p - 1) * (q - 1)), p, q)


def _primes(nbits: int, seed: int, e: int) -> tuple[int, int]:
    """Two primes of nbits / 2 bits."""
    places = PLACES.get((nbits, seed))
    if places is not None:
        p, q = (next(islice(_candidates(nbits, seed), place, None)) for place in places)
        return p, q
    return searched(nbits, seed, e)


def _candidates(nbits: int, seed: int) -> Iterator[int]:
    """Odd numbers of nbits / 2 bits; the product of two has nbits bits."""
    generator = random.Random(f"{nbits} {seed}")
    half = nbits // 2
    while True:
        yield generator.getrandbits(half) | 0b11 << (half - 2) | 1


def searched(nbits: int, seed: int, e: int) -> tuple[int, int]:
    """The first two primes among the candidates that suit the public exponent."""
    primes: list[int] = []
    candidates = _candidates(nbits, seed)
    while len(primes) < 2:
        candidate = next(candidates)
        if candidate in primes or (candidate - 1) % e == 0:
            continue
        # trial division first: a hundred times faster than the test
        if math.gcd(candidate, _small_primes()) in (1, candidate) and rsa.prime.is_prime(candidate):
            primes.append(candidate)
    return primes[0], primes[1]


@functools.cache
def primes_below(bound: int) -> tuple[int, ...]:
    """All primes below a bound."""
    sieve = bytearray([1]) * bound
    sieve[:2] = b"\0\0"
    for p in range(2, math.isqrt(bound) + 1):
        if sieve[p]:
            sieve[p * p :: p] = bytes(len(range(p * p, bound, p)))
    return tuple(p for p in range(bound) if sieve[p])


@functools.cache
def _small_primes() -> int:
    """The product of the primes below 2^16."""
    return math.prod(primes_below(SIEVE_END))
