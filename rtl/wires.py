"""Connects wires of different widths."""

from pymtl3 import connect


def connect_low(wire, source):
    """The bits of a source at the low end of a wire; above them it is 0."""
    wide, used = wire.get_type().nbits, source.get_type().nbits
    connect(wire[0 : min(wide, used)], source if used <= wide else source[0:wide])
    if used < wide:
        connect(wire[used:wide], 0)
