"""StoreAlign and LoadAlign: bytes, half words and words on a memory port of aligned words.

StoreAlign: mem (messages.MEM_LOAD or MEM_STORE), funct3, addr, data -> the request; `misaligned` if the
access is not aligned to its size. LoadAlign: funct3, addr (its two low bits), word -> the value,
sign-extended or zero-extended.

Combinational; area order: one byte shifter each.
"""

from pymtl3 import *

from .messages import *


class StoreAlign(Component):
    """Aligns the data of a store and sets its byte strobes."""

    def construct(s):
        s.mem = InPort(2)
        s.funct3 = InPort(3)
        s.addr = InPort(32)
        s.data = InPort(32)
        s.req = OutPort(MemReq)
        s.misaligned = OutPort()

        @update
        def align():
            s.req.addr @= concat(s.addr[2:32], b2(0))
            s.req.write @= s.mem == MEM_STORE
            s.req.strobe @= 0
            s.req.data @= 0
            if s.mem == MEM_STORE:
                if s.funct3[0:2] == 0:
                    s.req.strobe @= b4(1) << zext(s.addr[0:2], 4)
                    s.req.data @= concat(s.data[0:8], s.data[0:8], s.data[0:8], s.data[0:8])
                elif s.funct3[0:2] == 1:
                    s.req.strobe @= concat(s.addr[1], s.addr[1], ~s.addr[1], ~s.addr[1])
                    s.req.data @= concat(s.data[0:16], s.data[0:16])
                else:
                    s.req.strobe @= 15
                    s.req.data @= s.data
            s.misaligned @= (s.funct3[0] & s.addr[0]) | (s.funct3[1] & (s.addr[0:2] != 0))


class LoadAlign(Component):
    """Extracts the byte, halfword or word of a load, and extends it to 32 bits."""

    def construct(s):
        s.funct3 = InPort(3)
        s.addr = InPort(2)
        s.word = InPort(32)
        s.out = OutPort(32)

        s.halfword = Wire(16)
        s.octet = Wire(8)

        @update
        def select():
            s.halfword @= s.word[0:16]
            if s.addr[1]:
                s.halfword @= s.word[16:32]
            s.octet @= s.halfword[0:8]
            if s.addr[0]:
                s.octet @= s.halfword[8:16]

        @update
        def extend():
            if s.funct3 == 0:
                s.out @= sext(s.octet, 32)
            elif s.funct3 == 1:
                s.out @= sext(s.halfword, 32)
            elif s.funct3 == 4:
                s.out @= zext(s.octet, 32)
            elif s.funct3 == 5:
                s.out @= zext(s.halfword, 32)
            else:
                s.out @= s.word
