"""WriteRegisters000: the writable registers of paper 000's accelerator (fl/axi4lite_000.rdl).

Ports: wen, waddr (of a word), wdata, wmask, busy -> start; decrypt, of the operation that runs;
status_wen; message, 0 behind its last byte, and its length in bytes; place, of the word of the output
that is read; error: nothing is written. Area order: a register for each bit of the message.
"""

from pymtl3 import *

from ....fl.axi4lite import ADDRESS_NBITS, BYTES
from ....fl.axi4lite_000 import is_padded, register_map
from ....fl.xcel import WORD_NBITS, words_of


class WriteRegisters000(Component):
    def construct(s, nbits):
        nwords, nbytes = words_of(nbits), nbits // 8
        place_nbits, length_nbits = max(1, clog2(nwords)), clog2(nbytes + 1)
        s.wen = InPort()
        s.waddr = InPort(ADDRESS_NBITS - 2)
        s.wdata = InPort(WORD_NBITS)
        s.wmask = InPort(WORD_NBITS)
        s.busy = InPort()
        s.start = OutPort()
        s.decrypt = OutPort()
        s.status_wen = OutPort()
        s.message = OutPort(nbits)
        s.length = (OutPort if is_padded(nbits) else Wire)(length_nbits)  # read by the padding alone
        s.place = OutPort(place_nbits)
        s.error = OutPort()

        s.add_decoder(nwords)
        s.add_registers(nbytes, place_nbits, length_nbits)
        s.add_message_words(nwords, nbytes)
        s.add_message_bytes(nbytes)

    def add_decoder(s, nwords):
        """The enable of each register, the command, and the error of a refused access."""
        MAP = register_map()
        STATUS, INPUT_LENGTH, WRITE_ADDRESS, READ_ADDRESS, INPUT_FIFO = (
            register.address >> 2 for register in MAP.values() if register.writable
        )
        START = MAP["STATUS"].field("start").low
        s.fits = Wire()  # the operand has a word at this place
        s.length_wen = Wire()
        s.word_wen = Wire()
        s.place_wen = Wire()
        s.fifo_wen = Wire()

        @update
        def decode():
            s.fits @= s.wdata < nwords
            s.status_wen @= s.wen & (s.waddr == STATUS) & ~s.busy
            s.length_wen @= s.wen & (s.waddr == INPUT_LENGTH) & ~s.busy
            s.word_wen @= s.wen & (s.waddr == WRITE_ADDRESS) & ~s.busy & s.fits
            s.place_wen @= s.wen & (s.waddr == READ_ADDRESS) & s.fits
            s.fifo_wen @= s.wen & (s.waddr == INPUT_FIFO) & ~s.busy

        @update
        def command():
            s.start @= s.status_wen & s.wdata[START]
            s.error @= ~(s.status_wen | s.length_wen | s.word_wen | s.place_wen | s.fifo_wen)

    def add_registers(s, nbytes, PLACE_NBITS, LENGTH_NBITS):
        """Kind of operation, length, place that is read, and the word that waits for its place."""
        DECRYPT = register_map()["STATUS"].field("decrypt").low
        s.fifo = Wire(WORD_NBITS)

        @update_ff
        def registers():
            if s.reset:
                s.decrypt <<= 0
                s.length <<= 0
                s.place <<= 0
                s.fifo <<= 0
            else:
                if s.start:
                    s.decrypt <<= s.wdata[DECRYPT]
                if s.length_wen:
                    s.length <<= nbytes
                    if s.wdata < nbytes:
                        s.length <<= s.wdata[0:LENGTH_NBITS]
                if s.place_wen:
                    s.place <<= s.wdata[0:PLACE_NBITS]
                if s.fifo_wen:
                    s.fifo <<= (s.fifo & ~s.wmask) | s.wdata

    def add_message_words(s, nwords, nbytes):
        """The words of the message, and their bytes."""
        s.words = [Wire(WORD_NBITS) for _ in range(nwords)]
        s.octets = [Wire(8) for _ in range(nbytes)]
        s.counted = [Wire(8) for _ in range(nbytes)]
        for i in range(nbytes):
            low = 8 * (i % BYTES)
            s.octets[i] //= s.words[i // BYTES][low : low + 8]
            s.message[8 * i : 8 * i + 8] //= s.counted[i]

        @update_ff
        def message_words():
            for k in range(nwords):
                if s.reset:
                    s.words[k] <<= 0
                elif s.word_wen & (s.wdata == k):
                    s.words[k] <<= s.fifo

    def add_message_bytes(s, nbytes):
        """The message, 0 behind its last byte."""

        @update
        def cut():
            for i in range(nbytes):
                s.counted[i] @= 0
                if s.length > i:
                    s.counted[i] @= s.octets[i]
