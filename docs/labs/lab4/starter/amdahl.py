"""Lab 4: Amdahl's law."""


def speedup(fraction, factor):
    """STEP 2: the speedup of the whole, if a part of this fraction gets `factor` times faster."""
    return 1.0


def limit(fraction):
    """The most that any accelerator for this part can reach."""
    return 1.0


def needed(fraction, target):
    """The factor for a wanted speedup of the whole; None if no factor reaches it."""
    return None
