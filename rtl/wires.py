"""Connects wires of different widths, and the words of operands."""

from pymtl3 import connect


def connect_low(wire, source):
    """The bits of a source at the low end of a wire; above them it is 0."""
    wide, used = wire.get_type().nbits, source.get_type().nbits
    connect(wire[0 : min(wide, used)], source if used <= wide else source[0:wide])
    if used < wide:
        connect(wire[used:wide], 0)


def connect_words(operand, words):
    """The words of an operand, the lowest first; above it they are 0."""
    nbits, low = operand.get_type().nbits, 0
    for word in words:
        used = min(word.get_type().nbits, nbits - low)
        if used > 0:
            connect_low(word, operand[low : low + used])
        else:
            word //= 0
        low += word.get_type().nbits
