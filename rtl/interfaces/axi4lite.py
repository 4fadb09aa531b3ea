"""Axi4Lite: an accelerator behind an AXI4-Lite slave of 32 bits with the registers of fl/axi4lite.py.

Its channels are those of Axi4LiteChannels: no path from an input to an output, one write and one read every
two cycles.

Ports: s_axi_*, the bus; irq, the interrupt. `mk_accelerator()` makes a component of the shape. Zeroise clears
operands and result; a computation that is running goes on to its end, and nobody gets its answer; then the
accelerator computes on zeros, which overwrites its state: an exponentiation computes 0^3, and a machine that
takes a key is given a modulus that it refuses, and overwrites itself as at each end. Constant time as the
accelerator is. Cycles: busy for one more than the accelerator takes; the interrupt comes 2 later. Area order:
4 W words of registers.
"""

from pymtl3 import *

from ...fl.axi4lite import (
    NO_TRAITS,
    address_nbits,
    operand_names,
    register_map,
)
from ...fl.mod_exp import is_exponentiation
from ...fl.status import STATUS_NBITS, Status
from ...fl.xcel import MASK, WORD_NBITS, words_of
from ..messages import mk_request
from ..wires import connect_low
from .axi4lite_channels import Axi4LiteChannels, connect_bus, declare_bus, declare_write
from .one_result import one_result

PLACE_NBITS = 7  # of a word in its window, which is what an operand of 4,096 bits has
COUNTER_NBITS = 64
WIPING_EXPONENT = 3  # every product unit gets operands of 0


