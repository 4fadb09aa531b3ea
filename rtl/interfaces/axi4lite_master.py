"""Axi4LiteMaster: an AXI4-Lite master that executes the accesses of a stream one at a time, for testbenches
and for the processor's bus.

Ports: istream {write, wait, address, data, strobes} -> ostream {write, data, fault}; m_axi, the bus; irq.
With `wait` nothing goes to the bus: the answer comes with the interrupt. Address and data of a write are
offered together. With an address `polled`, the first access waits until bit 0 of the word there, the slave's
busy bit, is 0. Cycles: an access to a slave that answers at once takes 4.
"""

from pymtl3 import *

from ...fl.axi4lite import ADDRESS_NBITS, OKAY
from ...fl.xcel import WORD_NBITS
from ..messages import declare_streams, mk_bus_req, mk_bus_resp
from ..states import states
from .axi4lite_ifc import Axi4LiteIfc

IDLE, WRITE, ANSWERED, READ, DATA, SLEEP, DONE = map(b3, range(7))


class Axi4LiteMaster(Component):
    def construct(s, address_nbits=ADDRESS_NBITS, polled=None):
        declare_streams(s, mk_bus_req(address_nbits), mk_bus_resp())
        s.m_axi = Axi4LiteIfc(OutPort, InPort, address_nbits)
        s.irq = InPort()

        s.st, s.after_read = Wire(3), Wire(3)
        states(s.st, s.after_read, IDLE=0, WRITE=1, ANSWERED=2, READ=3, DATA=4, SLEEP=5, DONE=6)
        s.req = Wire(mk_bus_req(address_nbits))
        s.data = Wire(WORD_NBITS)
        s.fault = Wire()
        s.aw_left = Wire()
        s.w_left = Wire()

        s.polls = Wire()
        s.m_axi.awaddr //= s.req.address
        s.m_axi.wdata //= s.req.data
        s.m_axi.wstrb //= s.req.strobes
        s.ostream.msg.write //= s.req.write
        s.ostream.msg.data //= s.data
        s.ostream.msg.fault //= s.fault

        if polled is None:
            s.polls //= 0
            s.after_read //= DONE
            s.m_axi.araddr //= s.req.address
        else:
            s.poll(polled)
        s.add_handshakes()
        s.add_controller(IDLE if polled is None else READ)
        s.add_registers()

    def add_handshakes(s):
        """Address and data of a write are offered until each has been accepted."""

        @update
        def handshakes():
            s.istream.rdy @= s.st == IDLE
            s.ostream.val @= s.st == DONE
            s.m_axi.awvalid @= (s.st == WRITE) & s.aw_left
            s.m_axi.wvalid @= (s.st == WRITE) & s.w_left
            s.m_axi.bready @= s.st == ANSWERED
            s.m_axi.arvalid @= s.st == READ
            s.m_axi.rready @= s.st == DATA

    def add_controller(s, FIRST):
        """The states of an access; FIRST: the state after reset."""

        @update_ff
        def control():
            if s.reset:
                s.st <<= FIRST
            elif s.st == IDLE:
                if s.istream.val:
                    s.st <<= READ
                    if s.istream.msg.wait_for_irq:
                        s.st <<= SLEEP
                    elif s.istream.msg.write:
                        s.st <<= WRITE
            elif s.st == WRITE:
                if (s.m_axi.awready | ~s.aw_left) & (s.m_axi.wready | ~s.w_left):
                    s.st <<= ANSWERED
            elif s.st == ANSWERED:
                if s.m_axi.bvalid:
                    s.st <<= DONE
            elif s.st == READ:
                if s.m_axi.arready:
                    s.st <<= DATA
            elif s.st == DATA:
                if s.m_axi.rvalid:
                    s.st <<= s.after_read
            elif s.st == SLEEP:
                if s.irq:
                    s.st <<= DONE
            elif s.ostream.rdy:
                s.st <<= IDLE

    def add_registers(s):
        """The request, the channels that have yet to accept it, and the response."""

        @update_ff
        def payloads():
            if s.st == IDLE:
                s.req <<= s.istream.msg
                s.data <<= 0
                s.fault <<= 0
                s.aw_left <<= 1
                s.w_left <<= 1
            elif s.st == WRITE:
                if s.m_axi.awready:
                    s.aw_left <<= 0
                if s.m_axi.wready:
                    s.w_left <<= 0
            elif s.st == ANSWERED:
                s.fault <<= s.m_axi.bresp != OKAY
            elif s.st == DATA:
                s.data <<= s.m_axi.rdata
                s.fault <<= s.m_axi.rresp != OKAY

    def poll(s, polled):
        """Read the slave's status after reset, until it is not busy."""
        POLLED = mk_bits(s.m_axi.araddr._dsl.Type.nbits)(polled)

        @update
        def address_of_read():
            s.m_axi.araddr @= s.req.address
            if s.polls:
                s.m_axi.araddr @= POLLED

        @update
        def after_a_read():
            s.after_read @= DONE
            if s.polls:
                s.after_read @= READ if s.m_axi.rdata[0] else IDLE

        @update_ff
        def polls_after_reset():
            if s.reset:
                s.polls <<= 1
            elif s.st == IDLE:
                s.polls <<= 0

    def line_trace(s):
        return ".w?r<z!"[int(s.st)]
