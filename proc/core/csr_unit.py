"""CsrUnit: the control and status registers, and the execution of csr instructions in X, which access a
register or a port if the access is legal (privileged specification, chapters 2 and 3: machine mode only;
csrs.py describes the CSRs).

The read and the write of an instruction happen together, when it leaves X (`retire`). It is counted then: it
can fail later, in M, only if the machine halts. Some CSRs are ports: an access sends or receives a word of
the manager, or is a request to the accelerator, whose answer comes in M.

Ports: x, pc and inst of the instruction in X; its operands rs1 and uimm; act, retire, trap from ExecuteStage,
the latter with cause and trap_value; -> illegal; wait_X (a port is not ready); to_xcel; rdata; has_handler,
mtvec, mepc and stats_en; the streams of the ports. With bus: irq -> interrupts (messages.Interrupts). Area
order: 128 flip-flops of counters, 164 others, a mux over 32 bits.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ...rtl.messages import mk_xcel_req
from ..isa.causes import EXTERNAL_INTERRUPT
from ..isa.csrs import *
from .messages import *

XCEL_PAGE = XCEL_FIRST >> 5  # the upper seven bits of the numbers of all accelerator registers


class CsrUnit(Component):
    def construct(s, bus=False):
        s.core_id = InPort(32)
        s.x = InPort(Issue)
        s.cs = InPort(Control)
        s.pc = InPort(32)
        s.inst = InPort(32)
        s.rs1 = InPort(32)
        s.uimm = InPort(32)
        s.act = InPort()
        s.retire = InPort()
        s.trap = InPort()
        s.cause = InPort(4)
        s.trap_value = InPort(32)
        s.illegal = OutPort()
        s.wait_X = OutPort()
        s.to_xcel = OutPort()
        s.rdata = OutPort(32)
        s.has_handler = OutPort()
        s.mtvec = OutPort(32)
        s.mepc = OutPort(32)
        s.stats_en = OutPort()
        s.xcel_req = SendIfcRTL(mk_xcel_req())
        s.mngr2proc = RecvIfcRTL(Bits32)
        s.proc2mngr = SendIfcRTL(Bits32)

        s.number = Wire(12)
        s.number //= s.inst[20:32]
        s.known = Wire()  # a register with this number exists
        s.register = Wire(32)  # its value
        s.csr = Wire(32)  # its value, interrupt bits included
        s.trap_cause = Wire(32)

        s.read_and_modify()
        s.decode_access()
        s.connect_ports()
        s.counters()
        s.trap_registers()
        s.select_register()
        if bus:
            s.add_interrupts()
        else:
            s.omit_interrupts()

    def read_and_modify(s):
        """The value that a csr instruction reads, and the value that it writes."""
        s.operand = Wire(32)
        s.write = Wire()
        s.wdata = Wire(32)

        @update
        def modify():
            s.operand @= s.rs1
            if s.inst[14]:
                s.operand @= s.uimm
            s.write @= s.retire & s.is_csr & s.writes
            if s.overwrites:
                s.wdata @= s.operand
            elif s.inst[12]:
                s.wdata @= s.csr & ~s.operand
            else:
                s.wdata @= s.csr | s.operand

        @update
        def read():
            s.has_handler @= s.mtvec != 0
            s.rdata @= s.csr
            if s.from_manager:
                s.rdata @= s.mngr2proc.msg

    def omit_interrupts(s):
        """Only exceptions trap, and no register has interrupt bits."""
        s.csr //= s.register

        @update
        def cause_of_trap():
            s.trap_cause @= zext(s.cause, 32)

    def decode_access(s):
        """The register or port that a csr instruction accesses, and whether the access is legal."""
        s.is_csr = Wire()
        s.overwrites = Wire()  # csrrw, csrrwi
        s.writes = Wire()
        s.reads = Wire()
        s.from_manager = Wire()
        s.to_manager = Wire()

        @update
        def select_port():
            s.is_csr @= s.x.val & ~s.x.error & (s.cs.mem == MEM_CSR)
            s.from_manager @= s.is_csr & (s.number == MNGR2PROC)
            s.to_manager @= s.is_csr & (s.number == PROC2MNGR)
            s.to_xcel @= s.is_csr & (s.number[5:12] == XCEL_PAGE)

        @update
        def check():
            s.overwrites @= ~s.inst[13]
            s.writes @= s.overwrites | (s.inst[15:20] != 0)
            s.reads @= ~s.overwrites | (s.inst[7:12] != 0)
            # an instruction may access a port once; a read-only register cannot be written
            if s.from_manager:
                s.illegal @= s.writes
            elif s.to_manager:
                s.illegal @= s.reads
            elif s.to_xcel:
                s.illegal @= s.reads & s.writes
            else:
                s.illegal @= s.is_csr & (~s.known | (s.writes & (s.number[10:12] == 3)))

    def connect_ports(s):
        """The streams to the accelerator and the manager."""
        s.proc2mngr.msg //= s.operand
        s.xcel_req.msg.addr //= s.inst[20:25]
        s.xcel_req.msg.data //= s.operand
        s.xcel_req.msg.write //= s.overwrites

        @update
        def request():
            s.xcel_req.val @= s.act & s.to_xcel
            s.proc2mngr.val @= s.act & s.to_manager
            s.mngr2proc.rdy @= s.act & s.from_manager

        @update
        def wait_for_port():
            s.wait_X @= (
                (s.to_xcel & ~s.xcel_req.rdy)
                | (s.to_manager & ~s.proc2mngr.rdy)
                | (s.from_manager & ~s.mngr2proc.val)
            )

    def counters(s):
        """Counters of cycles and instructions, and the flag of the stats window."""
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

        @update_ff
        def statistics():
            if s.reset:
                s.stats_en <<= 0
            elif s.write & (s.number == STATS_EN):
                s.stats_en <<= s.wdata[0]

    def trap_registers(s):
        """The registers of traps. Reset writes 0 like any other source, so each register has one enable, and
        its clock can be gated.
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
                s.next_epc @= s.pc
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

    def select_register(s):
        """The register that is read, without its interrupt bits."""

        @update
        def select():
            s.known @= 1
            s.register @= 0
            if s.number == STATS_EN:
                s.register @= zext(s.stats_en, 32)
            elif s.number == NUMCORES:
                s.register @= 1
            elif s.number == MHARTID:
                s.register @= s.core_id
            elif s.number == MTVEC:
                s.register @= s.mtvec
            elif s.number == MEPC:
                s.register @= s.mepc
            elif s.number == MSCRATCH:
                s.register @= s.mscratch
            elif s.number == MCAUSE:
                s.register @= s.mcause
            elif s.number == MTVAL:
                s.register @= s.mtval
            elif s.number == MISA:
                s.register @= MISA_VALUE
            elif s.number == MSTATUS:
                s.register @= MSTATUS_VALUE
            elif (s.number == MCYCLE) | (s.number == CYCLE):
                s.register @= s.cycles.count[0:32]
            elif (s.number == MCYCLEH) | (s.number == CYCLEH):
                s.register @= s.cycles.count[32:64]
            elif (s.number == MINSTRET) | (s.number == INSTRET):
                s.register @= s.retired.count[0:32]
            elif (s.number == MINSTRETH) | (s.number == INSTRETH):
                s.register @= s.retired.count[32:64]
            else:
                s.known @= (
                    (s.number == MIE) | (s.number == MIP) | ((s.number >= MVENDORID) & (s.number <= MIMPID))
                )

    def add_interrupts(s):
        """The bits of the machine external interrupt, and their status for D: mstatus.MIE and MPIE, mie.MEIE,
        and mip.MEIP, which is the interrupt line. A trap moves MIE to MPIE and clears it; mret moves it back
        and sets MPIE.
        """
        s.irq = InPort()
        s.interrupts = OutPort(Interrupts)
        s.mie = Wire()  # mstatus.MIE
        s.mpie = Wire()  # mstatus.MPIE
        s.meie = Wire()  # mie.MEIE

        @update
        def read_interrupts():
            s.csr @= s.register
            if s.number == MSTATUS:
                s.csr[MIE_BIT] @= s.mie
                s.csr[MPIE_BIT] @= s.mpie
            elif s.number == MIE:
                s.csr[EXTERNAL_BIT] @= s.meie
            elif s.number == MIP:
                s.csr[EXTERNAL_BIT] @= s.irq

        @update
        def interrupt_status():
            s.interrupts @= Interrupts(s.mie & s.meie & s.has_handler, s.meie, s.is_csr)
            s.trap_cause @= zext(s.cause, 32)
            if s.cause == INTERRUPT_CODE:
                s.trap_cause @= EXTERNAL_INTERRUPT

        @update_ff
        def interrupt_bits():
            if s.reset:
                s.mie <<= 0
                s.mpie <<= 0
                s.meie <<= 0
            elif s.trap:
                s.mpie <<= s.mie
                s.mie <<= 0
            elif s.retire & (s.cs.system == SYS_MRET):
                s.mie <<= s.mpie
                s.mpie <<= 1
            elif s.write & (s.number == MSTATUS):
                s.mie <<= s.wdata[MIE_BIT]
                s.mpie <<= s.wdata[MPIE_BIT]
            elif s.write & (s.number == MIE):
                s.meie <<= s.wdata[EXTERNAL_BIT]


class Counter(Component):
    """A 64-bit counter of the cycles with `en`, which can be written by halves."""

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
