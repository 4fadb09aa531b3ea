"""Solution of lab 6, part 2: three attacks."""

from math import gcd


def ones(cycles):
    """A square for each bit behind the first and a product for each 1; the rest is the same for all."""
    return cycles - 13


def exponent(column):
    """The state `square` is there for the next bit, `multiply` because that bit is 1."""
    found = 1
    for line in column:
        if line.startswith("square|"):
            found = 2 * found
        elif line.startswith("multiply|"):
            found += 1
    return found


def prime(n, e, message, signature):
    """signature^e and message agree modulo the prime whose half was right, and modulo no other one."""
    return gcd(pow(signature, e, n) - message, n)
