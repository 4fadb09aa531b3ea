"""Seeded RSA keys as other packages hold them: a test that fails with a key fails with it again."""

import functools
import math
import random

import rsa
from cryptography.hazmat.primitives.asymmetric import rsa as openssl_rsa
from modexlab.proc.software.seeded_keys import primes_below

E = 65537
SMALL_PRIMES = math.prod(primes_below(1000))


def prime_of(draw, nbits, e=E):
    """A random prime with its two highest bits set, for which e is a valid public exponent."""
    while True:
        candidate = draw.getrandbits(nbits) | 0b11 << (nbits - 2) | 1
        usable = math.gcd(candidate - 1, e) == 1 and math.gcd(candidate, SMALL_PRIMES) in (1, candidate)
        if usable and rsa.prime.is_prime(candidate):
            return candidate


@functools.cache
def rsa_key(nbits, e=E):
    """A private key of the `rsa` package; its modulus has exactly nbits bits."""
    draw = random.Random(f"{nbits} {e}")
    p = q = prime_of(draw, nbits - nbits // 2, e)
    while p == q:
        q = prime_of(draw, nbits // 2, e)
    return rsa.PrivateKey(p * q, e, pow(e, -1, (p - 1) * (q - 1)), p, q)


def rsa_keys(nbits, e=E):
    """A pair of keys of the `rsa` package."""
    private = rsa_key(nbits, e)
    return rsa.PublicKey(private.n, private.e), private


def openssl_key(nbits, e=E):
    """The same private key as OpenSSL holds it."""
    key = rsa_key(nbits, e)
    public = openssl_rsa.RSAPublicNumbers(key.e, key.n)
    numbers = key.p, key.q, key.d, key.exp1, key.exp2, key.coef
    return openssl_rsa.RSAPrivateNumbers(*numbers, public).private_key()
