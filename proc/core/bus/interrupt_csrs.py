"""InterruptCsrs: the CSR bits of the machine external interrupt, which read as 0 in csr_file.py.

mstatus.MIE and MPIE, mie.MEIE, and mip.MEIP, which is the line. A trap moves MIE to MPIE and clears it; mret
moves it back and sets MPIE.

Ports: irq; number; write, of wdata; trap; mret retires -> rdata; enabled (MIE and MEIE), wakes (MEIE). Area
order: 3 flip-flops.
"""

from pymtl3 import *

from ...isa.csrs import *


class InterruptCsrs(Component):
    def construct(s):
        s.irq = InPort()
        s.number = InPort(12)
        s.write = InPort()
        s.wdata = InPort(32)
        s.trap = InPort()
        s.mret = InPort()
        s.rdata = OutPort(32)
        s.enabled = OutPort()
        s.wakes = OutPort()

        s.mie = Wire()  # mstatus.MIE
        s.mpie = Wire()  # mstatus.MPIE
        s.meie = Wire()  # mie.MEIE
        s.wakes //= s.meie

        @update
        def read():
            s.enabled @= s.mie & s.meie
            s.rdata @= 0
            if s.number == MSTATUS:
                s.rdata[MIE_BIT] @= s.mie
                s.rdata[MPIE_BIT] @= s.mpie
            elif s.number == MIE:
                s.rdata[EXTERNAL_BIT] @= s.meie
            elif s.number == MIP:
                s.rdata[EXTERNAL_BIT] @= s.irq

        @update_ff
        def registers():
            if s.reset:
                s.mie <<= 0
                s.mpie <<= 0
                s.meie <<= 0
            elif s.trap:
                s.mpie <<= s.mie
                s.mie <<= 0
            elif s.mret:
                s.mie <<= s.mpie
                s.mpie <<= 1
            elif s.write & (s.number == MSTATUS):
                s.mie <<= s.wdata[MIE_BIT]
                s.mpie <<= s.wdata[MPIE_BIT]
            elif s.write & (s.number == MIE):
                s.meie <<= s.wdata[EXTERNAL_BIT]
