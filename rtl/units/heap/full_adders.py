"""FullAdders and HalfAdders: vectors of independent adders, the building blocks of trees and heaps.

The flow makes cells of these by the names of the modules (flow/synth/named_cells.py). Three complements make
the complements of sum and carry of a full adder, but not of a half adder: DualHalfAdders are for those.
Ports: v, w (and x) -> sum, carry; combinational. A carry stands at the place of the bits that made it; who
connects it shifts.
"""

from pymtl3 import *


class FullAdders(Component):
    """sum + 2 * carry = v + w + x in every bit."""

    def construct(s, count):
        s.v = InPort(count)
        s.w = InPort(count)
        s.x = InPort(count)
        s.sum = OutPort(count)
        s.carry = OutPort(count)

        @update
        def add():
            s.sum @= s.v ^ s.w ^ s.x
            s.carry @= (s.v & s.w) | (s.v & s.x) | (s.w & s.x)


def declare_half_adders(s, count):
    """The ports of adders of two bits."""
    s.v = InPort(count)
    s.w = InPort(count)
    s.sum = OutPort(count)
    s.carry = OutPort(count)


class HalfAdders(Component):
    """sum + 2 * carry = v + w in every bit."""

    def construct(s, count):
        declare_half_adders(s, count)

        @update
        def add():
            s.sum @= s.v ^ s.w
            s.carry @= s.v & s.w


class DualHalfAdders(Component):
    """~sum + 2 * ~carry = ~v + ~w in every bit."""

    def construct(s, count):
        declare_half_adders(s, count)

        @update
        def add():
            s.sum @= ~(s.v ^ s.w)
            s.carry @= s.v | s.w
