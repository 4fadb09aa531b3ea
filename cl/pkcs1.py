"""Pkcs1UnpadCL: the cycle-level twin of PKCS#1 v1.5 unpadding, which takes k + 2 cycles for any encoding."""

from ..fl.pkcs1 import Kind, nbytes_of, unpad
from ..rtl.messages import mk_unpad_req, mk_unpad_resp
from .one_at_a_time import OneAtATimeCL


def Pkcs1UnpadCL(nbits, implicit=False):
    """The twin of Pkcs1Unpad."""
    nbytes = nbytes_of(nbits)
    Response = mk_unpad_resp(nbits)

    def serve(msg, _):
        fallback = (int(msg.length), int(msg.fallback)) if implicit else None
        found = unpad(Kind.SIGN if msg.sign else Kind.ENCRYPT, int(msg.em), nbytes, fallback)
        return Response(int(found.good), found.length, found.message), nbytes + 2

    return OneAtATimeCL(mk_unpad_req(nbits, implicit), Response, serve, False)
