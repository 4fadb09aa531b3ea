"""CsrFile: the control and status registers, in stage X (privileged manual, chapters 2 and 3: machine mode
only). Those of interrupts are constant here; bus/interrupt_csr_file.py has them.

A read and the write of the same instruction happen together, when the instruction leaves X. Registers that
stand for a port (the manager's and the accelerator's) are moved by the pipeline; here it is only decided
whether an access is one that they allow. `retire` counts the instruction that leaves X: it can still fail in
M only if the machine halts then. What a CSR means stands in csrs.py.

Ports: the access (number, funct3, source_zero and rd_zero for the fields of the instruction, operand, go) ->
rdata, illegal and which port is meant; a trap (trap, its pc, cause and value); mtvec, mepc, stats_en to the
pipeline. Area order: 128 flip-flops of counters, 164 others, a mux over 32 bits.
"""

from pymtl3 import *

from ..isa.csrs import *

XCEL_PAGE = XCEL_FIRST >> 5  # the upper seven bits of the numbers of all accelerator registers


INPUTS = {  # name: bits
    **{"core_id": 32, "number": 12, "funct3": 3, "source_zero": 1, "rd_zero": 1, "operand": 32, "go": 1},
    **{"retire": 1, "trap": 1, "trap_pc": 32, "trap_cause": 4, "trap_value": 32},
}
OUTPUTS = {
    **{"rdata": 32, "illegal": 1, "from_manager": 1, "to_manager": 1, "to_xcel": 1},
    **{"mtvec": 32, "mepc": 32, "stats_en": 1},
}


def declare_ports(component):
    """Give a component the ports of a CSR file."""
    for direction, ports in ((InPort, INPUTS), (OutPort, OUTPUTS)):
        for name, nbits in ports.items():
            setattr(component, name, direction(nbits))


class CsrFile(Component):
    def construct(s):
        declare_ports(s)

        s.vector = Wire(30)
        s.epc = Wire(30)
        s.scratch = Wire(32)
        s.cause = Wire(32)
        s.tval = Wire(32)
        s.cycles = Wire(64)
        s.retired = Wire(64)
        s.mtvec[0:2] //= 0
        s.mtvec[2:32] //= s.vector
        s.mepc[0:2] //= 0
        s.mepc[2:32] //= s.epc

        # ---- which one, and may it be accessed so

        s.write_form = Wire()  # csrrw, csrrwi
        s.writes = Wire()
        s.reads = Wire()
        s.known = Wire()
        s.is_port = Wire()

        @update
        def forms():
            s.write_form @= ~s.funct3[1]
            s.writes @= s.write_form | ~s.source_zero
            s.reads @= ~s.write_form | ~s.rd_zero

        @update
        def ports():
            s.from_manager @= s.number == MNGR2PROC
            s.to_manager @= s.number == PROC2MNGR
            s.to_xcel @= s.number[5:12] == XCEL_PAGE
            s.is_port @= s.from_manager | s.to_manager | s.to_xcel

        @update
        def allowed():
            if s.is_port:
                # one access an instruction; a read-only register is not written, and the manager's input not
                # read
                s.illegal @= (s.reads & s.writes) | (s.from_manager & s.writes) | (s.to_manager & ~s.writes)
            else:
                s.illegal @= ~s.known | (s.writes & (s.number[10:12] == 3))

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
                s.rdata @= s.scratch
            elif s.number == MCAUSE:
                s.rdata @= s.cause
            elif s.number == MTVAL:
                s.rdata @= s.tval
            elif s.number == MISA:
                s.rdata @= MISA_VALUE
            elif s.number == MSTATUS:
                s.rdata @= MSTATUS_VALUE
            elif (s.number == MCYCLE) | (s.number == CYCLE):
                s.rdata @= s.cycles[0:32]
            elif (s.number == MCYCLEH) | (s.number == CYCLEH):
                s.rdata @= s.cycles[32:64]
            elif (s.number == MINSTRET) | (s.number == INSTRET):
                s.rdata @= s.retired[0:32]
            elif (s.number == MINSTRETH) | (s.number == INSTRETH):
                s.rdata @= s.retired[32:64]
            else:
                s.known @= (
                    (s.number == MIE)
                    | (s.number == MIP)
                    | (s.number == MVENDORID)
                    | (s.number == MARCHID)
                    | (s.number == MIMPID)
                )

        # ---- what is written

        s.wdata = Wire(32)
        s.write = Wire()

        @update
        def modify():
            s.write @= s.go & s.writes
            if s.write_form:
                s.wdata @= s.operand
            elif s.funct3[0]:
                s.wdata @= s.rdata & ~s.operand
            else:
                s.wdata @= s.rdata | s.operand

        @update_ff
        def control():
            if s.reset:
                s.stats_en <<= 0
            elif s.write & (s.number == STATS_EN):
                s.stats_en <<= s.wdata[0]

        # reset writes a 0 like any other source, so that each of these registers has one enable, and its
        # clock can be gated
        s.next_vector = Wire(30)
        s.next_scratch = Wire(32)
        s.next_epc = Wire(30)
        s.next_cause = Wire(32)
        s.next_tval = Wire(32)

        @update
        def trap_values():
            s.next_vector @= s.wdata[2:32]
            s.next_scratch @= s.wdata
            s.next_epc @= s.wdata[2:32]
            s.next_cause @= s.wdata
            s.next_tval @= s.wdata
            if s.reset:
                s.next_vector @= 0
                s.next_scratch @= 0
                s.next_epc @= 0
                s.next_cause @= 0
                s.next_tval @= 0
            elif s.trap:
                s.next_epc @= s.trap_pc[2:32]
                s.next_cause @= zext(s.trap_cause, 32)
                s.next_tval @= s.trap_value

        @update_ff
        def trap_state():
            if s.reset | (s.write & (s.number == MTVEC)):
                s.vector <<= s.next_vector
            if s.reset | (s.write & (s.number == MSCRATCH)):
                s.scratch <<= s.next_scratch
            if s.reset | s.trap | (s.write & (s.number == MEPC)):
                s.epc <<= s.next_epc
            if s.reset | s.trap | (s.write & (s.number == MCAUSE)):
                s.cause <<= s.next_cause
            if s.reset | s.trap | (s.write & (s.number == MTVAL)):
                s.tval <<= s.next_tval

        @update_ff
        def count_cycles():
            if s.reset:
                s.cycles <<= 0
            elif s.write & (s.number == MCYCLE):
                s.cycles <<= concat(s.cycles[32:64], s.wdata)
            elif s.write & (s.number == MCYCLEH):
                s.cycles <<= concat(s.wdata, s.cycles[0:32])
            else:
                s.cycles <<= s.cycles + 1

        s.next_retired = Wire(64)
        s.counts = Wire()

        @update
        def one_more():
            s.counts @= s.reset | s.retire
            s.next_retired @= s.retired + 1
            if s.reset:
                s.next_retired @= 0
            elif s.write & (s.number == MINSTRET):
                s.counts @= 1
                s.next_retired @= concat(s.retired[32:64], s.wdata)
            elif s.write & (s.number == MINSTRETH):
                s.counts @= 1
                s.next_retired @= concat(s.wdata, s.retired[0:32])

        @update_ff
        def count_instructions():
            if s.counts:
                s.retired <<= s.next_retired
