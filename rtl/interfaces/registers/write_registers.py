"""WriteRegisters: the writable registers of fl/axi4lite.py: commands, and operands in words.

Ports: wen, waddr (of a word), wdata, which is 0 in bytes that wmask does not select, busy -> start and
zeroise, the commands; operand: all words of each, the least significant first; irq_enable_wen, irq_clear;
error: nothing is written. Area order: a register for each bit of an operand.
"""

from pymtl3 import *

from ....fl.axi4lite import address_nbits, operand_names, register_map
from ....fl.xcel import WORD_NBITS, words_of

PLACE_NBITS = 7  # of a word in its window, which is what an operand of 4,096 bits has
COUNT_NBITS = PLACE_NBITS + 1  # of the words, up to 128


class WriteRegisters(Component):
    """The writable registers of a slave: commands, and operands word by word."""

    def construct(s, shape):
        WORD_ADDRESS_NBITS = address_nbits(shape) - 2
        noperands, nwords = len(shape.request), words_of(shape.widest)
        s.wen = InPort()
        s.waddr = InPort(WORD_ADDRESS_NBITS)
        s.wdata = InPort(WORD_NBITS)
        s.wmask = InPort(WORD_NBITS)
        s.busy = InPort()
        s.start = OutPort()
        s.zeroise = OutPort()
        s.operand = [OutPort(nwords * WORD_NBITS) for _ in range(noperands)]
        s.irq_enable_wen = OutPort()
        s.irq_clear = OutPort()
        s.error = OutPort()
        s.assertions = {"OperandsStayWhileBusy": ("busy && !zeroise", "operand")}

        MAP = register_map(shape)
        CONTROL, IRQ_ENABLE, IRQ_STATUS = (
            MAP[name].address >> 2 for name in ("CONTROL", "IRQ_ENABLE", "IRQ_STATUS")
        )
        START, ZEROISE = (MAP["CONTROL"].field(name).low for name in ("start", "zeroise"))

        s.is_control = Wire()
        s.is_enable = Wire()
        s.is_status = Wire()
        s.is_operand = Wire(noperands)
        s.starts = Wire()  # a start is requested, allowed or not
        s.place = Wire(PLACE_NBITS)
        s.window = Wire(WORD_ADDRESS_NBITS - PLACE_NBITS)
        s.place //= s.waddr[0:PLACE_NBITS]
        s.window //= s.waddr[PLACE_NBITS:WORD_ADDRESS_NBITS]
        s.windows = [Wire(WORD_ADDRESS_NBITS - PLACE_NBITS) for _ in range(noperands)]
        for window, name in zip(s.windows, operand_names(shape), strict=True):
            window //= MAP[name].address >> 2 + PLACE_NBITS

        @update
        def decode():
            s.is_control @= s.waddr == CONTROL
            s.is_enable @= s.waddr == IRQ_ENABLE
            s.is_status @= s.waddr == IRQ_STATUS
            for i in range(noperands):
                s.is_operand[i] @= (s.window == s.windows[i]) & (zext(s.place, COUNT_NBITS) < nwords)

        @update
        def commands():
            s.starts @= s.is_control & s.wdata[START] & ~s.wdata[ZEROISE]
            s.start @= s.wen & s.starts & ~s.busy
            s.zeroise @= s.wen & s.is_control & s.wdata[ZEROISE]
            s.irq_enable_wen @= s.wen & s.is_enable & s.wmask[0]
            s.irq_clear @= s.wen & s.is_status & s.wdata[0]

        @update
        def refuse():
            s.error @= ~(s.is_control | s.is_enable | s.is_status | (s.is_operand != 0))
            if s.busy & (s.starts | (s.is_operand != 0)):
                s.error @= 1

        s.words = [Wire(WORD_NBITS) for _ in range(noperands * nwords)]
        for j, word in enumerate(s.words):
            low = j % nwords * WORD_NBITS
            s.operand[j // nwords][low : low + WORD_NBITS] //= word

        @update_ff
        def operands():
            for i in range(noperands):
                for k in range(nwords):
                    if s.reset | s.zeroise:
                        s.words[i * nwords + k] <<= 0
                    elif s.wen & ~s.busy & s.is_operand[i] & (s.place == k):
                        s.words[i * nwords + k] <<= (s.words[i * nwords + k] & ~s.wmask) | s.wdata
