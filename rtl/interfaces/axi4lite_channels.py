"""Axi4LiteChannels: the five channels of an AXI4-Lite slave, a queue each, and register accesses behind them.

The channels are independent: address and data of a write may come in any order, and reads go on beside
writes. An access is done when its response can be kept: one write and one read every two cycles, at most.

Ports: s_axi, the bus. In a cycle with wen the register at word waddr is written: wmask selects the bytes of
wdata, which is 0 elsewhere. Reads have no effect: rdata follows raddr. With werror or rerror the response is
SLVERR. While `hold` is 1, a write waits.
"""

from pymtl3 import *

from ...fl.axi4lite import ADDRESS_NBITS, OKAY, SLVERR
from ...fl.xcel import WORD_NBITS
from ..messages import connect_fields
from .axi4lite_ifc import STROBE_NBITS, Axi4LiteIfc
from .registers.channel_queues import RequestQueue, ResponseQueue


def connect_registers(s):
    """The bus of a slave `s`, its s.channels, and the registers behind them, s.writes and s.reads."""
    channels, writes, reads = s.channels, s.writes, s.reads
    channels.s_axi //= s.s_axi
    connect_fields(writes, channels, "wen", "waddr", "wdata", "wmask")
    writes.error //= channels.werror
    reads.raddr //= channels.raddr
    reads.rdata //= channels.rdata
    reads.error //= channels.rerror


class Axi4LiteChannels(Component):
    def construct(s, address_nbits=ADDRESS_NBITS):
        word_address_nbits = address_nbits - 2
        s.s_axi = Axi4LiteIfc(InPort, OutPort, address_nbits)
        s.hold = InPort()
        s.wen = OutPort()
        s.waddr = OutPort(word_address_nbits)
        s.wdata = OutPort(WORD_NBITS)
        s.wmask = OutPort(WORD_NBITS)
        s.werror = InPort()
        s.raddr = OutPort(word_address_nbits)
        s.rdata = InPort(WORD_NBITS)
        s.rerror = InPort()

        s.aw = RequestQueue(word_address_nbits)
        s.w = RequestQueue(STROBE_NBITS + WORD_NBITS)
        s.b = ResponseQueue(2)
        s.ar = RequestQueue(word_address_nbits)
        s.r = ResponseQueue(2 + WORD_NBITS)  # a response, and data

        s.connect_write_channels(address_nbits)
        s.add_write()
        s.connect_read_channels(address_nbits)
        s.add_read_response()

    def connect_write_channels(s, address_nbits):
        """The queues of the channels AW, W and B."""
        axi, aw, w, b = s.s_axi, s.aw, s.w, s.b
        aw.recv.val //= axi.awvalid
        aw.recv.rdy //= axi.awready
        aw.recv.msg //= axi.awaddr[2:address_nbits]
        w.recv.val //= axi.wvalid
        w.recv.rdy //= axi.wready
        w.recv.msg[WORD_NBITS : WORD_NBITS + STROBE_NBITS] //= axi.wstrb
        w.recv.msg[0:WORD_NBITS] //= axi.wdata
        b.send.val //= axi.bvalid
        b.send.rdy //= axi.bready
        b.send.msg //= axi.bresp

        aw.send.rdy //= s.wen
        w.send.rdy //= s.wen
        b.recv.val //= s.wen
        s.waddr //= aw.send.msg

    def add_write(s):
        """A register access when address and data are there and the response fits in its queue."""

        @update
        def write():
            s.wen @= s.aw.send.val & s.w.send.val & s.b.recv.rdy & ~s.hold
            s.b.recv.msg @= OKAY
            if s.werror:
                s.b.recv.msg @= SLVERR

        s.strobes = Wire(STROBE_NBITS)
        s.strobes //= s.w.send.msg[WORD_NBITS : WORD_NBITS + STROBE_NBITS]

        @update
        def select_bytes():
            for lane in range(STROBE_NBITS):
                for k in range(8):
                    s.wmask[8 * lane + k] @= s.strobes[lane]

        @update
        def write_data():
            s.wdata @= s.w.send.msg[0:WORD_NBITS] & s.wmask

    def connect_read_channels(s, address_nbits):
        """The queues of the channels AR and R; a read is done when its response fits in the queue of R."""
        axi, ar, r = s.s_axi, s.ar, s.r
        ar.recv.val //= axi.arvalid
        ar.recv.rdy //= axi.arready
        ar.recv.msg //= axi.araddr[2:address_nbits]
        r.send.val //= axi.rvalid
        r.send.rdy //= axi.rready
        r.send.msg[WORD_NBITS : WORD_NBITS + 2] //= axi.rresp
        r.send.msg[0:WORD_NBITS] //= axi.rdata

        ar.send.rdy //= r.recv.rdy
        r.recv.val //= ar.send.val
        s.raddr //= ar.send.msg
        r.recv.msg[0:WORD_NBITS] //= s.rdata

    def add_read_response(s):
        """OKAY, or SLVERR if the register cannot be read."""
        s.response = Wire(2)
        s.r.recv.msg[WORD_NBITS : WORD_NBITS + 2] //= s.response

        @update
        def respond_to_read():
            s.response @= OKAY
            if s.rerror:
                s.response @= SLVERR
