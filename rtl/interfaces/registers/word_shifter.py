"""WordShifter: a number that is pushed word by word. A push enters at the top, so that after as many pushes
as there are words the first word is at the bottom.

Ports: push, word -> number. Area order: a register for each bit.
"""

from pymtl3 import *

from ....fl.xcel import WORD_NBITS


class WordShifter(Component):
    def construct(s, nwords):
        NBITS = nwords * WORD_NBITS
        s.push = InPort()
        s.word = InPort(WORD_NBITS)
        s.number = OutPort(NBITS)

        s.shifted = Wire(NBITS)
        s.shifted[NBITS - WORD_NBITS : NBITS] //= s.word
        if nwords > 1:
            s.shifted[0 : NBITS - WORD_NBITS] //= s.number[WORD_NBITS:NBITS]

        @update_ff
        def shift():
            if s.push:
                s.number <<= s.shifted
