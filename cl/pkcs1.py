"""Pkcs1UnpadCL: the cycle-level model of PKCS#1 v1.5 unpadding, a byte in each cycle."""

from ..fl.pkcs1 import FRAME, LEAST_PADDING, Kind, Opened, nbytes_of
from ..rtl.messages import mk_unpad_req, mk_unpad_resp
from .one_at_a_time import OneAtATimeCL, counted


def unpad_steps(kind, em, nbytes, fallback=None):
    """The message in an encoding, or the length and message of `fallback`."""
    good, in_message, length, message = True, False, 0, 0
    yield  # the encoding is stored
    for place, byte in enumerate(em.to_bytes(nbytes, "big")):
        if in_message:
            length, message = length + 1, message << 8 | byte
        elif place < FRAME - 1:
            good = good and byte == (0, kind)[place]
        elif byte == 0:
            good, in_message = good and place >= FRAME - 1 + LEAST_PADDING, True
        elif kind is Kind.SIGN:
            good = good and byte == 0xFF
        yield
    good = good and in_message
    yield  # the message is kept or replaced
    if fallback is None:
        return Opened(good, length, message) if good else Opened(False, 0, 0)
    wanted, other = fallback
    return Opened(True, wanted, message if good and length == wanted else other)


def Pkcs1UnpadCL(nbits, implicit=False):
    """The model of Pkcs1Unpad."""
    Response = mk_unpad_resp(nbits)

    def serve(msg, _):
        fallback = (int(msg.length), int(msg.fallback)) if implicit else None
        kind = Kind.SIGN if msg.sign else Kind.ENCRYPT
        found, cycles = counted(unpad_steps(kind, int(msg.em), nbytes_of(nbits), fallback))
        return Response(int(found.good), found.length, found.message), cycles

    return OneAtATimeCL(mk_unpad_req(nbits, implicit), Response, serve, False)
