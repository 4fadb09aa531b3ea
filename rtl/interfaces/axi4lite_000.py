"""Axi4Lite000: paper 000's bus interface of a machine (section 4.5): the registers of fl/axi4lite_000.rdl,
padding and unpadding.

    s_axi -- channels --> write registers --> operation, padded or a request --> machine <-- key
                  '<----- read registers <------------'

Ports: s_axi, the bus; irq, the interrupt, a level from the end until STATUS is written; key, which must stay;
random, a stream of bytes for padding. Keys of 64 bits and less have neither padding nor random. `has_raw`
adds operations without padding, which use the private key on any message. `mk_machine(nbits)` makes a machine
with the ports of ProgramExp, whose requests may hold more: `given`, names and bits, as KeyIfc has them.

Cycles of an operation: those of the machine, 2 around them, nbytes + 2 for padding (and what it waits for
bytes), nbytes + 2 for unpadding. Constant time as the machine is. Area order: 2 W words, and the register of
each padding unit.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL

from ...fl.axi4lite_000 import is_padded, register_map
from ..messages import connect_fields, connect_handshake, mk_keyed_req, mk_modexp_req
from ..units.padding.random_health import STARTUP
from .axi4lite_channels import Axi4LiteChannels, connect_registers
from .axi4lite_ifc import Axi4LiteIfc
from .key_ifc import KeyIfc
from .registers.padded_operation import PaddedOperation
from .registers.read_registers_000 import ReadRegisters000
from .registers.request_control import RequestControl
from .registers.write_registers_000 import WriteRegisters000


class Axi4Lite000(Component):
    def construct(s, nbits, mk_machine, given=(), startup=STARTUP, has_raw=False):
        s.s_axi = Axi4LiteIfc(InPort, OutPort)
        s.irq = OutPort()
        s.key = KeyIfc(nbits, **dict(given))

        s.channels = channels = Axi4LiteChannels()
        channels.hold //= 0
        s.writes = writes = WriteRegisters000(nbits)
        s.machine = machine = mk_machine(nbits)
        s.reads = reads = ReadRegisters000(nbits)
        connect_registers(s)
        reads.clear //= writes.start
        reads.place //= writes.place

        # ---- the request: wires of their own, as Icarus takes no message with chosen and connected fields

        s.request = Wire(mk_keyed_req(nbits, given) if given else mk_modexp_req(nbits))
        s.base = Wire(nbits)
        s.exponent = Wire(nbits)
        machine.istream.msg //= s.request
        s.request.base //= s.base
        s.request.exp //= s.exponent
        s.request.mod //= s.key.modulus
        connect_fields(s.request, s.key, *dict(given))

        @update
        def choose_exponent():
            s.exponent @= s.key.public
            if s.writes.decrypt:
                s.exponent @= s.key.private

        # ---- the operation

        if is_padded(nbits):
            STATUS = register_map(True)["STATUS"]
            s.random = RecvIfcRTL(Bits8)
            s.operation = operation = PaddedOperation(nbits, startup)
            operation.starts_decrypt //= channels.wdata[STATUS.field("decrypt").low]
            operation.starts_raw //= channels.wdata[STATUS.field("raw").low] if has_raw else 0
            operation.decrypt //= writes.decrypt
            operation.message //= writes.message
            operation.message_length //= writes.length
            operation.random //= s.random
            operation.base //= s.base
            operation.result //= machine.ostream.msg
            operation.code //= reads.end_code
            operation.answer //= reads.end_answer
            operation.length //= reads.end_length
        else:
            s.operation = operation = RequestControl()
            s.base //= writes.message
            reads.end_code //= machine.ostream.msg.status
            reads.end_answer //= machine.ostream.msg.result
            reads.end_length //= nbits // 8
        operation.start //= writes.start
        connect_handshake(operation.req, machine.istream)
        connect_handshake(operation.resp, machine.ostream)
        operation.busy //= writes.busy
        operation.busy //= reads.busy
        operation.ends //= reads.ends

        @update_ff
        def interrupt():
            if s.reset | s.writes.status_wen:
                s.irq <<= 0
            elif s.operation.ends:
                s.irq <<= 1

    def line_trace(s):
        return f"{s.operation.line_trace()}{'!' if s.irq else ' '}"
