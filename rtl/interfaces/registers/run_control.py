"""RunControl: starts the computations of a bus slave, and overwrites its machine after reset and on zeroise.

    CLEAR   the operands become 0
    SETTLE  they are 0 in the next cycle --> WIPE, or IDLE after reset if the machine is not to be overwritten
    WIPE    a request of constants is offered -- it is accepted --> WIPING
    WIPING  -- the machine answers --> IDLE
    IDLE    -- start --> SEND, -- zeroise --> CLEAR
    SEND    the request is offered -- it is accepted --> RUN
    RUN     -- the machine answers --> HELD, or CLEAR if the computation was zeroised
    HELD    the machine holds its answer -- start --> SEND, -- zeroise --> CLEAR

Reset leads to CLEAR, so that no key stays in the slave or in its machine. A machine that keeps a state from
request to request is not `wiped_after_reset`: it would begin in another state than that of its own reset.

Ports: start, zeroise; req, resp, the handshakes of the machine's streams; busy; resetting: busy since reset;
clear: the operands become 0; wiping: the request overwrites; counting: a computation runs that will be
answered; ends: its response is there; wiped: the machine is overwritten, as software has asked.
"""

from pymtl3 import *

from ...messages import HandshakeIfc
from ...states import state_name, states

CLEAR, SETTLE, WIPE, WIPING, IDLE, SEND, RUN, HELD = map(b3, range(8))


class RunControl(Component):
    """Starts the computations of a slave, and overwrites the machine after reset and on zeroise."""

    UNREAD = (("wiping", "a machine whose request is not wiped has no use for it"),)

    def construct(s, wiped_after_reset):
        s.start = InPort()
        s.zeroise = InPort()
        s.req = HandshakeIfc(OutPort, InPort)
        s.resp = HandshakeIfc(InPort, OutPort)
        s.busy = OutPort()
        s.resetting = OutPort()
        s.clear = OutPort()
        s.wiping = OutPort()
        s.counting = OutPort()
        s.ends = OutPort()
        s.wiped = OutPort()

        s.st = Wire(3)
        states(s.st, CLEAR=0, SETTLE=1, WIPE=2, WIPING=3, IDLE=4, SEND=5, RUN=6, HELD=7)
        s.zeroised = Wire()  # since the computation began
        s.drops = Wire()  # the computation that runs is not answered
        s.spares = Wire()  # the machine is not overwritten
        s.spares //= 0 if wiped_after_reset else s.resetting
        s.assertions = {"AnswerIsHeld": "st != HELD || resp__val"}

        s.add_outputs()
        s.add_controller()

    def add_outputs(s):
        """The handshakes of the machine, and the phases of a computation."""

        @update
        def handshakes():
            s.drops @= s.zeroised | s.zeroise
            s.req.val @= (s.st == SEND) | (s.st == WIPE)
            s.resp.rdy @= s.st == WIPING
            if s.st == RUN:
                s.resp.rdy @= s.drops
            elif s.st == HELD:
                s.resp.rdy @= s.start | s.zeroise

        @update
        def outputs():
            s.busy @= (s.st != IDLE) & (s.st != HELD)
            s.clear @= (s.st == CLEAR) | (s.st == SETTLE)
            s.wiping @= (s.st == WIPE) | (s.st == WIPING)
            s.counting @= ((s.st == SEND) | (s.st == RUN)) & ~s.zeroised
            s.ends @= (s.st == RUN) & s.resp.val & ~s.drops
            s.wiped @= (s.st == WIPING) & s.resp.val & ~s.resetting

    def add_controller(s):
        """The states, and the flags that remember a zeroise and a reset."""

        # countermeasure RESET_OVERWRITE: reset and zeroise clear the operands and overwrite the machine
        @update_ff
        def control():
            if s.reset:
                s.st <<= CLEAR
            elif s.st == CLEAR:
                s.st <<= SETTLE
            elif s.st == SETTLE:
                s.st <<= IDLE if s.spares else WIPE
            elif s.st == WIPE:
                if s.req.rdy:
                    s.st <<= WIPING
            elif s.st == WIPING:
                if s.resp.val:
                    s.st <<= IDLE
            elif s.st == SEND:
                if s.req.rdy:
                    s.st <<= RUN
            elif s.st == RUN:
                if s.resp.val:
                    s.st <<= CLEAR if s.drops else HELD
            elif s.zeroise:
                s.st <<= CLEAR
            elif s.start:
                s.st <<= SEND

        @update_ff
        def flags():
            s.zeroised <<= s.drops & ((s.st == SEND) | (s.st == RUN))
            if s.reset:
                s.resetting <<= 1
            elif s.st == IDLE:
                s.resetting <<= 0

    def line_trace(s):
        return f"{state_name(s, s.st):6}"
