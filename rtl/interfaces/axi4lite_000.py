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

        s.channels = Axi4LiteChannels()
        s.channels.hold //= 0
        s.writes = WriteRegisters000(nbits)
        s.machine = mk_machine(nbits)
        s.reads = ReadRegisters000(nbits)
        connect_registers(s)
        s.reads.clear //= s.writes.start
        s.reads.place //= s.writes.place

        s.add_request(nbits, given)
        if is_padded(nbits):
            s.add_padded_operation(nbits, startup, has_raw)
        else:
            s.add_plain_operation(nbits)
        s.connect_operation()
        s.add_interrupt()

    def add_request(s, nbits, given):
        """The machine's request: the message, one of the key's two exponents, and the rest of the key."""
        # base and exponent are wires: Icarus rejects a message with fields both from a block and connected
        s.request = Wire(mk_keyed_req(nbits, given) if given else mk_modexp_req(nbits))
        s.base = Wire(nbits)
        s.exponent = Wire(nbits)
        s.machine.istream.msg //= s.request
        s.request.base //= s.base
        s.request.exp //= s.exponent
        s.request.mod //= s.key.modulus
        connect_fields(s.request, s.key, *dict(given))

        @update
        def choose_exponent():
            s.exponent @= s.key.public
            if s.writes.decrypt:
                s.exponent @= s.key.private

    def add_padded_operation(s, nbits, startup, has_raw):
        """An operation with padding or unpadding around the machine's request."""
        channels, writes, reads, STATUS = s.channels, s.writes, s.reads, register_map(True)["STATUS"]
        s.random = RecvIfcRTL(Bits8)
        s.operation = operation = PaddedOperation(nbits, startup)
        operation.starts_decrypt //= channels.wdata[STATUS.field("decrypt").low]
        operation.starts_raw //= channels.wdata[STATUS.field("raw").low] if has_raw else 0
        operation.decrypt //= writes.decrypt
        operation.message //= writes.message
        operation.message_length //= writes.length
        operation.random //= s.random
        operation.base //= s.base
        operation.result //= s.machine.ostream.msg
        operation.code //= reads.end_code
        operation.answer //= reads.end_answer
        operation.length //= reads.end_length

    def add_plain_operation(s, nbits):
        """An operation without padding: one request of the machine."""
        s.operation = RequestControl()
        s.base //= s.writes.message
        s.reads.end_code //= s.machine.ostream.msg.status
        s.reads.end_answer //= s.machine.ostream.msg.result
        s.reads.end_length //= nbits // 8

    def connect_operation(s):
        """Start and end of an operation, and the handshakes with the machine."""
        operation = s.operation
        operation.start //= s.writes.start
        connect_handshake(operation.req, s.machine.istream)
        connect_handshake(operation.resp, s.machine.ostream)
        operation.busy //= s.writes.busy
        operation.busy //= s.reads.busy
        operation.ends //= s.reads.ends

    def add_interrupt(s):
        """The interrupt, a level from the end of an operation until STATUS is written."""

        @update_ff
        def interrupt():
            if s.reset | s.writes.status_wen:
                s.irq <<= 0
            elif s.operation.ends:
                s.irq <<= 1

    def line_trace(s):
        return f"{s.operation.line_trace()}{'!' if s.irq else ' '}"
