"""TinyExpCtrl: the controller of a TinyExp (tiny_exp.py). All states take passes but IDLE and the answers.

IDLE     wait for a request
LOAD     operands enter the rings, and the base is compared with the modulus; then the request is taken
ADD      a pass for each bit of a product; the first squares 1, so that all exponents give a residue
REDUCE   the last subtraction of a product, whose result enters r
STEP     the exponent's ring falls back to the next bit; leading zeros take no other pass
DONE     the answer is offered; LARGE and ZERO are the refusals

The bit of r that the next pass multiplies by is picked when it enters the ring of r; `pick` counts these bits
down. With `full_scan` each bit of the exponent takes a square and a product, and `keeps` says whether r takes
the product.
"""

from pymtl3 import *

from ....fl.status import STATUS_NBITS
from ...states import state_name, states
from ...units.serial_ctrl import declare_handshakes

ST_NBITS = 3
# an answer with bit 0 is a refusal, whose status is in the low bits
CODES = {"IDLE": 0, "LOAD": 1, "ADD": 2, "REDUCE": 3, "DONE": 4, "ZERO": 5, "STEP": 6, "LARGE": 7}
IDLE, LOAD, ADD, REDUCE, DONE, ZERO, STEP, LARGE = (b3(code) for code in CODES.values())


