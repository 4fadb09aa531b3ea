"""BypassUnit: one operand of the instruction in D: from the register file, or from the youngest instruction
in X, M or W that writes its register.

Ports: en (the register is read), raddr, rdata (of the register file); the writes of X, M and W; late_X (the
value of X is available only in M) -> operand, load_use. Combinational; area order: a 4-to-1 mux over 32 bits.
"""

from pymtl3 import *

from .messages import Write


class BypassUnit(Component):
    def construct(s):
        s.en = InPort()
        s.raddr = InPort(5)
        s.rdata = InPort(32)
        s.write_X = InPort(Write)
        s.write_M = InPort(Write)
        s.write_W = InPort(Write)
        s.late_X = InPort()
        s.operand = OutPort(32)
        s.load_use = OutPort()

        s.reads = Wire()
        s.bypass_X = Wire()
        s.bypass_M = Wire()
        s.bypass_W = Wire()

        @update
        def compare():
            s.reads @= s.en & (s.raddr != 0)
            s.bypass_X @= s.reads & s.write_X.en & (s.write_X.addr == s.raddr)
            s.bypass_M @= s.reads & s.write_M.en & (s.write_M.addr == s.raddr)
            s.bypass_W @= s.reads & s.write_W.en & (s.write_W.addr == s.raddr)
            s.load_use @= s.bypass_X & s.late_X

        @update
        def select():
            if s.bypass_X:
                s.operand @= s.write_X.data
            elif s.bypass_M:
                s.operand @= s.write_M.data
            elif s.bypass_W:
                s.operand @= s.write_W.data
            else:
                s.operand @= s.rdata
