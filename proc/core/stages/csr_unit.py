"""CsrUnit: the csr instructions in X: which register or port they access, and whether they may.

A read and the write of the same instruction happen together, when it leaves X (`retire`). Some CSRs are
ports: an access sends or receives a word of the manager, or is a request to the accelerator, whose answer
comes in M.

Ports: x, pc and inst of the instruction in X; its operands rs1 and uimm; act, retire, trap from
RetireUnit, the latter with cause and trap_value; -> illegal; wait_X (a port is not ready); to_xcel;
rdata; has_handler, mtvec, mepc and stats_en; the streams of the ports. With bus: irq -> interrupts
(messages.Interrupts). Area order: CsrFile.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ....rtl.messages import mk_xcel_req
from ...isa.causes import EXTERNAL_INTERRUPT
from ...isa.csrs import *
from ..bus.interrupt_csrs import InterruptCsrs
from ..csr_file import CsrFile
from ..messages import *

XCEL_PAGE = XCEL_FIRST >> 5  # the upper seven bits of the numbers of all accelerator registers


class CsrUnit(Component):
    def construct(s, bus=None):
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

        s.csrs = m = CsrFile()
        m.core_id //= s.core_id
        m.number //= s.number
        m.retire //= s.retire
        m.trap //= s.trap
        m.trap_pc //= s.pc
        m.trap_value //= s.trap_value
        m.mtvec //= s.mtvec
        m.mepc //= s.mepc
        m.stats_en //= s.stats_en

        s.decode_access()

        s.csr = Wire(32)  # that is read
        s.operand = Wire(32)
        s.write = Wire()
        s.wdata = Wire(32)
        s.csrs.write //= s.write
        s.csrs.wdata //= s.wdata

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

        s.connect_ports()
        if bus:
            s.add_interrupts()
        else:
            s.csrs.rdata //= s.csr

            @update
            def trap_cause():
                s.csrs.trap_cause @= zext(s.cause, 32)

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

    def decode_access(s):
        """The register or port that a csr instruction accesses, and whether it may."""
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
            # a port allows one access an instruction; a read-only register is not written
            if s.from_manager:
                s.illegal @= s.writes
            elif s.to_manager:
                s.illegal @= s.reads
            elif s.to_xcel:
                s.illegal @= s.reads & s.writes
            else:
                s.illegal @= s.is_csr & (~s.csrs.known | (s.writes & (s.number[10:12] == 3)))

    def add_interrupts(s):
        """The CSRs of interrupts, and their status for D."""
        s.irq = InPort()
        s.interrupts = OutPort(Interrupts)

        s.interrupt_csrs = m = InterruptCsrs()
        m.irq //= s.irq
        m.number //= s.number
        m.write //= s.write
        m.wdata //= s.wdata
        m.trap //= s.trap

        @update
        def merge_interrupts():
            s.csr @= s.csrs.rdata | s.interrupt_csrs.rdata
            s.interrupts.wakes @= s.interrupt_csrs.wakes
            s.interrupts.changing @= s.is_csr
            s.interrupts.enabled @= s.interrupt_csrs.enabled & s.has_handler
            s.interrupt_csrs.mret @= s.retire & (s.cs.system == SYS_MRET)
            s.csrs.trap_cause @= zext(s.cause, 32)
            if s.cause == INTERRUPT_CODE:
                s.csrs.trap_cause @= EXTERNAL_INTERRUPT
