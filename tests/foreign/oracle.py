"""The functions of manifests: a request in, a response out."""

import math


def gcd(a, b):
    return math.gcd(a, b)


def parts(a, b):
    """The greatest common divisor as an odd number, or 0, and a power of two."""
    twos = next((place for place in range(max(a, b).bit_length()) if (a | b) >> place & 1), 0)
    return (math.gcd(a, b) >> twos, twos) if a and b else (max(a, b), 0)


def power(exp, base, mod):
    return pow(base, exp, mod)


def power_in_montgomery_form(base, exp, mod, nbits):
    """A status, and the power."""
    return 0, pow(base, exp, mod) * 2**nbits % mod


def broken(a, b):
    return a % b
