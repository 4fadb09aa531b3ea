"""Axi4Lite000: a machine as paper 000 puts it on its bus (section 4.5): the registers of fl/axi4lite_000.rdl,
padding and unpadding.

Ports: s_axi_*, the bus; irq, the interrupt, a level from the end until STATUS is written; key_*, the key,
which must stay; random, a stream of bytes for padding, and with it the health test of
rtl/units/padding/random_health.py. Keys of 64 bits and less have neither. The way without padding is there
with `has_raw` alone: who may use it takes the private key without looking at what comes out.
`mk_machine(nbits)` makes a machine with the ports of ProgramExp, whose requests may hold more: `given`, names
and bits.

Cycles of an operation: those of the machine, 2 around them, nbytes + 2 for padding (and what it waits for
bytes), nbytes + 2 for unpadding. Constant time as the machine is. Area order: 2 W words, and the register of
each padding unit.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL

from ...fl.axi4lite_000 import KEY_NUMBERS, NO_RANDOM, WRONG_PADDING, is_padded, register_map
from ...fl.pkcs1 import Padded, longest
from ...fl.status import STATUS_NBITS, Status
from ...fl.xcel import WORD_NBITS, words_of
from ..messages import mk_keyed_req, mk_modexp_req
from ..states import states
from ..units.padding.pkcs1_pad import Pkcs1Pad
from ..units.padding.pkcs1_unpad import Pkcs1Unpad
from ..units.padding.random_health import STARTUP, RandomHealth
from ..wires import connect_low
from .axi4lite_channels import WORD_ADDRESS_NBITS, Axi4LiteChannels, connect_bus, declare_bus, declare_write

CODE_NBITS = STATUS_NBITS


class Axi4Lite000(Component):
    def construct(s, nbits, mk_machine, given=(), startup=STARTUP, has_raw=False):
        padded = is_padded(nbits)
        declare_bus(s, "s_axi")
        s.irq = OutPort()
        for name in KEY_NUMBERS:
            setattr(s, f"key_{name}", InPort(nbits))
        for name, wide in given:
            setattr(s, f"key_{name}", InPort(wide))
        if padded:
            s.random = RecvIfcRTL(mk_bits(8))

        s.machine = mk_machine(nbits)
        s.channels = Axi4LiteChannels()
        connect_bus(s, "s_axi", s.channels, "s_axi")

        MAP = register_map(True)  # of which the way without padding is there with has_raw
        W, nbytes = words_of(nbits), nbits // 8
        PLACE_NBITS = max(1, clog2(W))
        LENGTH_NBITS = clog2(nbytes + 1)
        MOST = longest(nbytes) if padded else nbytes  # bytes to encrypt
        STATUS, INPUT_LENGTH, OUTPUT_LENGTH, WRITE_ADDRESS, READ_ADDRESS, INPUT_FIFO, OUTPUT_FIFO = (
            register.address >> 2 for register in MAP.values()
        )
        DECRYPT, BUSY, START, RAW, CODE = (
            MAP["STATUS"].field(name).low for name in ("decrypt", "busy", "start", "raw", "code")
        )
        OK = int(Status.OK)

        # ---- what is written

        declare_write(s, WORD_ADDRESS_NBITS)
        s.busy = Wire()
        s.fits = Wire()  # a place is in the FIFO
        s.writes_status = Wire()
        s.writes_length = Wire()
        s.writes_word = Wire()
        s.writes_place = Wire()
        s.writes_fifo = Wire()
        s.start = Wire()

        @update
        def decode_write():
            s.fits @= s.data < W
            s.writes_status @= s.write & (s.aw == STATUS) & ~s.busy
            s.writes_length @= s.write & (s.aw == INPUT_LENGTH) & ~s.busy
            s.writes_word @= s.write & (s.aw == WRITE_ADDRESS) & ~s.busy & s.fits
            s.writes_fifo @= s.write & (s.aw == INPUT_FIFO) & ~s.busy
            s.writes_place @= s.write & (s.aw == READ_ADDRESS) & s.fits
            s.start @= s.writes_status & s.data[START]

        @update
        def refuse():
            s.refused @= ~(s.writes_status | s.writes_length | s.writes_word | s.writes_fifo | s.writes_place)

        s.fifo = Wire(WORD_NBITS)
        s.length = Wire(LENGTH_NBITS)
        s.place = Wire(PLACE_NBITS)
        s.decrypt = Wire()
        s.words = [Wire(WORD_NBITS) for _ in range(W)]

        @update_ff
        def registers():
            if s.reset:
                s.fifo <<= 0
                s.length <<= 0
                s.place <<= 0
                s.decrypt <<= 0
            else:
                if s.writes_fifo:
                    s.fifo <<= (s.fifo & ~s.mask) | s.data
                if s.writes_length:
                    s.length <<= nbytes
                    if s.data < nbytes:
                        s.length <<= s.data[0:LENGTH_NBITS]
                if s.writes_place:
                    s.place <<= s.data[0:PLACE_NBITS]
                if s.writes_status & s.mask[DECRYPT]:
                    s.decrypt <<= s.data[DECRYPT]

        @update_ff
        def write_words():
            for k in range(W):
                if s.reset:
                    s.words[k] <<= 0
                elif s.writes_word & (s.data == k):
                    s.words[k] <<= s.fifo

        s.message = Wire(nbits)  # without the bytes behind its length
        s.counts = Wire(nbytes)  # which bytes do

        @update
        def count_bytes():
            for j in range(nbytes):
                s.counts[j] @= s.length > j

        s.counted = Wire(nbits)
        s.held = Wire(nbits)
        for j in range(nbytes):
            for bit in range(8 * j, 8 * j + 8):
                s.counted[bit] //= s.counts[j]
        for k in range(W):
            low, high = k * WORD_NBITS, min((k + 1) * WORD_NBITS, nbits)
            s.held[low:high] //= s.words[k][0 : high - low]

        @update
        def cut():
            s.message @= s.held & s.counted

        # ---- the operation

        s.st = Wire(3)
        s.request = Wire(mk_keyed_req(nbits, given) if given else mk_modexp_req(nbits))
        s.machine.istream.msg //= s.request
        s.request.mod //= s.key_modulus
        for name, _ in given:
            connect(getattr(s.request, name), getattr(s, f"key_{name}"))
        s.code = Wire(CODE_NBITS)
        s.ends = Wire()
        s.result = Wire(nbits)
        s.result_length = Wire(LENGTH_NBITS)
        s.result_code = Wire(CODE_NBITS)
        s.machine_code = Wire(CODE_NBITS)
        s.machine_code //= s.machine.ostream.msg.status
        s.answer = Wire(nbits)
        s.answer_length = Wire(LENGTH_NBITS)

        # wires of their own: Icarus takes no message of which some fields are connected and others are chosen
        s.exponent = Wire(nbits)
        s.base = Wire(nbits)
        s.request.exp //= s.exponent
        s.request.base //= s.base

        @update
        def choose_exponent():
            s.exponent @= s.key_public
            if s.decrypt:
                s.exponent @= s.key_private

        if padded:
            IDLE, PAD, PADS, SEND, RUN, OPEN = states(s, "st", IDLE=0, PAD=1, PADS=2, SEND=3, RUN=4, OPEN=5)
            s.raw = Wire()
            s.frames = Wire()
            s.health = RandomHealth(8, startup)
            s.health.istream //= s.random
            s.pad = Pkcs1Pad(nbits)
            s.pad.random //= s.health.ostream
            s.pad.random_failed //= s.health.failed
            s.pad.istream.msg.sign //= 0
            s.pad.istream.msg.message //= s.message
            s.unpad = Pkcs1Unpad(nbits)
            s.unpad.istream.msg.sign //= 0
            s.unpad.istream.msg.em //= s.machine.ostream.msg.result
            s.starts_padding = Wire()
            s.is_padded = Wire()
            PAD_NBITS, PAD_OK = clog2(nbytes), int(Padded.OK)

            s.clipped = Wire(PAD_NBITS)
            s.pad.istream.msg.length //= s.clipped

            @update
            def clip():
                s.clipped @= MOST
                if s.length < MOST:
                    s.clipped @= s.length[0:PAD_NBITS]

            @update
            def choose_base():
                s.base @= s.message
                if s.is_padded:
                    s.base @= s.pad.ostream.msg.em

            s.starts_raw = Wire()
            if has_raw:
                s.starts_raw //= s.channels.write_data[RAW]
            else:
                s.starts_raw //= 0

            @update
            def frames():
                s.starts_padding @= ~(s.starts_raw | s.data[DECRYPT])
                s.is_padded @= ~(s.raw | s.decrypt)
                s.frames @= ~s.raw & s.decrypt

            @update
            def handshakes_with_padding():
                s.pad.istream.val @= s.st == PAD
                s.pad.ostream.rdy @= (s.st == PADS) & (s.pad.ostream.msg.status != PAD_OK)
                if s.st == SEND:
                    s.pad.ostream.rdy @= s.machine.istream.rdy & s.is_padded
                s.machine.istream.val @= s.st == SEND
                s.machine.ostream.rdy @= s.st == RUN
                s.unpad.istream.val @= (
                    (s.st == RUN) & s.machine.ostream.val & s.frames & (s.machine.ostream.msg.status == OK)
                )
                s.unpad.ostream.rdy @= s.st == OPEN

            @update
            def outcome_with_padding():
                s.ends @= 0
                s.result @= s.machine.ostream.msg.result
                s.result_length @= nbytes
                s.result_code @= s.machine_code
                if s.st == PADS:
                    s.ends @= s.pad.ostream.val & (s.pad.ostream.msg.status != PAD_OK)
                    s.result_code @= NO_RANDOM
                elif s.st == RUN:
                    s.ends @= s.machine.ostream.val & ~s.unpad.istream.val
                elif s.st == OPEN:
                    s.ends @= s.unpad.ostream.val
                    s.result @= s.unpad.ostream.msg.message
                    s.result_length @= zext(s.unpad.ostream.msg.length, LENGTH_NBITS)
                    s.result_code @= OK
                    if ~s.unpad.ostream.msg.good:
                        s.result_code @= WRONG_PADDING

            @update_ff
            def control_with_padding():
                if s.reset:
                    s.st <<= IDLE
                    s.raw <<= 0
                elif s.st == IDLE:
                    if s.writes_status & s.mask[RAW]:
                        s.raw <<= s.starts_raw
                    if s.start:
                        s.st <<= SEND
                        if s.starts_padding:
                            s.st <<= PAD
                elif s.st == PAD:
                    if s.pad.istream.rdy:
                        s.st <<= PADS
                elif s.ends:
                    s.st <<= IDLE
                elif s.st == PADS:
                    if s.pad.ostream.val:
                        s.st <<= SEND
                elif s.st == SEND:
                    if s.machine.istream.rdy:
                        s.st <<= RUN
                elif s.st == RUN:
                    if s.unpad.istream.val:
                        s.st <<= OPEN

        else:
            IDLE, SEND, RUN = states(s, "st", IDLE=0, SEND=1, RUN=2)
            s.base //= s.message

            @update
            def handshakes():
                s.machine.istream.val @= s.st == SEND
                s.machine.ostream.rdy @= s.st == RUN

            @update
            def outcome():
                s.ends @= (s.st == RUN) & s.machine.ostream.val
                s.result @= s.machine.ostream.msg.result
                s.result_length @= nbytes
                s.result_code @= s.machine_code

            @update_ff
            def control():
                if s.reset:
                    s.st <<= IDLE
                elif s.st == IDLE:
                    if s.start:
                        s.st <<= SEND
                elif s.st == SEND:
                    if s.machine.istream.rdy:
                        s.st <<= RUN
                elif s.ends:
                    s.st <<= IDLE

        @update
        def is_busy():
            s.busy @= s.st != IDLE

        @update_ff
        def keep():
            if s.reset | s.start:
                s.answer <<= 0
                s.answer_length <<= 0
                s.code <<= 0
            elif s.ends:
                s.code <<= s.result_code
                if s.result_code == OK:
                    s.answer <<= s.result
                    s.answer_length <<= s.result_length

        s.pending = Wire()
        s.irq //= s.pending

        @update_ff
        def interrupt():
            if s.reset | s.writes_status:
                s.pending <<= 0
            elif s.ends:
                s.pending <<= 1

        # ---- what is read

        s.ar = Wire(WORD_ADDRESS_NBITS)
        s.found = Wire(WORD_NBITS)
        s.lacking = Wire()
        s.ar //= s.channels.read_address
        s.channels.read_data //= s.found
        s.channels.read_refused //= s.lacking
        s.output_words = [Wire(WORD_NBITS) for _ in range(W)]
        for k in range(W):
            low, high = k * WORD_NBITS, min((k + 1) * WORD_NBITS, nbits)
            connect_low(s.output_words[k], s.answer[low:high])
        s.chosen = Wire(WORD_NBITS)

        @update
        def choose_word():
            s.chosen @= 0
            for k in range(W):
                if s.place == k:
                    s.chosen @= s.output_words[k]

        @update
        def decode_read():
            s.found @= 0
            s.lacking @= 0
            if s.ar == STATUS:
                s.found[BUSY] @= s.busy
                s.found[CODE : CODE + CODE_NBITS] @= s.code
            elif s.ar == OUTPUT_LENGTH:
                s.found @= zext(s.answer_length, WORD_NBITS)
            elif (s.ar == OUTPUT_FIFO) & (s.answer_length != 0):
                s.found @= s.chosen
            else:
                s.lacking @= 1

    def line_trace(s):
        return f"({int(s.st)}){'!' if s.irq else ' '}"
