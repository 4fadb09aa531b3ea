"""NullXcel: an accelerator with one register and no computation, for the accelerator port of systems without
an accelerator (paper 001, section 5.2).

Writes to xr0 set the register, and reads of xr0 return it; other registers read as 0. NullXcelFL is its
functional model.

Ports: istream {write, addr, data} -> ostream {write, data}. Cycles: 1. Area order: 34 flip-flops.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ...rtl.messages import mk_xcel_req, mk_xcel_resp


class NullXcelFL:
    register = 0

    def write(self, addr: int, data: int) -> None:
        """Perform a write access."""
        if addr == 0:
            self.register = data

    def read(self, addr: int) -> int:
        """Perform a read access and return the data."""
        return 0 if addr else self.register


class NullXcel(Component):
    def construct(s):
        s.istream = RecvIfcRTL(mk_xcel_req())
        s.ostream = SendIfcRTL(mk_xcel_resp())

        s.val = Wire()
        s.write = Wire()
        s.is_xr0 = Wire()
        s.register = Wire(32)

        @update
        def handshake():
            s.istream.rdy @= ~s.val | s.ostream.rdy

        @update
        def answer():
            s.ostream.val @= s.val
            s.ostream.msg.write @= s.write
            s.ostream.msg.data @= 0
            if s.is_xr0 & ~s.write:
                s.ostream.msg.data @= s.register

        @update_ff
        def access():
            if s.reset:
                s.val <<= 0
                s.register <<= 0
            elif s.istream.rdy:
                s.val <<= s.istream.val
                if s.istream.val:
                    s.write <<= s.istream.msg.write
                    s.is_xr0 <<= s.istream.msg.addr == 0
                    if s.istream.msg.write & (s.istream.msg.addr == 0):
                        s.register <<= s.istream.msg.data

    def line_trace(s):
        return ""
