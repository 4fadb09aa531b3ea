"""MessagePadder: pads a message for encryption (rtl/units/padding/pkcs1_pad.py) with random bytes whose
health is tested. A message that is too long is cut.

Ports: message, length in bytes, valid while req.val is 1; random, a stream of bytes -> padded {status,
em}; failed: there is no encoding.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ....fl.pkcs1 import Padded, longest
from ...messages import HandshakeIfc, connect_handshake, mk_pad_resp
from ...units.padding.pkcs1_pad import Pkcs1Pad
from ...units.padding.random_health import RandomHealth


class MessagePadder(Component):
    def construct(s, nbits, startup):
        nbytes = nbits // 8
        s.req = HandshakeIfc(InPort, OutPort)
        s.message = InPort(nbits)
        s.length = InPort(clog2(nbytes + 1))
        s.random = RecvIfcRTL(Bits8)
        s.resp = SendIfcRTL(mk_pad_resp(nbits))
        s.failed = OutPort()

        s.health = health = RandomHealth(8, startup)
        s.pad = pad = Pkcs1Pad(nbits)
        health.istream //= s.random
        health.ostream //= pad.random
        health.failed //= pad.random_failed
        connect_handshake(pad.istream, s.req)
        pad.istream.msg.sign //= 0
        pad.istream.msg.message //= s.message
        pad.ostream //= s.resp

        PAD_NBITS, LONGEST, OK = clog2(nbytes), longest(nbytes), Padded.OK
        s.clipped = Wire(PAD_NBITS)
        pad.istream.msg.length //= s.clipped

        @update
        def clip():
            s.clipped @= LONGEST
            if s.length < LONGEST:
                s.clipped @= s.length[0:PAD_NBITS]
            s.failed @= s.resp.val & (s.pad.ostream.msg.status != OK)
