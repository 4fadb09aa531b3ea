"""TinyExp: square and multiply with an adder of k bits, the smallest machine (design tiny).

    r = 1;  for each bit of the exponent, the highest first:  r = r * r mod m;  if it is 1, r = r * base mod m

A product is interleaved with its reduction: p = 2 p + x_i y mod m, where x_i is a bit of r, the highest
first, and y is r or the base. Base, modulus, exponent, r and p are rings that turn by a digit of k bits a
cycle, so that no word has a multiplexer on each bit. A pass takes n / k cycles. It subtracts from p what the
pass before decided (0, m or 2 m), adds, and compares the sum with m and 2 m.

The ring of the exponent is a bit longer than a pass, so it falls back by a bit in each. It is in place again
after a product, which takes n + 1 passes; the pass STEP, after the last product of a bit, brings the next bit
to the top. Used bits become 0. A 1 below the exponent marks its end: it is the only 1 that is left.

Ports: istream {base, exp, mod} -> ostream {status, result}; any modulus, a base below it. A request is taken
after a pass, in which its numbers enter the rings. Cycles: modexlab.cl.tiny_exp has the closed formula; with
`full_scan` they are the same for all operands. Area order: 5 n flip-flops, 3 n gates, 4 adders of k bits.
"""

from pymtl3 import *

from ...messages import declare_streams, mk_modexp_req, mk_modexp_resp
from ...units.serial_ctrl import connect_serial
from ...wires import connect_words
from .tiny_exp_ctrl import TinyExpCtrl


class DigitRing(Component):
    """A word whose digits move down by one place in each cycle; a digit enters at the top."""

    def construct(s, nbits, k):
        s.entering = InPort(k)
        s.word = OutPort(nbits)

        if nbits == k:

            @update_ff
            def replace():
                s.word <<= s.entering

        else:

            @update_ff
            def turn():
                s.word <<= concat(s.entering, s.word[k:nbits])


