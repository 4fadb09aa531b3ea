"""ScaledSetup: conversions of a machine on a scaled modulus, without multiplier and divider (mathematics:
fl/multipliers/scaled_entry.py).

    scale   M' = 2^-v mod N on the port m_prime, by halvings of a power of 2, and beside it a power of 2
            modulo the aligned multiple of N
    double  twice a word, or 2^doublings_per_cycle times, less that multiple where it is at least that
    halve   a word / 2^h modulo N, below N
    clear   overwrites all registers of the converter, if the word and the modulus are 0

Ports: istream, a word; `kind` of the request, a ConvertKind; ostream, and `doubled`, the answer to any but
halve, which is there earlier; `modulus`, odd and static while the unit is busy.
Cycles: scale_cycles of ScaledEntry for scale and leaving_cycles for halve, which count the zeros above N as
shifts; 1 for the others. Two doublings a cycle are made side by side (ModQuadruple), in the time of one:
three times the multiple is in a register, a cycle later.
Area order: a chain of subtractors, or three, and one of adders of nbits + v bits, three registers as long, or
four.
"""

from enum import IntEnum

from pymtl3 import *

from ...messages import declare_streams
from ..cond_sub import CondSub
from ..fold.mod_quadruple import ModQuadruple
from ..mod_double import ModDouble
from ..mod_halve import ModHalve
from ..serial_ctrl import connect_pass

ConvertKind = IntEnum("ConvertKind", "SCALE DOUBLE HALVE CLEAR", start=0)
SCALE, DOUBLE, HALVE, CLEAR = map(b2, ConvertKind)


class ModDoubleTwice(Component):
    """ModDouble with two doublings a cycle, side by side; three times the modulus is there a cycle
    after it.
    """

    def construct(s, nbits, counted):
        declare_streams(s, mk_bits(nbits), mk_bits(nbits))
        s.modulus = InPort(nbits)

        wide = nbits + 2
        s.thrice = Wire(wide)

        @update_ff
        def three_times():
            s.thrice <<= zext(s.modulus, wide) + (zext(s.modulus, wide) << 1)

        s.x = Wire(nbits)
        s.step = ModQuadruple(nbits)
        s.step.x //= s.x
        s.step.digit //= 0
        s.step.modulus //= s.modulus
        s.step.thrice //= s.thrice
        s.ostream.msg //= s.step.out

        connect_pass(s, 0, counted)

    def line_trace(s):
        return f"{s.istream}{s.ctrl.line_trace()}{s.ostream}"


