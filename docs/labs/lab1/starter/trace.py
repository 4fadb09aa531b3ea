"""Lab 1, step 6: predict the trace of the machine `mont` at 8 bits."""


def column(exp):
    """The middle column in each cycle, such as ["0|. .", "1|. .", ...], for an exponent of at least 1.

    The number of the microinstruction stands before the bar. Behind it are the marks of the two multipliers:
    the left one computes products, the right one squares.
    """
    return []