class TinyExpCtrl(Component):
    def construct(s, nbits, k, full_scan):
        declare_handshakes(s)
        s.status = OutPort(STATUS_NBITS)
        s.refused = OutPort()
        s.idle, s.load, s.adds, s.takes, s.runs = (OutPort() for _ in range(5))
        s.once, s.twice = OutPort(), OutPort()  # what the last pass decided to subtract
        s.x, s.multiplies = OutPort(), OutPort()
        s.continues = OutPort()  # a pass goes on after this digit: carries are kept
        s.first = OutPort()
        s.clear = OutPort()  # the bit of the exponent that was used
        s.reaches_once, s.reaches_twice = InPort(), InPort()  # the sum m, and 2 m
        s.r_digit, s.mod_digit, s.exp_digit = InPort(k), InPort(k), InPort(k)

        s.st, s.next_st = Wire(ST_NBITS), Wire(ST_NBITS)
        states(s.st, s.next_st, **CODES)
        s.last = Wire()
        s.exp_bit = Wire()  # the bit at the top after this pass
        s.exp_bit //= s.exp_digit[k - 1]
        s.some, s.more_ones = Wire(), Wire()

        @update
        def outputs():
            s.idle @= s.st == IDLE
            s.load @= s.st == LOAD
            s.adds @= s.st == ADD
            s.runs @= (s.st == LOAD) | (s.st == ADD) | (s.st == REDUCE) | (s.st == STEP)
            s.continues @= s.runs & ~s.last
            s.clear @= (s.st == STEP) & s.last
            s.istream_rdy @= (s.st == LOAD) & s.last

        @update
        def answers():
            s.refused @= s.st[0]
            s.ostream_val @= (s.st == DONE) | (s.st == ZERO) | (s.st == LARGE)
            s.status @= 0
            s.status[0] @= s.st[2] & s.st[0]
            s.status[1] @= s.st == LARGE

        s.count_digits(nbits // k)
        s.search_ones(k)
        s.transitions()
        if full_scan:
            s.scan_all()
        else:
            s.scan_ones()
        s.pick_bits(nbits, k)

    def count_digits(s, ndigits):
        """The place in a pass."""
        if ndigits == 1:
            s.first //= 1
            s.last //= 1
            return
        LAST_DIGIT, digit_nbits = ndigits - 1, clog2(ndigits)
        s.digit = OutPort(digit_nbits)

        @update
        def ends_of_pass():
            s.first @= s.digit == 0
            s.last @= s.digit == LAST_DIGIT

        @update_ff
        def digits():
            s.digit <<= s.digit + 1 if s.continues else 0

    def search_ones(s, k):
        """Whether the modulus has ones, in LOAD, and the exponent others than that at the top, in STEP."""
        s.ones = Wire(k)
        s.others = Wire(k)
        s.others[k - 1] //= 0
        if k > 1:
            s.others[0 : k - 1] //= s.exp_digit[0 : k - 1]

        @update
        def look():
            s.ones @= 0
            if s.st == LOAD:
                s.ones @= s.mod_digit
            elif s.st == STEP:
                s.ones @= s.others if s.last else s.exp_digit
            s.more_ones @= s.some | (s.ones != 0)

        @update_ff
        def remember():
            s.some <<= s.more_ones & s.continues

    def transitions(s):
        """The state after this one."""
        s.follows = Wire()  # a product after REDUCE
        s.serves = Wire()  # a product after STEP
        s.ends_product = Wire()

        @update
        def next_state():
            s.next_st @= s.st
            if s.st == IDLE:
                if s.istream_val:
                    s.next_st @= LOAD
            elif ~s.runs:
                if s.ostream_rdy:
                    s.next_st @= IDLE
            elif s.last:
                if s.st == LOAD:
                    s.next_st @= ADD
                    if s.reaches_once:
                        s.next_st @= LARGE if s.more_ones else ZERO
                elif s.st == ADD:
                    if s.ends_product:
                        s.next_st @= REDUCE
                elif s.st == REDUCE:
                    s.next_st @= ADD if s.follows else STEP
                elif ~s.more_ones:
                    s.next_st @= DONE
                elif s.serves:
                    s.next_st @= ADD

        @update_ff
        def state():
            if s.reset:
                s.st <<= IDLE
            else:
                s.st <<= s.next_st

        @update_ff
        def decisions():
            if s.last:
                s.twice <<= s.adds & s.reaches_twice
                s.once <<= s.adds & s.reaches_once & ~s.reaches_twice

    def scan_ones(s):
        """A square for each bit of the exponent, and a product for a 1; zeros in front take neither."""
        s.started = Wire()

        @update
        def products_of_ones():
            s.takes @= s.st == REDUCE
            s.follows @= ~s.multiplies & s.exp_bit
            s.serves @= s.started | s.exp_bit

        @update_ff
        def factor_of_ones():
            if s.st == IDLE:
                s.multiplies <<= 1  # LOAD compares the base
                s.started <<= 0
            elif s.last & ~s.adds:
                s.multiplies <<= ((s.st == REDUCE) & ~s.multiplies) | ((s.st == STEP) & ~s.started)
                s.started <<= s.started | ((s.st != LOAD) & s.exp_bit)

    def scan_all(s):
        """A square and a product for each bit; r does not take the product for a 0."""
        s.keeps = Wire()
        s.serves //= 1

        @update
        def products_of_all():
            s.takes @= (s.st == REDUCE) & (s.keeps | ~s.multiplies)
            s.follows @= ~s.multiplies

        @update_ff
        def factor_of_all():
            if s.st == IDLE:
                s.multiplies <<= 1  # LOAD compares the base
            elif s.last & ~s.adds:
                s.multiplies <<= (s.st == REDUCE) & ~s.multiplies
                s.keeps <<= s.exp_bit

    def pick_bits(s, nbits, k):
        """x, the bit of r that a pass multiplies by; 1 in LOAD."""
        TOP, index_nbits, place_nbits = nbits - 1, clog2(nbits), clog2(k)
        s.pick = Wire(index_nbits)
        s.here = Wire()
        s.picked, s.next_x = Wire(), Wire()
        s.candidate = Wire()
        if k == 1:
            s.candidate //= s.r_digit
        else:

            @update
            def place():
                s.candidate @= s.r_digit[s.pick[0:place_nbits]]

        if k == nbits:
            s.here //= 1
        else:

            @update
            def at_digit():
                s.here @= s.digit == s.pick[place_nbits:index_nbits]

        @update
        def pick_bit():
            s.ends_product @= s.pick == TOP
            s.next_x @= s.candidate if s.here else s.picked

        @update_ff
        def factor_bits():
            s.picked <<= s.next_x
            if s.st == IDLE:
                s.x <<= 1
                s.pick <<= TOP
            elif s.last:
                s.x <<= s.next_x
                s.pick <<= TOP
                if (s.next_st == ADD) & (s.pick != 0):
                    s.pick <<= s.pick - 1

    def line_trace(s):
        return f"{state_name(s, s.st)} {int(s.pick)}"
