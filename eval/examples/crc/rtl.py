"""CRCRTL: CRC-32 of IEEE 802.3 (reflected, polynomial 0xEDB88320), one bit per cycle.

Ports: istream {first, data} -> ostream {crc}. Cycles: 9. `first` starts a new message.
"""

from modexlab.rtl.messages import mk_message
from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

POLYNOMIAL = 0xEDB88320
ONES = 0xFFFFFFFF


class CRCRTL(Component):
    def construct(s):
        s.istream = RecvIfcRTL(mk_message("CRCRequest", (("first", 1), ("data", 8))))
        s.ostream = SendIfcRTL(mk_message("CRCResponse", (("crc", 32),)))
        IDLE, SHIFT, DONE = (b2(i) for i in range(3))

        s.state = Wire(2)
        s.count = Wire(3)
        s.crc = Wire(32)  # before the final inversion
        s.start = Wire(32)
        s.next = Wire(32)

        @update
        def handshakes():
            s.istream.rdy @= s.state == IDLE
            s.ostream.val @= s.state == DONE
            s.ostream.msg.crc @= ~s.crc

        @update
        def shift():
            s.start @= s.crc
            if s.istream.msg.first:
                s.start @= ONES
            s.next @= s.crc >> 1
            if s.crc[0]:
                s.next @= (s.crc >> 1) ^ POLYNOMIAL

        @update_ff
        def control():
            if s.reset:
                s.state <<= IDLE
            elif s.state == IDLE:
                s.count <<= 7
                if s.istream.val:
                    s.state <<= SHIFT
            elif s.state == SHIFT:
                s.count <<= s.count - 1
                if s.count == 0:
                    s.state <<= DONE
            elif s.ostream.rdy:
                s.state <<= IDLE

        @update_ff
        def datapath():
            if s.reset:
                s.crc <<= ONES
            elif (s.state == IDLE) & s.istream.val:
                s.crc <<= s.start ^ zext(s.istream.msg.data, 32)
            elif s.state == SHIFT:
                s.crc <<= s.next

    def line_trace(s):
        return f"{s.istream}({s.crc}){s.ostream}"
