"""ExponentRegister: the exponent of a program, which moves by a bit to the right or by a digit to the left,
and is blinded in place.

    load        source, at the bottom or (at_top) with its last digit where the scan from the top ends; `even`: its lowest bit as 0;
                `adds`: it is added to what is there
    stretch     twice the exponent, and the source more where the random factor's highest bit is 1: a step of exponent + factor * source
    align       leading zeros leave, one a cycle, until a 1 is at the top
Ports: these, source -> digit, bit_now (the one at hand), bit_n, finished_n, aligned_n (as they will be after
this cycle).
Area order: as many register bits as are scanned; an adder as long, if it is blinded.
"""

from pymtl3 import *

from ...fl.program.ir import SetExponent, Stretch
from ..wires import connect_low


class SlidingWindow(Component):
    """The window at the top of an exponent: a 0, or what begins with the top bit, a 1, and ends with the last
    1 of k bits.

    Ports: top, k bits -> nbits, its length; half, its value without the last bit. Combinational.
    """

    def construct(s, k, index_nbits):
        s.top = InPort(k)
        s.nbits = OutPort(index_nbits)
        s.half = OutPort(k)
        HIGHEST = k - 1

        # by the place of the last 1: the length, and what is above it
        s.lengths = [Wire(index_nbits) for _ in range(k)]
        s.halves = [Wire(k) for _ in range(k)]
        for i in range(k):
            s.lengths[i] //= k - i
            if i < HIGHEST:
                s.halves[i][0 : HIGHEST - i] //= s.top[i + 1 : k]
            s.halves[i][HIGHEST - i : k] //= 0

        @update
        def measure():
            s.nbits @= 1
            s.half @= 0
            if s.top[HIGHEST]:
                for i in range(k):
                    if s.top[HIGHEST - i]:
                        s.nbits @= s.lengths[HIGHEST - i]
                        s.half @= s.halves[HIGHEST - i]


