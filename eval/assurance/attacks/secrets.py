"""Private exponents of one modulus that agree in everything public, so that they can be compared.

A machine that blinds or checks needs the public exponent that belongs to a private one. All public exponents
have the same length and Hamming weight, so that their cycles reveal nothing. The private exponents agree in
their low bits, below the factors of 2 of phi: these are public, as e d = 1 modulo a power of 2, and no
multiple of phi hides them.
"""

import math
import random

from ....fl.errors import BadInput, shown
from ....fl.rsa_keys import RSAKey

LOW = 5  # low bits of every public exponent
TRIES = 10_000


def drawn_key(key: RSAKey, draw: random.Random) -> RSAKey:
    """A key with the primes of this one and random exponents."""
    if key.p is None or key.q is None:
        key = key.with_primes()
    assert key.p is not None and key.q is not None
    phi = (key.p - 1) * (key.q - 1)
    low = (phi & -phi).bit_length() - 1
    top = phi.bit_length() - 2
    free = range(low, top)
    for _ in range(TRIES):
        ones = sum(1 << place for place in draw.sample(free, len(free) // 2))
        e = 1 << top | LOW % (1 << low) | 1 | ones
        if math.gcd(e, phi) == 1:
            return RSAKey(key.n, e, pow(e, -1, phi), key.p, key.q)
    raise BadInput(
        f"the key with n = {shown(key.n)} has too few private exponents to compare; give a longer one"
    )
