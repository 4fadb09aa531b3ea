"""SystolicModExpCtrl: the controller of a SystolicModExp (systolic_mod_exp.py): paper 002, Algorithm 5, one
product after the other.

Without `converts` it is the controller of a SystolicExp (systolic_exp.py): there is no product before or
after the loop, and `start` comes one cycle before a product begins, possibly in the last cycle of the
previous one.

The destination of a product's words is registered a cycle before the first word arrives (`closing`) and held
until the last one has arrived, while the next product is already running. The exponent shifts left, past its
leading zeros first: k bits per cycle while all k are 0.
"""

from enum import IntEnum

from pymtl3 import *

from ....fl.status import STATUS_NBITS
from ...states import state_name, states
from ...units.serial_ctrl import OK, connect_serial, declare_handshakes

# where the words of x come from; UNITY is the number 1
SOURCE_NBITS = 2
Source = IntEnum("Source", "BASE POWER UNITY", start=0)
BASE, POWER, UNITY = map(mk_bits(SOURCE_NBITS), Source)

State = IntEnum("State", "IDLE CONVERT ALIGN SQUARE MULTIPLY LEAVE DRAIN DONE", start=0)
IDLE, CONVERT, ALIGN, SQUARE, MULTIPLY, LEAVE, DRAIN, DONE = map(b3, State)


def connect_array(s, nwords):
    """Connect the controller of a machine `s` with its array, and the words that this works on."""
    connect_serial(s)
    s.ctrl.start //= s.array.start
    s.ctrl.returns //= s.array.returns
    s.ctrl.whole //= s.array.done[nwords - 1]
    s.ctrl.out_status //= s.ostream.msg.status
    for j in range(nwords):
        s.array.y[j] //= s.power[j]
        s.array.m[j] //= s.mod[j]


