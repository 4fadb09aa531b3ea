"""Pkcs1Unpad: extracts the message of a PKCS#1 v1.5 encoding (fl/pkcs1.py), one byte per cycle; paper 000,
section 4.5.3, uses type 2.

One register holds the encoding. Its bytes leave at the high end and re-enter at the low end; the bytes up to
the 00 before the message re-enter as 0. One flag collects all errors, and has no visible effect until the
end.

With `implicit`, a message from the caller, with a length that the caller expects, replaces the message of an
invalid encoding (fl/pkcs1.py).

Ports: istream {sign, em}, with implicit {sign, length, fallback, em} -> ostream {good, length, message};
without a message 0. Cycles: nbytes + 2. Constant time: they are the same for every encoding. Area order:
nbits registers, with implicit twice as many.
"""

from pymtl3 import *

from ....fl.pkcs1 import FRAME, LEAST_PADDING, Kind, nbytes_of
from ...messages import declare_streams, mk_unpad_req, mk_unpad_resp
from ...states import states

IDLE, BYTES, JUDGE, DONE = map(b2, range(4))


class Pkcs1Unpad(Component):
    def construct(s, nbits, implicit=False):
        nbytes = nbytes_of(nbits)
        declare_streams(s, mk_unpad_req(nbits, implicit), mk_unpad_resp(nbits))

        PLACE_NBITS = clog2(nbytes)
        TOP = nbits - 8
        s.st = Wire(2)
        states(s.st, IDLE=0, BYTES=1, JUDGE=2, DONE=3)
        s.octets = Wire(nbits)
        s.place = Wire(PLACE_NBITS)  # place of the current byte, from the high end
        s.length = Wire(PLACE_NBITS)
        s.sign = Wire()
        s.in_message = Wire()  # the 00 before the message has passed
        s.wrong = Wire()
        s.good = Wire()
        s.octet = Wire(8)
        s.octet //= s.octets[TOP:nbits]
        s.ostream.msg.good //= s.good
        s.ostream.msg.length //= s.length
        s.ostream.msg.message //= s.octets

        s.check_octet()
        s.add_controller(nbytes)
        s.keep_findings()
        s.open_message(nbits, implicit, PLACE_NBITS, TOP)

    def check_octet(s):
        """Compare a byte with those that its place allows."""
        FIRST_END = FRAME - 1 + LEAST_PADDING  # the first place for the 00 before the message
        SIGN, ENCRYPT, FILL = Kind.SIGN, Kind.ENCRYPT, 0xFF
        s.is_zero = Wire()
        s.is_wrong = Wire()
        s.again = Wire(8)

        @update
        def look():
            s.is_zero @= s.octet == 0
            s.is_wrong @= 0
            if s.place == 0:
                s.is_wrong @= ~s.is_zero
            elif s.place == 1:
                s.is_wrong @= s.octet != SIGN if s.sign else s.octet != ENCRYPT
            elif ~s.in_message:
                s.is_wrong @= s.sign & ~s.is_zero & (s.octet != FILL)
                if s.is_zero & (s.place < FIRST_END):
                    s.is_wrong @= 1
            s.again @= 0
            if s.in_message:
                s.again @= s.octet

    def add_controller(s, nbytes):
        """The states, which no byte influences, and the handshakes."""
        LAST_PLACE = nbytes - 1

        @update
        def handshakes():
            s.istream.rdy @= s.st == IDLE
            s.ostream.val @= s.st == DONE

        # countermeasure UNPADDING_TIME: all encodings pass the same states
        @update_ff
        def control():
            if s.reset:
                s.st <<= IDLE
            elif s.st == IDLE:
                if s.istream.val:
                    s.st <<= BYTES
            elif s.st == BYTES:
                if s.place == LAST_PLACE:
                    s.st <<= JUDGE
            elif s.st == JUDGE:
                s.st <<= DONE
            elif s.ostream.rdy:
                s.st <<= IDLE

    def keep_findings(s):
        """The flags: the message has begun, a byte was wrong."""

        @update_ff
        def notice():
            if s.st == IDLE:
                s.place <<= 0
                s.in_message <<= 0
                s.wrong <<= 0
                s.sign <<= s.istream.msg.sign
            elif s.st == BYTES:
                s.place <<= s.place + 1
                s.wrong <<= s.wrong | s.is_wrong
                if s.is_zero & (s.place > 1):
                    s.in_message <<= 1

    def open_message(s, nbits, implicit, PLACE_NBITS, TOP):
        """Zeros take the place of a message that is not good, with implicit the fallback."""
        s.is_good = Wire()
        s.expected = Wire(PLACE_NBITS)
        s.fallback = Wire(nbits)
        if implicit:

            @update_ff
            def keep_fallback():
                if s.st == IDLE:
                    s.fallback <<= s.istream.msg.fallback
                    s.expected <<= s.istream.msg.length

        else:
            s.expected //= 0
            s.fallback //= 0

        @update
        def judge():
            s.is_good @= ~s.wrong & s.in_message
            if implicit & (s.length != s.expected):
                s.is_good @= 0

        @update_ff
        def data():
            if s.st == IDLE:
                s.octets <<= s.istream.msg.em
                s.length <<= 0
            elif s.st == BYTES:
                s.octets <<= concat(s.octets[0:TOP], s.again)
                s.length <<= s.length + zext(s.in_message, PLACE_NBITS)
            elif s.st == JUDGE:
                if implicit:
                    s.good <<= 1
                else:
                    s.good <<= s.is_good
                s.length <<= s.length if s.is_good else s.expected
                s.octets <<= s.octets if s.is_good else s.fallback

    def line_trace(s):
        return f"{s.istream}({int(s.place)}){s.ostream}"
