"""MontMulRemCL: the cycle-level twin of MontMulRem, a ring of stages whose products move together.

If pipelined, each stage may hold a product; otherwise the ring holds one. The whole ring stalls while a
finished product waits at the output. With `fits`, a product circulates for the number of cycles that follows
from the port `nblocks`.
"""

from pymtl3 import *

from ..fl.multipliers.montgomery import Montgomery
from ..rtl.messages import declare_product_ports
from .timing import MontMulRemTiming


class MontMulRemCL(Component):
    def construct(s, nbits, steps_per_stage=8, nstages=4, add_red="koc", pipelined=True, fits=None):
        Product = mk_bits(nbits)
        declare_product_ports(s, nbits)
        timing = MontMulRemTiming(nbits, steps_per_stage, nstages, pipelined, bool(fits))
        if fits:
            s.nblocks = InPort(clog2(nbits // timing.block_nbits + 1))
        else:
            s.nblocks = Wire()
            s.nblocks //= 0
        LAST = nstages - 1
        capacity = nstages if pipelined else 1

        # for each stage: whether it holds a product, its remaining cycles, and its value
        s.valid = [Wire() for _ in range(nstages)]
        s.left = [Wire(32) for _ in range(nstages)]
        s.product = [Wire(Product) for _ in range(nstages)]
        s.ostream.msg //= s.product[LAST]
        s.again = Wire()
        s.go = Wire()

        @update
        def out_val():
            s.again @= s.valid[LAST] & (s.left[LAST] != 0)
            s.ostream.val @= s.valid[LAST] & (s.left[LAST] == 0)

        @update
        def in_rdy():
            s.go @= ~s.ostream.val | s.ostream.rdy
            inside = sum(int(v) for v in s.valid)
            leaving = int(s.ostream.val & s.ostream.rdy)
            s.istream.rdy @= int(bool(s.go) and not s.again and inside - leaving < capacity)

        @update_ff
        def move():
            if s.reset:
                for i in range(nstages):
                    s.valid[i] <<= 0
            elif s.go:
                s.valid[0] <<= s.again
                s.left[0] <<= s.left[LAST] - 1
                s.product[0] <<= s.product[LAST]
                if s.istream.val & s.istream.rdy:
                    a, b, n = int(s.istream.msg.a), int(s.istream.msg.b), int(s.modulus)
                    nblocks = int(s.nblocks) if fits else 1
                    taken = nblocks * timing.block_nbits if fits else nbits
                    s.valid[0] <<= 1
                    s.left[0] <<= timing.product_cycles(nblocks) - 1
                    s.product[0] <<= Montgomery(n, taken).product(a % (1 << taken), b)
                for i in range(LAST):
                    s.valid[i + 1] <<= s.valid[i]
                    s.left[i + 1] <<= s.left[i] - 1
                    s.product[i + 1] <<= s.product[i]

    def line_trace(s):
        return f"{s.istream}|{''.join('*' if v else '.' for v in s.valid)}|{s.ostream}"