class ScaledSetup(Component):
    def construct(s, entry):
        shape = entry.shape
        nbits, nbits_word = shape.nbits, entry.word_nbits
        word = mk_bits(nbits_word)
        declare_streams(s, word, word)
        s.kind = InPort(2)
        s.modulus = InPort(nbits)
        s.m_prime = OutPort(nbits)
        s.doubled = OutPort(nbits_word)

        s.busy = Wire()
        s.now = Wire(2)
        s.fresh = Wire()  # first cycle of an operation
        s.aligns = Wire()
        s.take = Wire()
        s.done = Wire()

        s.align_modulus(entry, word)
        s.doublings(entry, word)
        s.halvings(entry)
        s.finish_request(nbits_word)

    def doublings(s, entry, word):
        """Doublings modulo the aligned modulus, in a chain or two side by side."""
        nbits_word, FIRST = entry.word_nbits, word(1 << entry.first_nbits)
        doubling_cycles = entry.chain.doublings // entry.doublings_per_cycle
        count_nbits = max(1, clog2(doubling_cycles))
        if entry.side_by_side:
            s.double = ModDoubleTwice(nbits_word, count_nbits)
        else:
            s.double = ModDouble(nbits_word, None, entry.doublings_per_cycle, count_nbits)
        s.double.modulus //= s.aligned
        s.double.ostream.msg //= s.doubled
        LAST_DOUBLING = doubling_cycles - 1

        @update
        def doublings():
            s.double.istream.val @= s.starts | (s.take & ((s.kind == DOUBLE) | (s.kind == CLEAR)))
            s.double.istream.msg @= FIRST if s.starts else s.istream.msg
            s.double.last @= 0
            if s.now == SCALE:
                s.double.last @= LAST_DOUBLING

    def finish_request(s, nbits_word):
        """Accept a request, wait for the doublings and halvings of its kind, and answer it."""

        @update
        def finish():
            s.done @= (
                s.busy & (s.double.ostream.val | (s.now == HALVE)) & (s.halve.ostream.val | (s.now == DOUBLE))
            )
            s.ostream.val @= s.done

        @update
        def arrive():
            s.istream.rdy @= ~s.busy | (s.done & s.ostream.rdy)
            s.take @= s.istream.val & s.istream.rdy

        @update
        def leave():
            s.double.ostream.rdy @= s.done & s.ostream.rdy
            s.halve.ostream.rdy @= s.done & s.ostream.rdy

        @update
        def answer():
            s.ostream.msg @= zext(s.below.out, nbits_word) if s.now == HALVE else s.doubled

        @update_ff
        def state():
            if s.reset:
                s.busy <<= 0
                s.fresh <<= 0
                s.aligns <<= 0
            else:
                s.fresh <<= s.take
                s.aligns <<= (s.fresh | s.aligns) & (s.now == SCALE) & ~s.starts
                if s.take:
                    s.busy <<= 1
                elif s.done & s.ostream.rdy:
                    s.busy <<= 0

        @update_ff
        def kind_of_request():
            if s.take:
                s.now <<= s.kind

    def align_modulus(s, entry, word):
        """The modulus, its highest 1 at the top."""
        nbits, digit = entry.shape.nbits, entry.shape.digit_nbits
        TOP = entry.word_nbits - 2  # of the aligned modulus
        LOW = TOP + 1 - nbits  # zeros below it, which no register holds
        s.high = Wire(nbits)
        s.high_n = Wire(nbits)
        s.aligned = Wire(word)
        s.aligned[0:LOW] //= 0
        s.aligned[LOW : TOP + 1] //= s.high
        s.aligned[TOP + 1] //= 0
        s.starts = Wire()  # starts the doublings
        OFF = min(digit, nbits)  # leading zeros that are removed at once

        @update
        def align():
            s.high_n @= s.high
            if s.fresh:
                s.high_n @= s.modulus
            elif s.aligns & ~s.high[nbits - 1]:
                s.high_n @= s.high << OFF if s.high[nbits - OFF : nbits] == 0 else s.high << 1

        waits = entry.side_by_side  # until it is registered

        # an even modulus is never aligned, so it starts at once
        @update
        def start():
            if waits:
                s.starts @= s.aligns & (s.high[nbits - 1] | ~s.modulus[0])
            else:
                s.starts @= (s.fresh | s.aligns) & (s.now == SCALE) & (s.high_n[nbits - 1] | ~s.modulus[0])

        @update_ff
        def aligned_modulus():
            if (s.fresh & (s.now != DOUBLE)) | s.aligns:
                s.high <<= s.high_n

    def halvings(s, entry):
        """Halvings, and a subtraction: the result is below twice the modulus."""
        nbits, nbits_word = entry.shape.nbits, entry.word_nbits
        TO_M_PRIME = mk_bits(nbits_word)(1 << entry.halvings - entry.shape.scale_nbits)
        halving_nbits = clog2(entry.leaving_cycles)
        s.halve = ModHalve(nbits_word, nbits, None, entry.halvings_per_cycle, halving_nbits)
        s.halve.modulus //= s.modulus
        LAST_HALVING = entry.halving_cycles - 1
        LAST_OF_LEAVING = entry.leaving_cycles - 1

        @update
        def halvings():
            s.halve.istream.val @= s.take & (s.kind != DOUBLE)
            s.halve.istream.msg @= TO_M_PRIME if s.kind == SCALE else s.istream.msg
            s.halve.last @= LAST_HALVING
            if s.now == HALVE:
                s.halve.last @= LAST_OF_LEAVING
            elif s.now == CLEAR:
                s.halve.last @= 0

        s.below = CondSub(nbits)  # the halved number, below the modulus
        s.below.value //= s.halve.held[0 : nbits + 1]
        s.below.n //= s.modulus
        s.m_prime //= s.halve.ostream.msg[0:nbits]

    def line_trace(s):
        return f"{s.istream}({ConvertKind(int(s.now)).name if s.busy else ''}){s.ostream}"
