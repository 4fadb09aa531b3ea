"""Lab 6, part 2: three attacks."""


def ones(cycles):
    """STEP 5: how many of the 8 bits of the exponent are 1, from the cycles of a power.

    The machine is `mont` with 8 bits and schedule=left-to-right. The highest bit of the exponent is 1.
    """
    return 0


def exponent(column):
    """STEP 6: the exponent, from the middle column of its trace: ["idle|.", "convert|.", ...]."""
    return 0


def prime(n, e, message, signature):
    """STEP 7: a prime factor of n, from a signature of the message that is wrong modulo the other prime."""
    return 1
