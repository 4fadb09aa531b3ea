"""StoreAlign and LoadAlign: bytes, half words and words on a memory port of aligned words.

StoreAlign: funct3, addr (its two low bits), data -> strobe and data of the whole word; `misaligned` if the
access is not aligned to its size, for loads too. LoadAlign: funct3, addr (its two low bits), word -> the
value, extended with its sign or with 0.

Combinational; area order: a byte shifter each.
"""

from pymtl3 import *


class StoreAlign(Component):
    def construct(s):
        s.funct3 = InPort(3)
        s.addr = InPort(2)
        s.data = InPort(32)
        s.strobe = OutPort(4)
        s.word = OutPort(32)
        s.misaligned = OutPort()

        @update
        def place():
            if s.funct3[0:2] == 0:
                s.strobe @= b4(1) << zext(s.addr, 4)
                s.word @= concat(s.data[0:8], s.data[0:8], s.data[0:8], s.data[0:8])
            elif s.funct3[0:2] == 1:
                s.strobe @= concat(s.addr[1], s.addr[1], ~s.addr[1], ~s.addr[1])
                s.word @= concat(s.data[0:16], s.data[0:16])
            else:
                s.strobe @= 15
                s.word @= s.data

        @update
        def check():
            s.misaligned @= (s.funct3[0] & s.addr[0]) | (s.funct3[1] & (s.addr != 0))


class LoadAlign(Component):
    def construct(s):
        s.funct3 = InPort(3)
        s.addr = InPort(2)
        s.word = InPort(32)
        s.out = OutPort(32)

        s.halfword = Wire(16)
        s.octet = Wire(8)
        s.extends_sign = Wire()
        s.above_byte = Wire(24)
        s.above_half = Wire(16)

        @update
        def pick():
            s.halfword @= s.word[0:16]
            if s.addr[1]:
                s.halfword @= s.word[16:32]

        @update
        def pick_byte():
            s.octet @= s.halfword[0:8]
            if s.addr[0]:
                s.octet @= s.halfword[8:16]

        @update
        def extend():
            s.extends_sign @= ~s.funct3[2]
            s.above_byte @= sext(s.octet[7] & s.extends_sign, 24)
            s.above_half @= sext(s.halfword[15] & s.extends_sign, 16)
            if s.funct3[0:2] == 0:
                s.out @= concat(s.above_byte, s.octet)
            elif s.funct3[0:2] == 1:
                s.out @= concat(s.above_half, s.halfword)
            else:
                s.out @= s.word
