"""BusUnit: connects the data port of the pipeline to the memory or the bus, by address (memory.py defines the
window).

An access to the bus waits in X: the request is sent once, and the instruction leaves X with the answer, so no
younger instruction has started. A refused access traps there, precisely.

Ports: istream {write, strobe, addr, data} -> ostream {error, data} to the pipeline; mem_req, mem_resp and
bus_req, bus_resp, whose answers come one or more cycles after requests; refused, until the trap takes the
access out of X. Cycles: none for an access to the memory; those of the bus for an access to it. Area order:
32 flip-flops for the word.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ...rtl.states import states
from ..software.memory import BUS_BASE, BUS_NBITS
from .messages import MemReq, MemResp

WINDOW = BUS_BASE >> BUS_NBITS


class BusUnit(Component):
    def construct(s):
        s.istream = RecvIfcRTL(MemReq)
        s.ostream = SendIfcRTL(MemResp)
        s.mem_req = SendIfcRTL(MemReq)
        s.mem_resp = RecvIfcRTL(MemResp)
        s.bus_req = SendIfcRTL(MemReq)
        s.bus_resp = RecvIfcRTL(MemResp)
        s.trap = InPort()
        s.refused = OutPort()

        s.st = Wire(2)
        IDLE, WAIT, REFUSED = states(s.st, IDLE=0, WAIT=1, REFUSED=2)
        s.answers = Wire()  # the instruction in M has accessed the bus in X
        s.word = Wire(32)
        s.on_bus = Wire()
        s.done = Wire()

        s.mem_req.msg //= s.istream.msg
        s.bus_req.msg //= s.istream.msg

        @update
        def steer():
            s.on_bus @= s.istream.msg.addr[BUS_NBITS:32] == WINDOW

        @update
        def requests():
            s.mem_req.val @= s.istream.val & ~s.on_bus
            s.bus_req.val @= s.istream.val & s.on_bus & (s.st == IDLE)

        @update
        def answer_in_X():
            s.bus_resp.rdy @= s.st == WAIT
            s.done @= (s.st == WAIT) & s.bus_resp.val & ~s.bus_resp.msg.error

        @update
        def leave_X():
            s.istream.rdy @= s.mem_req.rdy
            if s.on_bus:
                s.istream.rdy @= s.done

        @update
        def refuse():
            s.refused @= s.st == REFUSED

        @update
        def answer_in_M():
            s.mem_resp.rdy @= s.ostream.rdy & ~s.answers
            s.ostream.val @= s.mem_resp.val
            s.ostream.msg @= s.mem_resp.msg
            if s.answers:
                s.ostream.val @= 1
                s.ostream.msg.error @= 0
                s.ostream.msg.data @= s.word

        @update_ff
        def control():
            if s.reset:
                s.st <<= IDLE
                s.answers <<= 0
            else:
                s.answers <<= s.done
                if s.st == IDLE:
                    if s.bus_req.val & s.bus_req.rdy:
                        s.st <<= WAIT
                elif s.st == WAIT:
                    if s.bus_resp.val:
                        s.st <<= IDLE
                        if s.bus_resp.msg.error:
                            s.st <<= REFUSED
                elif s.trap:
                    s.st <<= IDLE

        @update_ff
        def keep():
            if s.done:
                s.word <<= s.bus_resp.msg.data
