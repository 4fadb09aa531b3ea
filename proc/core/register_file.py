"""RegisterFile: 32 registers of 32 bits with two read ports and one write port; register 0 reads as 0.

A value written in this cycle can be read in the next one; an instruction that needs it earlier uses the
bypass. All registers reset to 0, so that a program that reads a register before writing it behaves the same
at every level. Reset writes 0 to all registers like any other source, so each register has a single enable,
and its clock can be gated.

Ports: raddr[2] -> rdata[2]; wen, waddr, wdata. Area order: 31 * 32 flip-flops and two 32-to-1 muxes.
"""

from pymtl3 import *


class RegisterFile(Component):
    def construct(s):
        s.raddr = [InPort(5) for _ in range(2)]
        s.rdata = [OutPort(32) for _ in range(2)]
        s.wen = InPort()
        s.waddr = InPort(5)
        s.wdata = InPort(32)

        s.regs = [Wire(32) for _ in range(32)]  # the first is never written or read
        s.enable = Wire(32)
        s.value = Wire(32)

        @update
        def read():
            for i in range(2):
                s.rdata[i] @= s.regs[s.raddr[i]]
                if s.raddr[i] == 0:
                    s.rdata[i] @= 0

        @update
        def select():
            s.value @= s.wdata
            if s.reset:
                s.value @= 0
            for i in range(32):
                s.enable[i] @= s.reset | (s.wen & (s.waddr == i))

        @update_ff
        def write():
            for i in range(1, 32):
                if s.enable[i]:
                    s.regs[i] <<= s.value