class SystolicModExpCtrl(Component):
    """The controller of a systolic exponentiator (paper 002, Algorithm 5), one product at a time."""

    def construct(s, nbits, k, nwords, converts=True):
        TOP = nbits - 1
        COUNT_NBITS = clog2(nbits + 1)
        # only an exponent wider than a digit has k zeros to skip; a wider k must still fit the counter
        k = min(k, (1 << COUNT_NBITS) - 1)

        declare_handshakes(s, STATUS_NBITS)
        s.in_exp = InPort(nbits)
        s.accept = OutPort()
        s.start = OutPort()
        s.closing = InPort()
        s.returns = InPort()
        s.whole = InPort()  # the last word of the product has arrived
        s.source = OutPort(SOURCE_NBITS)
        s.to_power = OutPort()

        s.st = Wire(3)
        s.next_st = Wire(3)
        # leading zeros are mostly gone before the first product is; of two words none is left to drain
        most_shifts = max(zeros // k + zeros % k for zeros in range(nbits + 1)) if nbits > k else nbits
        reached = {
            "CONVERT": converts,
            "LEAVE": converts,
            "ALIGN": not converts or most_shifts > 3 * nwords + 1,
            "DRAIN": not converts or nwords > 2,
        }
        states(
            s.st,
            s.next_st,
            **{name: code.value for name, code in State.__members__.items() if reached.get(name, True)},
        )

        @update
        def handshakes():
            s.istream_rdy @= s.st == IDLE
            s.accept @= (s.st == IDLE) & s.istream_val
            s.ostream_val @= s.st == DONE

        @update
        def starts():
            if converts:
                s.start @= (s.st == CONVERT) | (s.st == SQUARE) | (s.st == MULTIPLY) | (s.st == LEAVE)
            else:
                s.start @= (s.next_st == SQUARE) | (s.next_st == MULTIPLY)

        @update
        def sources():
            s.source @= BASE
            if s.st == SQUARE:
                s.source @= POWER
            elif s.st == LEAVE:
                s.source @= UNITY

        s.exponent(nbits, k, COUNT_NBITS)

        s.order(nwords, converts)
        s.destinations(converts, TOP)

    def order(s, nwords, converts):
        """The product after this one."""
        FIRST = CONVERT if converts else ALIGN
        AFTER_LOOP = LEAVE if converts else DRAIN
        WITHOUT_LOOP = LEAVE if converts else DONE
        AFTER_LEAVE = (
            DONE if nwords == 2 else DRAIN
        )  # of two words the last is there when the product returns

        @update
        def next_product():
            s.next_st @= s.st
            if s.st == IDLE:
                if s.istream_val:
                    s.next_st @= FIRST
                    if s.in_status != OK:
                        s.next_st @= DONE
            elif ((s.st == CONVERT) & s.returns) | (s.st == ALIGN):
                s.next_st @= ALIGN
                if s.nleft == 0:
                    s.next_st @= WITHOUT_LOOP
                elif s.aligned:
                    s.next_st @= SQUARE
            elif (s.st == SQUARE) & s.returns:
                s.next_st @= MULTIPLY
            elif (s.st == MULTIPLY) & s.returns:
                s.next_st @= SQUARE
                if s.nleft == 1:
                    s.next_st @= AFTER_LOOP
            elif (s.st == LEAVE) & s.returns:
                s.next_st @= AFTER_LEAVE
            elif (s.st == DRAIN) & s.whole:
                s.next_st @= DONE
            elif (s.st == DONE) & s.ostream_rdy:
                s.next_st @= IDLE

        @update_ff
        def state():
            if s.reset:
                s.st <<= IDLE
            else:
                s.st <<= s.next_st
            if s.accept:
                s.out_status <<= s.in_status

    def destinations(s, converts, TOP):
        """The registers that the words of a product are written to."""

        @update_ff
        def destination():
            if s.reset:
                s.to_power <<= 0
            elif s.closing:
                s.to_power <<= (s.st == SQUARE) | (s.st == LEAVE) | ((s.st == MULTIPLY) & s.exp[TOP])

        if converts:
            s.valid = OutPort()
            s.to_base = OutPort()
            s.to_other = OutPort()
            s.from_other = OutPort()

            @update
            def validity():
                s.valid @= s.out_status == OK

            @update_ff
            def destinations():
                if s.reset:
                    s.to_base <<= 0
                    s.to_other <<= 0
                    s.from_other <<= 0
                elif s.closing:
                    s.to_base <<= s.st == CONVERT
                    s.from_other <<= s.st == CONVERT
                    s.to_other <<= s.st == MULTIPLY

    def exponent(s, nbits, k, COUNT_NBITS):
        """Shift the exponent; its top bit is the next one."""
        TOP = nbits - 1
        s.exp = Wire(nbits)
        s.nleft = Wire(COUNT_NBITS)
        s.aligned = Wire()
        s.shift = Wire()
        s.skip = Wire()
        s.assertions = {"RestOfExponentIsLeft": "st == IDLE || ~|(exp << nleft)"}

        @update
        def alignment():
            s.aligned @= s.exp[TOP] | (s.nleft == 0)
            s.shift @= ~s.aligned if (s.st == CONVERT) | (s.st == ALIGN) else (s.st == MULTIPLY) & s.returns

        if nbits > k:
            AFTER_SKIP = nbits - k

            @update
            def whole_words():
                s.skip @= (
                    ((s.st == CONVERT) | (s.st == ALIGN)) & (s.exp[AFTER_SKIP:nbits] == 0) & (s.nleft >= k)
                )

        else:
            s.skip //= 0

        @update_ff
        def exponent():
            if s.accept:
                s.exp <<= s.in_exp
                s.nleft <<= nbits
            elif s.skip:
                s.exp <<= s.exp << k
                s.nleft <<= s.nleft - k
            elif s.shift:
                s.exp <<= s.exp << 1
                s.nleft <<= s.nleft - 1

    def line_trace(s):
        return str(state_name(s, s.st))
