"""Axi4Lite000System: a test harness for paper 000's accelerator: a bus master that executes accesses from a
stream, and registers for the key.

Ports: istream {write, wait_for_irq, address, data, strobes} -> ostream {write, data, fault}. A write to
address KEY or above (fl/axi4lite_000.py) does not reach the bus: it pushes a word into a number of the key,
least significant word first; in the paper the key is part of the hardware. Padding uses the pseudo-random
sequence of rtl/units/padding/lfsr_not_random.py. For simulation only.
"""

from pymtl3 import *

from ...fl.axi4lite_000 import KEY, KEY_NUMBERS, is_padded
from ...fl.xcel import words_of
from ..messages import declare_streams, fields_of, mk_bus_req, mk_bus_resp
from ..units.padding.lfsr_not_random import LfsrNotRandom
from .axi4lite_000 import Axi4Lite000
from .axi4lite_master import Axi4LiteMaster
from .registers.word_shifter import WordShifter


class Axi4Lite000System(Component):
    UNREAD = (("istream__msg", "of the address of a push the number counts alone"),)

    def construct(s, nbits, mk_machine, given=()):
        declare_streams(s, mk_bus_req(), mk_bus_resp())
        s.master = Axi4LiteMaster()
        s.slave = Axi4Lite000(nbits, mk_machine, given, startup=0, has_raw=True)
        s.master.m_axi //= s.slave.s_axi
        s.slave.irq //= s.master.irq
        if is_padded(nbits):
            s.source = LfsrNotRandom()
            s.source.ostream //= s.slave.random

        # ---- the key

        widths = (*((name, nbits) for name in KEY_NUMBERS), *given)
        count, TOP = len(widths), KEY.bit_length() - 1
        s.key = [WordShifter(words_of(nbits)) for _ in widths]
        s.pushes = Wire()
        s.pushed = Wire()
        for shifter, port in zip(s.key, fields_of(s.slave.key, widths).values(), strict=True):
            shifter.word //= s.istream.msg.data
            port //= shifter.number[0 : port.get_type().nbits]
        s.master.istream.msg //= s.istream.msg

        @update
        def handshakes():
            s.pushes @= s.istream.val & s.istream.msg.write & s.istream.msg.address[TOP]
            s.master.istream.val @= s.istream.val & ~s.pushes & ~s.pushed
            s.istream.rdy @= s.master.istream.rdy & ~s.pushed
            s.master.ostream.rdy @= s.ostream.rdy & ~s.pushed
            for i in range(count):
                s.key[i].push @= s.pushes & s.istream.rdy & (s.istream.msg.address[2:6] == i)

        @update
        def answer():
            s.ostream.val @= s.master.ostream.val | s.pushed
            s.ostream.msg @= s.master.ostream.msg
            if s.pushed:
                s.ostream.msg.write @= 1
                s.ostream.msg.data @= 0
                s.ostream.msg.fault @= 0

        @update_ff
        def push():
            if s.reset:
                s.pushed <<= 0
            elif s.pushes & s.istream.rdy:
                s.pushed <<= 1
            elif s.ostream.rdy:
                s.pushed <<= 0

    def line_trace(s):
        return f"{s.master.line_trace()}{s.slave.line_trace()}"