class TinyExp(Component):
    def construct(s, nbits, k, full_scan):
        declare_streams(s, mk_modexp_req(nbits), mk_modexp_resp(nbits))
        s.ctrl = TinyExpCtrl(nbits, k, full_scan)
        connect_serial(s)
        s.base, s.mod, s.p = (DigitRing(nbits, k) for _ in range(3))
        s.r = Wire(nbits)
        s.exp = Wire(nbits + 1)  # the mark at first below it
        # what enters the rings
        s.base_digit, s.mod_digit, s.exp_digit, s.r_digit, s.p_digit = (Wire(k) for _ in range(5))
        s.base.entering //= s.base_digit
        s.mod.entering //= s.mod_digit
        s.p.entering //= s.p_digit
        s.difference, s.total = Wire(k), Wire(k)

        s.load_digits(nbits, k)
        s.turn_exponent(nbits, k)
        s.subtract(k)
        s.add(k)
        s.compare(k)
        s.turn_result(nbits, k)

        s.ostream.msg.status //= s.ctrl.status
        s.ostream.msg.result[1:nbits] //= s.r[1:nbits]

        @update
        def lowest_bit():  # r is 1 if a request is refused
            s.ostream.msg.result[0] @= s.r[0] & ~s.ctrl.refused

    def load_digits(s, nbits, k):
        """Operands enter from the port in LOAD, and turn then."""
        s.port_base, s.port_exp, s.port_mod = Wire(k), Wire(k), Wire(k)
        if nbits == k:
            s.port_base //= s.istream.msg.base
            s.port_exp //= s.istream.msg.exp
            s.port_mod //= s.istream.msg.mod
        else:
            s.in_base, s.in_exp, s.in_mod = ([Wire(k) for _ in range(nbits // k)] for _ in range(3))
            connect_words(s.istream.msg.base, s.in_base)
            connect_words(s.istream.msg.exp, s.in_exp)
            connect_words(s.istream.msg.mod, s.in_mod)

            @update
            def read_ports():
                s.port_base @= s.in_base[s.ctrl.digit]
                s.port_exp @= s.in_exp[s.ctrl.digit]
                s.port_mod @= s.in_mod[s.ctrl.digit]

        @update
        def operands():
            s.base_digit @= s.port_base if s.ctrl.load else s.base.word[0:k]
            s.mod_digit @= s.port_mod if s.ctrl.load else s.mod.word[0:k]

    def turn_exponent(s, nbits, k):
        """The ring of the exponent: the mark enters in IDLE, and the bit that was used is cleared at the end
        of STEP."""
        ONES, after = (1 << k) - 1, k + 1
        s.exp_low = Wire()
        s.ctrl.mod_digit //= s.mod_digit
        s.ctrl.exp_digit //= s.exp_digit

        @update
        def exponent_digit():
            s.exp_digit @= s.exp[0:k]
            if s.ctrl.idle:
                s.exp_digit @= ONES
            elif s.ctrl.load:
                s.exp_digit @= s.port_exp
            s.exp_low @= s.exp[k] & ~s.ctrl.clear

        if nbits == k:

            @update_ff
            def exponent_at_once():
                s.exp <<= concat(s.exp_digit, s.exp_low)

        else:

            @update_ff
            def exponent():
                s.exp <<= concat(s.exp_digit, s.exp[after : nbits + 1], s.exp_low)

    def subtract(s, k):
        """p - 0, p - m or p - 2 m: a digit, with the borrow from the one before."""
        TOP, wide = k - 1, k + 1
        s.twice_mod = Wire(k)  # the digit of 2 m
        s.mod_top, s.borrow = Wire(), Wire()
        s.minus = Wire(wide)
        s.less = Wire(wide)
        if k == 1:
            s.twice_mod //= s.mod_top
        else:
            s.twice_mod[0] //= s.mod_top
            s.twice_mod[1:k] //= s.mod_digit[0:TOP]

        @update
        def choose():
            s.minus @= 0
            if s.ctrl.once:
                s.minus @= zext(s.mod_digit, wide)
            elif s.ctrl.twice:
                s.minus @= zext(s.twice_mod, wide)

        @update
        def difference_digit():
            s.less @= zext(s.p.word[0:k], wide) - s.minus - zext(s.borrow, wide)
            s.difference @= 0
            if ~s.ctrl.load:
                s.difference @= s.less[0:k]

        @update_ff
        def borrows():
            s.borrow <<= s.less[k] & s.ctrl.continues
            s.mod_top <<= s.mod_digit[TOP] & s.ctrl.continues

    def add(s, k):
        """2 p + x y: a digit, with the carry from the one before."""
        TOP, wide = k - 1, k + 1
        s.twice = Wire(k)
        s.difference_top, s.carry = Wire(), Wire()
        s.y = Wire(k)
        s.sum = Wire(wide)
        s.total //= s.sum[0:k]
        if k == 1:
            s.twice //= s.difference_top
        else:
            s.twice[0] //= s.difference_top
            s.twice[1:k] //= s.difference[0:TOP]

        @update
        def sum_digit():
            s.y @= 0
            if s.ctrl.x:
                s.y @= s.base_digit if s.ctrl.multiplies else s.r[0:k]
            s.sum @= zext(s.twice, wide) + zext(s.y, wide) + zext(s.carry, wide)
            s.p_digit @= s.total if s.ctrl.adds else 0

        @update_ff
        def carries():
            s.carry <<= s.sum[k] & s.ctrl.continues
            s.difference_top <<= s.difference[TOP] & s.ctrl.continues

    def compare(s, k):
        """The sum with m and with 2 m; above its n bits it has a 1 or a 2."""
        TOP, wide = k - 1, k + 1
        s.below_once, s.below_twice = Wire(wide), Wire(wide)
        s.borrow_once, s.borrow_twice = Wire(), Wire()
        s.one_above, s.two_above = Wire(), Wire()

        @update
        def trials():
            s.below_once @= zext(s.total, wide) - zext(s.mod_digit, wide) - zext(s.borrow_once, wide)
            s.below_twice @= zext(s.total, wide) - zext(s.twice_mod, wide) - zext(s.borrow_twice, wide)

        @update
        def decide():
            s.one_above @= s.difference[TOP] ^ s.sum[k]
            s.two_above @= s.difference[TOP] & s.sum[k]
            s.ctrl.reaches_once @= s.one_above | s.two_above | ~s.below_once[k]
            s.ctrl.reaches_twice @= s.two_above
            if s.one_above:
                s.ctrl.reaches_twice @= ~s.mod_digit[TOP] | ~s.below_twice[k]
            elif ~s.two_above:
                s.ctrl.reaches_twice @= ~s.mod_digit[TOP] & ~s.below_twice[k]

        @update_ff
        def trial_borrows():
            s.borrow_once <<= s.below_once[k] & s.ctrl.continues
            s.borrow_twice <<= s.below_twice[k] & s.ctrl.continues

    def turn_result(s, nbits, k):
        """The ring of r, which rests while no request is served; 1 enters in LOAD, a product in REDUCE."""
        s.ctrl.r_digit //= s.r_digit

        @update
        def result_digit():
            s.r_digit @= s.r[0:k]
            if s.ctrl.load:
                s.r_digit @= zext(s.ctrl.first, k)
            elif s.ctrl.takes:
                s.r_digit @= s.difference

        if nbits == k:

            @update_ff
            def result_at_once():
                if s.ctrl.runs:
                    s.r <<= s.r_digit

        else:

            @update_ff
            def result():
                if s.ctrl.runs:
                    s.r <<= concat(s.r_digit, s.r[k:nbits])

    def line_trace(s):
        return f"{s.istream}|{s.ctrl.line_trace()}|{s.ostream}"
