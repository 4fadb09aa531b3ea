"""RequestControl: sends the requests of a register interface to a machine, one operation at a time.

    IDLE  -- start --> SEND
    SEND  a request is offered -- it is accepted --> RUN
    RUN   -- the response is there --> IDLE

Ports: start; req, resp, the handshakes of the machine's streams; busy; ends: there is a response.
"""

from pymtl3 import *

from ...messages import HandshakeIfc
from ...states import state_name, states


class RequestControl(Component):
    """Sends one request at a time to a machine and waits for its response."""

    def construct(s):
        s.start = InPort()
        s.req = HandshakeIfc(OutPort, InPort)
        s.resp = HandshakeIfc(InPort, OutPort)
        s.busy = OutPort()
        s.ends = OutPort()

        s.st = Wire(2)
        IDLE, SEND, RUN = states(s.st, IDLE=0, SEND=1, RUN=2)

        @update
        def outputs():
            s.busy @= s.st != IDLE
            s.req.val @= s.st == SEND
            s.resp.rdy @= s.st == RUN
            s.ends @= (s.st == RUN) & s.resp.val

        @update_ff
        def control():
            if s.reset:
                s.st <<= IDLE
            elif s.st == IDLE:
                if s.start:
                    s.st <<= SEND
            elif s.st == SEND:
                if s.req.rdy:
                    s.st <<= RUN
            elif s.resp.val:
                s.st <<= IDLE

    def line_trace(s):
        return f"{state_name(s, s.st):4}"
