"""Axi4Lite: a machine behind a full AXI4-Lite slave of 32 bits; the registers are those of fl/axi4lite.rdl.

The channels are independent: address and data of a write may come in any order, and reads go on beside writes. Each channel has one
register, so that no path leads from an input to an output. An access is done when its answer can be kept: one write and
one read every two cycles, at most.

Ports: s_axi_*, the bus; irq, the interrupt. `mk_machine(nbits)` makes a machine with the ports of ModExp, whose requests may hold more:
`given`, names and bits. Zeroise forgets what is running: it goes on to its end, and nobody gets its answer. Constant time as the machine
is. Cycles: busy for one more than the machine takes; the interrupt comes 2 later. Area order: 4 W words of registers.
"""

from pymtl3 import *

from ...fl.axi4lite import (
    ADDRESS_NBITS,
    IDENTITY,
    NO_TRAITS,
    OKAY,
    OPERANDS,
    SLVERR,
    VERSION,
    capabilities,
    register_map,
)
from ...fl.status import STATUS_NBITS, Status
from ...fl.xcel import WORD_NBITS, words_of
from ..messages import mk_keyed_req, mk_modexp_req

PLACE_NBITS = 7  # of a word in its window, which is what an operand of 4,096 bits has
COUNTER_NBITS = 64
WORD_ADDRESS_NBITS = ADDRESS_NBITS - 2


