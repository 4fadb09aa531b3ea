"""Axi4LiteSlave: a slave of AXI4-Lite on the bus of a processor: a bridge, its master, and the slave.

The slave occupies the first 4 KiB of the window, or the range of its address width if that is larger; the
bridge refuses accesses beyond. One access is in flight at a time.

Ports: istream {write, strobe, addr, data} -> ostream {error, data}; irq; the masters of the slave's memory
ports, if it has any (axi4_ifc.py). `mk_slave()` makes a component with
the ports of Axi4Lite. Cycles: those of master and slave; a refusal by the bridge 1. Area order: 80
flip-flops, and the slave.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ...rtl.interfaces.axi4_ifc import pass_masters
from ...rtl.interfaces.axi4lite_master import Axi4LiteMaster
from ..software.memory import BUS_NBITS
from .messages import MemReq, MemResp


class Axi4LiteSlave(Component):
    def construct(s, mk_slave, memory=()):
        s.istream = RecvIfcRTL(MemReq)
        s.ostream = SendIfcRTL(MemResp)
        s.irq = OutPort()

        s.slave = mk_slave()
        ADDRESS_NBITS = s.slave.s_axi.awaddr._dsl.Type.nbits
        s.master = m = Axi4LiteMaster(ADDRESS_NBITS)
        m.m_axi //= s.slave.s_axi
        s.slave.irq //= s.irq
        m.irq //= 0
        pass_masters(s, s.slave, memory)

        s.beyond = Wire()
        s.refuses = Wire()

        m.istream.msg.write //= s.istream.msg.write
        m.istream.msg.wait_for_irq //= 0
        m.istream.msg.address //= s.istream.msg.addr[0:ADDRESS_NBITS]
        m.istream.msg.data //= s.istream.msg.data
        m.istream.msg.strobes //= s.istream.msg.strobe

        @update
        def decode():
            s.beyond @= s.istream.msg.addr[ADDRESS_NBITS:BUS_NBITS] != 0

        @update
        def requests():
            s.istream.rdy @= s.master.istream.rdy & ~s.refuses
            s.master.istream.val @= s.istream.val & ~s.beyond & ~s.refuses

        @update
        def answers():
            s.master.ostream.rdy @= s.ostream.rdy
            s.ostream.val @= s.master.ostream.val | s.refuses
            s.ostream.msg.error @= s.master.ostream.msg.fault | s.refuses
            s.ostream.msg.data @= s.master.ostream.msg.data

        @update_ff
        def control():
            if s.reset:
                s.refuses <<= 0
            elif s.refuses:
                s.refuses <<= ~s.ostream.rdy
            else:
                s.refuses <<= s.istream.val & s.istream.rdy & s.beyond

    def line_trace(s):
        return f"{s.master.line_trace()}{s.slave.line_trace()}"
