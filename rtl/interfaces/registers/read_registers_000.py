"""ReadRegisters000: the readable registers of paper 000's accelerator (fl/axi4lite_000.rdl).

Ports: clear; with ends code, answer and its length in bytes are kept, answer and length only without a
failure; busy; place, of the word that is read; raddr (of a word) -> rdata, error. Area order: a register
for each bit of the answer.
"""

from pymtl3 import *

from ....fl.axi4lite import ADDRESS_NBITS
from ....fl.axi4lite_000 import register_map
from ....fl.status import STATUS_NBITS, Status
from ....fl.xcel import WORD_NBITS, words_of
from .word_select import WordSelect


class ReadRegisters000(Component):
    def construct(s, nbits):
        PLACE_NBITS, LENGTH_NBITS = max(1, clog2(words_of(nbits))), clog2(nbits // 8 + 1)
        s.clear = InPort()
        s.ends = InPort()
        s.end_code = InPort(STATUS_NBITS)
        s.end_answer = InPort(nbits)
        s.end_length = InPort(LENGTH_NBITS)
        s.busy = InPort()
        s.place = InPort(PLACE_NBITS)
        s.raddr = InPort(ADDRESS_NBITS - 2)
        s.rdata = OutPort(WORD_NBITS)
        s.error = OutPort()

        MAP, OK = register_map(), Status.OK
        STATUS, OUTPUT_LENGTH, OUTPUT_FIFO = (
            register.address >> 2 for register in MAP.values() if register.readable
        )
        BUSY, CODE = (MAP["STATUS"].field(name).low for name in ("busy", "code"))
        s.code = Wire(STATUS_NBITS)
        s.answer = Wire(nbits)
        s.length = Wire(LENGTH_NBITS)
        s.select = WordSelect(nbits, PLACE_NBITS)
        s.select.number //= s.answer
        s.select.place //= s.place

        @update_ff
        def registers():
            if s.reset | s.clear:
                s.code <<= OK
                s.answer <<= 0
                s.length <<= 0
            elif s.ends:
                s.code <<= s.end_code
                if s.end_code == OK:
                    s.answer <<= s.end_answer
                    s.length <<= s.end_length

        @update
        def read():
            s.rdata @= 0
            s.error @= 0
            if s.raddr == STATUS:
                s.rdata[BUSY] @= s.busy
                s.rdata[CODE : CODE + STATUS_NBITS] @= s.code
            elif s.raddr == OUTPUT_LENGTH:
                s.rdata @= zext(s.length, WORD_NBITS)
            elif (s.raddr == OUTPUT_FIFO) & (s.length != 0):
                s.rdata @= s.select.word
            else:
                s.error @= 1
