"""ExponentRegister: the exponent of a program, which moves by a bit to the right or by a digit to the left,
and is blinded in place.

    load        the source, at the bottom or (at_top) so that the scan from the top ends with its last digit;
                `even`: its lowest bit is 0; `adds`: it is added to the exponent
    shift       to the right by a bit (if loaded with load_right), to the left by a digit or a window
    stretch     twice the exponent, and the source more if the random factor's highest bit is 1: a step of
                exponent + factor * source
    align       leading zeros go, one a cycle, until a 1 is at the top
    skip        a block of zeros at the top goes, if the modulus does not fill it either

Ports: these, source -> the digit at the top, bit_now, and the state after this cycle: bit_n, finished_n,
aligned_n. Area order: as many register bits as are scanned; an adder as long, if it is blinded.
"""

from pymtl3 import *

from ...fl.program.ir import SetExponent
from ..wires import connect_low


class ExponentIfc(Interface):
    """Wires between Sequencer and ExponentRegister: Control to the register, State from it."""

    def construct(s, code, Control, State):
        s.load = Control()
        s.shift = Control()  # to the next digit
        s.finished_n = State()  # no digit is left after this cycle
        if code.by_bit:
            s.bit_now = State()
            s.bit_n = State()  # after this cycle
        if code.aligning:
            s.align = Control()  # a leading zero may go
            s.aligned_n = State()
        if code.skips:
            s.skip = Control()  # a leading block goes
            s.can_skip = State()
        if code.program.sliding:
            s.window_nbits = State(code.index_nbits)
        if code.stretches:
            s.load_random = Control()
            s.stretch = Control()


class WindowIfc(Interface):
    """The length of a window, and its value without the last bit."""

    def construct(s, k, index_nbits):
        s.nbits = OutPort(index_nbits)
        s.half = OutPort(k)


class SlidingWindow(Component):
    """The window at the top of an exponent: a 0, or what begins with the top bit, a 1, and ends with the last
    1 of k bits.

    Ports: top, k bits -> window {nbits, half}. Combinational.
    """

    def construct(s, k, index_nbits):
        s.top = InPort(k)
        s.window = WindowIfc(k, index_nbits)
        HIGHEST = k - 1

        s.lengths = [Wire(index_nbits) for _ in range(k)]  # by the place of the last 1
        for i, length in enumerate(s.lengths):
            length //= i + 1

        @update
        def measure():
            s.window.nbits @= 1
            s.window.half @= 0
            if s.top[HIGHEST]:
                for i in range(k):
                    if s.top[HIGHEST - i]:
                        s.window.nbits @= s.lengths[i]
                        s.window.half @= s.top >> (k - i)


