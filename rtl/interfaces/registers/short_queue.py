"""ShortQueue: a queue of a few entries; with `bypass`, a message passes the empty queue in the same cycle.

Ports: recv {msg} -> send {msg}. Cycles: 1, or 0 with bypass. Area order: its entries.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL


class ShortQueue(Component):
    def construct(s, nbits, depth, bypass=False):
        s.recv = RecvIfcRTL(mk_bits(nbits))
        s.send = SendIfcRTL(mk_bits(nbits))
        CountType = mk_bits(clog2(depth + 1))
        s.count = Wire(CountType)
        s.place = Wire(CountType)  # of an entry that arrives
        s.entries = [Wire(nbits) for _ in range(depth)]
        s.behind = [Wire(nbits) for _ in range(depth)]  # the entry behind each
        for i, behind in enumerate(s.behind):
            behind //= s.entries[i + 1] if i + 1 < depth else 0
        s.places = [Wire(CountType) for _ in range(depth)]
        for i, place in enumerate(s.places):
            place //= i
        s.pop = Wire()
        s.push = Wire()

        @update
        def receive():
            s.recv.rdy @= s.count != depth

        if bypass:

            @update
            def pass_by():
                s.send.val @= (s.count != 0) | s.recv.val
                s.send.msg @= s.entries[0] if s.count != 0 else s.recv.msg
                s.pop @= s.send.rdy & (s.count != 0)
                s.push @= s.recv.val & s.recv.rdy & ((s.count != 0) | ~s.send.rdy)

        else:

            @update
            def store():
                s.send.val @= s.count != 0
                s.send.msg @= s.entries[0]
                s.pop @= s.send.rdy & (s.count != 0)
                s.push @= s.recv.val & s.recv.rdy

        @update
        def next_place():
            s.place @= s.count
            if s.pop:
                s.place @= s.count - 1

        @update_ff
        def move():
            if s.reset:
                s.count <<= 0
            elif s.push:
                s.count <<= s.place + 1
            else:
                s.count <<= s.place
            for i in range(depth):
                if s.push & (s.place == s.places[i]):
                    s.entries[i] <<= s.recv.msg
                elif s.pop:
                    s.entries[i] <<= s.behind[i]

    def line_trace(s):
        return f"{s.count}"
