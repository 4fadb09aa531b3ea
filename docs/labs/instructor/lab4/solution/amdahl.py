"""Solution of lab 4: Amdahl's law."""


def speedup(fraction, factor):
    """The rest takes as long as before."""
    return 1 / (1 - fraction + fraction / factor)


def limit(fraction):
    """The part takes no time at all."""
    return 1 / (1 - fraction)


def needed(fraction, target):
    """1 / target = 1 - fraction + fraction / factor, solved for factor."""
    left = 1 / target - (1 - fraction)
    return fraction / left if left > 0 else None
