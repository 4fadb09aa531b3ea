"""WordSelect: a word of a long number, the least significant at place 0; behind the last word it is 0.

Ports: number, place -> word.
"""

from pymtl3 import *

from ....fl.xcel import WORD_NBITS, words_of
from ...wires import connect_low


class WordSelect(Component):
    def construct(s, nbits, place_nbits):
        s.number = InPort(nbits)
        s.place = InPort(place_nbits)
        s.word = OutPort(WORD_NBITS)

        nwords = words_of(nbits)
        s.words = [Wire(WORD_NBITS) for _ in range(nwords)]
        for k, word in enumerate(s.words):
            connect_low(word, s.number[k * WORD_NBITS : min((k + 1) * WORD_NBITS, nbits)])

        @update
        def select():
            s.word @= 0
            for k in range(nwords):
                if s.place == k:
                    s.word @= s.words[k]
