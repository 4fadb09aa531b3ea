"""TinyExpCtrl: the controller of a TinyExp (tiny_exp.py).

IDLE     wait for a request
START    a pass in which the words are open, p becomes 0 and r becomes 1
CHECK    a pass that subtracts the modulus from the base; then the request is accepted
SCAN     find the first 1 of the exponent, a bit in each cycle (not with `full_scan`)
DOUBLE   a pass; the bit of r that ADD multiplies by is picked when it comes to the end of its ring
ADD      a pass; it has a cycle, and DOUBLE none, where a pass is one cycle
REDUCE   a pass whose result enters r; p becomes 0
DONE     the answer is offered; REFUSED offers a status

The first product squares 1, so that all exponents give a residue. With `full_scan` each bit of the exponent
takes a square and a product, and r does not take the product for a 0.
"""

from pymtl3 import *

from ....fl.status import STATUS_NBITS, Status
from ...states import state_name, states
from ...units.serial_ctrl import declare_handshakes
from .shift_counter import ShiftCounter, states_of

ST_NBITS = 4
CODES = {
    "IDLE": 0b0000,
    "DONE": 0b0001,
    "SCAN": 0b0100,
    "REFUSED": 0b0101,
    "DOUBLE": 0b1000,
    "ADD": 0b1001,
    "REDUCE": 0b1100,
    "CHECK": 0b1101,
    "START": 0b1110,
}
IDLE, DONE, SCAN, REFUSED, DOUBLE, ADD, REDUCE, CHECK, START = map(b4, CODES.values())


