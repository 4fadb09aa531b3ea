"""Components with memory ports for tests."""

from modexlab.fl.memory import MemoryPort
from modexlab.rtl.messages import mk_message
from pymtl3 import Component, Wire, b3, update, update_ff
from pymtl3.stdlib.mem import mk_mem_msg
from pymtl3.stdlib.stream.ifcs import MasterIfcRTL, RecvIfcRTL, SendIfcRTL

COPY = (("source", 32), ("target", 32), ("n", 16))
DONE = (("n", 16),)


def ports_of_copy(nbits):
    """The memory ports of CopyRTL in a shape; not in the order of the component."""
    return MemoryPort("target", nbits), MemoryPort("source", nbits, writes=False)


class CopyRTL(Component):
    """Copies n words by two ports, with as many requests on the way as the memory accepts."""

    def construct(s, nbits, opaque_nbits=8):
        s.istream = RecvIfcRTL(mk_message("CopyRequest", COPY))
        s.ostream = SendIfcRTL(mk_message("CopyResponse", DONE))
        messages = mk_mem_msg(opaque_nbits, 32, nbits)
        s.source = MasterIfcRTL(*messages)
        s.target = MasterIfcRTL(*messages)
        nbytes = nbits // 8

        s.busy = Wire()
        s.n = Wire(16)
        s.asked = Wire(16)
        s.sent = Wire(16)
        s.written = Wire(16)
        s.from_ = Wire(32)
        s.to = Wire(32)
        s.ostream.msg.n //= s.n
        s.source.req.msg.type_ //= 0
        s.source.req.msg.len //= 0
        s.source.req.msg.data //= 0
        s.source.req.msg.addr //= s.from_
        s.target.req.msg.type_ //= 1
        s.target.req.msg.len //= 0
        s.target.req.msg.opaque //= 0
        s.target.req.msg.addr //= s.to
        s.target.req.msg.data //= s.source.resp.msg.data
        s.source.req.msg.opaque //= s.asked[0:opaque_nbits]

        @update
        def handshakes():
            s.istream.rdy @= ~s.busy
            s.ostream.val @= s.busy & (s.written == s.n)
            s.source.req.val @= s.busy & (s.asked != s.n)
            # an answer must have the number of its request
            s.target.req.val @= s.source.resp.val & (s.source.resp.msg.opaque == s.sent[0:opaque_nbits])
            s.source.resp.rdy @= s.target.req.rdy
            s.target.resp.rdy @= s.busy

        @update_ff
        def move():
            if s.reset:
                s.busy <<= 0
            elif s.istream.val & s.istream.rdy:
                s.busy <<= 1
                s.n <<= s.istream.msg.n
                s.from_ <<= s.istream.msg.source
                s.to <<= s.istream.msg.target
                s.asked <<= 0
                s.sent <<= 0
                s.written <<= 0
            else:
                if s.ostream.val & s.ostream.rdy:
                    s.busy <<= 0
                if s.source.req.val & s.source.req.rdy:
                    s.asked <<= s.asked + 1
                    s.from_ <<= s.from_ + nbytes
                if s.target.req.val & s.target.req.rdy:
                    s.sent <<= s.sent + 1
                    s.to <<= s.to + nbytes
                if s.target.resp.val & s.target.resp.rdy:
                    s.written <<= s.written + 1

    def line_trace(s):
        return f"{s.asked} {s.sent} {s.written}"


ASK = (("kind", 4), ("len", 2), ("address", 32), ("data", 32), ("late", 1))
ANSWER = (("data", 32),)


class OneAccessRTL(Component):
    """Makes one access as the request says; `late`: answers before it, and `lost` never takes the answer of
    the memory. With `fickle`, the address changes while the memory is not ready.
    """

    def construct(s, lost=False, fickle=False):
        s.istream = RecvIfcRTL(mk_message("AskRequest", ASK))
        s.ostream = SendIfcRTL(mk_message("AskResponse", ANSWER))
        s.mem = MasterIfcRTL(*mk_mem_msg(8, 32, 32))
        IDLE, EARLY, ASKS, WAITS, ENDS = (b3(i) for i in range(5))
        s.state = Wire(3)
        s.asked = Wire(mk_message("AskRequest", ASK))
        s.address = Wire(32)
        s.found = Wire(32)
        s.drift = Wire(32)
        s.drift //= 4 if fickle else 0
        s.takes = Wire()
        s.takes //= int(not lost)
        s.mem.req.msg.opaque //= 0
        s.mem.req.msg.type_ //= s.asked.kind
        s.mem.req.msg.len //= s.asked.len
        s.mem.req.msg.addr //= s.address
        s.mem.req.msg.data //= s.asked.data
        s.ostream.msg.data //= s.found

        @update
        def handshakes():
            s.istream.rdy @= s.state == IDLE
            s.mem.req.val @= s.state == ASKS
            s.mem.resp.rdy @= (s.state == WAITS) & s.takes
            s.ostream.val @= (s.state == ENDS) | (s.state == EARLY)

        @update_ff
        def move():
            if s.reset:
                s.state <<= IDLE
            elif s.state == IDLE:
                s.asked <<= s.istream.msg
                s.address <<= s.istream.msg.address
                if s.istream.val:
                    s.state <<= EARLY if s.istream.msg.late else ASKS
            elif s.state == EARLY:
                if s.ostream.rdy:
                    s.state <<= ASKS
            elif s.state == ASKS:
                s.address <<= s.address + s.drift
                if s.mem.req.rdy:
                    s.state <<= WAITS
            elif s.state == WAITS:
                if s.mem.resp.val & s.mem.resp.rdy:
                    s.found <<= s.mem.resp.msg.data
                    s.state <<= IDLE if s.asked.late else ENDS
            elif s.ostream.rdy:
                s.state <<= IDLE

    def line_trace(s):
        return f"{s.state}"