class Axi4Lite(Component):
    def construct(s, shape, mk_accelerator, traits=NO_TRAITS):
        # ---- ports

        ADDRESS_NBITS = address_nbits(shape)
        WORD_ADDRESS_NBITS = ADDRESS_NBITS - 2
        declare_bus(s, "s_axi", address_nbits=ADDRESS_NBITS)
        s.irq = OutPort()

        s.machine = one_result(shape, mk_accelerator)
        s.channels = Axi4LiteChannels(ADDRESS_NBITS)
        connect_bus(s, "s_axi", s.channels, "s_axi")

        # ---- the map

        MAP = register_map(shape, traits)
        W = words_of(shape.widest)
        V = words_of(shape.result_nbits)  # words of all results
        WINDOW_LOW = 2 + PLACE_NBITS
        COUNT_NBITS = PLACE_NBITS + 1  # up to 128 words

        def at(name):
            return MAP[name].address >> 2

        fields = shape.request
        noperands = len(fields)
        # windows of one size, in the order of a request; that of the result is among them
        RESULT = MAP["RESULT"].address >> WINDOW_LOW
        near = RESULT - 1
        windows = (*range(1, RESULT), *range(RESULT + 1, noperands + 2))
        addresses = [MAP[name].address for name in operand_names(shape)]
        assert addresses == [windows[i] << WINDOW_LOW for i in range(noperands)]
        CONTROL, IRQ_ENABLE, IRQ_STATUS = at("CONTROL"), at("IRQ_ENABLE"), at("IRQ_STATUS")
        ID, VERSION_AT, CAPABILITIES, STATUS = at("ID"), at("VERSION"), at("CAPABILITIES"), at("STATUS")
        CYCLES_LOW, CYCLES_HIGH = at("CYCLES_LOW"), at("CYCLES_HIGH")
        START, ZEROISE = (MAP["CONTROL"].field(name).low for name in ("start", "zeroise"))
        CODE = MAP["STATUS"].field("code").low
        IDENTITY, VERSION, ABLE = (MAP[name].reset for name in ("ID", "VERSION", "CAPABILITIES"))
        OK, TOO_WIDE = int(Status.OK), int(Status.TOO_WIDE)

        # ---- what is written

        declare_write(s, WORD_ADDRESS_NBITS)
        s.is_control = Wire()
        s.is_enable = Wire()
        s.is_pending = Wire()
        s.is_operand = Wire(noperands)
        s.start = Wire()
        s.zeroise = Wire()
        s.busy = Wire()
        s.in_window = Wire()

        @update
        def decode_write():
            s.is_control @= s.aw == CONTROL
            s.is_enable @= s.aw == IRQ_ENABLE
            s.is_pending @= s.aw == IRQ_STATUS
            s.in_window @= zext(s.aw[0:PLACE_NBITS], COUNT_NBITS) < W

        if noperands <= near:

            @update
            def find_window():
                for i in range(noperands):
                    s.is_operand[i] @= (s.aw[PLACE_NBITS:WORD_ADDRESS_NBITS] == i + 1) & s.in_window

        else:

            @update
            def find_window_of_many():
                for i in range(near):
                    s.is_operand[i] @= (s.aw[PLACE_NBITS:WORD_ADDRESS_NBITS] == i + 1) & s.in_window
                for i in range(near, noperands):
                    s.is_operand[i] @= (s.aw[PLACE_NBITS:WORD_ADDRESS_NBITS] == i + 2) & s.in_window

        @update
        def commands():
            s.zeroise @= s.write & s.is_control & s.data[ZEROISE]
            s.start @= s.write & s.is_control & s.data[START] & ~s.data[ZEROISE] & ~s.busy

        @update
        def refuse():
            s.refused @= ~(s.is_control | s.is_enable | s.is_pending | (s.is_operand != 0))
            if s.busy & ((s.is_operand != 0) | (s.is_control & s.data[START] & ~s.data[ZEROISE])):
                s.refused @= 1

        # ---- operands, word by word; the next computation may have them again

        s.words = [Wire(WORD_NBITS) for _ in range(noperands * W)]
        s.here = [Wire() for _ in range(noperands * W)]

        @update
        def find_word():
            for i in range(noperands):
                for k in range(W):
                    s.here[i * W + k] @= s.write & ~s.busy & s.is_operand[i] & (s.aw[0:PLACE_NBITS] == k)

        @update_ff
        def write_words():
            for j in range(noperands * W):
                if s.reset | s.zeroise:
                    s.words[j] <<= 0
                elif s.here[j]:
                    s.words[j] <<= (s.words[j] & ~s.mask) | s.data

        s.request = Wire(mk_request(shape))
        s.machine.istream.msg //= s.request

        # after zeroise the machine computes 0^3, so that nothing is left in it of what it had
        s.wiping = Wire()
        wiped = {}  # words that are not 0 then
        if is_exponentiation(shape):
            wiped = {W: WIPING_EXPONENT}
            wiped |= {2 * W + k: traits.modulus >> (WORD_NBITS * k) & MASK for k in range(W)}
            wiped = {j: word for j, word in wiped.items() if word}
        s.sent = [Wire(WORD_NBITS) for _ in range(noperands * W)]
        s.kept = [Wire(WORD_NBITS) for _ in wiped]
        s.wipes_with = [Wire(WORD_NBITS) for _ in wiped]
        s.kept_or_wiped = [Wire(WORD_NBITS) for _ in wiped]
        nwiped = len(wiped)
        for i, (j, word) in enumerate(wiped.items()):
            s.kept[i] //= s.words[j]
            s.wipes_with[i] //= word
            s.sent[j] //= s.kept_or_wiped[i]
        for j in range(noperands * W):
            if j not in wiped:
                s.sent[j] //= s.words[j]

        if wiped:

            @update
            def choose_sent():
                for i in range(nwiped):
                    s.kept_or_wiped[i] @= s.kept[i]
                    if s.wiping:
                        s.kept_or_wiped[i] @= s.wipes_with[i]

        spilt = []  # bits of an operand that its field has not
        for i, (name, used) in enumerate(fields):
            target = getattr(s.request, name)
            for k in range(W):
                low, high = k * WORD_NBITS, min((k + 1) * WORD_NBITS, used)
                if low < high:
                    target[low:high] //= s.sent[i * W + k][0 : high - low]
                if high < (k + 1) * WORD_NBITS:
                    spilt.append((i * W + k, max(0, high - low)))
        s.too_wide = Wire()
        if not spilt:
            s.too_wide //= 0
        else:
            s.spill = Wire(sum(WORD_NBITS - low for _, low in spilt))
            first = 0
            for j, low in spilt:
                s.spill[first : first + WORD_NBITS - low] //= s.words[j][low:WORD_NBITS]
                first += WORD_NBITS - low

            @update
            def fits():
                s.too_wide @= s.spill != 0

        # ---- the computation

        FREE, SEND, RUN = (b2(i) for i in range(3))
        s.st = Wire(2)
        s.over = Wire()
        s.ends = Wire()
        s.done = Wire()
        s.code = Wire(STATUS_NBITS)
        s.result = [Wire(WORD_NBITS) for _ in range(V)]
        s.answer = [Wire(WORD_NBITS) for _ in range(V)]
        for k in range(V):
            low, high = k * WORD_NBITS, min((k + 1) * WORD_NBITS, shape.result_nbits)
            connect_low(s.answer[k], s.machine.ostream.msg.result[low:high])
        s.cycles = Wire(COUNTER_NBITS)
        s.enabled = Wire()
        s.pending = Wire()
        s.interrupt = Wire()
        s.wants_wiping = Wire()
        s.forgot = Wire()
        s.dropped = Wire()  # what runs was forgotten by zeroise: nobody gets its answer
        s.irq //= s.interrupt

        @update
        def machine_handshakes():
            s.machine.istream.val @= s.st == SEND
            s.machine.ostream.rdy @= s.st == RUN
            s.busy @= (s.st != FREE) | s.wants_wiping
            s.over @= (s.st == RUN) & s.machine.ostream.val
            s.ends @= s.over & ~s.dropped & ~s.wiping & ~s.zeroise
            s.forgot @= s.over & s.wiping & ~s.wants_wiping & ~s.zeroise

        @update_ff
        def control():
            if s.reset:
                s.st <<= FREE
                s.dropped <<= 0
                s.wants_wiping <<= 0
                s.wiping <<= 0
            else:
                if (s.st == FREE) & s.wants_wiping:
                    s.st <<= SEND
                    s.wiping <<= 1
                elif s.start & ~s.too_wide:
                    s.st <<= SEND
                elif (s.st == SEND) & s.machine.istream.rdy:
                    s.st <<= RUN
                elif s.over:
                    s.st <<= FREE
                    s.wiping <<= 0
                if s.zeroise:
                    s.wants_wiping <<= 1
                elif s.st == FREE:
                    s.wants_wiping <<= 0
                if s.over:
                    s.dropped <<= 0
                elif s.zeroise & s.busy:
                    s.dropped <<= 1

        @update_ff
        def outcome():
            if s.reset | s.zeroise:
                s.done <<= 0
                s.code <<= OK
            elif s.start:
                s.done <<= s.too_wide
                s.code <<= OK
                if s.too_wide:
                    s.code <<= TOO_WIDE
            elif s.ends:
                s.done <<= 1
                s.code <<= s.machine.ostream.msg.status

        @update_ff
        def results():
            for k in range(V):
                if s.reset | s.zeroise | s.start:
                    s.result[k] <<= 0
                elif s.ends:
                    s.result[k] <<= s.answer[k]

        @update_ff
        def count():
            if s.reset | s.start | s.zeroise:
                s.cycles <<= 0
            elif s.busy & ~s.dropped & ~s.wiping & ~s.wants_wiping:
                s.cycles <<= s.cycles + 1

        @update_ff
        def interrupts():
            if s.reset:
                s.enabled <<= 0
                s.pending <<= 0
                s.interrupt <<= 0
            else:
                s.interrupt <<= s.enabled & s.pending
                if s.write & s.is_enable & s.mask[0]:
                    s.enabled <<= s.data[0]
                if s.ends | s.forgot | (s.start & s.too_wide):
                    s.pending <<= 1
                elif s.write & s.is_pending & s.data[0]:
                    s.pending <<= 0

        # ---- what is read

        s.ar = Wire(WORD_ADDRESS_NBITS)
        s.ar //= s.channels.read_address
        s.found = Wire(WORD_NBITS)
        s.lacking = Wire()
        s.channels.read_data //= s.found
        s.channels.read_refused //= s.lacking
        s.of_result = Wire(WORD_NBITS)

        @update
        def choose_word():
            s.of_result @= 0
            for k in range(V):
                if s.ar[0:PLACE_NBITS] == k:
                    s.of_result @= s.result[k]

        @update
        def decode_read():
            s.found @= 0
            s.lacking @= 0
            if s.ar == ID:
                s.found @= IDENTITY
            elif s.ar == VERSION_AT:
                s.found @= VERSION
            elif s.ar == CAPABILITIES:
                s.found @= ABLE
            elif s.ar == STATUS:
                s.found[0] @= s.busy
                s.found[1] @= s.done
                s.found[2] @= s.done & (s.code != OK)
                s.found[CODE : CODE + STATUS_NBITS] @= s.code
            elif s.ar == IRQ_ENABLE:
                s.found[0] @= s.enabled
            elif s.ar == IRQ_STATUS:
                s.found[0] @= s.pending
            elif s.ar == CYCLES_LOW:
                s.found @= s.cycles[0:WORD_NBITS]
            elif s.ar == CYCLES_HIGH:
                s.found @= s.cycles[WORD_NBITS:COUNTER_NBITS]
            elif (
                (s.ar[PLACE_NBITS:WORD_ADDRESS_NBITS] == RESULT)
                & (zext(s.ar[0:PLACE_NBITS], COUNT_NBITS) < V)
                & s.done
                & (s.code == OK)
            ):
                s.found @= s.of_result
            else:
                s.lacking @= 1

    def line_trace(s):
        return f"{'.>*'[int(s.st)]}{'!' if s.irq else ' '}"
