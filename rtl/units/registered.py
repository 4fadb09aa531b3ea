"""A register behind combinational logic, for units that answer in one cycle."""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import SendIfcRTL


def answer_registered(s, value):
    """A unit `s` answers with a value that it makes of its request, registered."""
    s.out = Registered(value.get_type().nbits)
    s.out.x //= value
    s.out.in_val //= s.istream.val
    s.istream.rdy //= s.out.in_rdy
    s.ostream //= s.out.ostream


class Registered(Component):
    """A register behind combinational logic: it takes x when it is empty, or when what it holds is taken."""

    def construct(s, nbits):
        s.x = InPort(nbits)
        s.in_val = InPort()
        s.in_rdy = OutPort()
        s.ostream = SendIfcRTL(mk_bits(nbits))
        s.full = Wire()
        s.value = Wire(nbits)
        s.ostream.val //= s.full
        s.ostream.msg //= s.value

        @update
        def ready():
            s.in_rdy @= ~s.full | s.ostream.rdy

        @update_ff
        def hold():
            if s.reset:
                s.full <<= 0
            elif s.in_rdy:
                s.full <<= s.in_val
            if s.in_val & s.in_rdy:
                s.value <<= s.x
