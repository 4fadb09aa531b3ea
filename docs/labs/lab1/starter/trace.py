"""Lab 1, step 6: predict the trace of the machine `mont` at 8 bits."""


def column(exp):
    """The middle column in each cycle for an exponent of at least 1: ["idle|. .", "convert|. .", ...].

    The state of the controller stands before the bar. Behind it are the marks of the two multipliers:
    the left one computes products, the right one squares.
    """
    return []
