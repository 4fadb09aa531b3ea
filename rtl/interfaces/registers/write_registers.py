"""WriteRegisters: the writable registers of fl/axi4lite.py: commands, and operands in words.

Ports: wen, waddr (of a word), wdata, which is 0 in bytes that wmask does not select, busy -> start and
zeroise, the commands; operand: all words of each, the least significant first; irq_enable_wen, irq_clear;
error: nothing is written. The operands become 0 when `clear` is 1 in two cycles. A start uses up the random
numbers that blind an operation. Area order: a latch for each bit of an operand, and a flip-flop for each
byte.
"""

from pymtl3 import *

from ....fl.axi4lite import ALL_BYTES, BYTES, address_nbits, operand_names, random_operands, register_map
from ....fl.xcel import WORD_NBITS, words_of
from ...units.memory.held_word import HeldWord

PLACE_NBITS = 7  # of a word in its window, which is what an operand of 4,096 bits has
COUNT_NBITS = PLACE_NBITS + 1  # of the words, up to 128


class OperandWord(Component):
    """A word of an operand, in latches if the cell library has them.

    Ports: opens, a bit for each byte; entering -> word.
    """

    def construct(s):
        s.opens = InPort(BYTES)
        s.entering = InPort(WORD_NBITS)
        s.word = OutPort(WORD_NBITS)
        s.octets = [HeldWord(8) for _ in range(BYTES)]
        for i, octet in enumerate(s.octets):
            octet.opens //= s.opens[i]
            octet.entering //= s.entering[8 * i : 8 * i + 8]
            octet.word //= s.word[8 * i : 8 * i + 8]


