"""CsrFile: the control and status registers (privileged specification, chapters 2 and 3: machine mode only).
Those of interrupts are constant here; bus/interrupt_csrs.py has them. csrs.py says what a CSR means.

`retire` counts the instruction that leaves X: it can still fail in M only if the machine halts then.

Ports: number; write, of wdata -> known, rdata; a trap (trap, its pc, cause and value); mtvec, mepc, stats_en.
Area order: 128 flip-flops of counters, 164 others, a mux over 32 bits.
"""

from pymtl3 import *

from ..isa.csrs import *


class CsrFile(Component):
    def construct(s):
        s.core_id = InPort(32)
        s.number = InPort(12)
        s.write = InPort()
        s.wdata = InPort(32)
        s.retire = InPort()
        s.trap = InPort()
        s.trap_pc = InPort(32)
        s.trap_cause = InPort(32)
        s.trap_value = InPort(32)
        s.known = OutPort()
        s.rdata = OutPort(32)
        s.mtvec = OutPort(32)
        s.mepc = OutPort(32)
        s.stats_en = OutPort()

        s.trap_registers()
        s.cycles = Counter()
        s.retired = Counter()
        s.cycles.wdata //= s.wdata
        s.retired.wdata //= s.wdata

        @update
        def count():
            s.cycles.en @= 1
            s.cycles.write_low @= s.write & (s.number == MCYCLE)
            s.cycles.write_high @= s.write & (s.number == MCYCLEH)
            s.retired.en @= s.retire
            s.retired.write_low @= s.write & (s.number == MINSTRET)
            s.retired.write_high @= s.write & (s.number == MINSTRETH)

        @update
        def read():
            s.known @= 1
            s.rdata @= 0
            if s.number == STATS_EN:
                s.rdata @= zext(s.stats_en, 32)
            elif s.number == NUMCORES:
                s.rdata @= 1
            elif s.number == MHARTID:
                s.rdata @= s.core_id
            elif s.number == MTVEC:
                s.rdata @= s.mtvec
            elif s.number == MEPC:
                s.rdata @= s.mepc
            elif s.number == MSCRATCH:
                s.rdata @= s.mscratch
            elif s.number == MCAUSE:
                s.rdata @= s.mcause
            elif s.number == MTVAL:
                s.rdata @= s.mtval
            elif s.number == MISA:
                s.rdata @= MISA_VALUE
            elif s.number == MSTATUS:
                s.rdata @= MSTATUS_VALUE
            elif (s.number == MCYCLE) | (s.number == CYCLE):
                s.rdata @= s.cycles.count[0:32]
            elif (s.number == MCYCLEH) | (s.number == CYCLEH):
                s.rdata @= s.cycles.count[32:64]
            elif (s.number == MINSTRET) | (s.number == INSTRET):
                s.rdata @= s.retired.count[0:32]
            elif (s.number == MINSTRETH) | (s.number == INSTRETH):
                s.rdata @= s.retired.count[32:64]
            else:
                s.known @= (
                    (s.number == MIE) | (s.number == MIP) | ((s.number >= MVENDORID) & (s.number <= MIMPID))
                )

        @update_ff
        def statistics():
            if s.reset:
                s.stats_en <<= 0
            elif s.write & (s.number == STATS_EN):
                s.stats_en <<= s.wdata[0]

    def trap_registers(s):
        """The registers of traps. Reset writes a 0 like any other source: each has one enable, and its
        clock can be gated.
        """
        s.mscratch = Wire(32)
        s.mcause = Wire(32)
        s.mtval = Wire(32)
        s.vector = Wire(30)
        s.epc = Wire(30)
        s.mtvec[0:2] //= 0
        s.mtvec[2:32] //= s.vector
        s.mepc[0:2] //= 0
        s.mepc[2:32] //= s.epc
        s.written = Wire(32)
        s.next_epc = Wire(32)
        s.next_cause = Wire(32)
        s.next_tval = Wire(32)

        @update
        def next_values():
            s.written @= s.wdata
            if s.reset:
                s.written @= 0
            s.next_epc @= s.written
            s.next_cause @= s.written
            s.next_tval @= s.written
            if s.trap & ~s.reset:
                s.next_epc @= s.trap_pc
                s.next_cause @= s.trap_cause
                s.next_tval @= s.trap_value

        @update_ff
        def registers():
            if s.reset | (s.write & (s.number == MTVEC)):
                s.vector <<= s.written[2:32]
            if s.reset | (s.write & (s.number == MSCRATCH)):
                s.mscratch <<= s.written
            if s.reset | s.trap | (s.write & (s.number == MEPC)):
                s.epc <<= s.next_epc[2:32]
            if s.reset | s.trap | (s.write & (s.number == MCAUSE)):
                s.mcause <<= s.next_cause
            if s.reset | s.trap | (s.write & (s.number == MTVAL)):
                s.mtval <<= s.next_tval


class Counter(Component):
    """64 bits that count the cycles with `en`, and are written by halves."""

    def construct(s):
        s.en = InPort()
        s.write_low = InPort()
        s.write_high = InPort()
        s.wdata = InPort(32)
        s.count = OutPort(64)

        s.next_count = Wire(64)

        @update
        def next_value():
            if s.reset:
                s.next_count @= 0
            elif s.write_low:
                s.next_count @= concat(s.count[32:64], s.wdata)
            elif s.write_high:
                s.next_count @= concat(s.wdata, s.count[0:32])
            else:
                s.next_count @= s.count + 1

        @update_ff
        def register():
            if s.reset | s.en | s.write_low | s.write_high:
                s.count <<= s.next_count
