"""Alu: the ten functions of RV32I's register and immediate instructions.

One adder serves add, sub and both comparisons; one right shifter serves srl and sra.

Ports: a, b, fn (messages.ALU_ADD ...) -> out. Combinational; area order: an adder, two shifters and a mux
over 32 bits.
"""

from pymtl3 import *

from .messages import *


class Alu(Component):
    def construct(s):
        s.a = InPort(32)
        s.b = InPort(32)
        s.fn = InPort(4)
        s.out = OutPort(32)

        s.subtract = Wire()
        s.sum = Wire(33)  # the top bit of a - b is the borrow: a < b, unsigned
        s.less = Wire()

        @update
        def add_and_compare():
            s.subtract @= s.fn != ALU_ADD
            if s.subtract:
                s.sum @= zext(s.a, 33) - zext(s.b, 33)
            else:
                s.sum @= zext(s.a, 33) + zext(s.b, 33)
            s.less @= s.sum[32]
            if (s.fn == ALU_SLT) & (s.a[31] != s.b[31]):
                s.less @= s.a[31]

        s.sign = Wire()
        s.shifted = Wire(63)

        @update
        def shift_right():
            s.sign @= s.a[31] & (s.fn == ALU_SRA)
            s.shifted @= concat(sext(s.sign, 31), s.a) >> zext(s.b[0:5], 63)

        @update
        def select():
            if (s.fn == ALU_ADD) | (s.fn == ALU_SUB):
                s.out @= s.sum[0:32]
            elif s.fn == ALU_SLL:
                s.out @= s.a << zext(s.b[0:5], 32)
            elif (s.fn == ALU_SLT) | (s.fn == ALU_SLTU):
                s.out @= zext(s.less, 32)
            elif s.fn == ALU_XOR:
                s.out @= s.a ^ s.b
            elif (s.fn == ALU_SRL) | (s.fn == ALU_SRA):
                s.out @= s.shifted[0:32]
            elif s.fn == ALU_OR:
                s.out @= s.a | s.b
            else:
                s.out @= s.a & s.b
