"""PoppedResult: status and result of the last computation, word by word.

Ports: go, fault: a computation starts, or is refused with this status; ends, status, result: the response of
the machine; pop: the next word is read -> word, 0 behind the last; code, NO_RESULT after a pop too many. Area
order: a register for each bit of the result.
"""

from pymtl3 import *

from ....fl.status import STATUS_NBITS, Status
from ....fl.xcel import WORD_NBITS, words_of
from ...wires import connect_low


class PoppedResult(Component):
    def construct(s, nbits):
        s.go = InPort()
        s.fault = InPort(STATUS_NBITS)
        s.ends = InPort()
        s.status = InPort(STATUS_NBITS)
        s.result = InPort(nbits)
        s.pop = InPort()
        s.word = OutPort(WORD_NBITS)
        s.code = OutPort(STATUS_NBITS)

        NWORDS = words_of(nbits)
        OK, NO_RESULT = Status.OK, Status.NO_RESULT
        s.words = Wire(NWORDS * WORD_NBITS)
        s.nleft = Wire(clog2(NWORDS + 2))
        s.widened = Wire(NWORDS * WORD_NBITS)
        connect_low(s.widened, s.result)
        s.assertions = {"WordsAreLeft": f"nleft <= {NWORDS}"}

        @update
        def lowest():
            s.word @= 0
            if s.nleft != 0:
                s.word @= s.words[0:WORD_NBITS]

        @update_ff
        def registers():
            if s.reset:
                s.nleft <<= 0
                s.code <<= OK
            elif s.go:
                s.code <<= s.fault
                s.words <<= 0
                s.nleft <<= NWORDS
            elif s.ends:
                s.code <<= s.status
                s.words <<= s.widened
            elif s.pop:
                s.words <<= s.words >> WORD_NBITS
                if s.nleft == 0:
                    s.code <<= NO_RESULT
                else:
                    s.nleft <<= s.nleft - 1
