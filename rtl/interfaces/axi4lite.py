"""Axi4Lite: an accelerator behind an AXI4-Lite slave of 32 bits with the registers of fl/axi4lite.py.

                 .-> write registers -> field assembler -> wiping request --.
    s_axi -- channels      '----------> run control ---------------------> machine
                 '-- read registers <---------------------------------------'
                           '---------> interrupt -> irq

Ports: s_axi, the bus; irq, the interrupt; for each memory port of the accelerator a master of AXI4, m_axi, or
m_axi_NAME if there are several. `mk_accelerator()` makes a component of the shape. Constant time as
the accelerator is. Cycles: busy for one more than the accelerator takes; the interrupt comes 2 later. After
reset the slave is busy until the accelerator has been overwritten. A request stays until its answer, so that
the accelerator needs no copy of operands that it only reads. Area order: 3 W words of latches.
"""

from pymtl3 import *

from ...fl.axi4lite import NO_TRAITS, address_nbits
from ...fl.mod_exp import is_exponentiation
from ..messages import connect_handshake
from .axi4_master import declare_masters
from .axi4lite_channels import Axi4LiteChannels, connect_registers
from .axi4lite_ifc import Axi4LiteIfc
from .one_result import one_result
from .registers.bus_interrupt import BusInterrupt
from .registers.field_assembler import FieldAssembler
from .registers.read_registers import ReadRegisters
from .registers.run_control import RunControl
from .registers.wiping_request import WipingRequest
from .registers.write_registers import WriteRegisters


class Axi4Lite(Component):
    """An accelerator behind an AXI4-Lite slave with 32-bit registers."""

    def construct(s, shape, mk_accelerator, traits=NO_TRAITS):
        s.s_axi = Axi4LiteIfc(InPort, OutPort, address_nbits(shape))
        s.irq = OutPort()

        s.channels = channels = Axi4LiteChannels(address_nbits(shape))
        s.writes = writes = WriteRegisters(shape, traits)
        s.fields = fields = FieldAssembler(shape)
        s.control = control = RunControl(wiped_after_reset=is_exponentiation(shape))
        s.machine = machine = one_result(shape, mk_accelerator)
        declare_masters(s, machine, shape.memory)
        s.reads = reads = ReadRegisters(shape, traits)
        s.interrupt = interrupt = BusInterrupt()
        connect_registers(s)

        channels.hold //= control.resetting
        writes.busy //= control.busy
        writes.clear //= control.clear
        for word, operand in zip(writes.operand, fields.operand, strict=True):
            operand //= word

        control.zeroise //= writes.zeroise
        connect_handshake(control.req, machine.istream)
        connect_handshake(control.resp, machine.ostream)
        if is_exponentiation(shape):
            s.wipe = wipe = WipingRequest(shape, traits.modulus)
            wipe.cleared //= fields.request
            wipe.wiping //= control.wiping
            wipe.request //= machine.istream.msg
        else:
            fields.request //= machine.istream.msg

        reads.clear //= writes.zeroise
        reads.start //= writes.start
        reads.too_wide //= fields.too_wide
        reads.counting //= control.counting
        reads.ends //= control.ends
        reads.status //= machine.ostream.msg.status
        reads.result //= machine.ostream.msg.result
        reads.busy //= control.busy
        reads.irq_enabled //= interrupt.enabled
        reads.irq_pending //= interrupt.pending

        interrupt.enable_wen //= writes.irq_enable_wen
        interrupt.enable //= channels.wdata[0]
        interrupt.clear //= writes.irq_clear
        interrupt.irq //= s.irq

        @update
        def start():
            s.control.start @= s.writes.start & ~s.fields.too_wide
            s.interrupt.trigger @= s.control.ends | s.control.wiped | (s.writes.start & s.fields.too_wide)

    def line_trace(s):
        return f"{s.control.line_trace()}{'!' if s.irq else ' '}"