class WriteRegisters(Component):
    """The writable registers of a slave: commands, and operands word by word."""

    def construct(s, shape, traits):
        word_address_nbits = address_nbits(shape) - 2
        noperands, nwords = len(shape.request), words_of(shape.widest)
        s.wen = InPort()
        s.waddr = InPort(word_address_nbits)
        s.wdata = InPort(WORD_NBITS)
        s.wmask = InPort(WORD_NBITS)
        s.busy = InPort()
        s.clear = InPort()
        s.start = OutPort()
        s.zeroise = OutPort()
        s.operand = [OutPort(nwords * WORD_NBITS) for _ in range(noperands)]
        s.irq_enable_wen = OutPort()
        s.irq_clear = OutPort()
        s.error = OutPort()
        s.assertions = {"OperandsStayWhileBusy": ("busy && !clear", "operand")}

        s.is_control = Wire()
        s.is_enable = Wire()
        s.is_status = Wire()
        s.is_operand = Wire(noperands)
        s.starts = Wire()  # a start is requested, allowed or not
        s.stale = Wire()  # a number that blinds has been used
        s.place = Wire(PLACE_NBITS)
        s.window = Wire(word_address_nbits - PLACE_NBITS)
        s.place //= s.waddr[0:PLACE_NBITS]
        s.window //= s.waddr[PLACE_NBITS:word_address_nbits]
        s.windows = [Wire(word_address_nbits - PLACE_NBITS) for _ in range(noperands)]
        registers = register_map(shape)
        for window, name in zip(s.windows, operand_names(shape), strict=True):
            window //= registers[name].address >> 2 + PLACE_NBITS

        s.add_decoder(noperands, nwords, registers)
        s.add_commands(registers["CONTROL"])
        s.store_operands(noperands, nwords)
        s.use_random_numbers_once(random_operands(shape, traits), nwords, traits.public_exponents)

    def add_decoder(s, noperands, nwords, registers):
        """One signal for each register or operand at the address."""
        CONTROL, IRQ_ENABLE, IRQ_STATUS = (
            registers[name].address >> 2 for name in ("CONTROL", "IRQ_ENABLE", "IRQ_STATUS")
        )

        @update
        def decode():
            s.is_control @= s.waddr == CONTROL
            s.is_enable @= s.waddr == IRQ_ENABLE
            s.is_status @= s.waddr == IRQ_STATUS
            for i in range(noperands):
                s.is_operand[i] @= (s.window == s.windows[i]) & (zext(s.place, COUNT_NBITS) < nwords)

    def add_commands(s, control):
        """The commands, and the error of a refused access; control: the register CONTROL."""
        START, ZEROISE = (control.field(name).low for name in ("start", "zeroise"))

        @update
        def commands():
            s.starts @= s.is_control & s.wdata[START] & ~s.wdata[ZEROISE]
            s.start @= s.wen & s.starts & ~s.busy & ~s.stale
            s.zeroise @= s.wen & s.is_control & s.wdata[ZEROISE]
            s.irq_enable_wen @= s.wen & s.is_enable & s.wmask[0]
            s.irq_clear @= s.wen & s.is_status & s.wdata[0]

        @update
        def refuse():
            s.error @= ~(s.is_control | s.is_enable | s.is_status | (s.is_operand != 0))
            if (s.busy & (s.starts | (s.is_operand != 0))) | (s.stale & s.starts):
                s.error @= 1

    def store_operands(s, noperands, nwords):
        """The words of the operands. A word is open in the cycle after its access, and neither another access
        nor a request to the machine follows directly on an access.
        """
        s.stores = Wire()
        s.strobes = Wire(BYTES)
        s.data = Wire(WORD_NBITS)
        s.opens = [Wire(BYTES) for _ in range(noperands * nwords)]
        s.opened = Wire()
        s.words = [Wire(WORD_NBITS) for _ in s.opens]
        s.held = [OperandWord() for _ in s.opens]
        for j, held in enumerate(s.held):
            held.opens //= s.opens[j]
            held.entering //= s.data
            held.word //= s.words[j]
            low = j % nwords * WORD_NBITS
            s.operand[j // nwords][low : low + WORD_NBITS] //= s.words[j]
        for i in range(BYTES):
            s.strobes[i] //= s.wmask[8 * i]

        @update
        def store():
            s.stores @= s.wen & ~s.busy & (s.is_operand != 0)

        # countermeasure ZEROISE: zeros replace all operands
        @update_ff
        def data_of_access():
            if s.stores | s.clear:
                s.data <<= 0 if s.clear else s.wdata

        @update_ff
        def bytes_of_access():
            s.opened <<= s.stores | s.clear
            if s.stores | s.clear | s.opened:
                for i in range(noperands):
                    for k in range(nwords):
                        s.opens[i * nwords + k] <<= 0
                        if s.clear:
                            s.opens[i * nwords + k] <<= ALL_BYTES
                        elif s.stores & s.is_operand[i] & (s.place == k):
                            s.opens[i * nwords + k] <<= s.strobes

    def use_random_numbers_once(s, randoms, nwords, public_exponents):
        """Refuse to blind two operations with the same numbers: their last words must be written again."""
        if not randoms:
            s.stale //= 0
            return
        count, LAST = len(randoms), nwords - 1
        s.fresh = [Wire() for _ in randoms]  # the number has not been used
        s.writes_random = [Wire() for _ in randoms]
        s.all_fresh = Wire(count)
        s.public = Wire()  # the request has a public exponent, which needs no random numbers
        s.public //= s.operand[-1][0] if public_exponents else 0
        for i, place in enumerate(randoms):
            s.writes_random[i] //= s.is_operand[place]
            s.all_fresh[i] //= s.fresh[i]

        @update
        def used():
            s.stale @= ~reduce_and(s.all_fresh) & ~s.public

        # countermeasure FRESH_RANDOM: a start uses up the random numbers
        @update_ff
        def freshness():
            for i in range(count):
                if s.start | s.clear:
                    s.fresh[i] <<= 0
                elif s.stores & s.writes_random[i] & (s.place == LAST):
                    s.fresh[i] <<= 1
