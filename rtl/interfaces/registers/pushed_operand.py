"""PushedOperand: an operand register that is written word by word and reports when it is complete.

Ports: push, word; go: a computation starts, and may have the number once more -> number; complete: all
words have been pushed since the last go, or none and the number was complete before. Area order: a
register for each bit.
"""

from pymtl3 import *

from ....fl.xcel import WORD_NBITS
from .word_shifter import WordShifter


class PushedOperand(Component):
    def construct(s, nwords):
        s.push = InPort()
        s.word = InPort(WORD_NBITS)
        s.go = InPort()
        s.number = OutPort(nwords * WORD_NBITS)
        s.complete = OutPort()

        s.shifter = WordShifter(nwords)
        s.shifter.push //= s.push
        s.shifter.word //= s.word
        s.shifter.number //= s.number

        TOO_MANY = nwords + 1
        s.count = Wire(clog2(nwords + 2))  # words since the last go; it stays at TOO_MANY
        s.held = Wire()  # the number was complete at the last go

        @update
        def is_complete():
            s.complete @= (s.count == nwords) | (s.held & (s.count == 0))

        @update_ff
        def count_words():
            if s.reset:
                s.count <<= 0
                s.held <<= 0
            elif s.go:
                s.count <<= 0
                s.held <<= s.complete
            elif s.push & (s.count != TOO_MANY):
                s.count <<= s.count + 1
