"""Queues of one entry for the channels of a bus. No path leads from the input to the output.

RequestQueue accepts a message when it is empty. ResponseQueue also accepts one while its entry leaves, and
otherwise clears the entry that has left, so that no result stays on the bus.

Ports: recv {msg} -> send {msg}. Cycles: 1.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL


def declare_queue(s, nbits):
    """The streams and the entry of a queue."""
    s.recv = RecvIfcRTL(mk_bits(nbits))
    s.send = SendIfcRTL(mk_bits(nbits))
    s.full = Wire()
    s.entry = Wire(nbits)
    s.send.val //= s.full
    s.send.msg //= s.entry
    s.assertions = {"MessageStays": ("send__val && !send__rdy", "{send__val, send__msg}")}


class RequestQueue(Component):
    """One-entry queue that accepts a message when it is empty."""

    PARAMETERS = ("nbits",)

    def construct(s, nbits):
        declare_queue(s, nbits)

        @update
        def ready():
            s.recv.rdy @= ~s.full

        @update_ff
        def registers():
            if s.reset:
                s.full <<= 0
            elif s.full:
                s.full <<= ~s.send.rdy
            else:
                s.full <<= s.recv.val
            if ~s.full:
                s.entry <<= s.recv.msg


class ResponseQueue(Component):
    """One-entry queue that accepts a message while its entry leaves, and clears entries that left."""

    PARAMETERS = ("nbits",)

    def construct(s, nbits):
        declare_queue(s, nbits)

        @update
        def ready():
            s.recv.rdy @= ~s.full | s.send.rdy

        s.assertions |= {"EmptyIsZero": "full || entry == 0"}

        @update_ff
        def registers():
            if s.reset:
                s.full <<= 0
                s.entry <<= 0
            elif s.recv.rdy:
                s.full <<= s.recv.val
                s.entry <<= 0
                if s.recv.val:
                    s.entry <<= s.recv.msg
