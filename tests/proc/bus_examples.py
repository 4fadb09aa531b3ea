"""A device for the bus of a processor: four words, a counter of accesses, and a timer that raises the
interrupt. It exists as hardware and at the functional level, where it raises the line at given instructions.

    0x00 to 0x0C  words, with byte strobes
    0x10          counter: a read returns it and adds 1, a write adds the written value
    0x14          timer: the line rises this many cycles after the write
    0x18          a write lowers the line

All other accesses are refused.
"""

from functools import partial

from modexlab.fl.axi4lite import OKAY, SLVERR, strobed
from modexlab.proc.core.messages import MemReq, MemResp
from modexlab.proc.core.null_xcel import NullXcel
from modexlab.proc.core.proc import Proc
from modexlab.proc.core.proc_xcel import ProcXcel
from pymtl3 import Component, OutPort, Wire, update, update_ff
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from tests.proc.examples import Slow, SlowXcel

WORDS, COUNT, TIMER, LOWER = 0x00, 0x10, 0x14, 0x18


class TimerDevice(Component):
    """The device as hardware."""

    def construct(s):
        s.istream = RecvIfcRTL(MemReq)
        s.ostream = SendIfcRTL(MemResp)
        s.irq = OutPort()

        s.words = [Wire(32) for _ in range(4)]
        s.count = Wire(32)
        s.timer = Wire(32)
        s.line = Wire()
        s.full = Wire()
        s.fires = Wire()
        s.place = Wire(5)
        s.mask = Wire(32)
        s.known = Wire()
        s.error = Wire()
        s.word = Wire(32)
        s.irq //= s.line
        s.place //= s.istream.msg.addr[2:7]
        for i in range(32):
            s.mask[i] //= s.istream.msg.strobe[i // 8]

        @update
        def handshakes():
            s.istream.rdy @= ~s.full
            s.fires @= s.istream.val & s.istream.rdy
            s.known @= (s.place < 7) & (s.istream.msg.addr[7:28] == 0)

        @update
        def answer():
            s.ostream.val @= s.full
            s.ostream.msg.error @= s.error
            s.ostream.msg.data @= s.word

        @update_ff
        def access():
            if s.timer != 0:
                s.timer <<= s.timer - 1
                if s.timer == 1:
                    s.line <<= 1
            if s.ostream.rdy:
                s.full <<= 0
            if s.fires:
                s.full <<= 1
                s.error <<= ~s.known
                s.word <<= 0
                for i in range(4):
                    if s.place == i:
                        s.word <<= s.words[i]
                        if s.istream.msg.write & s.known:
                            s.words[i] <<= (s.words[i] & ~s.mask) | (s.istream.msg.data & s.mask)
                if s.known & (s.place == 4):
                    s.word <<= s.count
                    s.count <<= s.count + 1
                    if s.istream.msg.write:
                        s.count <<= s.count + s.istream.msg.data
                if s.istream.msg.write & s.known & (s.place == 5):
                    s.timer <<= s.istream.msg.data
                if s.istream.msg.write & s.known & (s.place == 6):
                    s.timer <<= 0
                    s.line <<= 0
            if s.reset:
                s.full <<= 0
                s.count <<= 0
                s.timer <<= 0
                s.line <<= 0
                for i in range(4):
                    s.words[i] <<= 0

    def line_trace(s):
        return "!" if s.irq else ""


class SlowTimer(Slow):
    """The device with delays, for which the processor must wait."""

    def construct(s):
        super().construct(TimerDevice)
        s.irq = OutPort()
        s.irq //= s.inner.irq


def answer_at(place):
    """The response code of the device to an access."""
    return SLVERR if place > LOWER else OKAY


class TimerBus:
    """The device at the functional level. The line rises before the instructions with these numbers (of
    retired ones), and in wfi if the timer is set.
    """

    def __init__(self, rises=()):
        self.rises = rises
        self.iss = None
        self.words, self.count, self.timer, self.line = [0] * 4, 0, 0, False

    @property
    def interrupt(self):
        if self.iss is not None and self.iss.retired in self.rises:
            self.line = True
        return self.line

    def read(self, place):
        """Perform a load."""
        if place < COUNT:
            return self.words[place // 4], OKAY
        if place == COUNT:
            self.count += 1
            return self.count - 1, OKAY
        return 0, answer_at(place)

    def write(self, place, data, strobes):
        """Perform a store."""
        if place < COUNT:
            self.words[place // 4] = strobed(self.words[place // 4], data, strobes)
        elif place == COUNT:
            self.count = (self.count + data) % 2**32
        elif place == TIMER:
            self.timer = data
        elif place == LOWER:
            self.timer, self.line = 0, False
        return answer_at(place)

    def sleep(self):
        """Raise the line if the timer is set."""
        if self.timer:
            self.timer, self.line = 0, True


def mk_system(stalls=False):
    """A processor with the device; stalls: device and accelerator make the processor wait."""
    processor = partial(Proc, bus=True)
    return ProcXcel(processor, SlowXcel, SlowTimer) if stalls else ProcXcel(processor, NullXcel, TimerDevice)
