"""ReadRegisters: the readable registers of fl/axi4lite.py, with status and cycles of the last computation.
Its result is read from the machine, which holds its answer.

Ports: start: a new computation begins, with too_wide one that is refused; counting: the cycle counts; ends:
the machine answers, with this status; result, which it holds from then on; clear: all is forgotten. raddr (of
a word); busy, irq_enabled and irq_pending -> rdata, error. Area order: a multiplexer of 32 bits with as many
inputs as the result has words.
"""

from pymtl3 import *

from ....fl.axi4lite import address_nbits, register_map
from ....fl.status import STATUS_NBITS, Status
from ....fl.xcel import WORD_NBITS, words_of
from .word_select import WordSelect
from .write_registers import COUNT_NBITS, PLACE_NBITS

COUNTER_NBITS = 64
OK, TOO_WIDE = Status.OK, Status.TOO_WIDE


class ReadRegisters(Component):
    """The readable registers of a slave: status, result and cycle count of the last computation."""

    def construct(s, shape, traits):
        s.clear = InPort()
        s.start = InPort()
        s.too_wide = InPort()
        s.counting = InPort()
        s.ends = InPort()
        s.status = InPort(STATUS_NBITS)
        s.result = InPort(shape.result_nbits)
        s.busy = InPort()
        s.irq_enabled = InPort()
        s.irq_pending = InPort()
        s.raddr = InPort(address_nbits(shape) - 2)
        s.rdata = OutPort(WORD_NBITS)
        s.error = OutPort()

        s.done = Wire()
        s.code = Wire(STATUS_NBITS)
        s.valid = Wire()  # the result is valid
        s.cycles = Wire(COUNTER_NBITS)
        s.assertions = {"ErrorReadsZero": "!error || rdata == 0"}

        s.add_status()
        s.add_cycle_counter()
        readable = [register for register in register_map(shape, traits).values() if register.readable]
        s.add_read(shape.result_nbits, readable)

    def add_status(s):
        """The registers of the status: done, and the code."""

        @update_ff
        def registers():
            if s.reset | s.clear | (s.start & ~s.too_wide):
                s.done <<= 0
                s.code <<= OK
            elif s.start & s.too_wide:
                s.done <<= 1
                s.code <<= TOO_WIDE
            elif s.ends:
                s.done <<= 1
                s.code <<= s.status

    def add_cycle_counter(s):
        """The cycles of the last computation."""

        @update_ff
        def count_cycles():
            if s.reset | s.clear | s.start:
                s.cycles <<= 0
            elif s.counting:
                s.cycles <<= s.cycles + 1

    def add_read(s, result_nbits, readable):
        """The word of a readable register at the address, or an error; the registers in their order."""
        ADDR_NBITS, W = s.raddr.get_type().nbits, words_of(result_nbits)
        ID_AT, VERSION_AT, CAPABLE_AT, STATUS, IRQ_ENABLE, IRQ_STATUS, CYCLES_LOW, CYCLES_HIGH, RESULT = (
            register.address >> 2 for register in readable
        )
        ID, VERSION, CAPABILITIES = (Bits32(register.reset) for register in readable[:3])
        CODE, WINDOW = readable[3].field("code").low, RESULT >> PLACE_NBITS
        s.select = WordSelect(result_nbits, PLACE_NBITS)
        s.select.number //= s.result
        s.select.place //= s.raddr[0:PLACE_NBITS]

        @update
        def read():
            # countermeasure STATUS_ALONE: a result is read only with status 0
            s.valid @= s.done & (s.code == OK)
            s.rdata @= 0
            s.error @= 0
            if s.raddr == ID_AT:
                s.rdata @= ID
            elif s.raddr == VERSION_AT:
                s.rdata @= VERSION
            elif s.raddr == CAPABLE_AT:
                s.rdata @= CAPABILITIES
            elif s.raddr == STATUS:
                s.rdata[0] @= s.busy
                s.rdata[1] @= s.done
                s.rdata[2] @= s.done & ~s.valid
                s.rdata[CODE : CODE + STATUS_NBITS] @= s.code
            elif s.raddr == IRQ_ENABLE:
                s.rdata[0] @= s.irq_enabled
            elif s.raddr == IRQ_STATUS:
                s.rdata[0] @= s.irq_pending
            elif s.raddr == CYCLES_LOW:
                s.rdata @= s.cycles[0:WORD_NBITS]
            elif s.raddr == CYCLES_HIGH:
                s.rdata @= s.cycles[WORD_NBITS:COUNTER_NBITS]
            elif (
                (s.raddr[PLACE_NBITS:ADDR_NBITS] == WINDOW)
                & (zext(s.select.place, COUNT_NBITS) < W)
                & s.valid
            ):
                s.rdata @= s.select.word
            else:
                s.error @= 1
