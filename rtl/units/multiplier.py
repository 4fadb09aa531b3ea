"""Multiplier: the full product of two words, in one cycle or k bits of b per cycle.

bits_per_cycle = 0: the product is combinational and registered once (the synthesis tool chooses the tree).
bits_per_cycle = k: shift-and-add, k partial products a cycle, least significant first; needs k to divide
nbits.

Ports: istream {a, b} -> ostream of 2n bits. Cycles: 1 (combinational), nbits / k + 1 (iterative). Takes the
next operands in the cycle in which its result is taken. Area order: n^2 full adders and 2n registers, or k *
n full adders and 4n registers.
"""

from pymtl3 import *

from ..messages import declare_streams, mk_product_req
from .serial_ctrl import SerialCtrl, answer_registered, connect_serial


class Multiplier(Component):
    def construct(s, nbits, bits_per_cycle=0):
        declare_streams(s, mk_product_req(nbits), mk_bits(2 * nbits))
        double = 2 * nbits

        if bits_per_cycle == 0:
            s.product = Wire(double)
            answer_registered(s, s.product)

            @update
            def multiply():
                s.product @= zext(s.istream.msg.a, double) * zext(s.istream.msg.b, double)

        else:
            # {high, low}: low loses a bit of b and gains a bit of the product with every step
            assert nbits % bits_per_cycle == 0
            s.a = Wire(nbits)
            s.high = Wire(nbits)
            s.low = Wire(nbits)
            s.rows = [AddRow(nbits) for _ in range(bits_per_cycle)]
            for i, row in enumerate(s.rows):
                row.high //= s.high if i == 0 else s.rows[i - 1].out[1 : nbits + 1]
                row.a //= s.a
                row.b_i //= s.low[i]
            s.ostream.msg[0:nbits] //= s.low
            s.ostream.msg[nbits:double] //= s.high

            s.shifted = Wire(nbits)
            if bits_per_cycle < nbits:
                s.shifted[0 : nbits - bits_per_cycle] //= s.low[bits_per_cycle:nbits]
            for i in range(bits_per_cycle):
                s.shifted[nbits - bits_per_cycle + i] //= s.rows[i].out[0]

            s.ctrl = SerialCtrl(nbits // bits_per_cycle)
            connect_serial(s)
            LAST_ROW = bits_per_cycle - 1
            HIGH_END = nbits + 1

            @update_ff
            def data():
                if s.ctrl.load:
                    s.a <<= s.istream.msg.a
                    s.low <<= s.istream.msg.b
                    s.high <<= 0
                elif s.ctrl.step:
                    s.low <<= s.shifted
                    s.high <<= s.rows[LAST_ROW].out[1:HIGH_END]

    def line_trace(s):
        return f"{s.istream}|{s.ostream}"


class AddRow(Component):
    """out = high + b_i * a: one row of a shift-and-add multiplier."""

    def construct(s, nbits):
        s.high = InPort(nbits)
        s.a = InPort(nbits)
        s.b_i = InPort()
        s.out = OutPort(nbits + 1)
        wide = nbits + 1

        @update
        def add():
            s.out @= zext(s.high, wide) + zext(s.a, wide) if s.b_i else zext(s.high, wide)
