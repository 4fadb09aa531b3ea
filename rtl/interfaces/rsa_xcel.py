"""RSAXcel: an accelerator = XcelAdapter + machine (paper 001, Figures 7 and 14).

The paper has it over ModExp (RSAXcel) and over MontModExp (RSAMontXcel); they differ in the machine, which is a parameter, so that
every machine of the catalogue is an accelerator. `mk_machine(nbits)` makes one with the ports of ProgramExp, whose requests may hold
more: `given`, names and bits.

Ports: istream {write, addr, data} -> ostream {write, data}; the protocol stands in fl/xcel.py.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ..messages import mk_xcel_req, mk_xcel_resp
from .xcel_adapter import XcelAdapter


class RSAXcel(Component):
    def construct(s, nbits, mk_machine, given=()):
        s.istream = RecvIfcRTL(mk_xcel_req())
        s.ostream = SendIfcRTL(mk_xcel_resp())

        s.adapter = XcelAdapter(nbits, given)
        s.machine = mk_machine(nbits)

        s.istream //= s.adapter.istream
        s.adapter.req //= s.machine.istream
        s.machine.ostream //= s.adapter.resp
        s.adapter.ostream //= s.ostream

    def line_trace(s):
        return f"{s.adapter.line_trace()}  {s.machine.line_trace()}"
