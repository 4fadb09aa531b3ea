"""InterruptCsrFile: the CSRs of a processor with the machine external interrupt: those of csr_file.py, and
the bits that are not constant.

mstatus.MIE and MPIE, mie.MEIE, mip.MEIP, which is the line, and the upper bit of mcause. A trap moves MIE to
MPIE and clears it, mret moves it back and sets MPIE. All these bits read as 0 in the plain file, so that one
word laid over its own is what is read.

Ports: those of CsrFile; irq; interrupt: the trap is one; mret retires; enabled (MIE and MEIE), wakes (MEIE).
Area order: that of CsrFile and 4 flip-flops.
"""

from pymtl3 import *

from ...isa.csrs import *
from ..csr_file import INPUTS, OUTPUTS, CsrFile, declare_ports


class InterruptCsrFile(Component):
    def construct(s):
        declare_ports(s)
        s.irq = InPort()
        s.interrupt = InPort()
        s.mret = InPort()
        s.enabled = OutPort()
        s.wakes = OutPort()

        s.plain = CsrFile()
        for name in (*INPUTS, *OUTPUTS):
            if name != "rdata":
                connect(getattr(s, name), getattr(s.plain, name))

        s.on = Wire()  # mstatus.MIE
        s.was_on = Wire()  # mstatus.MPIE
        s.external = Wire()  # mie.MEIE
        s.by_interrupt = Wire()  # the last trap was one
        s.laid_over = Wire(32)
        s.wakes //= s.external

        @update
        def status():
            s.enabled @= s.on & s.external

        @update
        def bits():
            s.laid_over @= 0
            if s.number == MSTATUS:
                s.laid_over[MIE_BIT] @= s.on
                s.laid_over[MPIE_BIT] @= s.was_on
            elif s.number == MIE:
                s.laid_over[EXTERNAL_BIT] @= s.external
            elif s.number == MIP:
                s.laid_over[EXTERNAL_BIT] @= s.irq
            elif s.number == MCAUSE:
                s.laid_over[31] @= s.by_interrupt

        @update
        def read_all():
            s.rdata @= s.plain.rdata | s.laid_over

        s.write = Wire()
        s.wdata = Wire(32)

        @update
        def change():
            s.write @= s.go & (~s.funct3[1] | ~s.source_zero)
            s.wdata @= s.operand
            if s.funct3[1]:
                s.wdata @= s.laid_over | s.operand
                if s.funct3[0]:
                    s.wdata @= s.laid_over & ~s.operand

        @update_ff
        def enables():
            if s.reset:
                s.on <<= 0
                s.was_on <<= 0
                s.external <<= 0
            elif s.trap:
                s.was_on <<= s.on
                s.on <<= 0
            elif s.mret:
                s.on <<= s.was_on
                s.was_on <<= 1
            elif s.write:
                if s.number == MSTATUS:
                    s.on <<= s.wdata[MIE_BIT]
                    s.was_on <<= s.wdata[MPIE_BIT]
                if s.number == MIE:
                    s.external <<= s.wdata[EXTERNAL_BIT]

        @update_ff
        def cause():
            if s.reset:
                s.by_interrupt <<= 0
            elif s.trap:
                s.by_interrupt <<= s.interrupt
            elif s.write & (s.number == MCAUSE):
                # a bit that was written is in the plain register; what was there before stays here
                s.by_interrupt <<= s.wdata[31] & s.funct3[1]
