"""A third-party interface for tests: operands arrive in another order, and the result precedes its status."""

from modexlab.fl.status import STATUS_NBITS
from pymtl3 import Component, mk_bits, mk_bitstruct
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL


def mk_swapped_req(nbits):
    return mk_bitstruct(f"SwappedReq_{nbits}", {name: mk_bits(nbits) for name in ("mod", "exp", "base")})


def mk_swapped_resp(nbits):
    return mk_bitstruct(f"SwappedResp_{nbits}", {"result": mk_bits(nbits), "status": mk_bits(STATUS_NBITS)})


class SwappedStream(Component):
    def construct(s, nbits, mk_machine):
        s.istream = RecvIfcRTL(mk_swapped_req(nbits))
        s.ostream = SendIfcRTL(mk_swapped_resp(nbits))
        s.machine = mk_machine()

        s.istream.val //= s.machine.istream.val
        s.istream.rdy //= s.machine.istream.rdy
        s.istream.msg.base //= s.machine.istream.msg.base
        s.istream.msg.exp //= s.machine.istream.msg.exp
        s.istream.msg.mod //= s.machine.istream.msg.mod
        s.ostream.val //= s.machine.ostream.val
        s.ostream.rdy //= s.machine.ostream.rdy
        s.ostream.msg.status //= s.machine.ostream.msg.status
        s.ostream.msg.result //= s.machine.ostream.msg.result

    def line_trace(s):
        return s.machine.line_trace()