class ExponentRegister(Component):
    def construct(s, code):
        nbits, k = code.program.scanned_nbits, code.program.digit_nbits
        block = code.program.block_nbits
        s.source = InPort(code.shape.residue_nbits)
        s.ctrl = ExponentIfc(code, InPort, OutPort)

        s.now = Wire(nbits)
        s.next = Wire(nbits)
        s.placed = Wire(nbits)  # the source
        s.moved = Wire(nbits)  # by a shift
        s.augend = Wire(nbits)
        s.addend = Wire(nbits)
        s.to_right = Wire()
        s.to_right_n = Wire()
        s.aligning = Wire()
        s.stretch = Wire()
        s.skip = Wire()
        s.stretch //= s.ctrl.stretch if code.stretches else 0
        s.skip //= s.ctrl.skip if code.skips else 0

        @update
        def next_value():
            s.next @= s.now
            if s.ctrl.load | s.stretch:
                s.next @= s.addend + s.augend
            elif s.skip:
                s.next @= s.now << block
            elif s.ctrl.shift | s.aligning:
                s.next @= s.moved

        @update_ff
        def register():
            s.now <<= s.next

        s.direct(code)
        s.place_source(code, nbits)
        if code.program.sliding:
            s.move_by_windows(code, nbits, k)
        else:

            @update
            def move():
                if s.to_right:
                    s.moved @= s.now >> 1
                else:
                    s.moved @= s.now << k

        if code.stretches:
            s.blind(code, nbits)
        else:
            s.addend //= s.placed
            s.augend //= 0
        s.end_loop(code, nbits)
        if code.by_bit:
            s.select_bit(code, nbits)
        if code.scans:
            s.digit = OutPort(k)
            s.digit //= s.now[nbits - k : nbits]

    def direct(s, code):
        """An exponent is loaded for a scan to the right, or from the top."""
        if not code.both_ways:
            s.to_right //= int(not code.ndigits)
            s.to_right_n //= s.to_right
            return
        s.load_right = InPort()

        @update
        def next_direction():
            s.to_right_n @= s.to_right
            if s.ctrl.load:
                s.to_right_n @= s.load_right

        @update_ff
        def direction():
            s.to_right <<= s.to_right_n

    def place_source(s, code, nbits):
        s.word = Wire(nbits)
        if code.clears_lowest:
            s.even = InPort()
            s.cleared = Wire(code.shape.residue_nbits)
            connect_low(s.word, s.cleared)
            EVEN = ~s.source.get_type()(1)

            @update
            def clear_lowest_bit():
                s.cleared @= s.source
                if s.even:
                    s.cleared @= s.source & EVEN

        else:
            connect_low(s.word, s.source)

        PLACE = nbits - code.ndigits * code.program.digit_nbits
        if code.places:
            s.at_top = InPort()

            @update
            def place():
                s.placed @= s.word
                if s.at_top:
                    s.placed @= s.word << PLACE

        elif PLACE and code.program.find(SetExponent)[0].top:
            s.placed[PLACE:nbits] //= s.word[0 : nbits - PLACE]
            s.placed[0:PLACE] //= 0
        else:
            s.placed //= s.word

    def move_by_windows(s, code, nbits, k):
        """The window at the top, now and after this cycle."""
        s.window_n = OutPort(k)  # half of its value
        s.window = SlidingWindow(k, code.index_nbits)
        s.window.top //= s.now[nbits - k : nbits]
        s.window.window.nbits //= s.ctrl.window_nbits
        s.next_window = SlidingWindow(k, code.index_nbits)
        s.next_window.top //= s.next[nbits - k : nbits]
        s.next_window.window.half //= s.window_n
        s.step = Wire(code.index_nbits)

        @update
        def step_to_the_left():
            s.step @= s.ctrl.window_nbits
            if s.aligning:
                s.step @= 1

        @update
        def move_by_a_window():
            s.moved @= s.now
            for i in range(1, k + 1):
                if s.step == i:
                    s.moved @= s.now << i

    def blind(s, code, nbits):
        """A step of exponent + factor * source."""
        factor_nbits = code.program.random_nbits
        s.adds = InPort()
        s.random_in = InPort(factor_nbits)
        s.random = Wire(factor_nbits)
        HIGHEST = factor_nbits - 1

        @update
        def terms():
            s.augend @= 0
            if s.stretch:
                s.augend @= s.now << 1
            elif s.adds:
                s.augend @= s.now
            s.addend @= s.placed
            if s.stretch & ~s.random[HIGHEST]:
                s.addend @= 0

        @update_ff
        def random_factor():
            if s.ctrl.load_random:
                s.random <<= s.random_in
            elif s.stretch:
                s.random <<= s.random << 1

    def end_loop(s, code, nbits):
        """Without a 1 to the right, or without a digit from the top."""
        s.none_left = Wire()  # after this cycle
        if code.ndigits:
            s.count_digits(code, nbits)
        else:
            s.aligning //= 0

        @update
        def finished():
            if s.to_right_n:
                s.ctrl.finished_n @= s.next == 0
            else:
                s.ctrl.finished_n @= s.none_left

    def count_digits(s, code, nbits):
        count = mk_bits(clog2(code.ndigits + 1))
        NDIGITS = count(code.ndigits)
        DIGITS = code.program.block_nbits // code.program.digit_nbits  # of a block
        TOP, TOP_BLOCK = nbits - 1, nbits - code.program.block_nbits
        s.left = Wire(count)
        s.fewer = Wire(count)
        s.digits = Wire(count)
        s.moves = Wire()
        if code.program.sliding:
            connect_low(s.digits, s.step)
        else:
            s.digits //= 1

        @update
        def fewer_digits():
            s.moves @= s.ctrl.shift | s.skip | s.aligning
            s.fewer @= s.left - s.digits
            if s.skip:
                s.fewer @= s.left - DIGITS

        # whether none is left is known before it is known which of these it will be
        @update
        def last_digit():
            s.none_left @= s.left == 0
            if s.ctrl.load:
                s.none_left @= 0
            elif s.moves:
                s.none_left @= s.fewer == 0

        @update_ff
        def digits_left():
            if s.ctrl.load:
                s.left <<= NDIGITS
            elif s.moves:
                s.left <<= s.fewer

        if code.aligning:

            @update
            def align():
                s.aligning @= s.ctrl.align & ~s.now[TOP] & (s.left != 0)
                s.ctrl.aligned_n @= s.next[TOP] | s.none_left

        else:
            s.aligning //= 0
        if code.skips:
            # a block at the top that neither modulus nor exponent fills
            s.blocks = InPort(clog2(nbits // code.program.block_nbits + 1))
            s.filled = Wire(count)
            connect_low(s.filled, s.blocks)

            @update
            def top_block_is_empty():
                s.ctrl.can_skip @= (s.now[TOP_BLOCK:nbits] == 0) & (s.left > s.filled * DIGITS)

    def select_bit(s, code, nbits):
        """The bit that changes microinstructions: the lowest one, or the last of the digit at the top (the
        first of a window).
        """
        LOW = nbits - (1 if code.program.sliding else code.program.digit_nbits)

        @update
        def bit_now():
            if s.to_right:
                s.ctrl.bit_now @= s.now[0]
            else:
                s.ctrl.bit_now @= s.now[LOW]

        @update
        def next_bit():
            if s.to_right_n:
                s.ctrl.bit_n @= s.next[0]
            else:
                s.ctrl.bit_n @= s.next[LOW]
