"""The table of modular products: every corner that the mathematics has, at any width from 8 bits on."""

from .rows import ProductRow, odd_moduli, with_delays


def corners(nbits):
    """Rows that every multiplier must get right: an odd modulus, both factors below it."""
    top = (1 << nbits) - 1  # the largest modulus, odd
    half = nbits // 2
    p, q = (1 << half) - 1, (1 << half) - 3  # their product is the modulus, and p * q = 0 mod p * q
    return [
        ProductRow("0 * 0", 0, 0, top),
        ProductRow("0 * 1", 0, 1, top),
        ProductRow("1 * 0", 1, 0, top),
        ProductRow("1 * 1", 1, 1, top),
        ProductRow("largest * 1", top - 1, 1, top),
        ProductRow("1 * largest", 1, top - 1, top),
        ProductRow("largest * largest, largest modulus", top - 1, top - 1, top),
        ProductRow("0 * largest", 0, top - 1, top),
        ProductRow("modulus 1", 0, 0, 1),
        ProductRow("modulus 3", 2, 2, 3),
        ProductRow("a * b = 0 mod n with a, b != 0 (paper 001 gives n)", p, q, p * q),
        ProductRow("the same, factors exchanged", q, p, p * q),
        ProductRow("a multiple of p times a multiple of q", p * (q - 1), q * (p - 1), p * q),
        ProductRow("a square that is 0", p, p, p * p),
        ProductRow("n - 1 squared is 1", p * q - 1, p * q - 1, p * q),
        ProductRow("small modulus in a wide machine", 123, 124, 125),
        ProductRow("modulus with its top bit only just set", (1 << (nbits - 1)), 3, (1 << (nbits - 1)) + 1),
        ProductRow("alternating bits", top // 3, top // 5 * 2, top - 2),
    ]


def unreduced(nbits):
    """Rows for multipliers that divide: factors at and above the modulus, even moduli."""
    top = (1 << nbits) - 1
    return [
        ProductRow("factors above the modulus", top, top, 3),
        ProductRow("factors above the modulus, modulus 1", top, top - 1, 1),
        ProductRow("factor equal to the modulus", 77, 5, 77),
        ProductRow("largest factors, largest modulus", top, top, top),
        ProductRow("even modulus", top - 2, top - 3, top - 1),
        ProductRow("modulus a power of two", top, top, 1 << (nbits - 1)),
        ProductRow("modulus 2", top, top, 2),
    ]


def drawn(nbits, count):
    """Random factors below random odd moduli of all lengths, the same in every run."""
    return [
        ProductRow(name, rng.randrange(mod), rng.randrange(mod), mod)
        for name, rng, mod in odd_moduli("products", nbits, count)
    ]


def table(nbits, reduced, count=6):
    """All rows for a multiplier of nbits bits."""
    rows = corners(nbits) + ([] if reduced else unreduced(nbits)) + drawn(nbits, count)
    return with_delays(rows)