class ExponentRegister(Component):
    def construct(s, code, nbits):
        program = code.program
        loads = program.find(SetExponent)
        scanned = program.scanned_nbits
        k = program.digit_nbits
        wide = mk_bits(scanned)
        top = [load for load in loads if load.top]
        counts = {load.count for load in loads if load.count}
        assert len(counts) <= 1, "digits are counted from one number"
        ndigits = max(counts, default=0)
        rights = bool(program.right_words)
        lefts = ndigits > 0
        aligns = any(word.aligns for word in program.words)
        stretches = bool(program.find(Stretch))
        PLACE = scanned - ndigits * k if top else 0
        low_nbits = min(nbits, scanned)

        s.source = InPort(nbits)
        s.load_exponent = InPort()
        s.shift = InPort()
        if code.scans or program.sliding:
            s.digit = OutPort(k) if code.scans else Wire(k)
        s.finished_n = OutPort()
        if code.by_bit:
            s.bit_now = OutPort()
        if code.by_bit_ahead:
            s.bit_n = OutPort()

        s.now = Wire(wide)
        s.next = Wire(wide)
        if code.scans or program.sliding:
            s.digit //= s.now[scanned - k : scanned]

        # ---- what is loaded

        s.word = Wire(wide)
        s.word[1:low_nbits] //= s.source[1:low_nbits]
        if low_nbits < scanned:
            s.word[low_nbits:scanned] //= 0
        if any(load.even for load in loads) or stretches:
            s.even = InPort()

            s.lowest = Wire()
            s.word[0] //= s.lowest

            @update
            def lowest_bit():
                s.lowest @= s.source[0] & ~s.even

        else:
            s.word[0] //= s.source[0]

        s.placed = Wire(wide)
        if PLACE == 0:
            s.placed //= s.word
        elif len(top) == len(loads):
            s.placed[PLACE:scanned] //= s.word[0 : scanned - PLACE]
            s.placed[0:PLACE] //= 0
        else:
            s.at_top = InPort()

            @update
            def place():
                s.placed @= s.word
                if s.at_top:
                    s.placed @= s.word << PLACE

        # ---- what it becomes

        s.moved = Wire(wide)
        if program.sliding:
            # the window at hand, and after this cycle: its length, and half of its value, which is odd or 0
            s.window_nbits = OutPort(code.index_nbits)
            s.window_n = OutPort(k)
            s.window = SlidingWindow(k, code.index_nbits)
            s.window.top //= s.digit
            s.window.nbits //= s.window_nbits
            s.next_window = SlidingWindow(k, code.index_nbits)
            s.next_window.top //= s.next[scanned - k : scanned]
            s.next_window.half //= s.window_n
            s.step = Wire(code.index_nbits)

            @update
            def step_to_the_left():
                s.step @= s.window_nbits
                if s.aligning:
                    s.step @= 1

            @update
            def moves_by_a_window():
                s.moved @= s.now
                for i in range(1, k + 1):
                    if s.step == i:
                        s.moved @= s.now << i

        elif rights and lefts:
            s.right = InPort()

            @update
            def moves_either_way():
                s.moved @= s.now << k
                if s.right:
                    s.moved @= s.now >> 1

        elif rights:

            @update
            def moves_right():
                s.moved @= s.now >> 1

        else:

            @update
            def moves_left():
                s.moved @= s.now << k

        if not code.skips:
            s.aligning = Wire()
        if aligns:
            s.align = InPort()
            TOP = scanned - 1

            @update
            def loses_zeros():
                s.aligning @= s.align & ~s.now[TOP] & (s.left != 0)

        elif not code.skips:
            s.aligning //= 0

        if stretches:
            s.stretch = InPort()
            s.adds = InPort()
            s.load_random = InPort()
            s.random_in = InPort(program.random_nbits)
            s.random = Wire(program.random_nbits)
            HIGHEST = program.random_nbits - 1
            s.old = Wire(wide)
            s.more = Wire(wide)

            @update
            def terms():
                s.old @= 0
                if s.stretch:
                    s.old @= s.now << 1
                elif s.adds:
                    s.old @= s.now
                s.more @= s.placed
                if s.stretch & ~s.random[HIGHEST]:
                    s.more @= 0

            @update
            def next_value_with_sum():
                s.next @= s.now
                if s.load_exponent | s.stretch:
                    s.next @= s.old + s.more
                elif s.shift:
                    s.next @= s.moved

            @update_ff
            def random_factor():
                if s.load_random:
                    s.random <<= s.random_in
                elif s.stretch:
                    s.random <<= s.random << 1

        elif code.skips:
            # a block at the top that neither modulus nor exponent fills
            block = program.block_nbits
            s.blocks = InPort(clog2(scanned // block + 1))
            s.skip = InPort()
            s.can_skip = OutPort()
            left_nbits = clog2(ndigits + 1)
            s.blocks_wide = Wire(left_nbits)
            connect_low(s.blocks_wide, s.blocks[0 : min(left_nbits, s.blocks.get_type().nbits)])
            DIGITS = block // k
            TOP_BLOCK = scanned - block

            @update
            def top_block_is_empty():
                s.can_skip @= (s.now[TOP_BLOCK:scanned] == 0) & (s.left > s.blocks_wide * DIGITS)

            @update
            def next_value_with_skips():
                s.next @= s.now
                if s.load_exponent:
                    s.next @= s.placed
                elif s.skip:
                    s.next @= s.now << block
                elif s.shift:
                    s.next @= s.moved

        else:

            @update
            def next_value():
                s.next @= s.now
                if s.load_exponent:
                    s.next @= s.placed
                elif s.shift | s.aligning:
                    s.next @= s.moved

        @update_ff
        def register():
            s.now <<= s.next

        # ---- what is left of it

        if rights:
            s.none_right = Wire()

            @update
            def none_to_the_right():
                s.none_right @= s.next == 0

        if lefts or not rights:
            s.none_left = Wire()
        if lefts:
            s.left = Wire(clog2(ndigits + 1))
            s.left_n = Wire(clog2(ndigits + 1))

            s.fewer = Wire(clog2(ndigits + 1))
            s.moves = Wire()
            if code.skips:

                @update
                def moves_or_skips():
                    s.moves @= s.shift | s.skip

            else:

                @update
                def moves():
                    s.moves @= s.shift | s.aligning

            if program.sliding:
                s.wide_step = Wire(clog2(ndigits + 1))
                connect_low(s.wide_step, s.step[0 : min(s.wide_step.get_type().nbits, code.index_nbits)])

                @update
                def fewer_by_a_window():
                    s.fewer @= s.left - s.wide_step

            elif code.skips:

                @update
                def fewer_by_one_or_a_block():
                    s.fewer @= s.left - 1
                    if s.skip:
                        s.fewer @= s.left - DIGITS

            else:

                @update
                def fewer_by_one():
                    s.fewer @= s.left - 1

            # whether none is left is known before it is known which of these it will be
            @update
            def next_left():
                s.left_n @= s.left
                s.none_left @= s.left == 0
                if s.load_exponent:
                    s.left_n @= ndigits
                    s.none_left @= 0
                elif s.moves:
                    s.left_n @= s.fewer
                    s.none_left @= s.fewer == 0

            @update_ff
            def count():
                s.left <<= s.left_n

        elif not rights:
            s.none_left //= 0

        if rights and lefts:

            @update
            def finished_in_its_direction():
                s.finished_n @= s.none_left
                if s.right:
                    s.finished_n @= s.none_right

        else:
            s.finished_n //= s.none_right if rights else s.none_left

        LOW = scanned - (1 if program.sliding else k)  # of the digit at the top; the first of a window
        if code.by_bit and rights and lefts:

            @update
            def bit_in_its_direction():
                s.bit_now @= s.now[LOW]
                if s.right:
                    s.bit_now @= s.now[0]

        elif code.by_bit:
            s.bit_now //= s.now[0 if rights else LOW]
        if code.by_bit_ahead and rights and lefts:

            @update
            def next_bit_in_its_direction():
                s.bit_n @= s.next[LOW]
                if s.right:
                    s.bit_n @= s.next[0]

        elif code.by_bit_ahead:
            s.bit_n //= s.next[0 if rights else LOW]

        if aligns:
            HIGHEST_BIT = scanned - 1
            s.aligned_n = OutPort()

            @update
            def aligned():
                s.aligned_n @= s.next[HIGHEST_BIT] | s.none_left
