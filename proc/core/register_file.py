"""RegisterFile: 32 registers of 32 bits, register 0 reads as 0; two read ports, one write port.

A value written in this cycle is read in the next one: whoever needs it now takes it from the bypass. All
registers start with 0, so that a program that reads one before it has written it does the same at every
level. Reset writes like any other source, a 0 to all of them: so each register has one enable and nothing
else, and its clock can be gated.

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

        s.regs = [Wire(32) for _ in range(32)]  # the first is never written, nor read
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
