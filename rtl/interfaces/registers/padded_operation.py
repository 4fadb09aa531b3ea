"""PaddedOperation: encryption or decryption of paper 000's accelerator, padded by PKCS#1 v1.5, type 2.

    IDLE   -- start --> PAD to encrypt; to decrypt, a request of the machine (request_control.py)
    PAD    the message is offered to the padding unit
    PADDED -- an encoding is there, the base of the request, or the random source has failed --> IDLE
    UNPAD  the encoding that the machine has decrypted is opened --> IDLE

Ports: start, and valid with it starts_decrypt and starts_raw (neither pad nor unpad); decrypt, of the
operation that runs; message and its length in bytes; random, a stream of bytes; base and result {status,
result} of the machine's request and response, with val and rdy; busy; ends: code, answer and its length
are there.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL

from ....fl.axi4lite_000 import NO_RANDOM, WRONG_PADDING
from ....fl.status import STATUS_NBITS, Status
from ...messages import HandshakeIfc, mk_modexp_resp
from ...states import state_name, states
from ...units.padding.pkcs1_unpad import Pkcs1Unpad
from .message_padder import MessagePadder
from .request_control import RequestControl

IDLE, PAD, PADDED, UNPAD = map(b2, range(4))
OK = Status.OK


class PaddedOperation(Component):
    def construct(s, nbits, startup):
        nbytes = nbits // 8
        length_nbits = clog2(nbytes + 1)
        s.start = InPort()
        s.starts_decrypt = InPort()
        s.starts_raw = InPort()
        s.decrypt = InPort()
        s.message = InPort(nbits)
        s.message_length = InPort(length_nbits)
        s.random = RecvIfcRTL(Bits8)
        s.base = OutPort(nbits)
        s.req = HandshakeIfc(OutPort, InPort)
        s.result = InPort(mk_modexp_resp(nbits))
        s.resp = HandshakeIfc(InPort, OutPort)
        s.busy = OutPort()
        s.ends = OutPort()
        s.code = OutPort(STATUS_NBITS)
        s.answer = OutPort(nbits)
        s.length = OutPort(length_nbits)

        s.add_units(nbits, startup)
        s.st = Wire(2)
        states(s.st, IDLE=0, PAD=1, PADDED=2, UNPAD=3)
        s.raw = Wire()
        s.pads = Wire()  # the operation starts with padding
        s.assertions = {"OneAtATime": "st == IDLE || !requests__busy"}

        s.add_handshakes()
        s.add_outputs(nbytes, length_nbits)
        s.add_controller()

    def add_units(s, nbits, startup):
        """The padding unit, the control of the machine's request, and the unpadding unit."""
        s.pad = pad = MessagePadder(nbits, startup)
        s.requests = requests = RequestControl()
        s.unpad = unpad = Pkcs1Unpad(nbits)
        pad.message //= s.message
        pad.length //= s.message_length
        pad.random //= s.random
        requests.req //= s.req
        requests.resp //= s.resp
        unpad.istream.msg.sign //= 0
        unpad.istream.msg.em //= s.result.result

    def add_handshakes(s):
        """The handshakes of the three units."""

        @update
        def handshakes():
            s.busy @= (s.st != IDLE) | s.requests.busy
            s.pads @= ~s.starts_raw & ~s.starts_decrypt
            s.pad.req.val @= s.st == PAD
            s.pad.resp.rdy @= ((s.st == PADDED) & s.pad.failed) | (
                s.req.val & s.req.rdy & ~s.raw & ~s.decrypt
            )
            s.requests.start @= (s.start & ~s.pads) | ((s.st == PADDED) & s.pad.resp.val & ~s.pad.failed)
            s.unpad.istream.val @= s.requests.ends & ~s.raw & s.decrypt & (s.result.status == OK)
            s.unpad.ostream.rdy @= s.st == UNPAD

    def add_outputs(s, nbytes, LENGTH_NBITS):
        """The base of the request, and the answer with its status."""

        @update
        def operands_and_answer():
            s.base @= s.message
            if ~s.raw & ~s.decrypt:
                s.base @= s.pad.resp.msg.em
            s.ends @= (s.requests.ends & ~s.unpad.istream.val) | ((s.st == PADDED) & s.pad.failed)
            s.code @= s.result.status
            s.answer @= s.result.result
            s.length @= nbytes
            if s.st == PADDED:
                s.code @= NO_RANDOM
            elif s.st == UNPAD:
                s.ends @= s.unpad.ostream.val
                s.code @= OK
                if ~s.unpad.ostream.msg.good:
                    s.code @= WRONG_PADDING
                s.answer @= s.unpad.ostream.msg.message
                s.length @= zext(s.unpad.ostream.msg.length, LENGTH_NBITS)

    def add_controller(s):
        """The states of an operation."""

        @update_ff
        def control():
            if s.reset:
                s.st <<= IDLE
            elif s.st == IDLE:
                if s.start:
                    s.raw <<= s.starts_raw
                if s.start & s.pads:
                    s.st <<= PAD
                elif s.unpad.istream.val:
                    s.st <<= UNPAD
            elif s.st == PAD:
                if s.pad.req.rdy:
                    s.st <<= PADDED
            elif s.st == PADDED:
                if s.pad.resp.val:
                    s.st <<= IDLE
            elif s.unpad.ostream.val:
                s.st <<= IDLE

    def line_trace(s):
        return f"{state_name(s, s.st):6}{s.requests.line_trace()}"