class TinyExpCtrl(Component):
    def construct(s, nbits, k, full_scan):
        declare_handshakes(s)
        s.status = OutPort(STATUS_NBITS)
        s.refused = OutPort()
        s.opens, s.clears, s.takes, s.turns_result = (OutPort() for _ in range(4))
        s.doubles, s.adds = OutPort(), OutPort()
        s.reduces = OutPort() if nbits == k else Wire()
        s.x, s.multiplies = OutPort(), OutPort()
        s.negative, s.plus, s.minus = OutPort(), OutPort(), OutPort()
        s.first, s.last, s.runs = OutPort(), OutPort(), OutPort()
        s.next_minus = OutPort()  # the next pass subtracts the modulus
        s.next_negative, s.below, s.no_modulus = InPort(), InPort(), InPort()
        s.r_digit = InPort(k)
        s.exp_bit = InPort()
        s.exp_place = OutPort(clog2(nbits))

        # bits of a state: a pass or DONE adds or offers (0), words are open (1), p becomes 0 or there is no
        # result (2), the rings turn (3)
        s.st, s.next_st = Wire(ST_NBITS), Wire(ST_NBITS)
        unused = ["SCAN"] * full_scan + ["DOUBLE"] * (nbits == k)
        states(s.st, s.next_st, **{name: code for name, code in CODES.items() if name not in unused})
        s.ends_product, s.follows, s.ends = Wire(), Wire(), Wire()
        s.assertions = {"WholeExponentIsRead": "!ostream_val || refused || ends"}
        s.at_once = Wire()
        s.at_once //= int(nbits == k)

        @update
        def outputs():
            s.adds @= s.st[0]
            s.opens @= s.st[1]
            s.clears @= s.st[2]
            s.runs @= s.st[3]
            s.doubles @= ~s.st[0] & ~s.st[2]
            s.reduces @= ~s.st[0] & s.st[2]
            s.turns_result @= s.runs & (~s.at_once | s.opens | s.takes)

        OK, ZERO_MODULUS, BASE_TOO_LARGE = Status.OK, Status.ZERO_MODULUS, Status.BASE_TOO_LARGE

        @update
        def handshakes():
            s.istream_rdy @= s.runs & s.clears & s.adds & s.last
            s.ostream_val @= s.adds & ~s.runs
            s.refused @= s.clears
            s.status @= OK
            if s.refused:
                s.status @= ZERO_MODULUS if s.multiplies else BASE_TOO_LARGE

        @update
        def by_sign():
            s.plus @= s.negative & (~s.adds | s.at_once)
            s.minus @= ~s.negative & ~s.reduces
            s.next_minus @= ~(s.next_negative & ~s.clears) & ~(s.adds & s.ends_product)

        s.count_digits(nbits // k)
        s.scan_exponent(nbits, full_scan)
        s.transitions(nbits // k, full_scan)
        if nbits == k:
            s.pick_at_once(nbits)
        else:
            s.pick_bits(nbits, k)

    def count_digits(s, ndigits):
        """The place in a pass."""
        if ndigits == 1:
            s.first //= 1
            s.last //= 1
            return
        LAST_DIGIT = states_of(ndigits)[-1]
        s.digit = OutPort(clog2(ndigits))
        s.digits = ShiftCounter(ndigits)
        s.digits.steps //= 1
        s.digit //= s.digits.state

        @update
        def ends_of_pass():
            s.digits.clears @= ~s.runs
            s.first @= s.digit == 0
            s.last @= s.digit == LAST_DIGIT

    def scan_exponent(s, nbits, full_scan):
        """The place in the exponent, from the highest bit down; whether a product follows a square."""
        LOWEST_BIT = states_of(nbits)[-1]
        s.exp_bits = ShiftCounter(nbits)
        s.exp_bits.clears //= s.opens
        s.exp_place //= s.exp_bits.state

        if full_scan:
            s.follows //= 1

            # countermeasure ALWAYS_MULTIPLY: a 0 takes a product as well, which r does not take
            @update
            def take_some():
                s.takes @= s.reduces & (s.exp_bit | ~s.multiplies)

        else:

            @update
            def take_all():
                s.follows @= s.exp_bit
                s.takes @= s.reduces

        s.squares = Wire()

        @update
        def at_end():
            s.ends @= s.exp_place == LOWEST_BIT
            s.squares @= s.multiplies | ~s.follows  # the next product is a square
            s.exp_bits.steps @= s.reduces & ~s.ends & ((s.last & s.squares) if s.runs else ~s.exp_bit)

        @update_ff
        def factor():
            if s.opens:
                s.multiplies <<= 1  # CHECK reads the base
            elif s.runs & s.clears & s.last:
                s.multiplies <<= s.no_modulus if s.adds else s.follows & ~s.multiplies

    def transitions(s, ndigits, full_scan):
        """The state after this one, and the sign of p."""
        FIRST = ADD if ndigits == 1 else DOUBLE
        AFTER_CHECK = FIRST if full_scan else SCAN

        @update
        def next_state():
            s.next_st @= s.st
            if s.runs:
                if s.last:
                    if ~s.clears:
                        s.next_st @= ADD
                        if s.adds:
                            s.next_st @= REDUCE if s.ends_product else FIRST
                    elif s.opens:
                        s.next_st @= CHECK
                    elif s.adds:
                        s.next_st @= AFTER_CHECK if s.below else REFUSED
                    else:
                        s.next_st @= DONE if s.ends & s.squares else FIRST
            elif s.adds:
                if s.ostream_rdy:
                    s.next_st @= IDLE
            elif s.clears:
                if s.exp_bit | s.ends:
                    s.next_st @= FIRST
            elif s.istream_val:
                s.next_st @= START

        @update_ff
        def state():
            if s.reset:
                s.st <<= IDLE
            else:
                s.st <<= s.next_st

        @update_ff
        def sign():
            if s.last:
                s.negative <<= s.next_negative & ~s.clears

    def pick_at_once(s, nbits):
        """x, the bit of r that a cycle multiplies by; 1 in CHECK."""
        TOP, index_nbits = nbits - 1, clog2(nbits)
        s.place = Wire(index_nbits)

        @update
        def choose_bit():
            s.ends_product @= s.place == 0
            s.x @= s.adds & (s.r_digit[s.place] | s.clears)

        @update_ff
        def bits_left():
            if s.clears:
                s.place <<= TOP
            else:
                s.place <<= s.place - 1

    def pick_bits(s, nbits, k):
        """x, the bit of r that ADD multiplies by; 1 in CHECK. Its digit is at the end of the ring when
        `distance` has counted to the last digit.
        """
        s.distance = ShiftCounter(nbits // k)
        LAST_DIGIT = states_of(nbits // k)[-1]
        s.distance.clears //= s.opens
        s.picked, s.here, s.candidate = Wire(), Wire(), Wire()
        s.lowest = Wire()  # the bit is the lowest of its digit
        if k == 1:
            s.candidate //= s.r_digit
            s.lowest //= 1
        else:
            TOP, place_nbits = k - 1, clog2(k)
            s.place = Wire(place_nbits)

            @update
            def candidates():
                s.candidate @= s.r_digit[s.place]
                s.lowest @= s.place == 0

            @update_ff
            def places():
                if s.opens:
                    s.place <<= TOP
                elif s.adds & ~s.clears & s.last:
                    s.place <<= s.place - 1

        @update
        def pick():
            s.here @= s.distance.state == LAST_DIGIT
            s.ends_product @= s.here & s.lowest
            s.x @= s.adds & s.picked

        @update_ff
        def factor_bits():
            if s.opens:
                s.picked <<= 1
            elif s.doubles & s.here:
                s.picked <<= s.candidate

        @update
        def step_nearer():
            s.distance.steps @= s.runs & ~s.clears & (~s.adds | (s.last & s.lowest))

    def line_trace(s):
        return f"{state_name(s, s.st)} {int(s.exp_place)}"
