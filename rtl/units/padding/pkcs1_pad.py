"""Pkcs1Pad: PKCS#1 v1.5 padding (fl/pkcs1.py), one byte per cycle; paper 000, section 4.5.3, uses type 2.

One register holds the message, which leaves at its low end while the encoding enters at its high end.

Ports: istream {sign, length, message} -> ostream {status, em}; random, a stream of bytes, which is read only
for type 2 (sign = 0) and whose zero bytes are discarded; random_failed, a failed health test of the random
source, after which the unit answers at once without an encoding. sign = 1 selects type 1. Cycles: nbytes + 1,
plus one for each cycle in which a padding byte is missing or 0; 1 if the message is too long. They do not
depend on the content of the message. Area order: nbits registers.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL

from ....fl.pkcs1 import Kind, Padded, longest, nbytes_of
from ...messages import declare_streams, mk_pad_req, mk_pad_resp
from ...states import states

IDLE, BYTES, DONE = map(b2, range(3))


class Pkcs1Pad(Component):
    def construct(s, nbits):
        nbytes = nbytes_of(nbits)
        declare_streams(s, mk_pad_req(nbits), mk_pad_resp(nbits))
        s.random = RecvIfcRTL(mk_bits(8))
        s.random_failed = InPort()

        place_nbits = clog2(nbytes)
        s.st = Wire(2)
        states(s.st, IDLE=0, BYTES=1, DONE=2)
        s.octets = Wire(nbits)
        s.place = Wire(place_nbits)  # place of the current byte, from the low end
        s.length = Wire(place_nbits)
        s.sign = Wire()
        s.status = Wire(2)
        s.ostream.msg.status //= s.status
        s.ostream.msg.em //= s.octets

        s.add_octet(nbytes)
        s.add_controller(nbytes)
        s.add_registers(nbits, nbytes)

    def add_octet(s, nbytes):
        """The byte that enters at the high end, which may be a random one."""
        TYPE_PLACE, LAST_PLACE = nbytes - 2, nbytes - 1
        SIGN, ENCRYPT, FILL = Kind.SIGN, Kind.ENCRYPT, 0xFF
        s.octet = Wire(8)
        s.draws = Wire()

        @update
        def choose():
            s.draws @= 0
            s.octet @= 0
            if s.place == TYPE_PLACE:
                s.octet @= SIGN if s.sign else ENCRYPT
            elif s.place == LAST_PLACE:
                s.octet @= 0
            elif s.place < s.length:
                s.octet @= s.octets[0:8]
            elif s.place > s.length:
                s.octet @= FILL
                if ~s.sign:
                    s.octet @= s.random.msg
                    s.draws @= 1

    def add_controller(s, nbytes):
        """The states, and the handshakes of the streams."""
        LONGEST, LAST_PLACE = longest(nbytes), nbytes - 1
        s.steps = Wire()
        s.fails = Wire()

        @update
        def handshakes():
            s.istream.rdy @= s.st == IDLE
            s.ostream.val @= s.st == DONE
            s.fails @= (s.st == BYTES) & ~s.sign & s.random_failed
            s.random.rdy @= (s.st == BYTES) & s.draws & ~s.random_failed
            s.steps @= (s.st == BYTES) & (~s.draws | (s.random.val & (s.random.msg != 0)))

        @update_ff
        def control():
            if s.reset:
                s.st <<= IDLE
            elif s.st == IDLE:
                if s.istream.val:
                    s.st <<= BYTES
                    if s.istream.msg.length > LONGEST:
                        s.st <<= DONE
            elif s.st == BYTES:
                if (s.steps & (s.place == LAST_PLACE)) | s.fails:
                    s.st <<= DONE
            elif s.ostream.rdy:
                s.st <<= IDLE

    def add_registers(s, nbits, nbytes):
        """The message, replaced by its encoding byte by byte; no encoding is left after a failure."""
        LONGEST = longest(nbytes)
        OK, TOO_LONG, NO_RANDOM = Padded

        @update_ff
        def data():
            if s.st == IDLE:
                s.place <<= 0
                s.length <<= s.istream.msg.length
                s.sign <<= s.istream.msg.sign
                s.octets <<= s.istream.msg.message
                s.status <<= OK
                if s.istream.val & (s.istream.msg.length > LONGEST):
                    s.octets <<= 0
                    s.status <<= TOO_LONG
            elif s.fails:
                s.octets <<= 0
                s.status <<= NO_RANDOM
            elif s.steps:
                s.place <<= s.place + 1
                s.octets <<= concat(s.octet, s.octets[8:nbits])

    def line_trace(s):
        return f"{s.istream}({int(s.place)}){s.ostream}"
