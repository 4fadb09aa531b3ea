"""ExponentRegister: a shift register for the exponent of a program, with blinding in place.

    load        the source: at the bottom, or (at_top) with its last digit where a scan from the top ends;
                clear_lowest: with its lowest bit 0; add: added to the exponent
    shift       to the right by a bit (if loaded with load_right), or to the left by a digit or a window
    blind_step  exponent = 2 exponent + (the random factor's highest bit) * source; as many steps as the
                factor has bits compute exponent + factor * source
    align       shifts out a leading zero
    skip        shifts out a leading block of zeros, if the modulus does not fill the block either

Ports: these, source -> the digit at the top, current_bit, and for the next cycle: next_bit, next_finished (no
digit is left), next_aligned. Area order: a register bit for each bit that is scanned; an adder as wide, if
the exponent is blinded.
"""

from pymtl3 import *

from ...fl.program.ir import SetExponent
from ..wires import connect_low


class ExponentIfc(Interface):
    """Control and status signals between Sequencer and ExponentRegister."""

    def construct(s, microcode, Control, State):
        s.load = Control()
        s.shift = Control()  # moves on to the next digit
        s.next_finished = State()
        if microcode.by_bit:
            s.current_bit = State()
            s.next_bit = State()
        if microcode.align_pc:
            s.align = Control()  # shifts out a leading zero, if any
            s.next_aligned = State()
        if microcode.skips_blocks:
            s.skip = Control()
            s.can_skip = State()
        if microcode.program.sliding:
            s.window_nbits = State(microcode.index_nbits)
        if microcode.blinds_exponent:
            s.load_random = Control()
            s.blind_step = Control()


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

        s.lengths = [Wire(index_nbits) for _ in range(k)]  # window lengths, by the place of the last 1
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
    """A shift register for the exponent, which presents its digits in order."""

    def construct(s, microcode):
        nbits, k = microcode.program.scanned_nbits, microcode.program.digit_nbits
        block = microcode.program.block_nbits
        s.source = InPort(microcode.exponent_nbits)
        s.ctrl = ExponentIfc(microcode, InPort, OutPort)

        s.bits = Wire(nbits)
        s.next_bits = Wire(nbits)
        s.placed = Wire(nbits)  # the source, at its place in the register
        s.shifted = Wire(nbits)  # bits, moved on by a digit
        s.augend = Wire(nbits)
        s.addend = Wire(nbits)
        s.to_right = Wire()
        s.next_to_right = Wire()
        s.aligning = Wire()
        s.blind_step = Wire()
        s.skip = Wire()
        s.blind_step //= s.ctrl.blind_step if microcode.blinds_exponent else 0
        s.skip //= s.ctrl.skip if microcode.skips_blocks else 0

        @update
        def next_value():
            s.next_bits @= s.bits
            if s.ctrl.load | s.blind_step:
                s.next_bits @= s.addend + s.augend
            elif s.skip:
                s.next_bits @= s.bits << block
            elif s.ctrl.shift | s.aligning:
                s.next_bits @= s.shifted

        @update_ff
        def register():
            s.bits <<= s.next_bits

        s.direct(microcode)
        s.place_source(microcode, nbits)
        if microcode.program.sliding:
            s.move_by_windows(microcode, nbits, k)
        else:

            @update
            def move():
                if s.to_right:
                    s.shifted @= s.bits >> 1
                else:
                    s.shifted @= s.bits << k

        if microcode.blinds_exponent:
            s.blind(microcode, nbits)
        else:
            s.addend //= s.placed
            s.augend //= 0
        s.end_loop(microcode, nbits)
        if microcode.by_bit:
            s.select_bit(microcode, nbits)
        if microcode.scans_table:
            s.digit = OutPort(k)
            s.digit //= s.bits[nbits - k : nbits]

    def direct(s, microcode):
        """The direction of the scan: to the right, or from the top."""
        if not microcode.two_directions:
            s.to_right //= int(not microcode.ndigits)
            s.next_to_right //= s.to_right
            return
        s.load_right = InPort()

        @update
        def next_direction():
            s.next_to_right @= s.to_right
            if s.ctrl.load:
                s.next_to_right @= s.load_right

        @update_ff
        def direction():
            s.to_right <<= s.next_to_right

    def place_source(s, microcode, nbits):
        s.operand = Wire(nbits)
        if microcode.clears_lowest:
            s.clear_lowest = InPort()
            s.cleared = Wire(microcode.exponent_nbits)
            connect_low(s.operand, s.cleared)
            EVEN = ~s.source.get_type()(1)

            @update
            def clear_lowest_bit():
                s.cleared @= s.source
                if s.clear_lowest:
                    s.cleared @= s.source & EVEN

        else:
            connect_low(s.operand, s.source)

        PLACE = nbits - microcode.ndigits * microcode.program.digit_nbits
        if microcode.two_positions:
            s.at_top = InPort()

            @update
            def place():
                s.placed @= s.operand
                if s.at_top:
                    s.placed @= s.operand << PLACE

        elif PLACE and microcode.program.find(SetExponent)[0].top:
            s.placed[PLACE:nbits] //= s.operand[0 : nbits - PLACE]
            s.placed[0:PLACE] //= 0
        else:
            s.placed //= s.operand

    def move_by_windows(s, microcode, nbits, k):
        """The window at the top, now and after this cycle."""
        s.next_window_half = OutPort(k)  # half the value of the next window
        s.window = SlidingWindow(k, microcode.index_nbits)
        s.window.top //= s.bits[nbits - k : nbits]
        s.window.window.nbits //= s.ctrl.window_nbits
        s.next_window = SlidingWindow(k, microcode.index_nbits)
        s.next_window.top //= s.next_bits[nbits - k : nbits]
        s.next_window.window.half //= s.next_window_half
        s.step = Wire(microcode.index_nbits)

        @update
        def step_to_the_left():
            s.step @= s.ctrl.window_nbits
            if s.aligning:
                s.step @= 1

        @update
        def move_by_a_window():
            s.shifted @= s.bits
            for i in range(1, k + 1):
                if s.step == i:
                    s.shifted @= s.bits << i

    def blind(s, microcode, nbits):
        """A step of exponent + factor * source."""
        factor_nbits = microcode.program.random_nbits
        s.add = InPort()
        s.random_in = InPort(factor_nbits)
        s.random = Wire(factor_nbits)
        HIGHEST = factor_nbits - 1

        # countermeasure EXPONENT_BLINDING: a random multiple of the group order is added
        @update
        def terms():
            s.augend @= 0
            if s.blind_step:
                s.augend @= s.bits << 1
            elif s.add:
                s.augend @= s.bits
            s.addend @= s.placed
            if s.blind_step & ~s.random[HIGHEST]:
                s.addend @= 0

        @update_ff
        def random_factor():
            if s.ctrl.load_random:
                s.random <<= s.random_in
            elif s.blind_step:
                s.random <<= s.random << 1

    def end_loop(s, microcode, nbits):
        """Without a 1 to the right, or without a digit from the top."""
        s.none_left = Wire()  # no digit is left after this cycle
        if microcode.ndigits:
            s.count_digits(microcode, nbits)
        else:
            s.aligning //= 0

        if microcode.ends_early:
            s.none = Wire()
            s.last = Wire()  # one digit is left, or none

            # a shift selects what is known before it; no loop is entered in the cycle of a load
            @update
            def ends_to_right():
                s.none @= s.bits == 0
                s.last @= s.bits[1:nbits] == 0

            @update
            def finished_early():
                s.ctrl.next_finished @= s.none_left
                if s.to_right:
                    s.ctrl.next_finished @= s.last if s.ctrl.shift else s.none

            return

        @update
        def finished():
            if s.next_to_right:
                s.ctrl.next_finished @= s.next_bits == 0
            else:
                s.ctrl.next_finished @= s.none_left

    def count_digits(s, microcode, nbits):
        count = mk_bits(clog2(microcode.ndigits + 1))
        NDIGITS = count(microcode.ndigits)
        DIGITS = microcode.program.block_nbits // microcode.program.digit_nbits  # of a block
        TOP, TOP_BLOCK = nbits - 1, nbits - microcode.program.block_nbits
        s.left = Wire(count)
        s.fewer = Wire(count)
        s.digits = Wire(count)
        s.moves = Wire()
        if microcode.program.sliding:
            connect_low(s.digits, s.step)
        else:
            s.digits //= 1

        @update
        def fewer_digits():
            s.moves @= s.ctrl.shift | s.skip | s.aligning
            s.fewer @= s.left - s.digits
            if s.skip:
                s.fewer @= s.left - DIGITS

        # the comparison of each case ends before the case is known
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

        if microcode.align_pc:

            @update
            def align():
                s.aligning @= s.ctrl.align & ~s.bits[TOP] & (s.left != 0)
                s.ctrl.next_aligned @= s.next_bits[TOP] | s.none_left

        else:
            s.aligning //= 0
        if microcode.skips_blocks:
            # a block at the top that neither modulus nor exponent fills
            s.blocks = InPort(clog2(nbits // microcode.program.block_nbits + 1))
            s.filled = Wire(count)
            connect_low(s.filled, s.blocks)

            @update
            def top_block_is_empty():
                s.ctrl.can_skip @= (s.bits[TOP_BLOCK:nbits] == 0) & (s.left > s.filled * DIGITS)

    def select_bit(s, microcode, nbits):
        """The bit that changes microinstructions: the lowest one, or the last of the digit at the top (the
        first of a window).
        """
        LOW = nbits - (1 if microcode.program.sliding else microcode.program.digit_nbits)

        @update
        def bit_now():
            if s.to_right:
                s.ctrl.current_bit @= s.bits[0]
            else:
                s.ctrl.current_bit @= s.bits[LOW]

        @update
        def next_bit():
            if s.next_to_right:
                s.ctrl.next_bit @= s.next_bits[0]
            else:
                s.ctrl.next_bit @= s.next_bits[LOW]
