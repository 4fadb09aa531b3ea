"""Pkcs1PadCL and Pkcs1UnpadCL: the cycle-level twins of PKCS#1 v1.5 padding, and their formulas.

padding      k + 1 + (cycles without a byte that is wanted) + (bytes that are 0);  1 for a message that is too long
unpadding    k + 2, whatever is in the encoding
"""

from __future__ import annotations

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ..fl.pkcs1 import Kind, Padded, longest, nbytes_of, pad, unpad
from ..rtl.messages import mk_pad_req, mk_pad_resp, mk_unpad_req, mk_unpad_resp
from .one_at_a_time import OneAtATimeCL


def pad_cycles(nbytes: int, length: int, waits: int = 0) -> int:
    """Pkcs1Pad; `waits`: cycles that brought no byte of padding."""
    return 1 if length > longest(nbytes) else nbytes + 1 + waits


def unpad_cycles(nbytes: int) -> int:
    """Pkcs1Unpad."""
    return nbytes + 2


class Pkcs1PadCL(Component):
    def construct(s, nbits):
        s.istream = RecvIfcRTL(mk_pad_req(nbits))
        s.ostream = SendIfcRTL(mk_pad_resp(nbits))
        s.random = RecvIfcRTL(mk_bits(8))
        s.random_failed = InPort()

        s.full = Wire()
        s.left = Wire(32)  # steps before the answer
        s.draws = Wire()
        s.draws_some = Wire()  # this request does
        s.answer = Wire(mk_pad_resp(nbits))
        s.ostream.msg //= s.answer
        s.nbytes = nbytes_of(nbits)
        s.drawn: list[int] = []
        s.wanted = 0
        s.request = Kind.SIGN, 0, 0

        @update
        def handshakes():
            s.istream.rdy @= ~s.full
            s.ostream.val @= s.full & (s.left == 0)
            s.random.rdy @= s.draws & ~s.random_failed

        def take(msg):
            """A request: how many steps it takes, and after how many of them padding is drawn."""
            s.request = Kind.SIGN if msg.sign else Kind.ENCRYPT, int(msg.length), int(msg.message)
            s.drawn = []
            fits = s.request[1] <= longest(s.nbytes)
            s.wanted = s.nbytes - 3 - s.request[1] if fits and not msg.sign else 0
            return pad_cycles(s.nbytes, s.request[1]) - 1

        def finish():
            status, em = pad(*s.request, s.nbytes, iter(s.drawn))
            return mk_pad_resp(nbits)(int(status), em)

        @update_ff
        def work():
            if s.reset:
                s.full <<= 0
                s.draws <<= 0
            elif ~s.full:
                if s.istream.val:
                    left = take(s.istream.msg)
                    s.full <<= 1
                    s.draws_some <<= ~s.istream.msg.sign & (left != 0)
                    s.left <<= left
                    if left == 0:
                        s.answer <<= finish()
            elif s.left == 0:
                if s.ostream.rdy:
                    s.full <<= 0
            elif s.draws_some & s.random_failed:
                s.left <<= 0
                s.draws <<= 0
                s.answer <<= mk_pad_resp(nbits)(int(Padded.NO_RANDOM), 0)
            else:
                left = int(s.left)
                if not s.draws:
                    left -= 1
                elif s.random.val and int(s.random.msg):
                    s.drawn.append(int(s.random.msg))
                    left -= 1
                if left == 0:
                    s.answer <<= finish()
                s.left <<= left
                s.draws <<= int(2 < left <= 2 + s.wanted)

    def line_trace(s):
        return f"{s.istream}({int(s.left) if s.full else ''}){s.ostream}"


def Pkcs1UnpadCL(nbits, implicit=False):
    """The twin of Pkcs1Unpad."""
    nbytes = nbytes_of(nbits)
    Response = mk_unpad_resp(nbits)

    def serve(msg, _):
        fallback = (int(msg.length), int(msg.fallback)) if implicit else None
        found = unpad(Kind.SIGN if msg.sign else Kind.ENCRYPT, int(msg.em), nbytes, fallback)
        return Response(int(found.good), found.length, found.message), unpad_cycles(nbytes)

    return OneAtATimeCL(mk_unpad_req(nbits, implicit), Response, serve, False)
