"""Axi4Master: a memory port as a master of AXI4, with one beat of the port's width for each access.

An access reads, or writes by strobes, within one aligned word of the bus. AXI4 orders reads and writes among
themselves, not with each other: a read waits until all writes are answered, and a write until all reads are.
Up to DEPTH accesses of one kind are in flight. An access across two words, or of an unknown type, is a read
of the first word, and has test = 1 in its answer, as has one that the bus refuses.

Ports: port {PyMTL3's memory messages}; m_axi. Cycles: 0 beside those of the bus. Area order: DEPTH heads of
requests.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import MinionIfcRTL

from ...fl.memory import READ, WRITE
from ..messages import memory_ports
from .axi4_ifc import INCR, MODIFIABLE, UNPRIVILEGED, Axi4Ifc, declare_buses
from .registers.short_queue import ShortQueue

DEPTH = 4


def declare_masters(s, machine, memory):
    """An AXI4 master for each memory port of a machine, and its bus."""
    ports = memory_ports(machine, memory)
    s.masters = [Axi4Master(port.ReqType, port.RespType) for port in ports]
    for port, master, bus in zip(ports, s.masters, declare_buses(s, memory), strict=True):
        master.port //= port
        bus //= master.m_axi


class Axi4Master(Component):
    def construct(s, Request, Response):
        s.port = MinionIfcRTL(Request, Response)
        nbits = Request.get_field_type("data").nbits
        s.m_axi = Axi4Ifc(OutPort, InPort, nbits)
        nbytes = nbits // 8
        place_nbits = clog2(nbytes)
        opaque_nbits = Request.get_field_type("opaque").nbits

        # of each access in flight: type, wrong, whether it writes, opaque, len, and the place in the word
        s.kept = ShortQueue(4 + 2 + opaque_nbits + 2 * place_nbits, DEPTH)
        s.place = Wire(place_nbits)
        s.length = Wire(place_nbits + 1)  # bytes
        s.wrong = Wire()
        s.writes = Wire()
        s.allowed = Wire()
        s.last_writes = Wire()  # the kind of the accesses in flight
        s.aw_done = Wire()  # one channel of a write has moved before the other
        s.w_done = Wire()
        s.place //= s.port.req.msg.addr[0:place_nbits]

        low = 0
        for signal, width in (
            (s.place, place_nbits),
            (s.port.req.msg.len, place_nbits),
            (s.port.req.msg.opaque, opaque_nbits),
            (s.writes, 1),
            (s.wrong, 1),
            (s.port.req.msg.type_, 4),
        ):
            s.kept.recv.msg[low : low + width] //= signal
            low += width

        s.add_request(nbytes, place_nbits)
        s.add_address(nbits, nbytes, place_nbits)
        s.add_writes()
        s.add_answer(nbits, place_nbits, opaque_nbits)

    def add_request(s, nbytes, place_nbits):
        """The kind of access, and whether it may begin."""
        length_nbits = place_nbits + 1

        @update
        def inspect():
            s.length @= nbytes
            if s.port.req.msg.len != 0:
                s.length @= zext(s.port.req.msg.len, length_nbits)
            s.wrong @= (s.port.req.msg.type_ != READ) & (s.port.req.msg.type_ != WRITE)
            if zext(s.place, length_nbits) > nbytes - s.length:
                s.wrong @= 1
            s.writes @= (s.port.req.msg.type_ == WRITE) & ~s.wrong
            s.allowed @= s.kept.recv.rdy & (~s.kept.send.val | (s.last_writes == s.writes))

    def add_address(s, nbits, nbytes, place_nbits):
        """Both address channels, data and strobes."""
        axi = s.m_axi
        for addr, size in ((axi.awaddr, axi.awsize), (axi.araddr, axi.arsize)):
            addr[place_nbits:32] //= s.port.req.msg.addr[place_nbits:32]
            addr[0:place_nbits] //= 0
            size //= clog2(nbytes)
        for length, burst, cache, prot in (
            (axi.awlen, axi.awburst, axi.awcache, axi.awprot),
            (axi.arlen, axi.arburst, axi.arcache, axi.arprot),
        ):
            length //= 0
            burst //= INCR
            cache //= MODIFIABLE
            prot //= UNPRIVILEGED
        axi.wlast //= 1
        s.ones = Wire(nbytes)
        s.ones //= (1 << nbytes) - 1
        s.spare = Wire(place_nbits + 1)  # bytes of a word that the access leaves
        s.by = Wire(nbytes)
        s.shift = Wire(nbits)

        @update
        def strobes():
            s.spare @= nbytes - s.length
            s.by @= zext(s.spare, nbytes)
            s.m_axi.wstrb @= (s.ones >> s.by) << zext(s.place, nbytes)
            s.shift @= zext(concat(s.place, b3(0)), nbits)
            s.m_axi.wdata @= s.port.req.msg.data << s.shift

    def add_writes(s):
        """Handshakes of requests: a read by one channel, a write by two."""

        @update
        def offer():
            s.m_axi.arvalid @= s.port.req.val & s.allowed & ~s.writes
            s.m_axi.awvalid @= s.port.req.val & s.allowed & s.writes & ~s.aw_done
            s.m_axi.wvalid @= s.port.req.val & s.allowed & s.writes & ~s.w_done

        @update
        def accept():
            s.port.req.rdy @= s.allowed & s.m_axi.arready
            if s.writes:
                s.port.req.rdy @= s.allowed & (s.m_axi.awready | s.aw_done) & (s.m_axi.wready | s.w_done)
            s.kept.recv.val @= s.port.req.val & s.port.req.rdy

        @update_ff
        def progress():
            if s.reset | (s.port.req.val & s.port.req.rdy):
                s.aw_done <<= 0
                s.w_done <<= 0
            else:
                s.aw_done <<= s.aw_done | (s.m_axi.awvalid & s.m_axi.awready)
                s.w_done <<= s.w_done | (s.m_axi.wvalid & s.m_axi.wready)
            if s.port.req.val & s.port.req.rdy:
                s.last_writes <<= s.writes

    def add_answer(s, nbits, place_nbits, opaque_nbits):
        """The answer to the oldest access."""
        head, low = s.kept.send.msg, 2 * place_nbits
        s.out_place = Wire(place_nbits)
        s.out_len = Wire(place_nbits)
        s.out_writes = Wire()
        s.out_wrong = Wire()
        s.out_type = Wire(4)
        s.out_place //= head[0:place_nbits]
        s.out_len //= head[place_nbits:low]
        s.port.resp.msg.opaque //= head[low : low + opaque_nbits]
        s.out_writes //= head[low + opaque_nbits]
        s.out_wrong //= head[low + opaque_nbits + 1]
        s.out_type //= head[low + opaque_nbits + 2 : low + opaque_nbits + 6]
        s.port.resp.msg.type_ //= s.out_type
        s.out_shift = Wire(nbits)
        s.mask_shift = Wire(nbits)
        s.word = Wire(nbits)
        s.full = Wire(nbits)
        s.full //= (1 << nbits) - 1

        @update
        def answer():
            s.out_shift @= zext(concat(s.out_place, b3(0)), nbits)
            s.mask_shift @= zext(concat(s.out_len, b3(0)), nbits)
            s.word @= s.m_axi.rdata >> s.out_shift
            if s.out_len != 0:
                s.word @= (s.m_axi.rdata >> s.out_shift) & ~(s.full << s.mask_shift)
            s.port.resp.msg.len @= 0
            s.port.resp.msg.data @= 0
            s.port.resp.msg.test @= zext(s.m_axi.bresp[1], 2)
            if s.out_type != WRITE:
                s.port.resp.msg.len @= s.out_len
                s.port.resp.msg.data @= s.word
            if ~s.out_writes:
                s.port.resp.msg.test @= zext(s.m_axi.rresp[1] | s.out_wrong, 2)

        @update
        def answers():
            s.m_axi.rready @= s.port.resp.rdy & s.kept.send.val & ~s.out_writes
            s.m_axi.bready @= s.port.resp.rdy & s.kept.send.val & s.out_writes
            s.port.resp.val @= s.kept.send.val & s.m_axi.rvalid
            if s.out_writes:
                s.port.resp.val @= s.kept.send.val & s.m_axi.bvalid
            s.kept.send.rdy @= s.port.resp.val & s.port.resp.rdy

    def line_trace(s):
        return f"{s.kept.line_trace()}"
