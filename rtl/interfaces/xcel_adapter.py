"""XcelAdapter: request and results as accelerator registers of 32 bits (paper 001, section 3.1).

The protocol stands in fl/xcel.py. An operand is a shift register of W words: a push enters at the top, so
that after W pushes the first word is at the bottom. The results, one number, leave another one from its
bottom.

Ports: istream, ostream towards the processor; req, resp towards the machine. Cycles: 1 an access, 2 around an
operation. Area order: 4 W words of registers.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ...fl.status import STATUS_NBITS, Status
from ...fl.xcel import GO, STATUS, WORD_NBITS, WORDS, words_of
from ..messages import declare_streams, mk_modexp_resp, mk_request, mk_xcel_req, mk_xcel_resp
from ..wires import connect_low


class XcelAdapter(Component):
    def construct(s, shape):
        declare_streams(s, mk_xcel_req(), mk_xcel_resp())
        nbits = shape.widest
        s.req = SendIfcRTL(mk_request(shape))
        s.resp = RecvIfcRTL(mk_modexp_resp(shape.result_nbits))

        W = words_of(nbits)
        wide = W * WORD_NBITS
        V = words_of(shape.result_nbits)  # words of all results
        TOO_MANY = W + 1  # where the count of pushed words stays
        count_nbits = clog2(W + 2)
        OK, WORD_COUNT = int(Status.OK), int(Status.WORD_COUNT)
        TOO_WIDE, NO_RESULT = int(Status.TOO_WIDE), int(Status.NO_RESULT)

        FREE, SEND, RUN = (b2(i) for i in range(3))
        s.st = Wire(2)
        s.fire = Wire()
        s.status = Wire(STATUS_NBITS)

        # ---- accesses

        s.answer_val = Wire()
        s.answer_write = Wire()
        s.answer_data = Wire(WORD_NBITS)
        s.ostream.val //= s.answer_val
        s.ostream.msg.write //= s.answer_write
        s.ostream.msg.data //= s.answer_data

        @update
        def handshakes():
            s.istream.rdy @= (s.st == FREE) & (~s.answer_val | s.ostream.rdy)
            s.req.val @= s.st == SEND
            s.resp.rdy @= s.st == RUN

        @update
        def access():
            s.fire @= s.istream.val & s.istream.rdy
            s.go @= s.fire & s.istream.msg.write & (s.istream.msg.addr == GO)
            s.pop @= s.fire & ~s.istream.msg.write & (s.istream.msg.addr == GO)

        s.go = Wire()
        s.pop = Wire()
        s.result = Wire(V * WORD_NBITS)
        s.nleft = Wire(clog2(V + 2))  # words of the results not read yet

        @update_ff
        def answer():
            if s.reset:
                s.answer_val <<= 0
            elif s.fire:
                s.answer_val <<= 1
            elif s.ostream.rdy:
                s.answer_val <<= 0
            if s.fire:
                s.answer_write <<= s.istream.msg.write
                s.answer_data <<= 0
                if s.pop & (s.nleft != 0):
                    s.answer_data <<= s.result[0:WORD_NBITS]
                elif ~s.istream.msg.write & (s.istream.msg.addr == STATUS):
                    s.answer_data <<= zext(s.status, WORD_NBITS)
                elif ~s.istream.msg.write & (s.istream.msg.addr == WORDS):
                    s.answer_data <<= W

        # ---- operands; register i + 1 is that of operand i

        fields = shape.request
        noperands = len(fields)
        alike = tuple(used for _, used in fields) == (nbits,) * 3

        s.operand = [Wire(wide) for _ in range(noperands)]
        s.count = [Wire(count_nbits) for _ in range(noperands)]  # words pushed since the last go
        s.held = [Wire() for _ in range(noperands)]  # a value pushed before an earlier go
        for i, (name, used) in enumerate(fields):
            connect(getattr(s.req.msg, name), s.operand[i][0:used])

        if W == 1:

            @update_ff
            def push_only_word():
                for i in range(noperands):
                    if s.fire & s.istream.msg.write & (s.istream.msg.addr == i + 1):
                        s.operand[i] <<= s.istream.msg.data

        else:

            @update_ff
            def push_word():
                for i in range(noperands):
                    if s.fire & s.istream.msg.write & (s.istream.msg.addr == i + 1):
                        s.operand[i] <<= concat(s.istream.msg.data, s.operand[i][WORD_NBITS:wide])

        @update_ff
        def count_words():
            for i in range(noperands):
                if s.reset:
                    s.count[i] <<= 0
                    s.held[i] <<= 0
                elif s.go:
                    s.count[i] <<= 0
                    s.held[i] <<= s.complete[i]
                elif s.fire & s.istream.msg.write & (s.istream.msg.addr == i + 1):
                    if s.count[i] != TOO_MANY:
                        s.count[i] <<= s.count[i] + 1

        s.complete = [Wire() for _ in range(noperands)]
        s.too_wide = Wire()
        s.fault = Wire(STATUS_NBITS)

        @update
        def whole():
            for i in range(noperands):
                s.complete[i] @= (s.count[i] == W) | (s.held[i] & (s.count[i] == 0))

        # what an operand has above its field
        spills = [(i, used) for i, (_, used) in enumerate(fields) if used < wide]
        if not spills:
            s.too_wide //= 0
        elif alike:

            @update
            def fits():
                s.too_wide @= (
                    s.operand[0][nbits:wide] | s.operand[1][nbits:wide] | s.operand[2][nbits:wide]
                ) != 0

        else:
            s.spill = Wire(sum(wide - used for _, used in spills))
            start = 0
            for i, used in spills:
                connect(s.spill[start : start + wide - used], s.operand[i][used:wide])
                start += wide - used

            @update
            def fits_all():
                s.too_wide @= s.spill != 0

        if alike:

            @update
            def find_fault():
                s.fault @= OK
                if ~(s.complete[0] & s.complete[1] & s.complete[2]):
                    s.fault @= WORD_COUNT
                elif s.too_wide:
                    s.fault @= TOO_WIDE

        else:
            s.lacking = Wire(noperands)

            @update
            def find_fault_of_all():
                for i in range(noperands):
                    s.lacking[i] @= ~s.complete[i]
                s.fault @= OK
                if s.lacking != 0:
                    s.fault @= WORD_COUNT
                elif s.too_wide:
                    s.fault @= TOO_WIDE

        # ---- the operation

        @update_ff
        def control():
            if s.reset:
                s.st <<= FREE
            elif s.st == FREE:
                if s.go & (s.fault == OK):
                    s.st <<= SEND
            elif s.st == SEND:
                if s.req.rdy:
                    s.st <<= RUN
            elif s.resp.val:
                s.st <<= FREE

        @update_ff
        def results():
            if s.reset:
                s.nleft <<= 0
                s.status <<= OK
            elif s.go:
                s.status <<= s.fault
                s.result <<= 0
                s.nleft <<= V
            elif s.resp.val & s.resp.rdy:
                s.status <<= s.resp.msg.status
                s.result <<= s.widened
            elif s.pop:
                s.result <<= s.result >> WORD_NBITS
                if s.nleft == 0:
                    s.status <<= NO_RESULT
                else:
                    s.nleft <<= s.nleft - 1

        s.widened = Wire(V * WORD_NBITS)
        connect_low(s.widened, s.resp.msg.result)

    def line_trace(s):
        return f"{s.istream}|{'.>*'[int(s.st)]}|{s.ostream}"
