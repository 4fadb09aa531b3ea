"""Axi4Memory: the bus and the memory behind an AXI4 master in simulation, by a memory port of the same width.

One access at a time. A write reads the word, merges the bytes that have a strobe, and writes it back.

Ports: s_axi; port {PyMTL3's memory messages}. Cycles: 4 a read, 6 a write, if the memory answers at once.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import MasterIfcRTL

from ...fl.memory import READ, WRITE
from .axi4_ifc import OKAY, SLVERR, Axi4Ifc


class Axi4Memory(Component):
    def construct(s, Request, Response):
        s.port = MasterIfcRTL(Request, Response)
        nbits = Request.get_field_type("data").nbits
        nbytes = nbits // 8
        s.s_axi = Axi4Ifc(InPort, OutPort, nbits)
        IDLE, ASK, GET, ASK_WRITE, GET_WRITE, ANSWER = (b3(i) for i in range(6))

        s.state = Wire(3)
        s.writes = Wire()
        s.address = Wire(32)
        s.data = Wire(nbits)
        s.strobes = Wire(nbytes)
        s.mask = Wire(nbits)
        s.word = Wire(nbits)
        s.error = Wire()
        s.takes_write = Wire()
        for i in range(nbytes):
            for bit in range(8 * i, 8 * i + 8):
                s.mask[bit] //= s.strobes[i]
        s.port.req.msg.addr //= s.address
        s.port.req.msg.len //= 0
        s.port.req.msg.opaque //= 0
        s.s_axi.rdata //= s.word
        s.s_axi.rlast //= 1

        s.add_datapath(IDLE, GET)
        s.add_handshakes(IDLE, ASK, GET, ASK_WRITE, GET_WRITE, ANSWER)

        @update_ff
        def control():
            if s.reset:
                s.state <<= IDLE
            elif s.state == IDLE:
                if s.s_axi.arvalid | s.takes_write:
                    s.state <<= ASK
            elif s.state == ASK:
                if s.port.req.rdy:
                    s.state <<= GET
            elif s.state == GET:
                if s.port.resp.val:
                    s.state <<= ASK_WRITE if s.writes else ANSWER
            elif s.state == ASK_WRITE:
                if s.port.req.rdy:
                    s.state <<= GET_WRITE
            elif s.state == GET_WRITE:
                if s.port.resp.val:
                    s.state <<= ANSWER
            elif (s.s_axi.rvalid & s.s_axi.rready) | (s.s_axi.bvalid & s.s_axi.bready):
                s.state <<= IDLE

    def add_handshakes(s, IDLE, ASK, GET, ASK_WRITE, GET_WRITE, ANSWER):
        """The channels of the bus, and the request to the memory."""

        @update
        def handshakes():
            s.takes_write @= (s.state == IDLE) & s.s_axi.awvalid & s.s_axi.wvalid & ~s.s_axi.arvalid
            s.s_axi.arready @= s.state == IDLE
            s.s_axi.awready @= s.takes_write
            s.s_axi.wready @= s.takes_write
            s.s_axi.rvalid @= (s.state == ANSWER) & ~s.writes
            s.s_axi.bvalid @= (s.state == ANSWER) & s.writes
            s.s_axi.rresp @= SLVERR if s.error else OKAY
            s.s_axi.bresp @= SLVERR if s.error else OKAY
            s.port.req.val @= (s.state == ASK) | (s.state == ASK_WRITE)
            s.port.resp.rdy @= (s.state == GET) | (s.state == GET_WRITE)

        @update
        def request():
            s.port.req.msg.type_ @= WRITE if s.state == ASK_WRITE else READ
            s.port.req.msg.data @= (s.word & ~s.mask) | (s.data & s.mask)

    def add_datapath(s, IDLE, GET):
        """The access, and the word that it reads."""

        @update_ff
        def datapath():
            if s.state == IDLE:
                s.writes <<= ~s.s_axi.arvalid
                s.address <<= s.s_axi.araddr if s.s_axi.arvalid else s.s_axi.awaddr
                s.data <<= s.s_axi.wdata
                s.strobes <<= s.s_axi.wstrb
                s.error <<= 0
            elif s.port.resp.val & s.port.resp.rdy:
                s.error <<= s.error | (s.port.resp.msg.test != 0)
                if s.state == GET:
                    s.word <<= s.port.resp.msg.data

    def line_trace(s):
        return f"{s.state}"