class Axi4Lite(Component):
    def construct(s, nbits, mk_machine, given=(), traits=NO_TRAITS):
        # ---- ports

        s.s_axi_awaddr = InPort(ADDRESS_NBITS)
        s.s_axi_awvalid = InPort()
        s.s_axi_awready = OutPort()
        s.s_axi_wdata = InPort(WORD_NBITS)
        s.s_axi_wstrb = InPort(WORD_NBITS // 8)
        s.s_axi_wvalid = InPort()
        s.s_axi_wready = OutPort()
        s.s_axi_bresp = OutPort(2)
        s.s_axi_bvalid = OutPort()
        s.s_axi_bready = InPort()
        s.s_axi_araddr = InPort(ADDRESS_NBITS)
        s.s_axi_arvalid = InPort()
        s.s_axi_arready = OutPort()
        s.s_axi_rdata = OutPort(WORD_NBITS)
        s.s_axi_rresp = OutPort(2)
        s.s_axi_rvalid = OutPort()
        s.s_axi_rready = InPort()
        s.irq = OutPort()

        s.machine = mk_machine(nbits)

        # ---- the map

        MAP = register_map(nbits, len(given))
        W = words_of(nbits)
        WINDOW_LOW = 2 + PLACE_NBITS
        COUNT_NBITS = PLACE_NBITS + 1  # up to 128 words

        def at(name):
            return MAP[name].address >> 2

        fields = (("base", nbits), ("exp", nbits), ("mod", nbits), *given)
        noperands = len(fields)
        # windows of one size, in the order of a request
        assert all(MAP[OPERANDS[i]].address == (i + 1) << WINDOW_LOW for i in range(noperands))
        CONTROL, IRQ_ENABLE, IRQ_STATUS = at("CONTROL"), at("IRQ_ENABLE"), at("IRQ_STATUS")
        ID, VERSION_AT, CAPABILITIES, STATUS = at("ID"), at("VERSION"), at("CAPABILITIES"), at("STATUS")
        CYCLES_LOW, CYCLES_HIGH = at("CYCLES_LOW"), at("CYCLES_HIGH")
        RESULT = MAP["RESULT"].address >> WINDOW_LOW
        START, ZEROISE = (MAP["CONTROL"].field(name).low for name in ("start", "zeroise"))
        CODE = MAP["STATUS"].field("code").low
        ABLE = capabilities(nbits, len(given), traits)
        OK, TOO_WIDE = int(Status.OK), int(Status.TOO_WIDE)

        # ---- channels of a write

        s.aw_held = Wire()
        s.w_held = Wire()
        s.aw = Wire(WORD_ADDRESS_NBITS)
        s.w = Wire(WORD_NBITS)
        s.strobes = Wire(WORD_NBITS // 8)
        s.b_held = Wire()
        s.b = Wire(2)
        s.s_axi_bvalid //= s.b_held
        s.s_axi_bresp //= s.b

        s.write = Wire()
        s.refused = Wire()

        @update
        def write_handshakes():
            s.s_axi_awready @= ~s.aw_held
            s.s_axi_wready @= ~s.w_held
            s.write @= s.aw_held & s.w_held & (~s.b_held | s.s_axi_bready)

        @update_ff
        def write_channels():
            if s.reset:
                s.aw_held <<= 0
                s.w_held <<= 0
                s.b_held <<= 0
            else:
                if s.write:
                    s.aw_held <<= 0
                    s.w_held <<= 0
                    s.b_held <<= 1
                elif s.s_axi_bready:
                    s.b_held <<= 0
                if s.s_axi_awvalid & ~s.aw_held:
                    s.aw_held <<= 1
                if s.s_axi_wvalid & ~s.w_held:
                    s.w_held <<= 1

        @update_ff
        def write_payloads():
            if ~s.aw_held:
                s.aw <<= s.s_axi_awaddr[2:ADDRESS_NBITS]
            if ~s.w_held:
                s.w <<= s.s_axi_wdata
                s.strobes <<= s.s_axi_wstrb
            if s.write:
                s.b <<= OKAY
                if s.refused:
                    s.b <<= SLVERR

        # ---- what is written

        s.mask = Wire(WORD_NBITS)  # of the bytes that are written
        for byte in range(WORD_NBITS // 8):
            for bit in range(8 * byte, 8 * byte + 8):
                s.mask[bit] //= s.strobes[byte]
        s.data = Wire(WORD_NBITS)
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
            s.data @= s.w & s.mask
            s.is_control @= s.aw == CONTROL
            s.is_enable @= s.aw == IRQ_ENABLE
            s.is_pending @= s.aw == IRQ_STATUS
            s.in_window @= zext(s.aw[0:PLACE_NBITS], COUNT_NBITS) < W

        @update
        def find_window():
            for i in range(noperands):
                s.is_operand[i] @= (s.aw[PLACE_NBITS:WORD_ADDRESS_NBITS] == i + 1) & s.in_window

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

        s.request = Wire(mk_keyed_req(nbits, given) if given else mk_modexp_req(nbits))
        s.machine.istream.msg //= s.request
        spilt = []  # bits of an operand that its field has not
        for i, (name, used) in enumerate(fields):
            target = getattr(s.request, name)
            for k in range(W):
                low, high = k * WORD_NBITS, min((k + 1) * WORD_NBITS, used)
                if low < high:
                    target[low:high] //= s.words[i * W + k][0 : high - low]
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
        s.result = [Wire(WORD_NBITS) for _ in range(W)]
        s.answer = [Wire(WORD_NBITS) for _ in range(W)]
        for k in range(W):
            low, high = k * WORD_NBITS, min((k + 1) * WORD_NBITS, nbits)
            s.answer[k][0 : high - low] //= s.machine.ostream.msg.result[low:high]
            if high - low < WORD_NBITS:
                s.answer[k][high - low : WORD_NBITS] //= 0
        s.cycles = Wire(COUNTER_NBITS)
        s.enabled = Wire()
        s.pending = Wire()
        s.interrupt = Wire()
        s.dropped = Wire()  # what runs was forgotten by zeroise: nobody gets its answer
        s.irq //= s.interrupt

        @update
        def machine_handshakes():
            s.machine.istream.val @= s.st == SEND
            s.machine.ostream.rdy @= s.st == RUN
            s.busy @= s.st != FREE
            s.over @= (s.st == RUN) & s.machine.ostream.val
            s.ends @= s.over & ~s.dropped & ~s.zeroise

        @update_ff
        def control():
            if s.reset:
                s.st <<= FREE
                s.dropped <<= 0
            else:
                if s.start & ~s.too_wide:
                    s.st <<= SEND
                elif (s.st == SEND) & s.machine.istream.rdy:
                    s.st <<= RUN
                elif s.over:
                    s.st <<= FREE
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
            for k in range(W):
                if s.reset | s.zeroise | s.start:
                    s.result[k] <<= 0
                elif s.ends:
                    s.result[k] <<= s.answer[k]

        @update_ff
        def count():
            if s.reset | s.start:
                s.cycles <<= 0
            elif s.busy:
                s.cycles <<= s.cycles + 1

        @update_ff
        def interrupts():
            if s.reset:
                s.enabled <<= 0
                s.pending <<= 0
                s.interrupt <<= 0
            else:
                s.interrupt <<= s.enabled & s.pending
                if s.write & s.is_enable & s.strobes[0]:
                    s.enabled <<= s.w[0]
                if s.ends | (s.start & s.too_wide):
                    s.pending <<= 1
                elif s.write & s.is_pending & s.data[0]:
                    s.pending <<= 0

        # ---- channels of a read

        s.ar_held = Wire()
        s.ar = Wire(WORD_ADDRESS_NBITS)
        s.r_held = Wire()
        s.r = Wire(WORD_NBITS)
        s.r_fault = Wire()
        s.read = Wire()
        s.s_axi_rvalid //= s.r_held
        s.s_axi_rdata //= s.r

        @update
        def read_handshakes():
            s.s_axi_arready @= ~s.ar_held
            s.s_axi_rresp @= OKAY
            if s.r_fault:
                s.s_axi_rresp @= SLVERR
            s.read @= s.ar_held & (~s.r_held | s.s_axi_rready)

        @update_ff
        def read_channels():
            if s.reset:
                s.ar_held <<= 0
                s.r_held <<= 0
            else:
                if s.read:
                    s.ar_held <<= 0
                    s.r_held <<= 1
                elif s.s_axi_rready:
                    s.r_held <<= 0
                if s.s_axi_arvalid & ~s.ar_held:
                    s.ar_held <<= 1

        s.found = Wire(WORD_NBITS)
        s.lacking = Wire()
        s.of_result = Wire(WORD_NBITS)

        @update
        def choose_word():
            s.of_result @= 0
            for k in range(W):
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
                & (zext(s.ar[0:PLACE_NBITS], COUNT_NBITS) < W)
                & s.done
                & (s.code == OK)
            ):
                s.found @= s.of_result
            else:
                s.lacking @= 1

        @update_ff
        def read_payloads():
            if ~s.ar_held:
                s.ar <<= s.s_axi_araddr[2:ADDRESS_NBITS]
            if s.read:
                s.r <<= s.found
                s.r_fault <<= s.lacking

    def line_trace(s):
        return f"{'.>*'[int(s.st)]}{'!' if s.irq else ' '}"
