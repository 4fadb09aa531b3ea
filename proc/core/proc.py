"""Proc: a pipelined RV32IM processor with an accelerator port (paper 001, section 2.4 and Figure 4).

Five stages F D X M W, in order, full bypassing, branches predicted not taken and decided in X. Cycles, from
one instruction to the next: 1, and 1 more for a use right behind a load, 1 more for jal, 2 for jalr and a
taken branch, mul_latency - 1 for a product, 32 / div_bits for a quotient. README.md has the datapath, the
CSRs and the costs in full.

Ports: imem and dmem (requests of aligned words, answers one or more cycles later); xcel (the
accelerator's registers; its answer comes one or more cycles after the request, and the rdy of a request
must not wait for the rdy of its answer); mngr2proc and proc2mngr (words from and to the driver of the
simulation); entry (first address) and core_id (static); halted, stats_en; commit (messages.mk_commit),
the slot in W. With `bus` there are a second data port, bus, for the addresses of its window (memory.py),
and irq, the machine external interrupt. Accesses to the bus wait in X for their answer (bus/bus_unit.py).
The interrupt takes the place of the instruction in D (bus/interrupt_unit.py).
Area order: register file and CSRs 1,300 flip-flops, pipeline 600, multiplier, divider.
"""

from pymtl3 import *

from .bus.bus_unit import BusUnit
from .bus.interrupt_unit import InterruptUnit
from .decoder import Decoder
from .div_unit import DivUnit
from .fetch_unit import FetchUnit
from .mul_unit import MulUnit
from .pipeline_trace import line
from .ports import processor_ports
from .proc_ctrl import ProcCtrl
from .proc_dpath import ProcDpath


class Proc(Component):
    # None and not False: the Verilog of a processor without a bus has no word of it, and its figures stay
    # those that were measured
    def construct(s, mul_latency=1, div_bits=2, bus=None):
        processor_ports(s, xcel=True, bus=bool(bus))

        s.fetch = FetchUnit()
        s.decoder = Decoder()
        s.mul = MulUnit(mul_latency)
        s.div = DivUnit(div_bits)
        s.ctrl = ProcCtrl(bus)
        s.dpath = ProcDpath(bus)

        for name in (
            *("fetch_rdy", "inst_D", "target_misaligned_D", "enable_X", "decoded_X", "branch_taken_X"),
            *("target_misaligned_X", "csr_illegal_X", "has_handler", "csr_from_manager_X"),
            *("csr_to_manager_X", "csr_to_xcel_X", "csr_go", "retire_X", "trap_X", "cause_X", "enable_M"),
            *("is_load_M", "is_xcel_M", "fault_M", "enable_W", "wen_W", "is_store_W", "rd_W", "stats_en"),
        ):
            connect(getattr(s.ctrl, name), getattr(s.dpath, name))

        # ---- F
        s.fetch.imem_req //= s.imem_req
        s.imem_resp //= s.fetch.imem_resp
        s.fetch.entry //= s.entry
        s.fetch.stop //= s.ctrl.stop
        s.fetch.out_val //= s.ctrl.fetch_val
        s.fetch.out_rdy //= s.ctrl.fetch_rdy
        s.fetch.out_error //= s.ctrl.fetch_error
        s.fetch.fresh //= s.ctrl.fetch_fresh
        s.fetch.out_pc //= s.dpath.fetch_pc
        s.fetch.out_inst //= s.dpath.fetch_inst

        @update
        def redirect():
            s.fetch.redirect_val @= s.ctrl.redirect_X | s.ctrl.redirect_D
            s.fetch.redirect_pc @= s.dpath.target_D
            if s.ctrl.redirect_X:
                s.fetch.redirect_pc @= s.dpath.redirect_pc_X

        # ---- D
        s.decoder.inst //= s.dpath.inst_D
        if bus:
            s.interrupts = InterruptUnit()
            s.bus = BusUnit()
            s.decoder.decoded //= s.interrupts.decoded_D
            s.interrupts.decoded //= s.dpath.decoded
            s.interrupts.decoded //= s.ctrl.decoded
            join_interrupts(s)
        else:
            s.decoder.decoded //= s.dpath.decoded
            s.decoder.decoded //= s.ctrl.decoded
        for i in range(2):
            s.ctrl.bypass_D[i] //= s.dpath.bypass_D[i]
        for name, unit in (("mul", s.mul), ("div", s.div)):
            join_stream(s, unit.istream, f"{name}_req", s.dpath.muldiv_req)
            join_stream(s, unit.ostream, f"{name}_resp")

        # ---- X
        s.dpath.core_id //= s.core_id
        s.dpath.stats_en //= s.stats_en
        if bus:
            join_bus(s)
        else:
            s.ctrl.access_misaligned_X //= s.dpath.access_misaligned_X
            join_stream(s, s.dmem_req, "dmem_req")
            join_stream(s, s.dmem_resp, "dmem_resp")
            s.dmem_resp.msg.error //= s.ctrl.dmem_resp_error
        for name in ("xcel_req", "xcel_resp", "mngr2proc", "proc2mngr"):
            join_stream(s, getattr(s, name), name)

        # ---- W
        s.halted //= s.ctrl.halted
        for name in ("val", "trap", "halt", "stats", "wen", "bubble", "rd"):
            connect(getattr(s.commit, name), getattr(s.ctrl, f"{name}_W"))
        for name in ("pc", "inst", "data", "addr"):
            connect(getattr(s.commit, name), getattr(s.dpath, f"{name}_W"))
        if bus:
            s.commit.cause //= s.interrupts.told_cause_W
        else:
            s.commit.cause //= s.ctrl.cause_W

    def line_trace(s):
        return line(s)


def join_stream(s, stream, name, message=None):
    """Connect a stream's handshake to the controller, and its messages to the datapath."""
    connect(stream.val, getattr(s.ctrl, f"{name}_val"))
    connect(stream.rdy, getattr(s.ctrl, f"{name}_rdy"))
    connect(stream.msg, message or getattr(s.dpath, name))


def join_interrupts(s):
    """Connect the interrupt unit of a processor."""
    s.irq //= s.interrupts.irq
    s.irq //= s.dpath.irq
    for name in ("inst_D", "wakes", "has_handler", "interrupt_X", "told_cause_X"):
        connect(getattr(s.interrupts, name), getattr(s.dpath, name))
    for name in (
        "fetched_D",
        "waits_D",
        "wait_reason_D",
        "enable_X",
        "enable_M",
        "enable_W",
        "cause_X",
        "cause_W",
    ):
        connect(getattr(s.interrupts, name), getattr(s.ctrl, name))
    s.interrupts.is_csr_X //= s.ctrl.is_csr_instruction_X
    s.interrupts.on //= s.dpath.interrupts_on
    s.interrupts.refused_X //= s.bus.refused


def join_bus(s):
    """Connect the bus unit of a processor between its data port, the memory and the bus."""
    join_stream(s, s.bus.istream, "dmem_req")
    join_stream(s, s.bus.ostream, "dmem_resp")
    s.bus.ostream.msg.error //= s.ctrl.dmem_resp_error
    s.bus.trap //= s.ctrl.trap_X
    s.bus.misaligned //= s.dpath.access_misaligned_X
    s.bus.fails //= s.ctrl.access_misaligned_X
    s.bus.mem_req //= s.dmem_req
    s.dmem_resp //= s.bus.mem_resp
    s.bus.bus_req //= s.bus_req
    s.bus_resp //= s.bus.bus_resp
