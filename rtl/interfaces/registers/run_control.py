"""RunControl: starts the computations of a bus slave, and clears its machine on zeroise.

After zeroise the computation that runs goes on to its end without an answer, and then the machine computes on
constants, so that nothing is left in it.

Ports: start, zeroise; req, resp, the handshakes of the machine's streams; busy; wiping: the
request overwrites; counting: a computation runs that will be answered; ends: its response is there;
wiped: the machine is overwritten.
"""

from pymtl3 import *

from ...messages import HandshakeIfc
from .request_control import RequestControl


class RunControl(Component):
    """Starts the computations of a slave, and overwrites the machine when software zeroises it."""

    UNREAD = (("wiping", "a machine whose request is not wiped has no use for it"),)

    def construct(s):
        s.start = InPort()
        s.zeroise = InPort()
        s.req = HandshakeIfc(OutPort, InPort)
        s.resp = HandshakeIfc(InPort, OutPort)
        s.busy = OutPort()
        s.wiping = OutPort()
        s.counting = OutPort()
        s.ends = OutPort()
        s.wiped = OutPort()

        s.requests = requests = RequestControl()
        requests.req //= s.req
        requests.resp //= s.resp
        s.wants_wiping = Wire()
        s.dropped = Wire()  # the running computation was zeroised and is not answered
        s.answered = Wire()
        s.assertions = {"WipesWhileItRuns": "!(wiping || dropped) || requests__busy"}

        @update
        def starts():
            s.requests.start @= s.start | s.wants_wiping
            s.busy @= s.requests.busy | s.wants_wiping

        @update
        def events():
            s.answered @= ~s.dropped & ~s.wiping
            s.counting @= s.busy & s.answered & ~s.wants_wiping
            s.ends @= s.requests.ends & s.answered & ~s.zeroise
            s.wiped @= s.requests.ends & s.wiping & ~s.wants_wiping & ~s.zeroise

        @update_ff
        def zeroised():
            if s.reset:
                s.wants_wiping <<= 0
                s.wiping <<= 0
                s.dropped <<= 0
            else:
                if s.zeroise:
                    s.wants_wiping <<= 1
                elif ~s.requests.busy:
                    s.wants_wiping <<= 0
                if ~s.requests.busy:
                    s.wiping <<= s.wants_wiping
                elif s.requests.ends:
                    s.wiping <<= 0
                if s.requests.ends:
                    s.dropped <<= 0
                elif s.zeroise & s.busy:
                    s.dropped <<= 1

    def line_trace(s):
        return s.requests.line_trace()
