"""RegisterFile: 32 registers of 32 bits, register 0 reads as 0; two read ports, one write port.

A value written in this cycle is read in the next one: whoever needs it now takes it from the bypass. All registers start with 0, so
that a program that reads one before it has written it does the same at every level.

Ports: raddr[2] -> rdata[2]; wen, waddr, wdata. Area order: 31 * 32 flip-flops and two muxes of 32 to 1.
"""

from pymtl3 import *


class RegisterFile(Component):
    def construct(s):
        s.raddr = [InPort(5) for _ in range(2)]
        s.rdata = [OutPort(32) for _ in range(2)]
        s.wen = InPort()
        s.waddr = InPort(5)
        s.wdata = InPort(32)

        s.regs = [Wire(32) for _ in range(32)]

        @update
        def read():
            for i in range(2):
                s.rdata[i] @= s.regs[s.raddr[i]]

        @update_ff
        def write():
            if s.reset:
                for i in range(32):
                    s.regs[i] <<= 0
            elif s.wen & (s.waddr != 0):
                s.regs[s.waddr] <<= s.wdata
