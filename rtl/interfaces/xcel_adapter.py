"""XcelAdapter: request and results as accelerator registers of 32 bits (paper 001, section 3.1).

fl/xcel.py has the protocol. Pushes fill operands, which the field assembler combines into the request; pops
empty the result. The response to each access waits in a queue.

Ports: istream, ostream towards the processor; req, resp towards the machine. Cycles: 1 an access, 2 around an
operation. Area order: 4 W words of registers.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ...fl.status import STATUS_NBITS, Status
from ...fl.xcel import GO, STATUS, WORD_NBITS, WORDS, words_of
from ..messages import (
    connect_handshake,
    declare_streams,
    mk_modexp_resp,
    mk_request,
    mk_xcel_req,
    mk_xcel_resp,
)
from .registers.channel_queues import ResponseQueue
from .registers.field_assembler import FieldAssembler
from .registers.popped_result import PoppedResult
from .registers.pushed_operand import PushedOperand
from .registers.request_control import RequestControl


class XcelAdapter(Component):
    def construct(s, shape):
        declare_streams(s, mk_xcel_req(), mk_xcel_resp())
        s.req = SendIfcRTL(mk_request(shape))
        s.resp = RecvIfcRTL(mk_modexp_resp(shape.result_nbits))

        noperands, nwords = len(shape.request), words_of(shape.widest)
        s.operands = [PushedOperand(nwords) for _ in range(noperands)]
        s.fields = FieldAssembler(shape)
        s.control = RequestControl()
        s.results = PoppedResult(shape.result_nbits)
        s.answer = ResponseQueue(WORD_NBITS + 1)

        s.access = Wire()
        s.go = Wire()
        s.push = Wire(noperands)
        s.lacking = Wire(noperands)  # operands without the right number of words
        s.fault = Wire(STATUS_NBITS)
        s.assertions = {"RequestStays": ("req__val && !req__rdy", "{req__val, req__msg}")}

        s.connect_machine()
        s.connect_answer()
        s.add_decoder(noperands)
        s.add_read(nwords)
        s.add_fault(noperands)

    def connect_machine(s):
        """The request, assembled from the operands, and the result."""
        fields, control, results = s.fields, s.control, s.results
        for i, operand in enumerate(s.operands):
            operand.push //= s.push[i]
            operand.word //= s.istream.msg.data
            operand.go //= s.go
            operand.number //= fields.operand[i]
        fields.request //= s.req.msg
        connect_handshake(control.req, s.req)
        connect_handshake(control.resp, s.resp)
        results.go //= s.go
        results.fault //= s.fault
        results.ends //= control.ends
        results.status //= s.resp.msg.status
        results.result //= s.resp.msg.result

    def connect_answer(s):
        """The queue of the responses to accesses."""
        answer = s.answer
        answer.recv.val //= s.access
        connect_handshake(answer.send, s.ostream)
        answer.send.msg[WORD_NBITS] //= s.ostream.msg.write
        answer.send.msg[0:WORD_NBITS] //= s.ostream.msg.data

    def add_decoder(s, noperands):
        """Push and pop, and the access that starts an operation."""

        @update
        def decode():
            s.istream.rdy @= ~s.control.busy & s.answer.recv.rdy
            s.access @= s.istream.val & s.istream.rdy
            s.go @= s.access & s.istream.msg.write & (s.istream.msg.addr == GO)
            s.results.pop @= s.access & ~s.istream.msg.write & (s.istream.msg.addr == GO)
            for i in range(noperands):
                s.push[i] @= s.access & s.istream.msg.write & (s.istream.msg.addr == i + 1)

    def add_read(s, NWORDS):
        """The word that a read returns."""
        s.read = Wire(WORD_NBITS)
        s.answer.recv.msg[0:WORD_NBITS] //= s.read
        s.answer.recv.msg[WORD_NBITS] //= s.istream.msg.write

        @update
        def read():
            s.read @= 0
            if ~s.istream.msg.write:
                if s.istream.msg.addr == GO:
                    s.read @= s.results.word
                elif s.istream.msg.addr == STATUS:
                    s.read @= zext(s.results.code, WORD_NBITS)
                elif s.istream.msg.addr == WORDS:
                    s.read @= NWORDS

    def add_fault(s, noperands):
        """The fault of a request, which keeps it from being started."""
        OK, WORD_COUNT, TOO_WIDE = Status.OK, Status.WORD_COUNT, Status.TOO_WIDE

        @update
        def find_fault():
            for i in range(noperands):
                s.lacking[i] @= ~s.operands[i].complete
            s.fault @= OK
            if s.lacking != 0:
                s.fault @= WORD_COUNT
            elif s.fields.too_wide:
                s.fault @= TOO_WIDE
            s.control.start @= s.go & (s.fault == OK)

    def line_trace(s):
        return f"{s.istream}|{s.control.line_trace()}|{s.ostream}"
