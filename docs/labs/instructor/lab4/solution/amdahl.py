"""Solution of lab 4: Amdahl's law."""


def speedup(fraction, factor):
    """Overall speed-up if `fraction` of the run time becomes `factor` times faster."""
    return 1 / (1 - fraction + fraction / factor)


def limit(fraction):
    """Upper limit of the speed-up: the accelerated part takes no time."""
    return 1 / (1 - fraction)


def needed(fraction, target):
    """1 / target = 1 - fraction + fraction / factor, solved for factor."""
    left = 1 / target - (1 - fraction)
    return fraction / left if left > 0 else None
