"""Proc: a pipelined RV32IM processor with an accelerator port (paper 001, section 2.4 and Figure 4).

Five stages F D X M W, in order, with full bypassing; branches are predicted not taken and resolved in X.
Cycles per instruction: 1; 1 more for a use directly after a load, 1 more for jal, 2 for jalr and a taken
branch, mul_latency - 1 for a product, 32 / div_bits for a quotient. docs/explanation/processor.md shows the
datapath, docs/reference/processor.md lists the CSRs and all costs.

F FetchUnit D DecodeStage, which feeds MulUnit and DivUnit X ExecuteStage M MemoryStage W WritebackStage

A stalled stage stalls all stages before it and sends a bubble on. Between stages, control is one struct
(Issue, then Slot) and data another (Fetched, Operands, Result): see messages.py.

Ports: imem and dmem (requests of aligned words, answers one or more cycles later); xcel (the accelerator's
registers; its answer comes one or more cycles after the request, and the rdy of a request must not depend on
the rdy of its answer); mngr2proc and proc2mngr (words from and to the driver of the simulation); entry (first
address) and core_id (static); halted, stats_en; commit (messages.Commit), the slot in W. With `bus` there are
a second data port, bus, for the addresses of its window (memory.py), and irq, the machine external interrupt.
Accesses to the bus wait in X for their answer (bus_unit.py). The interrupt replaces the instruction in D
(decode_stage.py). Area order: register file and CSRs 1,300 flip-flops, pipeline 600, multiplier, divider.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ...rtl.messages import connect_fields, mk_xcel_req, mk_xcel_resp
from .bus_unit import BusUnit
from .div_unit import DivUnit
from .messages import MemReq, MemResp
from .mul_unit import MulUnit
from .pipeline_trace import line
from .ports import processor_ports
from .stages.decode_stage import DecodeStage
from .stages.execute_stage import ExecuteStage
from .stages.fetch_unit import FetchUnit
from .stages.memory_stage import MemoryStage
from .stages.writeback_stage import WritebackStage


class Proc(Component):
    def construct(s, mul_latency=1, div_bits=2, bus=False):
        processor_ports(s)
        s.xcel_req = SendIfcRTL(mk_xcel_req())
        s.xcel_resp = RecvIfcRTL(mk_xcel_resp())

        s.fetch = FetchUnit()
        s.decode = DecodeStage(bus)
        s.mul = MulUnit(mul_latency)
        s.div = DivUnit(div_bits)
        s.execute = ExecuteStage(bus)
        s.memory = MemoryStage()
        s.writeback = WritebackStage()
        s.connect_stages()
        if bus:
            s.connect_bus()
        else:
            s.execute.dmem_req //= s.dmem_req
            s.dmem_resp //= s.memory.dmem_resp

    def connect_stages(s):
        """Connect the stages and units to each other and to the ports, except for the data memory."""
        # ---- F
        m = s.fetch
        connect_fields(m, s, "imem_req", "imem_resp", "entry")
        m.stop //= s.execute.stop

        @update
        def redirect():
            s.fetch.redirect_val @= s.execute.redirect_val | s.decode.redirect_val
            s.fetch.redirect_pc @= s.decode.redirect_pc
            if s.execute.redirect_val:
                s.fetch.redirect_pc @= s.execute.redirect_pc

        # ---- D
        m = s.decode
        m.istream //= s.fetch.ostream
        m.fresh //= s.fetch.fresh
        connect_fields(m, s.execute, "stall_X", "squash_D", "late_X", "write_X")
        m.write_M //= s.memory.write_M
        m.write_W //= s.writeback.write_W
        m.mul_req //= s.mul.istream
        m.div_req //= s.div.istream

        # ---- X
        m = s.execute
        connect_fields(m, s, "core_id", "xcel_req", "mngr2proc", "proc2mngr", "stats_en")
        m.issue //= s.decode.issue
        m.operands //= s.decode.operands
        m.stall_M //= s.memory.stall_M
        m.fault_M //= s.memory.fault_M
        m.mul_resp //= s.mul.ostream
        m.div_resp //= s.div.ostream

        # ---- M
        m = s.memory
        m.slot_X //= s.execute.slot
        m.result_X //= s.execute.result
        m.xcel_resp //= s.xcel_resp

        # ---- W
        m = s.writeback
        m.slot_M //= s.memory.slot
        m.result_M //= s.memory.result
        m.commit //= s.commit
        m.halted //= s.halted

    def connect_bus(s):
        """Connect the interrupt, and BusUnit between the pipeline, the memory and the bus."""
        s.bus_req = SendIfcRTL(MemReq)
        s.bus_resp = RecvIfcRTL(MemResp)
        s.irq = InPort()
        s.irq //= s.decode.irq
        s.irq //= s.execute.irq
        s.execute.interrupts_X //= s.decode.interrupts_X
        s.decode.interrupt_X //= s.execute.interrupt_X
        s.bus = m = BusUnit()
        m.istream //= s.execute.dmem_req
        m.ostream //= s.memory.dmem_resp
        m.trap //= s.execute.trap_X
        m.refused //= s.execute.refused
        m.mem_req //= s.dmem_req
        m.mem_resp //= s.dmem_resp
        m.bus_req //= s.bus_req
        m.bus_resp //= s.bus_resp

    def line_trace(s):
        return line(s)
